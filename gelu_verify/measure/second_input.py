"""A target with a second input: tried with one value of it after the other, and judged in full with the worst.

Each value makes a function of x alone (`swiglu[g=0.5]`), with a plan of its own. With every value all inputs of that
plan are judged; the result is that of the value with which the target is worst, and says how it was with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import Format, get_format
from ..functions import second_of
from ..inputs.plans import Plan
from ..machine import cores
from ..own_faults import guarded
from ..records.bucket_errors import exponents
from ..records.grades import graded
from ..records.parts import SecondInput
from ..records.result import Record, Result
from ..targets.extra_outputs import ExtraOutputs
from ..truth.second_input import of_two_inputs
from ..truth.values import reference_bits
from .kept import Kept
from .minimize import failed
from .recording import unmeasured
from .sweep import sweep, unmeasured_by_us
from .tried_pairs import TriedPairs, damage, tried_pairs

if TYPE_CHECKING:
    from ..targets.base import Target


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
    tell, faults = progress or (lambda inputs: None), list[str]()
    tried = TriedPairs()
    with guarded("measurement with each value of the second input", faults):
        tried = tried_pairs(target, plan, workers or cores(), tell)
    if faults:
        return unmeasured_by_us(unmeasured(target, plan, "sampled"), faults)
    first = plan.second[0]
    results = {
        bits: sweep(
            target.with_second(plan.function_at(bits), (bits,)),
            plan.at(bits),
            workers=workers,
            others=others if bits == first else None,
            **how,
        )
        for bits in dict.fromkeys((first, *tried.worst))
    }
    has_failed = tried.failure is not None
    bits = max(results, key=lambda each: (has_failed and each == tried.worst[0], damage(results[each].record)))
    return _with_all(results[bits], results[first].record, plan, bits, tried)


def _of_activation(record: Record, plan: Plan, bits: int) -> float | None:
    """The error in ULP that f(x) must have had at least at the witness, where g times it was rounded once:
    E u(g f(x)) <= |g| e u(f(x)) + u(got)/2."""
    fmt, second, witness = get_format(plan.dtype), of_two_inputs(plan.function), record.witness
    g = abs(float(fmt.fraction(bits)))
    if not second.is_factor or witness is None or record.max_ulp is None:
        return None
    x, got, want = (np.array([int(each, 16)], fmt.uint) for each in astuple(witness))
    with np.errstate(all="ignore"):
        below = (want - ((want & (fmt.sign_mask - 1)) > 0)).astype(fmt.uint)  # y may lie in the binade below
        excess = record.max_ulp * _unit(fmt, below) - _unit(fmt, got) / 2
        found = float((excess / (g * _unit(fmt, reference_bits(second.inner.name, plan.dtype, x))))[0])
    return max(found, 0.0) if np.isfinite(found) else None


def _unit(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """u of numbers."""
    return np.asarray(2.0 ** (exponents(fmt, bits) - fmt.precision + 1.0))


def _with_all(result: Result, neutral: Record, plan: Plan, bits: int, tried: TriedPairs) -> Result:
    """The result of one value as that of all; `neutral`: that of the first."""
    fmt, composed, record = get_format(plan.dtype), tried.composed.worst, result.record
    if tried.failure is not None and record.failure is None:  # with a value that is no number, or not again
        record = failed(record, fmt, tried.failure)
    if not tried.values:  # it failed with the first
        return replace(result, record=graded(replace(record, function=plan.function), result.table))
    is_all = tried.pairs == 1 << 2 * fmt.width
    second = SecondInput(
        name=second_of(plan.function),
        value_bits=fmt.bits_text(bits),
        value=float(fmt.fraction(bits)),
        neutral=float(fmt.fraction(plan.second[0])),
        neutral_grade=neutral.grade,
        neutral_ulp=neutral.max_ulp,
        values=tried.values,
        pairs=tried.pairs,
        bound="=" if is_all else ">=",
        outputs_sha256=tried.outputs_sha256,
        correctly_rounded=tried.got.correct / tried.pairs,
        faithful=tried.got.faithful / tried.pairs,
        activation_ulp=_of_activation(record, plan, bits),
        composed_ulp=composed if np.isfinite(composed) else None,
        like_composed=tried.alike[0] / tried.alike[1] if tried.alike[1] else None,
        composed_correctly_rounded=tried.composed.correct / tried.pairs,
    )
    record = replace(
        record,
        function=plan.function,
        inputs_sha256=sha256(repr((plan.second, bits, record.inputs_sha256)).encode()).hexdigest(),
        second=second,
        bound=record.bound if is_all else ">=",
        bound_kind=record.bound_kind if is_all else "sampled",
        repeat=record.repeat.replace(plan.function_at(bits), plan.function),
    )
    return replace(result, record=graded(record, result.table))
