"""Conversions between integers and floating-point formats, in every rounding; moves and packing of registers."""

from __future__ import annotations

from ..emit import ROUNDING, Emitter, WrittenFunction
from ..ir import Immediate, Instruction, Vector

_TO_INTEGER = {f"{mode}i": name for mode, name in ROUNDING.items()}
_HALVES = {"f16": "f16_format", "bf16": "bf16_format"}


def cvt(c: WrittenFunction, ins: Instruction) -> str:
    c.accept(*ROUNDING, *_TO_INTEGER, "sat", "ftz", "relu", "satfinite")
    to, kind = ins.parts[-2:]
    if to.endswith("x2"):
        return _two(c, ins, to, kind)
    a = c.read(ins.operands[1], kind)
    if kind[0] in "us" and to[0] in "us":
        return c.write(ins.operands[0], to, f"limited<{to}>((__int128){a})" if ins.has("sat") else f"({to}){a}")
    if kind[0] in "us":
        return c.write(ins.operands[0], to, _of_integer(c, ins, to, kind, a))
    if to[0] in "us":
        return c.write(ins.operands[0], to, _to_integer(c, ins, to, kind, a))
    return c.write(ins.operands[0], to, _between(c, ins, to, kind, a))


def _mode(ins: Instruction) -> str | None:
    return next((ROUNDING[part] for part in ins.parts if part in ROUNDING), None)


def _double(ins: Instruction, kind: str, a: str) -> str:
    """Any floating-point value as a double."""
    if kind in _HALVES:
        return f"widened<{_HALVES[kind]}>({a})"
    return f"(f64)ftz({a})" if kind == "f32" and ins.has("ftz") else f"(f64){a}"


def _of_integer(c: WrittenFunction, ins: Instruction, to: str, kind: str, a: str) -> str:
    mode = _mode(ins)
    if mode is None or mode == "RNA":
        raise c.unknown("no rounding")
    if to in _HALVES:
        exact = f"odd_double<{kind}>({a})" if kind[1:] == "64" else f"(f64){a}"
        return f"narrowed<{_HALVES[to]}>({exact}, {mode})"
    value = f"({to}){a}" if mode == "RN" else f"converted<{to}>({a}, {mode})"
    return f"sat({value})" if ins.has("sat") else value


def _to_integer(c: WrittenFunction, ins: Instruction, to: str, kind: str, a: str) -> str:
    mode = next((_TO_INTEGER[part] for part in ins.parts if part in _TO_INTEGER), None)
    if mode is None or mode == "RNA":
        raise c.unknown("no rounding to an integer")
    wide = str(kind == "f64" or to[1:] == "64").lower()
    return f"to_integer<{to}>({_double(ins, kind, a)}, {mode}, {wide})"


def _between(c: WrittenFunction, ins: Instruction, to: str, kind: str, a: str) -> str:
    integral = next((_TO_INTEGER[part] for part in ins.parts if part in _TO_INTEGER), None)
    mode = _mode(ins)
    narrows = to in _HALVES or (to == "f32" and kind == "f64")
    if integral == "RNA" or (narrows and to != kind and mode is None) or (mode == "RNA" and to not in _HALVES):
        raise c.unknown("no rounding")
    if to in _HALVES:
        return _narrowed(c, ins, to, kind, a, mode, integral)
    if ins.has("relu", "satfinite"):
        raise c.unknown(f"to {to}")
    if to == "f64":
        value = _double(ins, kind, a)
        value = f"integral({value}, {integral})" if integral else value
        return f"sat({value})" if ins.has("sat") else value
    if kind == "f64":
        value = f"(f32){a}" if mode == "RN" else f"converted<f32>({a}, {mode})"
    elif kind in _HALVES:
        value = f"(f32)widened<{_HALVES[kind]}>({a})"
    else:
        value = f"ftz({a})" if ins.has("ftz") else a
        value = f"integral({value}, {integral})" if integral else value
    value = f"canonical({value})"
    value = f"ftz({value})" if ins.has("ftz") else value
    return f"sat({value})" if ins.has("sat") else value


def _narrowed(
    c: WrittenFunction, ins: Instruction, to: str, kind: str, a: str, mode: str | None, integral: str | None
) -> str:
    form, value = _HALVES[to], _double(ins, kind, a)
    if integral:
        value, mode = f"integral({value}, {integral})", "RN"
    value = f"narrowed<{form}>({value}, {mode or 'RN'}, {str(ins.has('satfinite')).lower()})"
    for what in ("sat", "relu"):
        value = f"half_{what}<{form}>({value})" if ins.has(what) else value
    return value


def _two(c: WrittenFunction, ins: Instruction, to: str, kind: str) -> str:
    """The first source becomes the upper half."""
    if kind != "f32" or len(ins.operands) != 3:
        raise c.unknown()
    each = to.removesuffix("x2")
    high, low = (_narrowed(c, ins, each, kind, c.read(operand, kind), _mode(ins), None) for operand in ins.operands[1:])
    if _mode(ins) is None:
        raise c.unknown("no rounding")
    return c.write(ins.operands[0], "b32", f"(u32){low} | (u32){high} << 16")


def mov(c: WrittenFunction, ins: Instruction) -> str:
    """Also packs several registers into one, and unpacks one into several."""
    c.accept()
    kind, (to, source) = ins.parts[-1], ins.operands
    if isinstance(to, Vector):
        width = int(kind[1:]) // len(to.elements)
        code = [f"u{kind[1:]} w_ = {c.read(source, f'u{kind[1:]}')};"]
        code += [c.write(each, f"b{width}", f"(u{width})(w_ >> {width * k})") for k, each in enumerate(to.elements)]
        return f"{{ {' '.join(code)} }}"
    if isinstance(source, Vector):
        width = int(kind[1:]) // len(source.elements)
        wide = f"u{kind[1:]}"
        parts = [f"({wide}){c.read(each, f'u{width}')} << {width * k}" for k, each in enumerate(source.elements)]
        return c.write(to, f"b{kind[1:]}", f"({wide})({' | '.join(parts)})")
    if kind in ("f32", "f64") and isinstance(source, Immediate) and not source.float_bytes:
        source = Immediate(source.value, int(kind[1:]) // 8)
    return c.write(to, kind, c.read(source, kind))


def cvta(c: WrittenFunction, ins: Instruction) -> str:
    """Between an address in a space and a generic one; those of global and constant memory are the same."""
    window = next((number for part, number in (("shared", 1), ("local", 2), ("param", 3)) if ins.has(part)), None)
    if ins.parts[-1] not in ("u64", "b64", "s64"):
        raise c.unknown("addresses of 32 bits")
    address = c.read(ins.operands[1], "u64")
    if window is not None:
        address = f"({address} {'-' if ins.has('to') else '+'} ({window}ull << 48))"
    elif not ins.has("global", "const"):
        raise c.unknown()
    return c.write(ins.operands[0], "u64", address)


EMITTERS: dict[str, Emitter] = {"cvt": cvt, "mov": mov, "cvta": cvta}
