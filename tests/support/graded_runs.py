"""Synthetic results with the grades that a measurement would have given them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from synthetic_runs import SyntheticRun, large_run

from gelu_verify.formats import get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.records.parts import AbsoluteError, AccurateRange, MeanBits
from gelu_verify.records.result import Record

FEW = ("gelu", "silu_grad", "erf")  # a function, a derivative and a block of one


def graded(record: Record, **fields: Any) -> Record:
    """The record with a grade by its largest error; `fields` replace what is given to it."""
    fmt = get_format(record.dtype)
    if record.failure is not None:
        return replace(
            record,
            **{"grade": "broken", "sentence": "raises an exception.", "conventions": (), "lacking": frozenset()}
            | fields,
        )
    wide = (record.max_ulp or 0) <= 4
    low, high = (fmt.max_finite | fmt.sign_mask if wide else fmt.parse("-1.3125")), fmt.max_finite
    ends = AccurateRange(fmt.bits_text(low), _value(fmt, low), fmt.bits_text(high), _value(fmt, high))
    size = 2.0 ** (1 - fmt.precision) * (1 + (record.max_ulp or 1.0) % 7)
    found = {
        "grade": "faithful" if (record.max_ulp or 0) < 1 else "accurate" if wide else "accurate_range",
        "sentence": f"within 4 ULP {'at every finite input' if wide else 'for x >= -1.31; zero from -5.54 on'}.",
        "conventions": ("NaN at -inf",) if record.checks.get("minus_infinity") == "fail" else (),
        "accurate_range": ends,
        "max_abs_error": AbsoluteError(size, fmt.bits_text(fmt.parse("-2")), -2.0, 1 + (record.max_ulp or 1.0) % 7),
        "mean_bits": MeanBits(fmt.precision - 1.25, fmt.precision - 0.5),
    }
    return replace(record, **found | {"lacking": frozenset()} | fields)


def _value(fmt: Any, bits: int) -> float:
    return float(fmt.fraction(bits))


def graded_run(functions: Collection[str] = FUNCTIONS) -> SyntheticRun:
    """The large run, graded, with one broken result; of some functions alone, gelu among them."""
    run = large_run()
    results = [graded(record) for record in run.results if record.function in functions]
    at = next(k for k, r in enumerate(results) if (r.target, r.dtype) == ("torch.gelu", "float32"))
    results[at] = replace(
        results[at], grade="broken", sentence="infinite for x >= 1.701e+38; zero from -5.54 on (1.67e+07 ULP)."
    )
    return SyntheticRun(run.manifest, results)
