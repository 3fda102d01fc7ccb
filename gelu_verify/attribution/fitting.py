"""What a constant must be for the results to be what they are: the shortest decimals near the value that fits best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..formats import converted, get_format, is_finite
from .evaluation import Private, constant_bits
from .expression import FormulaConstant, constants
from .ladder import Model

STEP = 2.0**-12  # of a finite difference, relative
ROUNDS = 3
DIGITS = range(1, 13)
FROM = -1.0  # x: below, what cancels is more than what a constant does
FURTHEST = 0.25  # what is further off is no misprint of the constant
LEAST = 1e-9  # relative: less is the rounding of the constant itself


def fitted(model: Model, dtype: str, x_bits: np.ndarray, measured: np.ndarray) -> Iterator[tuple[str, str]]:
    """(text of a constant, decimal that fits the results) in order of their digits, for each constant by itself."""
    double = get_format("float64")
    exact = replace(
        model, working="float64", blocks={name: b for name, b in model.blocks.items() if isinstance(b.call, Private)}
    )
    x, got = (converted(get_format(dtype), bits, double) for bits in (x_bits, measured))
    usable = is_finite(double, got) & (x.view(np.float64) > FROM)
    if not usable.any():
        return
    x, got = np.ascontiguousarray(x[usable]), got[usable].view(np.float64)
    for each in constants(model.form.root):
        value = _fit(exact, each, x, got)
        true = double.fraction(constant_bits(each, double))
        off = abs(value / float(true) - 1) if value else np.inf
        if LEAST < off < FURTHEST:
            yield from ((each.text, text) for text in dict.fromkeys(f"{value:.{digits}g}" for digits in DIGITS)
                        if abs(float(text) / value - 1) < 2 * off)  # fmt: skip


def _fit(model: Model, each: FormulaConstant, x: np.ndarray, got: np.ndarray) -> float:
    """The value of one constant for which half of the results lie above and half below, weighed by what it does."""
    double = get_format("float64")
    value = float(double.fraction(constant_bits(each, double, model.stored.get(each.text))))
    for _ in range(ROUNDS):
        here, beside = (
            replace(model, stored={**model.stored, each.text: repr(v)}).bits("float64", x).view(np.float64)
            for v in (value, value * (1 + STEP))
        )
        with np.errstate(all="ignore"):
            slope = (beside - here) / (value * STEP)
            change, weight = (got - here) / slope, np.abs(slope / here)
        usable = np.isfinite(change) & np.isfinite(weight) & (weight > 0)
        if not usable.any():
            return value
        order = np.argsort(change[usable])
        total = np.cumsum(weight[usable][order])
        value += float(change[usable][order][np.searchsorted(total, total[-1] / 2)])
        if not np.isfinite(value) or value == 0:
            return 0.0
    return value
