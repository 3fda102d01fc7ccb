"""Inputs where a reference is most easily wrong, for any function and format."""

from __future__ import annotations

import random
from fractions import Fraction

from gelu_verify.formats import Format
from gelu_verify.functions import Function
from gelu_verify.truth.values import zero_threshold


def delicate_inputs(function: Function, fmt: Format, count: int, seed: int) -> list[int]:
    """Bits of `count` finite non-zero inputs: ties near zero, subnormals, tails, thresholds, landmarks, everywhere."""
    rng = random.Random(f"{function.name} {fmt.name} {seed}")
    threshold = zero_threshold(function.name, fmt.name)
    centres = [fmt.ordinal(fmt.round(Fraction(text))) for text in function.landmarks.values()]
    centres += [] if threshold is None else [fmt.ordinal(threshold)]
    tail = 1.2 * -float(fmt.fraction(threshold)) if threshold is not None else 60.0
    sources = [
        lambda: rng.getrandbits(fmt.width),
        lambda: _signed(rng, fmt, rng.getrandbits(fmt.precision)),  # |x| < 2^(emin+1): x/2 may be a tie
        lambda: _signed(rng, fmt, rng.getrandbits(fmt.precision - 1) | 1),
        lambda: _signed(
            rng, fmt, (rng.randrange(fmt.infinity >> fmt.precision - 1) << fmt.precision - 1) + rng.randint(-2, 2)
        ),
        lambda: fmt.round(Fraction(rng.gauss(0, 3))),
        lambda: fmt.round(Fraction(rng.uniform(-tail, 0))),
        lambda: fmt.round(Fraction(rng.choice((-1, 1)) * 2.0 ** rng.uniform(-60, 7))),
        lambda: fmt.from_ordinal(rng.choice(centres or [0]) + int(rng.gauss(0, 40))),
    ]
    found: set[int] = set()
    while len(found) < count:
        bits = rng.choice(sources)() % (1 << fmt.width)
        if fmt.is_finite(bits) and fmt.magnitude(bits):
            found.add(bits)
    return sorted(found)


def _signed(rng: random.Random, fmt: Format, magnitude: int) -> int:
    return max(magnitude, 0) | (fmt.sign_mask if rng.getrandbits(1) else 0)
