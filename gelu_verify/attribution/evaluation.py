"""Evaluate a form rounding by rounding, in any dtype: the value of every node at every input.

16-bit values are carried in float32. For + - * / that is the format's own arithmetic: float32 has 24 >= 2p + 2 bits
(p = 11 and 8), so rounding to float32 and then to the format equals rounding once (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from threading import local
from typing import Any

import mpmath
import numpy as np

from ..formats import Format, converted, get_format, numpy_dtype, values
from ..truth.values import reference_bits
from .expression import FormulaConstant, Node, nodes
from .operations import BLOCKS, OPERATIONS

Bits = np.ndarray
BlockCall = Callable[[Bits], Bits]  # bits of the working dtype in and out
CONSTANT_BITS = 320  # far beyond every significand: none of these numbers is a tie there
FLUSHING = ("inputs", "results", "inputs and results")  # of operations: where subnormal, taken as zero


@dataclass(frozen=True)
class Private:
    """A building block that an implementation computes by itself: a tree of its own x."""

    root: Node

    @classmethod
    def of(cls, build: Callable[[Node], Node]) -> Private:
        return cls(build(Node("x")))


@dataclass(frozen=True)
class Arithmetic:
    """How a form is evaluated.

    `working`: the dtype that every operation is rounded to. `blocks`: what stands for the correctly rounded building
    blocks. `stored`: decimals that stand for constants, by the constants' text; "float32" is its value in float32.
    `flush`: of FLUSHING, or nothing: which subnormals of the working dtype become zeros with their sign.
    """

    working: str
    blocks: Mapping[str, BlockCall | Private] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict)
    flush: str = ""


Values = dict[Node, np.ndarray]  # of each node, in the carrier of the working dtype


def carrier(fmt: Format) -> np.dtype:
    return np.dtype(np.float64 if fmt.width == 64 else np.float32)


def evaluate(root: Node, dtype: str, x_bits: Bits, arithmetic: Arithmetic) -> tuple[Bits, Values]:
    """Result bits in `dtype`, and the value of every node on the way."""
    fmt = get_format(arithmetic.working)
    found: Values = {}
    with np.errstate(all="ignore"):
        x = values(get_format(dtype), x_bits).astype(carrier(fmt))
        for node in nodes(root):
            found[node] = _value(node, found, x, fmt, arithmetic)
            if "results" in arithmetic.flush and node.arguments:
                found[node] = _flushed_result(node, found, fmt)
        return to_bits(get_format(dtype), found[root]), found


def flushed(fmt: Format, carried: np.ndarray, tiny: np.ndarray | None = None) -> np.ndarray:
    """Subnormals as zeros of their sign, or what is `tiny`."""
    small = np.abs(carried) < smallest_normal(fmt) if tiny is None else tiny
    return np.where(small, np.copysign(carried.dtype.type(0), carried), carried)


def smallest_normal(fmt: Format) -> float:
    """The smallest positive normal number."""
    return 2.0 ** (fmt.min_exponent + fmt.precision - 1)


def _flushed_result(node: Node, found: Values, fmt: Format) -> np.ndarray:
    """A product or quotient is also flushed where only its rounding to a subnormal's spacing made it normal."""
    value = found[node]
    if node.operation not in ("mul", "div"):
        return flushed(fmt, value)
    wide = np.float64 if value.dtype == np.float32 else np.longdouble
    exact = np.abs(OPERATIONS[node.operation].native(*(found[each].astype(wide) for each in node.arguments)))
    return flushed(fmt, value, exact < wide(smallest_normal(fmt)) * (1 - wide(2) ** -(fmt.precision + 1)))


def to_bits(fmt: Format, carried: np.ndarray) -> Bits:
    """Rounded once to a format that is not wider than the carrier."""
    if carried.dtype == np.float64 and fmt.name == "bfloat16":  # astype rounds twice, by way of float32
        return converted(get_format("float64"), np.ascontiguousarray(carried).view(np.uint64), fmt)
    with np.errstate(all="ignore"):
        return carried.astype(numpy_dtype(fmt.name)).view(fmt.uint)


