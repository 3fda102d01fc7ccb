"""What each opcode is in C++: a module for each kind, each with `EMITTERS`."""

from __future__ import annotations

from ..emit import Emitter
from . import approximate, control, convert, floating, half, integer, memory, together

EMITTERS: dict[str, dict[str, Emitter]] = {
    "integer": integer.EMITTERS,
    "floating": floating.EMITTERS,
    "half": half.EMITTERS,
    "approximate": approximate.EMITTERS,
    "convert": convert.EMITTERS,
    "memory": memory.EMITTERS,
    "together": together.EMITTERS,
    "control": control.EMITTERS,
}


def emitter_of(parts: tuple[str, ...]) -> Emitter | None:
    """What writes an opcode; None for one that is not known."""
    name, kind = parts[0], parts[-1]
    if {"approx", "full"} & set(parts):
        return approximate.EMITTERS.get(name)
    if any(part in ("f16", "bf16", "f16x2", "bf16x2") for part in parts[1:]) and name in half.EMITTERS:
        return half.EMITTERS[name]
    if kind in ("f32", "f64") and name in floating.EMITTERS:
        return floating.EMITTERS[name]
    for module in (integer, convert, memory, together, control):
        if name in module.EMITTERS:
            return module.EMITTERS[name]
    return None
