"""float32 and float64: IEEE 754, with the rounding, flushing and saturation that the instruction names."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction
from ..ir import Instruction

_ROUNDED = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def finished(c: WrittenFunction, kind: str, value: str) -> str:
    """With a canonical NaN in float32, flushed and limited to [0, 1] where the instruction says so."""
    if kind == "f32":
        value = f"canonical({value})"
        value = f"ftz({value})" if c.ins.has("ftz") else value
    return f"sat({value})" if c.ins.has("sat") else value


def operands(c: WrittenFunction, ins: Instruction, kind: str) -> list[str]:
    values = [c.read(operand, kind) for operand in ins.operands[1:]]
    return [f"ftz({value})" for value in values] if ins.has("ftz") and kind == "f32" else values


def _accept(c: WrittenFunction) -> str:
    c.accept("rn", "rz", "rm", "rp", "ftz", "sat")
    if len([part for part in c.ins.parts if part in ("f32", "f64")]) > 1:
        raise c.unknown("operands of two types")
    return c.ins.parts[-1]


def rounded(c: WrittenFunction, ins: Instruction) -> str:
    kind, name, mode = _accept(c), ins.parts[0], c.rounding()
    if name == "div" and not ins.has("rn", "rz", "rm", "rp"):
        raise c.unknown("no rounding")
    a, b = operands(c, ins, kind)
    if mode == "RN":
        value = f"{a} {_ROUNDED[name]} {b}"
    elif name == "sub":
        value = f"add_rounded<{kind}>({a}, -({b}), {mode})"
    else:
        value = f"{name}_rounded<{kind}>({a}, {b}, {mode})"
    return c.write(ins.operands[0], kind, finished(c, kind, value))


def fma(c: WrittenFunction, ins: Instruction) -> str:
    kind, mode = _accept(c), c.rounding()
    if not ins.has("rn", "rz", "rm", "rp"):
        raise c.unknown("no rounding")
    a, b, third = operands(c, ins, kind)
    value = f"fma_of({a}, {b}, {third})" if mode == "RN" else f"fma_rounded<{kind}>({a}, {b}, {third}, {mode})"
    return c.write(ins.operands[0], kind, finished(c, kind, value))


def root(c: WrittenFunction, ins: Instruction) -> str:
    kind, name, mode = _accept(c), ins.parts[0], c.rounding()
    if not ins.has("rn", "rz", "rm", "rp"):
        raise c.unknown("no rounding")
    (a,) = operands(c, ins, kind)
    if name == "sqrt":
        value = f"sqrt_of({a})" if mode == "RN" else f"sqrt_rounded<{kind}>({a}, {mode})"
    else:
        value = f"({kind})1 / {a}" if mode == "RN" else f"div_rounded<{kind}>(({kind})1, {a}, {mode})"
    return c.write(ins.operands[0], kind, finished(c, kind, value))


def signed(c: WrittenFunction, ins: Instruction) -> str:
    """neg and abs change the sign bit alone, of a NaN too."""
    c.accept("ftz")
    kind = ins.parts[-1]
    (a,) = operands(c, ins, kind)
    value = f"-{a}" if ins.parts[0] == "neg" else f"__builtin_fabs{'f' if kind == 'f32' else ''}({a})"
    return c.write(ins.operands[0], kind, value)


def copysign(c: WrittenFunction, ins: Instruction) -> str:
    """The sign of the first, the magnitude of the second."""
    c.accept()
    kind = ins.parts[-1]
    a, b = (c.read(operand, kind) for operand in ins.operands[1:3])
    return c.write(ins.operands[0], kind, f"__builtin_copysign{'f' if kind == 'f32' else ''}({b}, {a})")


def extreme(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("ftz", "NaN")
    kind = ins.parts[-1]
    values = operands(c, ins, kind)
    flags = f"{str(ins.parts[0] == 'min').lower()}, {str(ins.has('NaN')).lower()}"
    value = f"extreme<{kind}>({values[0]}, {values[1]}, {flags})"
    if len(values) == 3:
        value = f"extreme<{kind}>({value}, {values[2]}, {flags})"
    return c.write(ins.operands[0], kind, value)


def testp(c: WrittenFunction, ins: Instruction) -> str:
    kind = ins.parts[-1]
    value = c.read(ins.operands[1], kind)
    tests = {
        "finite": f"__builtin_isfinite({value})",
        "infinite": f"__builtin_isinf({value})",
        "number": f"{value} == {value}",
        "notanumber": f"{value} != {value}",
        "normal": f"__builtin_isnormal({value})",
        "subnormal": f"({value} != 0 && __builtin_isfinite({value}) && !__builtin_isnormal({value}))",
    }
    if ins.parts[1] not in tests:
        raise c.unknown()
    return c.write(ins.operands[0], "pred", f"(bool)({tests[ins.parts[1]]})")


EMITTERS: dict[str, Emitter] = {
    **dict.fromkeys(("add", "sub", "mul", "div"), rounded),
    **dict.fromkeys(("fma", "mad"), fma),
    **dict.fromkeys(("sqrt", "rcp"), root),
    **dict.fromkeys(("neg", "abs"), signed),
    **dict.fromkeys(("min", "max"), extreme),
    "copysign": copysign,
    "testp": testp,
}