def _value(node: Node, found: Values, x: np.ndarray, fmt: Format, arithmetic: Arithmetic) -> np.ndarray:
    if node.operation == "x":
        return x
    if node.constant is not None:
        bits = constant_bits(node.constant, fmt, arithmetic.stored.get(node.constant.text))
        return np.full(x.shape, values(fmt, np.array(bits, fmt.uint)).astype(carrier(fmt)))
    arguments = [found[each] for each in node.arguments]
    if "inputs" in arithmetic.flush:
        arguments = [flushed(fmt, each) for each in arguments]
    if node.operation in BLOCKS:
        return _block(node.operation, arguments[0], fmt, arithmetic)
    native = OPERATIONS[node.operation].native
    return rounded(fmt, native(fmt.precision, *arguments) if node.operation == "fma" else native(*arguments))


def rounded(fmt: Format, carried: np.ndarray) -> np.ndarray:
    """A carrier's result rounded to the format that it carries."""
    return carried if fmt.width >= 32 else carried.astype(numpy_dtype(fmt.name)).astype(carried.dtype)


def _block(name: str, argument: np.ndarray, fmt: Format, arithmetic: Arithmetic) -> np.ndarray:
    bits = to_bits(fmt, argument)
    call = arithmetic.blocks.get(name)
    if call is None:
        return values(fmt, np.asarray(reference_bits(name, fmt.name, bits))).astype(carrier(fmt))
    if isinstance(call, Private):
        outside = {k: v for k, v in arithmetic.blocks.items() if k != name}
        inside = Arithmetic(arithmetic.working, outside, flush=arithmetic.flush)
        return evaluate(call.root, arithmetic.working, bits, inside)[1][call.root]
    return values(fmt, call(bits)).astype(carrier(fmt))


class _Contexts(local):
    """An mpmath context for each thread: making one takes milliseconds."""

    def __init__(self) -> None:
        self.mp = mpmath.MPContext()


_contexts = _Contexts()


def precise(bits: int) -> Any:
    """This thread's mpmath context, set to that precision."""
    _contexts.mp.prec = bits
    return _contexts.mp


# ---- constants and exact values ------------------------------------------------------------------


@cache
def constant_bits(each: FormulaConstant, fmt: Format, stored: str | None = None) -> int:
    """A constant rounded once to a format, or what a library has in its place."""
    if stored is None:
        return fmt.round(_dyadic(each))
    if stored == "float32":
        single = get_format("float32")
        return fmt.round(single.dyadic(single.round(_dyadic(each))))
    return fmt.round(Fraction(stored))


@cache
def _dyadic(each: FormulaConstant) -> tuple[int, int]:
    mp = precise(CONSTANT_BITS)
    sign, mantissa, exponent, _ = each.exact(mp)._mpf_
    return (-int(mantissa) if sign else int(mantissa)), int(exponent)


@cache
def constant_error(each: FormulaConstant, fmt: Format, stored: str | None = None) -> float:
    """The constant as it is stored in a format, less the exact one."""
    value, (m, e) = fmt.fraction(constant_bits(each, fmt, stored)), _dyadic(each)
    return float(value - Fraction(m) * Fraction(2) ** e)


def exactly(root: Node, x: tuple[int, int], constants: Mapping[str, tuple[int, int]], mp: Any) -> Any:
    """The value at an exact x by exact operations; `constants`: dyadic numbers in their place, by text."""
    found: dict[Node, Any] = {}
    for node in nodes(root):
        if node.operation == "x":
            found[node] = mp.ldexp(x[0], x[1])
        elif node.constant is not None:
            number = constants.get(node.constant.text)
            found[node] = node.constant.exact(mp) if number is None else mp.ldexp(number[0], number[1])
        else:
            operation = BLOCKS.get(node.operation) or OPERATIONS[node.operation]
            found[node] = operation.exact(mp, *(found[each] for each in node.arguments))
    return found[root]
