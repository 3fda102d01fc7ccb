"""Programs of PTX with many instructions, each on all inputs; and what they must give, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np

from gelu_verify.ptx.executor import LoadedModule
from gelu_verify.ptx.memory import AddressedMemory

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
SLOT = 8  # bytes of each number in memory


@dataclass(frozen=True)
class Format:
    precision: int
    emin: int
    width: int
    nan: int

    @property
    def infinity(self) -> int:
        return (1 << (self.width - 1)) - (1 << (self.precision - 1))

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)


FORMATS = {
    "f16": Format(11, -14, 16, 0x7FFF),
    "bf16": Format(8, -126, 16, 0x7FFF),
    "f32": Format(24, -126, 32, 0x7FFFFFFF),
    "f64": Format(53, -1022, 64, 0x7FF8000000000000),
}
NAN, INF = "nan", "inf"
Value = Fraction | str  # "nan", "inf", "-inf", "-0", or an exact number


def value_of(bits: int, kind: str) -> Value:
    fmt = FORMATS[kind]
    magnitude, negative = bits & (fmt.sign - 1), bool(bits & fmt.sign)
    if magnitude > fmt.infinity:
        return NAN
    if magnitude == fmt.infinity:
        return "-inf" if negative else INF
    if not magnitude:
        return "-0" if negative else Fraction(0)
    exponent, fraction = divmod(magnitude, 1 << (fmt.precision - 1))
    significand = fraction + ((1 << (fmt.precision - 1)) if exponent else 0)
    exact = Fraction(significand) * Fraction(2) ** (max(exponent, 1) - 1 + fmt.emin - fmt.precision + 1)
    return -exact if negative else exact


def bits_of(value: Value, kind: str, mode: str = "rn") -> int:
    """The exact value rounded once."""
    fmt = FORMATS[kind]
    if value == NAN:
        return fmt.nan
    if value in (INF, "-inf"):
        return fmt.infinity | (fmt.sign if value == "-inf" else 0)
    if value == "-0":
        return fmt.sign
    assert isinstance(value, Fraction)
    negative, magnitude = value < 0, abs(value)
    if not magnitude:
        return 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    quantum = max(exponent, fmt.emin) - fmt.precision + 1
    scaled = magnitude / Fraction(2) ** quantum
    whole, rest = scaled.numerator // scaled.denominator, scaled - scaled.numerator // scaled.denominator
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "rna": rest >= Fraction(1, 2),
        "rz": False,
        "rm": negative and rest > 0,
        "rp": not negative and rest > 0,
    }[mode]
    bits = whole + up + ((quantum - fmt.emin + fmt.precision - 1) << (fmt.precision - 1))
    if bits >= fmt.infinity:
        stays = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        bits = fmt.infinity - 1 if stays else fmt.infinity
    return bits | (fmt.sign if negative else 0)


def number(value: Value | int) -> Fraction:
    """What is not infinite and not NaN."""
    return Fraction(0) if value == "-0" else Fraction(value)


def is_negative(value: Value) -> bool:
    return value in ("-0", "-inf") or (isinstance(value, Fraction) and value < 0)


def added(a: Value, b: Value, mode: str = "rn") -> Value:
    if NAN in (a, b) or {a, b} == {INF, "-inf"}:
        return NAN
    if any(each in (INF, "-inf") for each in (a, b)):
        return a if a in (INF, "-inf") else b
    exact = number(a) + number(b)
    if exact:
        return exact
    both = is_negative(a) and is_negative(b)
    differ = is_negative(a) != is_negative(b) or (number(a) != 0)
    return "-0" if (both and not number(a)) or (differ and mode == "rm") else Fraction(0)


def multiplied(a: Value, b: Value) -> Value:
    negative = is_negative(a) != is_negative(b)
    infinite = [each in (INF, "-inf") for each in (a, b)]
    zero = [each == "-0" or each == 0 for each in (a, b)]
    if NAN in (a, b) or (any(infinite) and any(zero)):
        return NAN
    if any(infinite):
        return "-inf" if negative else INF
    exact = number(a) * number(b)
    return exact if exact else ("-0" if negative else Fraction(0))


def divided(a: Value, b: Value) -> Value:
    negative = is_negative(a) != is_negative(b)
    infinite, zero = [each in (INF, "-inf") for each in (a, b)], [each == "-0" or each == 0 for each in (a, b)]
    if NAN in (a, b) or all(infinite) or all(zero):
        return NAN
    if infinite[0] or zero[1]:
        return "-inf" if negative else INF
    if infinite[1] or zero[0]:
        return "-0" if negative else Fraction(0)
    return number(a) / number(b)


def square_root(a: Value) -> Value:
    """To 200 bits, the last one of which is set where that is inexact."""
    if a in (NAN, INF, "-0") or a == 0:
        return a
    if is_negative(a):
        return NAN
    scaled = number(a) * Fraction(2) ** 2400
    root = isqrt(scaled.numerator // scaled.denominator)
    exact = root * root == scaled
    return Fraction(2 * root + (not exact), 2) / Fraction(2) ** 1200


@dataclass(frozen=True)
class Case:
    """An instruction with {d}, {a}, {b}, {c}; types of its operands and its result; the bits that it must give."""

    text: str
    kinds: tuple[str, ...]
    result: str
    want: Callable[..., int]


WORDS = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}


def register_of(kind: str) -> str:
    kind = WORDS.get(kind, kind)
    return {"u8": "u16", "s8": "s16", "b8": "b16"}.get(kind, kind)


def loaded_as(kind: str) -> str:
    return WORDS.get(kind, kind)


def program(cases: Sequence[Case], inputs: dict[str, int], n: int) -> str:
    """A kernel that stores each case's result of element i at result k*n + i; `inputs`: each type's place in memory."""
    lines = [HEAD, ".visible .entry opcodes(.param .u64 p_in, .param .u64 p_out, .param .u32 p_n)\n{"]
    lines += [".reg .pred %past; .reg .b32 %i, %n, %t, %u, %v; .reg .b64 %in, %out, %o;"]
    lines += ["mov.u32 %t, %tid.x; mov.u32 %u, %ctaid.x; mov.u32 %v, %ntid.x; mad.lo.s32 %i, %u, %v, %t;"]
    lines += ["ld.param.u32 %n, [p_n]; setp.ge.u32 %past, %i, %n; @%past bra DONE;"]
    lines += ["ld.param.u64 %in, [p_in]; ld.param.u64 %out, [p_out]; mul.wide.u32 %o, %i, 8;"]
    lines += ["add.s64 %in, %in, %o; add.s64 %out, %out, %o;"]
    for k, case in enumerate(cases):
        registers = " ".join(
            f".reg .{register_of(kind)} {name};" for name, kind in zip("abc", case.kinds, strict=False)
        )
        loads = "".join(
            f"ld.global.{loaded_as(kind)} {name}, [%in+{SLOT * n * (3 * inputs[kind] + index)}]; "
            for index, (name, kind) in enumerate(zip("abc", case.kinds, strict=False))
        )
        to = f".reg .{register_of(case.result)} d;" if case.result != "pred" else ".reg .pred p; .reg .u32 d;"
        names = {"d": "p" if case.result == "pred" else "d", "a": "a", "b": "b", "c": "c"}
        end = "selp.u32 d, 1, 0, p; " if case.result == "pred" else ""
        stored = "u32" if case.result == "pred" else loaded_as(case.result)
        text = case.text.format(**names)
        lines.append(f"{{ {to} {registers} {loads}{text}; {end}st.global.{stored} [%out+{SLOT * n * k}], d; }}")
    return "\n".join([*lines, "DONE:", "ret;", "}"])


def results(cases: Sequence[Case], values: dict[str, Sequence[Sequence[int]]], execution: str = "") -> np.ndarray:
    """What each case gives for each element; `values`: for each type three lists of bits."""
    n = len(next(iter(values.values()))[0])
    inputs = {kind: index for index, kind in enumerate(values)}
    memory = AddressedMemory()
    module = LoadedModule(program(cases, inputs, n), memory)
    x = np.array([list(column) for lists in values.values() for column in lists], np.uint64)
    source, to = memory.alloc(x.nbytes), memory.alloc(SLOT * n * len(cases))
    memory.write(source, x)
    memory.fill(to, 0, SLOT * n * len(cases))
    parameters = source.to_bytes(8, "little") + to.to_bytes(8, "little") + n.to_bytes(4, "little")
    module.kernel("opcodes").launch((-(-n // 64), 1, 1), (64, 1, 1), parameters, execution=execution)
    y = np.empty(n * len(cases), np.uint64)
    memory.read(to, y)
    memory.close()
    return y.reshape(len(cases), n)
