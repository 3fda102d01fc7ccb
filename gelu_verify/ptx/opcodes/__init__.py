"""What each opcode is in C++: a module for each kind, each with `EMITTERS`."""

from __future__ import annotations

from ..emit import Emitter
from . import approximate, control, convert, floating, half, integer, memory, together

_OF_ALL_TYPES: dict[str, Emitter] = {
    **integer.EMITTERS,
    **convert.EMITTERS,
    **memory.EMITTERS,
    **together.EMITTERS,
    **control.EMITTERS,
}
_HALVES = frozenset({"f16", "bf16", "f16x2", "bf16x2"})


def emitter_of(parts: tuple[str, ...]) -> Emitter | None:
    """What writes an opcode; None for one that is not known."""
    name, modifiers = parts[0], frozenset(parts[1:])
    if modifiers & {"approx", "full"}:
        return approximate.EMITTERS.get(name)
    if modifiers & _HALVES and name in half.EMITTERS:
        return half.EMITTERS[name]
    if parts[-1] in ("f32", "f64") and name in floating.EMITTERS:
        return floating.EMITTERS[name]
    return _OF_ALL_TYPES.get(name)
