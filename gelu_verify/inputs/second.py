"""Which values of a second input a plan takes: first the one that changes nothing, then edges of the dtype, others."""

from __future__ import annotations

from fractions import Fraction
from zlib import crc32

import numpy as np

from ..errors import UsageError
from ..formats import Format, numpy_dtype
from ..functions import Function, second_of
from .special import both_signs

VALUES, FEW = 64, 16  # how many a plan takes, and one for a first look
QUICK = ("quick", "landmarks")


def second_values(plan: str, function: Function, fmt: Format, seed: int) -> tuple[int, ...]:
    """Bits, each once; all bit patterns for plan `exhaustive` in 16 bits.

    Raises
    ------
    UsageError : plan `exhaustive` in a wider dtype
    """
    (default,) = (each.default for each in function.parameters if each.is_input)
    if plan == "exhaustive":
        if fmt.width > 16:
            such = f"{function.name}[{second_of(function.name)}=0.5]"
            raise UsageError(
                f"plan 'exhaustive' of {function.name} in {fmt.name} is 2^{2 * fmt.width} pairs (accepted: float16, "
                f"bfloat16; or one value of the second input: {such!r})"
            )
        found = dict.fromkeys([fmt.round(default), *range(1 << fmt.width)])
        return tuple(found)
    rng = np.random.default_rng([seed, crc32(f"second/{function.name}/{fmt.name}".encode())])
    one, step = fmt.one, 1 << (fmt.precision - 1)
    edges = both_signs(fmt, {fmt.max_finite, step, step - 1, 1, 0})
    near = both_signs(fmt, {one, one + 1, one - 1, fmt.round(Fraction(1, 3)), fmt.round(Fraction(3))})
    powers = [one + step * int(k) for k in rng.permutation(np.arange(-fmt.precision, fmt.precision))]
    normal = rng.normal(0.0, 1.0, VALUES).astype(numpy_dtype(fmt.name)).view(fmt.uint).tolist()
    any_size = rng.integers(0, fmt.infinity, VALUES).tolist()
    signs = rng.integers(0, 2, VALUES).tolist()
    spread = [bits | sign * fmt.sign_mask for bits, sign in zip(any_size, signs, strict=True)]
    rest = [bits for trio in zip(normal, spread, powers + normal, strict=False) for bits in trio]
    found = dict.fromkeys([fmt.round(default), *near[::2], *edges, *near[1::2], *rest])
    return tuple(found)[: FEW if plan in QUICK else VALUES]
