"""float16 and bfloat16, one number or two in a register: every operation rounded once, to nearest even."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction
from ..ir import Instruction, TwoResults
from .integer import _HOW, combined, comparison


def _format(kind: str) -> tuple[str, int]:
    """The C++ format, and how many numbers are in a register."""
    return ("bf16_format" if kind.startswith("b") else "f16_format"), (2 if kind.endswith("x2") else 1)


def _each(c: WrittenFunction, ins: Instruction, body: str, values: int) -> str:
    """`body`, of x, y and z, for each number in the registers."""
    form, count = _format(ins.parts[-1])
    kind = "b32" if count == 2 else "b16"
    names = "xyz"[:values]
    given = [c.read(operand, kind) for operand in ins.operands[1 : 1 + values]]
    flushed = "".join(f"{name} = half_ftz<F>({name}); " for name in names) if ins.has("ftz") else ""
    ending = "".join(f"v = half_{what}<F>(v); " for what in ("ftz", "sat", "relu") if ins.has(what))
    lambda_ = (
        f"[]({', '.join(f'u16 {name}' for name in names)}) -> u16 {{ {flushed}u16 v = {body}; {ending}return v; }}"
    )
    call = f"each_half({', '.join(given)}, f_)" if count == 2 else f"f_({', '.join(given)})"
    return f"{{ typedef {form} F; auto f_ = {lambda_}; {c.write(ins.operands[0], kind, call)} }}"


def rounded(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("rn", "ftz", "sat")
    return _each(c, ins, f"half_{ins.parts[0]}<F>(x, y)", 2)


def fma(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("rn", "ftz", "sat", "relu")
    return _each(c, ins, "half_fma<F>(x, y, z)", 3)


def signed(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("ftz")
    return _each(c, ins, "(u16)(x ^ 0x8000)" if ins.parts[0] == "neg" else "(u16)(x & 0x7fff)", 1)


def extreme(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("ftz", "NaN")
    least, nans = (str(each).lower() for each in (ins.parts[0] == "min", ins.has("NaN")))
    return _each(c, ins, f"half_extreme<F>(x, y, {least}, {nans})", 2)


def _wide(kind: str, value: str) -> str:
    return f"widened<{_format(kind)[0]}>({value})"


def setp(c: WrittenFunction, ins: Instruction) -> str:
    c.accept(*_HOW, "and", "or", "xor", "ftz")
    kind = ins.parts[-1]
    form, count = _format(kind)
    flush = f"half_ftz<{form}>" if ins.has("ftz") else ""
    a, b = (c.read(operand, "b32" if count == 2 else "b16") for operand in ins.operands[1:3])
    result = ins.operands[0]
    first, second = (result.first, result.second) if isinstance(result, TwoResults) else (result, None)
    code = []
    for index in range(count):
        low, other = (f"{flush}((u16)({each} >> {16 * index}))" for each in (a, b))
        code.append(f"f64 a{index}_ = {_wide(kind, low)}, b{index}_ = {_wide(kind, other)};")
        found, opposite = combined(c, ins, comparison(c, ins.parts[1], "f64", f"a{index}_", f"b{index}_"))
        code.append(f"bool p{index}_ = {found}, o{index}_ = {opposite}; (void)o{index}_;")
    code.append(c.write(first, "pred", "p0_"))
    if second is not None:
        code.append(c.write(second, "pred", "p1_" if count == 2 else "o0_"))
    return f"{{ {' '.join(code)} }}"


def set_(c: WrittenFunction, ins: Instruction) -> str:
    c.accept(*_HOW, "ftz")
    to, kind = ins.parts[-2:]
    form, count = _format(kind)
    if ins.has("ftz"):
        raise c.unknown(".ftz")
    word = "b32" if count == 2 else "b16"
    a, b = (c.read(operand, word) for operand in ins.operands[1:3])
    test = comparison(c, ins.parts[1], "f64", "a_", "b_")
    if to in ("f16", "bf16", "f16x2", "bf16x2"):
        true, wide = f"narrowed<{form}>(1.0)", "u16"
    elif count == 2:
        true, wide = "(u16)0xffff", "u16"
    else:
        to_c = "u32" if to.endswith("32") else "u16"
        true, wide = f"({to_c})~0u", to_c
    values = f"f64 a_ = widened<{form}>(x), b_ = widened<{form}>(y);"
    body = f"[](u16 x, u16 y) -> {wide} {{ {values} return {test} ? {true} : ({wide})0; }}"
    call = f"each_half({a}, {b}, f_)" if count == 2 else f"f_({a}, {b})"
    result = "b32" if count == 2 or wide == "u32" else "b16"
    return f"{{ auto f_ = {body}; {c.write(ins.operands[0], result, call)} }}"


EMITTERS: dict[str, Emitter] = {
    **dict.fromkeys(("add", "sub", "mul"), rounded),
    "fma": fma,
    **dict.fromkeys(("neg", "abs"), signed),
    **dict.fromkeys(("min", "max"), extreme),
    "setp": setp,
    "set": set_,
}
