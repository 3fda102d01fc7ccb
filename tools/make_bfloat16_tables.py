"""Generate src/tables/<function>_bf16.h: pieces of the bfloat16 kernels, chosen so that every input rounds as it must.

Run from the top of the checkout: python tools/make_bfloat16_tables.py [--check] [FUNCTION ...]     (needs python-flint)

v = t or v = t' of make_float64_tables.py, in 32 pieces of a = |x|, each a polynomial of degree 3 in a, evaluated in
float32: src/cr/bfloat16.h is the code. The coefficients near those of the Chebyshev expansion are tried, in an order
that a seed gives, until all inputs of the piece give the correctly rounded results of data/reference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from flint import ctx
from make_float64_tables import FOLDER, TERMS, VARIANTS, Variant, ball, fit, taylor, write

REFERENCE = FOLDER.parents[1] / "data" / "reference"
PIECES = 32
DEGREE = 3
SMALLEST = 0x0100  # input bits, 2^-125: x/2 is exact from there on
SHIFTER = 1.5 * 2.0**23
CANDIDATES = 2048  # in each round
ROUNDS = 200
WIDTHS = {  # beyond 31 of them results are looked up; of some that are wider, an input is wrong
    "gelu": Fraction(15, 64),
    "gelu_grad": Fraction(15, 64),
    "gelu_tanh": Fraction(13, 64),
    "gelu_tanh_grad": Fraction(7, 32),
    "gelu_sigmoid": Fraction(5, 16),
    "gelu_sigmoid_grad": Fraction(19, 64),
    "silu": Fraction(9, 16),
    "silu_grad": Fraction(15, 32),
}
Coefficients = np.ndarray  # of shape (4, candidates), doubles that are floats


def to_float(x: np.ndarray) -> np.ndarray:
    """Doubles rounded to float32. Of a product of floats plus a float this is fma, but for double rounding, which the
    tests would show (tests/truth/test_bfloat16_pieces.py)."""
    return x.astype(np.float32).astype(np.float64)


class Inputs(NamedTuple):
    """Inputs of a piece: |x|, max(x, 0), and the bits of the results."""

    a: np.ndarray
    leading: np.ndarray
    want: np.ndarray

    def some(self, which: np.ndarray) -> Inputs:
        return Inputs(self.a[which], self.leading[which], self.want[which])


def wrong(derivative: bool, c: Coefficients, inputs: Inputs) -> np.ndarray:
    """(candidates, inputs): where the result is another than it must be; the operations of src/cr/bfloat16.h."""
    c0, c1, c2, c3 = c[:, :, None]
    a = inputs.a
    p = to_float(to_float(c3 * a + c2) * a + c1)
    if derivative:
        v = to_float(p * a + c0)
        y = np.where(inputs.leading > 0, 1.0 - v, v)
    else:
        y = to_float(inputs.leading - c0) - p * a
    bits = (y.astype(np.float32).view(np.uint32) + np.uint32(0x8000)) >> 16
    return bits != inputs.want


def moved(coefficients: np.ndarray, centre: float) -> np.ndarray:
    """Of polynomials in h = a - centre those in a, rounded to floats."""
    out = np.zeros_like(coefficients)
    for j in range(DEGREE + 1):
        for i in range(j + 1):
            out[i] += coefficients[j] * (comb(j, i) * (-centre) ** (j - i))
    return to_float(out)


def search(derivative: bool, start: np.ndarray, fixed: int, centre: float, radius: float, inputs: Inputs) -> np.ndarray:
    """Coefficients in a, near `start` in h, that get all inputs right; the first `fixed` ones stay."""
    rng = np.random.Generator(np.random.PCG64(20261122))
    size = np.abs(start[0]) + np.abs(start[1]) * radius
    scale = size / radius ** np.arange(DEGREE + 1.0)
    tried = np.unique(np.linspace(0, len(inputs.a) - 1, 48).astype(int))  # inputs that candidates are tried on first
    best, least = start, len(inputs.a) + 1
    for _ in range(ROUNDS):
        amplitude = 2.0 ** -(6 + 18 * rng.random(CANDIDATES))
        noise = (2 * rng.random((DEGREE + 1, CANDIDATES)) - 1) * amplitude * scale[:, None]
        noise[:fixed] = 0
        noise[:, 0] = 0
        near = best[:, None] + noise
        c = moved(near, centre)
        failed = wrong(derivative, c, inputs.some(tried)).sum(axis=1)
        for k in np.argsort(failed, kind="stable")[:8]:
            if failed[k] >= least:
                break
            missed = np.flatnonzero(wrong(derivative, c[:, k : k + 1], inputs)[0])
            tried = np.union1d(tried, missed[:64])
            if len(missed) < least:
                best, least = near[:, k], len(missed)
            if not least:
                return c[:, k]
    raise ArithmeticError(f"{least} of {len(inputs.a)} inputs near {centre} are wrong")


def first_guess(variant: Variant, derivative: bool, index: int, width: Fraction) -> tuple[np.ndarray, int]:
    """Coefficients in h = a - index width, and how many of them must stay: t(0) = 0."""
    v = taylor(variant, derivative, ball(index * width))[:TERMS]
    if index or derivative:
        return np.array([float(c) for c in fit(v, DEGREE, width / 2)]), 0
    return np.array([0.0, *(float(c) for c in fit(v[1:], DEGREE - 1, width / 2))]), 1


def covered(last: float) -> np.ndarray:
    """The bits of the inputs that the kernel evaluates: from 2^-125 on, of the negative ones down to -last."""
    bits = np.arange(SMALLEST, 0x7F81, dtype=np.uint32)
    return np.concatenate([bits, 0x8000 | bits[: limit(last) - SMALLEST + 1]])


def limit(last: float) -> int:
    """The bits of the largest bfloat16 that is not above `last`."""
    return int(np.float32(last).view(np.uint32) >> 16)


def all_pieces(variant: Variant, derivative: bool, width: Fraction) -> np.ndarray:
    """Columns c0, c1, c2, c3."""
    name = variant.name + ("_grad" if derivative else "")
    last, inverse = float((PIECES - 1) * width), float(np.float32(1 / width))
    bits = covered(last)
    x = (bits << np.uint32(16)).view(np.float32).astype(np.float64)
    a = np.minimum(np.abs(x), last)
    place = (to_float(a * inverse + SHIFTER) - SHIFTER).astype(int)
    want = np.load(REFERENCE / name / "bfloat16.npy")[bits]
    every = Inputs(a, np.maximum(x, 0.0), want)
    columns = []
    for index in range(PIECES):
        start, fixed = first_guess(variant, derivative, index, width)
        inputs = every.some(place == index)
        columns.append(search(derivative, start, fixed, float(index * width), float(width / 2), inputs))
    return np.array(columns).T


def number(x: float) -> str:
    head, tail = float(x).hex().split("p")
    return f"{head.rstrip('0').rstrip('.')}p{tail}f" if x else "0.0f"


def render(variant: Variant, derivative: bool) -> str:
    ctx.prec = 200
    name = variant.name + ("_grad" if derivative else "")
    width = WIDTHS[name]
    last = (PIECES - 1) * width
    guard = f"GV_TABLES_{name.upper()}_BF16_H"
    lines = ["/* Generated by tools/make_bfloat16_tables.py; do not edit. */", f"#ifndef {guard}", f"#define {guard}"]
    lines += ['#include "../cr/bfloat16_tables.h"', ""]
    lines += [f"/* {'t' + chr(39) if derivative else 't'}(a), a near i {width} */"]
    lines += [f"static const gv_bf16_table gv_{name}_bf16_table = {{", "    {"]
    lines += ["        {" + ", ".join(map(number, column)) + "}," for column in all_pieces(variant, derivative, width)]
    lines += ["    },", f"    {number(np.float32(1 / width))}, {number(float(last))}, {limit(float(last)):#06x}", "};"]
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    wanted = [argument for argument in arguments if argument != "--check"] or list(WIDTHS)
    cases: dict[str, Callable[[], str]] = {}
    for variant in VARIANTS:
        for derivative in (False, True):
            name = variant.name + ("_grad" if derivative else "")
            cases[name] = lambda variant=variant, derivative=derivative: render(variant, derivative)
    return write(((f"{name}_bf16.h", cases[name]()) for name in wanted), arguments, "make_bfloat16_tables.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
