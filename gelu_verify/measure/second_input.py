"""A target with a second input: tried with one value of it after the other, and judged in full with the worst.

Each value makes a function of x alone (`swiglu[g=0.5]`), with a plan of its own. With every value all inputs of that
plan are judged; the result is that of the value with which the target is worst, and says how it was with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.table import Table
from ..errors import TargetFailure
from ..formats import Format, get_format, to_float64
from ..functions import second_of
from ..inputs.plans import Plan
from ..machine import cores
from ..own_faults import guarded
from ..records.grades import ORDER, graded
from ..records.parts import SecondInput
from ..records.result import Record, Result
from ..targets.extra_outputs import ExtraOutputs
from ..truth.composed import composed_bits
from ..truth.second_input import judge_pair
from ..truth.second_input import second_of as named_second
from ..truth.values import reference_bits
from .kept import Kept
from .part_measurer import PartMeasurer
from .recording import unmeasured
from .rounds import Round
from .sweep import sweep, unmeasured_by_us

if TYPE_CHECKING:
    from ..targets.base import Target


@dataclass(frozen=True)
class Counts:
    """Outputs for all inputs of a plan with one value: how many are correctly rounded, how many faithful; `worst`: the
    largest error in ULP, infinite where an output is not finite and should be; `activation`: as `_of_activation`."""

    correct: int
    faithful: int
    worst: float
    activation: float = 0.0


@dataclass(frozen=True)
class TriedValue:
    """What came of one value of the second input: of the target, and of composing in the dtype."""

    bits: int
    inputs: int
    got: Counts
    composed: Counts


def swept_pairs(
    target: Target,
    plan: Plan,
    *,
    workers: int | None = None,
    progress: Callable[[int], object] | None = None,
    others: ExtraOutputs | None = None,
    kept: Kept | None = None,
    **how: Any,
) -> Result:
    """As `sweep`, of a plan with values of a second input; `others` were returned with the first of them. Of what is
    measured the result alone is kept."""
    if kept:
        kept.begin(target, plan)
    tell, faults, values = progress or (lambda inputs: None), list[str](), list[TriedValue]()
    failed: int | None = None
    with guarded("measurement with each value of the second input", faults):
        for bits in plan.second:
            try:
                values.append(_tried(target, plan, bits, workers or cores(), tell))
            except TargetFailure:
                failed = bits if get_format(plan.dtype).is_finite(bits) else plan.second[0]
                break
    if faults:
        return unmeasured_by_us(unmeasured(target, plan, "sampled"), faults)
    fmt, first = get_format(plan.dtype), plan.second[0]
    finite = [each for each in values if fmt.is_finite(each.bits)]
    worst = max(finite, key=lambda each: each.got.worst).bits if finite else first
    results = [
        (
            bits,
            sweep(
                target.with_second(plan.function_at(bits), (bits,)),
                plan.at(bits),
                workers=workers,
                others=others if bits == first else None,
                **how,
            ),
        )
        for bits in dict.fromkeys((first, worst, first if failed is None else failed))
    ]
    bits, result = max(results, key=lambda each: _damage(each[1]))
    return _with_all(result, results[0][1].record, plan, bits, values)


def _damage(result: Result) -> tuple[int, float]:
    """Larger where it is worse."""
    grade, error = result.record.grade, result.record.max_ulp
    return ORDER[grade] if grade else len(ORDER), error or 0.0


def _tried(target: Target, plan: Plan, bits: int, workers: int, tell: Callable[[int], object]) -> TriedValue:
    """All inputs of the plan with one value."""
    if not get_format(plan.dtype).is_finite(bits):
        return _tried_in_calls(target, plan, bits, tell)
    here = plan.at(bits)
    measured = Round(PartMeasurer(target.with_second(here.function, (bits,)), here, tell))
    measured.measure(workers)
    if measured.failure is not None:
        raise measured.failure
    table = measured.table()
    row, is_finite = table.worst(), not table.total("nonfinite")
    error = 0.0 if row is None else float(table.columns["max_error"][row])
    error, activation = error if is_finite else np.inf, _of_activation(plan, bits, table)
    got = Counts(table.total("correct"), table.total("faithful"), error, activation)
    return TriedValue(bits, here.size, got, _composed(plan, bits, here))


def _of_activation(plan: Plan, bits: int, table: Table) -> float:
    """The largest error in ULP that f(x) must have had at least in the worst outputs of the buckets, where g times it
    was rounded once: E u(g f(x)) <= |g| e u(f(x)) + u(got)/2."""
    fmt, second = get_format(plan.dtype), named_second(plan.function)
    g = abs(float(fmt.fraction(bits)))
    if not second.is_factor or g == 0:
        return 0.0
    error = table.columns["max_error"]
    rows = np.flatnonzero(error > 0.5)
    x, got, want = (table.columns[f"max_error_{name}"][rows].astype(fmt.uint) for name in ("x", "got", "want"))
    f = reference_bits(second.inner.name, plan.dtype, x)
    with np.errstate(all="ignore"):
        excess = error[rows] * _unit(fmt, want, below=True) - _unit(fmt, got) / 2
        found = excess / (g * _unit(fmt, f))
    return float(np.max(found[np.isfinite(found)], initial=0.0))


def _unit(fmt: Format, bits: np.ndarray, below: bool = False) -> np.ndarray:
    """The distance of the number to the next larger one, or, `below`, to the next smaller one, which may be half of
    it; NaN where it is not finite."""
    value = np.abs(to_float64(fmt, bits))
    significand, exponent = np.frexp(value)
    exponent = np.maximum(exponent - (below & (significand == 0.5)) - fmt.precision, fmt.emin - fmt.precision + 1)
    return np.where(np.isfinite(value), np.ldexp(1.0, exponent), np.nan)


def _tried_in_calls(target: Target, plan: Plan, bits: int, tell: Callable[[int], object]) -> TriedValue:
    """The same of an infinite value, or NaN, for which there is no function of x."""
    at, outputs = target.with_second(plan.function, (bits,)), list[Counts]()
    for chunk in plan.chunks:
        x = chunk.x_bits()
        outputs.append(_judged(plan, bits, x, at.evaluate(plan.dtype, x)))
        tell(chunk.size)
    return TriedValue(bits, plan.size, _joined(outputs), _composed(plan, bits, plan))


def _composed(plan: Plan, bits: int, here: Plan) -> Counts:
    """Of composing in the dtype, for the same inputs."""
    chunks = (chunk.x_bits() for chunk in here.chunks)
    return _joined([_judged(plan, bits, x, composed_bits(plan.function, plan.dtype, bits, x)) for x in chunks])


def _judged(plan: Plan, bits: int, x: np.ndarray, got: np.ndarray) -> Counts:
    want, error, faithful = judge_pair(plan.function, plan.dtype, bits, x, got)
    same = (got == want) | (np.isnan(error) & faithful)
    scored = np.abs(error[~np.isnan(error)])
    return Counts(int(same.sum()), int(faithful.sum()), float(scored.max(initial=0.0)))


def _joined(parts: Sequence[Counts]) -> Counts:
    correct, faithful = (sum(getattr(each, name) for each in parts) for name in ("correct", "faithful"))
    return Counts(correct, faithful, max(each.worst for each in parts))


def _with_all(result: Result, neutral: Record, plan: Plan, bits: int, values: Sequence[TriedValue]) -> Result:
    """The result of one value as that of all; `neutral`: that of the first."""
    fmt, pairs = get_format(plan.dtype), sum(each.inputs for each in values)
    if not values:  # it failed with the first
        return result.updated(function=plan.function)
    finite = [each for each in values if fmt.is_finite(each.bits)]
    composed = max(each.composed.worst for each in finite)
    is_factor = named_second(plan.function).is_factor
    is_all = pairs == 1 << 2 * fmt.width
    second = SecondInput(
        name=second_of(plan.function),
        value_bits=fmt.bits_text(bits),
        value=float(fmt.fraction(bits)),
        neutral=float(fmt.fraction(plan.second[0])),
        neutral_grade=neutral.grade,
        neutral_ulp=neutral.max_ulp,
        values=len(values),
        pairs=pairs,
        bound="=" if is_all else ">=",
        correctly_rounded=sum(each.got.correct for each in values) / pairs,
        faithful=sum(each.got.faithful for each in values) / pairs,
        activation_ulp=max(each.got.activation for each in finite) if is_factor else None,
        composed_ulp=composed if np.isfinite(composed) else None,
        composed_correctly_rounded=sum(each.composed.correct for each in values) / pairs,
    )
    record = replace(
        result.record,
        function=plan.function,
        second=second,
        bound=result.record.bound if is_all else ">=",
        bound_kind=result.record.bound_kind if is_all else "sampled",
        repeat=result.record.repeat.replace(plan.function_at(bits), plan.function),
    )
    return replace(result, record=graded(record, result.table))
