"""What a target returns for one input and its neighbours, beside what is right."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format, get_format
from ..targets import Target
from ..truth.lookup import neighbours, written
from ..truth.values import judge

LONG = 1000  # inputs of a call in which each of them comes at every place of a vector, and in the remainder


def outputs_at(
    target: Target, function: str, dtype: str, x_bits: int, length: int | None = None, digits: int = 40
) -> dict[str, Any]:
    """What `ask --json` prints of a target: what it returned for x, alone and in a longer call, and for its neighbours.

    `length`: that of all calls, instead. A failure of the target is in "failure".
    """
    fmt = get_format(dtype)
    asked = [x_bits, *(bits for bits in neighbours(fmt, x_bits) if bits is not None)]
    x = np.array(asked, fmt.uint)
    said: dict[str, Any] = {"target": target.name, "version": target.version, "failure": None, "got": []}
    found: list[dict[int, int]] = [{} for _ in asked]  # of each input: what was returned, and first in which length
    for n in (length,) if length else (1, LONG):
        try:
            repeated = np.resize(x, max(n, len(x)))
            got = target.evaluate_in_calls(dtype, repeated, n)
        except TargetFailure as failure:
            said["failure"] = f"in a call of {n}: {failure}"
            break
        for index, outputs in enumerate(found):
            for bits in dict.fromkeys(got[index :: len(x)].tolist()):
                outputs.setdefault(bits, n)
    for bits, outputs in zip(asked, found, strict=True):
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
