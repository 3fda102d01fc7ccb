"""GELU in integers: tables and polynomials over every 16-bit fixed-point input, compared with the exact function.

Inputs and outputs are Q4.12: k/4096 for -32768 <= k < 32768. Every step is exact in integers, or in doubles that hold
it, so that the errors are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from gelu_verify.truth.values import reference

FRACTION = 12  # bits after the point
UNIT = 2.0**-FRACTION
REACH = 8  # |x| <= 8
SIZES = tuple(1 << k for k in range(4, 13))  # entries of a table

Method = Callable[[np.ndarray, int], np.ndarray]


@cache
def inputs() -> np.ndarray:
    """Every input, as an integer."""
    return np.arange(-(REACH << FRACTION), REACH << FRACTION)


@cache
def exact() -> np.ndarray:
    """gelu of every input, in units of the output; correctly rounded to a double."""
    return np.asarray(reference("gelu", inputs() * UNIT)) / UNIT


def _tail(t: np.ndarray) -> np.ndarray:
    """t Q(t) = relu(t) - gelu(t) = -gelu(-t), for t >= 0: small, and the same on both sides."""
    return -np.asarray(reference("gelu", -np.asarray(t, np.float64)))


def whole(k: np.ndarray, size: int, between: bool) -> np.ndarray:
    """Table of gelu over the whole range: the nearest entry, or a line between two, rounded once."""
    step = (2 * REACH << FRACTION) // size
    entries = _rounded(reference("gelu", np.arange(size + 1) * step * UNIT - REACH) / UNIT)
    return _interpolated(entries, k + (REACH << FRACTION), step, between)


def symmetric(k: np.ndarray, size: int, between: bool, guard: int = 0) -> np.ndarray:
    """relu(x) - d(|x|): a table of as many entries holds d on one side alone, each with some more bits."""
    step = (REACH << FRACTION) // size
    entries = _rounded(_tail(np.arange(size + 2) * step * UNIT) / UNIT * 2**guard)
    found = _interpolated(entries, np.abs(k), step, between)
    return np.maximum(k, 0) - ((found + (1 << guard >> 1)) >> guard)


METHODS: dict[str, Method] = {
    "gelu, nearest entry": partial(whole, between=False),
    "gelu, linear": partial(whole, between=True),
    "d, nearest entry": partial(symmetric, between=False),
    "d, linear, 4 more bits": partial(symmetric, between=True, guard=4),
}


def _rounded(y: np.ndarray) -> np.ndarray:
    return np.rint(y).astype(np.int64)


def _interpolated(entries: np.ndarray, offset: np.ndarray, step: int, between: bool) -> np.ndarray:
    if not between:
        return entries[(offset + step // 2) // step]
    place, rest = offset // step, offset % step
    return entries[place] + ((entries[place + 1] - entries[place]) * rest + step // 2) // step


@cache
def largest(method: str, size: int) -> float:
    """The largest error over all inputs, in units of the output."""
    return float(np.abs(METHODS[method](inputs(), size) - exact()).max())


# ---- formulas that hardware computes in place of GELU --------------------------------------------


@dataclass(frozen=True)
class Form:
    """An approximation in real arithmetic, and how it reads."""

    name: str
    text: str
    value: Callable[[np.ndarray], np.ndarray]


IBERT = (-0.2888, -1.769)
KNOTS = (0, 0.5, 1, 1.5, 2, 3, 8)


def ibert(x: np.ndarray) -> np.ndarray:
    """Kim et al., I-BERT, arXiv 2101.01321."""
    a, b = IBERT
    t = x * 0.7071067811865476
    return np.asarray(x * 0.5 * (1 + np.sign(t) * (a * (np.minimum(np.abs(t), -b) + b) ** 2 + 1)))


def six_lines(x: np.ndarray) -> np.ndarray:
    """x/2 + g(|x|) with g = gelu - x/2, which is even."""
    knots = np.array(KNOTS, np.float64)
    return np.asarray(x / 2 + np.interp(np.abs(x), knots, reference("gelu", knots) - knots / 2))


def hard_sigmoid(x: np.ndarray) -> np.ndarray:
    """The sigmoid form as hard swish has it."""
    return np.asarray(x * np.clip(1.702 * x / 6 + 0.5, 0, 1))


FORMS = (
    Form("tanh form", "", partial(reference, "gelu_tanh")),
    Form("sigmoid form", "", partial(reference, "gelu_sigmoid")),
    Form(
        "I-BERT",
        "x/2 (1 + L(x/√2)), L(t) = sign(t) (a (min(abs(t), -b) + b)² + 1), a = {}, b = {} (arXiv 2101.01321)".format(
            *IBERT
        ),
        ibert,
    ),
    Form("six lines", f"x/2 + lines in abs(x), exact at {', '.join(f'{at:g}' for at in KNOTS)}", six_lines),
    Form("hard sigmoid", "x clip(1.702 x/6 + 1/2, 0, 1)", hard_sigmoid),
)


def errors() -> Iterator[tuple[Form, np.ndarray]]:
    """f(x) - gelu(x) of each form at every input."""
    x = inputs() * UNIT
    yield from ((form, np.asarray(form.value(x) - exact() * UNIT)) for form in FORMS)


def eight_bits(form: Form) -> int:
    """At how many of the 256 inputs k/16 the form, rounded to sixteenths, gives another integer than gelu."""
    x = np.arange(-128, 128) / 16
    return int((np.rint(form.value(x) * 16) != np.rint(reference("gelu", x) * 16)).sum())
