"""Writes src/enclosure/tables.h: polynomials through Chebyshev nodes, coefficients rounded to double.

Usage: python tools/make_enclosure_tables.py [--check]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
from mpmath import mp, mpf

PATH = Path(__file__).parents[1] / "src" / "enclosure" / "tables.h"
NEAR_LIMIT = mpf("4.5")
MILLS_END = mpf(15)

mp.prec = 300
Real = Callable[[mpf], mpf]


def half_erf(z: mpf) -> mpf:
    """H(z) = (Phi(x) - 1/2)/x, z = x^2; below 2^-400 its limit."""
    return mpmath.erf(mpmath.sqrt(z / 2)) / (2 * mpmath.sqrt(z)) if z > mpf(2) ** -400 else 1 / mpmath.sqrt(2 * mp.pi)


def half_erf_grad(z: mpf) -> mpf:
    """(gelu'(x) - 1/2)/x, z = x^2."""
    return half_erf(z) + mpmath.npdf(mpmath.sqrt(z))


def scaled_mills(u: mpf) -> mpf:
    """Q(a)/(phi(a) sqrt(2 pi)), u = (a - 4)/(a + 4)."""
    a = 4 * (1 + u) / (1 - u)
    return mpmath.erfc(a / mpmath.sqrt(2)) / 2 / mpmath.exp(-a * a / 2)


def through_nodes(f: Real, low: mpf, high: mpf, degree: int) -> list[float]:
    """Coefficients, lowest first, of the polynomial that meets f at the Chebyshev nodes of [low, high]."""
    middle, half, count = (low + high) / 2, (high - low) / 2, degree + 1
    nodes = [middle + half * mpmath.cospi(mpf(2 * k + 1) / (2 * count)) for k in range(count)]
    divided = [f(x) for x in nodes]
    for level in range(1, count):  # Newton's divided differences
        for k in range(count - 1, level - 1, -1):
            divided[k] = (divided[k] - divided[k - 1]) / (nodes[k] - nodes[k - level])
    coefficients = [mpf(0)] * count
    for k in range(count - 1, -1, -1):
        shifted = [mpf(0), *coefficients[:-1]]
        coefficients = [s - nodes[k] * c for s, c in zip(shifted, coefficients, strict=True)]
        coefficients[0] += divided[k]
    return [float(c) for c in coefficients]


def array(name: str, comment: str, coefficients: Sequence[float]) -> str:
    rows = "".join(f"    {c.hex()},\n" for c in coefficients)
    return f"/* {comment} */\nGV_UNIFORM_TABLE double {name}[{len(coefficients)}] = {{\n{rows}}};\n"


def text() -> str:
    centre = NEAR_LIMIT**2 / 2
    near = "w = x^2 - GV_NEAR_LIMIT^2/2, |w| <= GV_NEAR_LIMIT^2/2"
    log2 = mpmath.log(2)
    head = mpmath.floor(log2 * 2**40) / 2**40
    reach = log2 / 2 * (1 + mpf(2) ** -30)
    top = (MILLS_END - 4) / (MILLS_END + 4)
    gelu = through_nodes(lambda w: half_erf(w + centre), -centre, centre, 19)
    grad = through_nodes(lambda w: half_erf_grad(w + centre), -centre, centre, 21)
    long_exp, exp, short_exp = (through_nodes(mpmath.exp, -reach, reach, degree) for degree in (9, 8, 7))
    mills = through_nodes(scaled_mills, mpf(-1), top, 18)
    return "".join(
        [
            "/* Written by tools/make_enclosure_tables.py; do not edit. */\n",
            '#ifndef GV_ENCLOSURE_TABLES_H\n#define GV_ENCLOSURE_TABLES_H\n#include "../truth/dd.h"\n\n',
            f"#define GV_NEAR_LIMIT {float(NEAR_LIMIT)}\n",
            f"#define GV_LOG2 {float(log2).hex()} /* log(2) */\n",
            f"#define GV_LOG2_HEAD {float(head).hex()} /* log(2), 40 bits */\n",
            f"#define GV_LOG2_TAIL {float(log2 - head).hex()} /* log(2) - GV_LOG2_HEAD */\n",
            f"#define GV_NEAR_GELU_DEGREE {len(gelu) - 1}\n#define GV_NEAR_GELU_GRAD_DEGREE {len(grad) - 1}\n",
            f"#define GV_LONG_EXP_DEGREE {len(long_exp) - 1}\n#define GV_MIDDLE_EXP_DEGREE {len(exp) - 1}\n",
            f"#define GV_SHORT_EXP_DEGREE {len(short_exp) - 1}\n",
            f"#define GV_TAIL_MILLS_DEGREE {len(mills) - 1}\n\n",
            array("gv_near_gelu", f"(Phi(x) - 1/2)/x in {near}", gelu),
            array("gv_near_gelu_grad", f"(gelu'(x) - 1/2)/x in {near}", grad),
            array("gv_long_exp", "e^r, |r| <= log(2)/2 (1 + 2^-30)", long_exp),
            array("gv_middle_exp", "the same", exp),
            array("gv_short_exp", "the same", short_exp),
            array("gv_tail_mills", "Q(a)/(phi(a) sqrt(2 pi)), 0 <= a <= 15, in u = (a - 4)/(a + 4)", mills),
            "\n#endif\n",
        ]
    )


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PATH.read_text() != text())
    PATH.write_text(text())
