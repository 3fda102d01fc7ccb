"""What the stored worst inputs of a result say: how much of that error is the formula's own. Needs no library, only its
results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import differ, get_format, is_finite
from ..functions import FUNCTIONS
from ..records.result import Record
from ..targets import is_shipped
from ..truth.values import reference_bits
from .known import candidates
from .ladder import CONSTANTS, FLUSHING, FORMULA, Model, climb
from .models import distance, executed, forms_for, with_flushing

BLOCKS_AND_REST = "building blocks / unexplained"
ENOUGH = 8  # inputs whose results are not correctly rounded: who reproduces all of them is named

Parts = dict[str, Any]


def witness_parts(record: Record) -> Parts | None:
    """{form, working, constants, formula, flushing, rest, known, main} of a result's worst input, in ULP; None where no
    form is known.

    `rest` is what building blocks, constants that are not correctly rounded, and the order of operations add; `known`
    names a kernel of ours that does the same. Which form, which dtype it is computed in, and what it flushes, is what
    explains the worst inputs of all parts of x best.
    """
    function, dtype = record.function, record.dtype
    if record.witness is None or function not in FUNCTIONS:
        return None
    forms = forms_for(record.target, function, f"{record.form}; {record.note}", record.form)
    wider = (dtype, "float32") if get_format(dtype).width == 16 else (dtype,)
    x, got = _witnesses(record)
    models = [Model(each, working, {}, {}) for form in forms for each in executed(form) for working in wider]
    if not models or not is_finite(get_format(dtype), x[:1])[0]:
        return None
    model = min(models, key=lambda each: distance(dtype, each.bits(dtype, x), got))
    model = with_flushing(model, dtype, x, got)
    reproduced = not differ(get_format(dtype), model.bits(dtype, x), got).any()
    return _parts(model, dtype, x[:1], got[:1], "" if reproduced else _known(record, x, got))


def _witnesses(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """x and got of the largest error, then of those of each region and interval of x."""
    fmt = get_format(record.dtype)
    found = [record.witness, *(part.witness for part in record.regions or ()), *(record.intervals or ())]
    pairs = [(int(each.x_bits, 16), int(each.got_bits, 16)) for each in found if each and each.x_bits and each.got_bits]
    x, got = np.array(pairs, fmt.uint).T
    return np.ascontiguousarray(x), np.ascontiguousarray(got)


def _known(record: Record, x: np.ndarray, got: np.ndarray) -> str:
    """A re-implementation, or another kernel of ours, with the very bits at all of these inputs; empty where none has,
    or where fewer than ENOUGH of them distinguish it from the correctly rounded one."""
    dtype, fmt = record.dtype, get_format(record.dtype)
    want = np.asarray(reference_bits(record.function, dtype, x))
    if is_shipped(record.family) or np.count_nonzero(differ(fmt, want, got)) < ENOUGH:
        return ""
    able = candidates(record.target, record.family, record.function, dtype)
    return next((each.text(dtype) for each in able if not differ(fmt, each.bits(dtype, x), got).any()), "")


def _parts(model: Model, dtype: str, x: np.ndarray, got: np.ndarray, known: str) -> Parts | None:
    ladder = climb(model, dtype, x, got)
    if not len(ladder.x_bits) or not all(np.isfinite(rung.error[0]) for rung in ladder.rungs):
        return None
    added = ladder.added(0)
    rest = f"own code: {known}" if known else BLOCKS_AND_REST
    causes = {CONSTANTS: added[CONSTANTS], FORMULA: added[FORMULA], FLUSHING: added[FLUSHING], rest: added["rest"]}
    return {
        "form": model.form.name,
        "working": model.working,
        "constants": causes[CONSTANTS],
        "formula": causes[FORMULA],
        "flushing": causes[FLUSHING],
        "rest": causes[rest],
        "known": known,
        "main": max(causes, key=lambda name: abs(causes[name])),
    }
