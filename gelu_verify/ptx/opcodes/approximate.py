"""Opcodes whose bits PTX does not specify: refused, or anywhere within their documented bound (`approximate.h`)."""

from __future__ import annotations

from ..emit import Emitter, WrittenFunction
from ..ir import Instruction
from .floating import operands

BOUNDS = {  # what approximate.h keeps to, by opcode and type
    ("ex2", "f32"): "2 ulp, exact at whole numbers but -127 as measured on an H100",
    **{("rcp", "f32"): "1 ulp", ("div", "f32"): "2 ulp", ("tanh", "f32"): "2^-11 relative"},
    **{("sqrt", "f32"): "2^-23 relative", ("rsqrt", "f32"): "2^-22.9 relative"},
    ("lg2", "f32"): "2^-22 relative or absolute",
    **dict.fromkeys(
        (("sin", "f32"), ("cos", "f32")),
        "2^-20.4 absolute to 2 pi as assumed, 2^-14.7 to 100 pi, beyond in [-1, 1] as assumed",
    ),
    **dict.fromkeys((("rcp", "f64"), ("rsqrt", "f64")), "2^-19 relative as assumed"),
    **{("ex2", "f16"): "2^-9.9 relative, subnormal 2^-24 absolute as assumed", ("ex2", "bf16"): "2^-7 relative"},
    **{("tanh", "f16"): "2^-10.987 absolute", ("tanh", "bf16"): "2^-7.9999 absolute as measured on an H100"},
}
BOUNDED = ("ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh", "div")


def approximate(c: WrittenFunction, ins: Instruction) -> str:
    c.accept("approx", "full", "ftz")
    kind, name = ins.parts[-1], f"{ins.parts[0]}_{'full' if ins.has('full') else 'approx'}"
    c.approximates()
    if kind.removesuffix("x2") in ("f16", "bf16"):
        return _half(c, ins)
    if (ins.parts[0], kind) not in BOUNDS or (kind == "f64" and not ins.has("ftz")):
        raise c.unknown("PTX bounds no error of it")
    given = operands(c, ins, kind)
    which = f"chosen(e.approximations, {', '.join(f'bits<u{kind[1:]}>({each})' for each in given)})"
    if kind == "f64":
        return c.write(ins.operands[0], kind, f"{name}_ftz({given[0]}, {which})")
    value = f"canonical({name}({', '.join(given)}, {which}))"
    return c.write(ins.operands[0], kind, f"ftz({value})" if ins.has("ftz") else value)


def bound_of(opcode: str) -> str:
    """How far from the exact value an approximation may be."""
    parts = opcode.split(".")
    return BOUNDS[parts[0], parts[-1].removesuffix("x2")]


def _half(c: WrittenFunction, ins: Instruction) -> str:
    kind, name = ins.parts[-1].removesuffix("x2"), ins.parts[0]
    if (name, kind) not in BOUNDS:
        raise c.unknown("PTX bounds no error of it")
    form, word = f"{kind}_format", "b32" if ins.parts[-1].endswith("x2") else "b16"
    flush = f"half_ftz<{form}>" if ins.has("ftz") else ""
    value = f"{name}_half<{form}>({flush}(x), chosen(e.approximations, x))"
    body = f"[&e](u16 x) -> u16 {{ return {flush}({value}); }}"
    given = c.read(ins.operands[1], word)
    call = f"each_half({given}, f_)" if word == "b32" else f"f_({given})"
    return f"{{ auto f_ = {body}; {c.write(ins.operands[0], word, call)} }}"


EMITTERS: dict[str, Emitter] = dict.fromkeys(BOUNDED, approximate)
