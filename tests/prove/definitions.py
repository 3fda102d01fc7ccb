"""What every entry of src/truth/tables.h is, as Arb balls: the definitions that the proofs rest on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import flint
from flint import arb, fmpq

MILLS_FIRST_OCTAVE = -1
MILLS_PIECES = 16
LOG_FIRST = 96  # gv_log_table begins at 96/128
BITS = 600  # Mills coefficients lose some 150 of them


def precisely(f: Callable[..., arb]) -> Callable[..., arb]:
    """f at BITS bits, remembered."""

    @cache
    def evaluated(*arguments):
        with flint.ctx.workprec(BITS):
            return f(*arguments)

    return evaluated


def mills_geometry(index: int) -> tuple[arb, arb]:
    """Centre and half width of a piece, both exact."""
    octave, place = divmod(index, MILLS_PIECES)
    half = arb(2) ** (octave + MILLS_FIRST_OCTAVE) / (2 * MILLS_PIECES)
    return half * (2 * MILLS_PIECES + 2 * place + 1), half


def mills(a: arb) -> arb:
    """M(a) = Q(a)/phi(a)."""
    with flint.ctx.workprec(BITS):
        return (arb.pi() / 2).sqrt() * (a * a / 2).exp() * (a / arb(2).sqrt()).erfc()


def mills_derivatives(a: arb, order: int) -> list[arb]:
    """M^(n)(a)/n!, n = 0 .. order, from M' = a M - 1."""
    with flint.ctx.workprec(BITS):
        m = [mills(a)]
        m.append(a * m[0] - 1)
        for n in range(1, order):
            m.append((a * m[n] + m[n - 1]) / (n + 1))
        return m


@cache
def _mills_row(index: int) -> list[arb]:
    centre, half = mills_geometry(index)
    with flint.ctx.workprec(BITS):
        return [m * half**n for n, m in enumerate(mills_derivatives(centre, 21))]


def mills_entry(index: int, part: str, n: int = 0) -> arb:
    if part == "centre":
        return mills_geometry(index)[0]
    return _mills_row(index)[n + (0 if part == "pair" else 12)]


@precisely
def factorial(n: int) -> arb:
    return arb(n).fac()


@precisely
def ln2_64_head() -> arb:
    """The first 34 bits of log(2)/64."""
    return (arb.const_log2() / 64 * 2**40).floor() / 2**40


@precisely
def log_entry(index: int, part: str) -> arb:
    """1/m in the middle of a step of 1/128, to 10 bits, 1 on both sides of 1; the log of what it stands for."""
    step = index + LOG_FIRST
    c = Fraction(1) if step in (127, 128) else Fraction(round(Fraction(1 << 18, 2 * step + 1)), 1 << 10)
    inverse = arb(fmpq(c.numerator, c.denominator))
    return inverse if part == "inverse" else arb(0) if c == 1 else -inverse.log()


DEFINITIONS: dict[str, Callable[..., arb]] = {
    "gv_ln2_64": precisely(lambda: arb.const_log2() / 64),
    "gv_ln2_64_head": ln2_64_head,
    "gv_ln2_64_tail": precisely(lambda: arb.const_log2() / 64 - ln2_64_head()),
    "gv_rsqrt_2pi": precisely(lambda: 1 / (2 * arb.pi()).sqrt()),
    "gv_2_rsqrt_pi": precisely(lambda: 2 / arb.pi().sqrt()),
    "gv_sqrt2": precisely(lambda: arb(2).sqrt()),
    "gv_2_sqrt_2_pi": precisely(lambda: 2 * (2 / arb.pi()).sqrt()),
    "gv_0_044715": precisely(lambda: arb(fmpq(44715, 1000000))),
    "gv_1_702": precisely(lambda: arb(fmpq(1702, 1000))),
    "gv_exp2_table": precisely(lambda j: (arb.const_log2() * j / 64).exp() if j else arb(1)),
    "gv_exp_coefficient": precisely(lambda n: 1 / factorial(n)),
    "gv_head_coefficient": precisely(lambda n: arb(fmpq(-1, 2)) ** n / (factorial(n) * (2 * n + 1))),
    "gv_atanh_coefficient": precisely(lambda n: arb(fmpq(1, 2 * n + 1))),
    "gv_log_coefficient": precisely(lambda n: arb(fmpq((-1) ** (n + 1), n)) if n else arb(0)),
    "gv_log_table": log_entry,
    "gv_mills_table": mills_entry,
    "gv_half_pi": precisely(lambda: arb.pi() / 2),
    "gv_atan_table": precisely(lambda j: (arb(j) / 32).atan()),
    "gv_atan_coefficient": precisely(lambda n: arb(fmpq((-1) ** n, 2 * n + 1))),
}
