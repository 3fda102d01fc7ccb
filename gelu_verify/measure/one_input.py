"""What a target returns for one input and its neighbours, beside what is right."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format, get_format
from ..targets import Target, program_of
from ..truth.lookup import neighbours, written
from ..truth.values import judge

LONG = 1000  # inputs of a call; an odd number of them in turn comes to every place of a vector, and to the remainder


def outputs_at(
    target: Target, function: str, dtype: str, x_bits: int, length: int | None, digits: int
) -> dict[str, Any]:
    """What `ask --json` prints of a target: what it returned for x, alone and in a longer call, and for its neighbours.

    `length`: that of all calls, instead. A failure of the target is in "failure".
    """
    fmt = get_format(dtype)
    asked = [x_bits, *(bits for bits in neighbours(fmt, x_bits) if bits is not None)]
    in_turn = asked if len(asked) % 2 else [*asked, x_bits]
    x = np.array(in_turn, fmt.uint)
    said: dict[str, Any] = {"target": target.name, "version": target.version, "failure": None, "got": []}
    said["expression"] = target.expression or None
    found: dict[int, dict[int, int]] = {bits: {} for bits in asked}  # what was returned, and first in which length
    for n in (length,) if length else (1, LONG):
        try:
            repeated = np.resize(x, max(n, len(x)))
            got = target.evaluate_in_calls(dtype, repeated, n)
        except TargetFailure as failure:
            said["failure"] = f"in a call of {n}: {failure}"
            break
        for index, bits in enumerate(in_turn):
            for output in dict.fromkeys(got[index :: len(x)].tolist()):
                found[bits].setdefault(output, n)
    said["program"] = program_of(
        target.family, target.expression, dtype, x_bits, max(found[x_bits].values(), default=1)
    )
    for bits, outputs in found.items():
        said["got"] += [_judged(function, fmt, bits, got, n, digits) for got, n in outputs.items()]
    return said


def _judged(function: str, fmt: Format, x_bits: int, got_bits: int, n: int, digits: int) -> dict[str, Any]:
    x, got = np.array([x_bits], fmt.uint), np.array([got_bits], fmt.uint)
    want, error, faithful = (each[0] for each in judge(function, fmt.name, x, got))
    is_right = got_bits == want or (fmt.is_nan(got_bits) and fmt.is_nan(int(want)))
    return {
        "x_bits": fmt.bits_text(x_bits),
        **written(fmt, got_bits, digits),
        "error_ulp": float(error) if np.isfinite(error) else None,
        "is_correctly_rounded": bool(is_right),
        "is_faithful": bool(faithful),
        "length": n,
    }
