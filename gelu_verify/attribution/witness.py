"""What one stored witness says: how much of that error is the formula's own. Needs no library, only its result."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fenv import in_default_environment
from ..formats import get_format, is_finite
from ..functions import FUNCTIONS
from ..records.result import Record
from .ladder import CONSTANTS, FORMULA, MEASURED, Model, climb
from .models import distance, forms_for

BLOCKS_AND_REST = "building blocks / unexplained"

Parts = dict[str, Any]


@in_default_environment
def witness_parts(record: Record) -> Parts | None:
    """{form, working, constants, formula, rest, main} of a result's witness, in ULP; None where no form is known.

    `rest` is what building blocks, constants that are not correctly rounded, and the order of operations add. Which
    form, and which dtype it is computed in, is what explains the witnesses of all regions best.
    """
    function, dtype = record.function, record.dtype
    if record.witness is None or function not in FUNCTIONS:
        return None
    forms = forms_for(record.target, function, f"{record.form}; {record.note}", record.form)
    wider = (dtype, "float32") if get_format(dtype).width == 16 else (dtype,)
    x, got = _witnesses(record)
    models = [Model(form, working, {}, {}) for form in forms for working in wider]
    if not models or not is_finite(get_format(dtype), x[:1])[0]:
        return None
    model = min(models, key=lambda each: distance(dtype, each.bits(dtype, x), got))
    return _parts(model, dtype, x[:1], got[:1])


def _witnesses(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """x and got of the largest error, then of each region's."""
    fmt = get_format(record.dtype)
    found = [each for each in (record.witness, *(part.witness for part in record.regions or ())) if each]
    x, got = (np.array([int(bits, 16) for bits in column], fmt.uint)
              for column in ([each.x_bits for each in found], [each.got_bits for each in found]))  # fmt: skip
    return x, got


def _parts(model: Model, dtype: str, x: np.ndarray, got: np.ndarray) -> Parts | None:
    ladder = climb(model, dtype, x, got)
    if not len(ladder.x_bits) or not all(np.isfinite(rung.error[0]) for rung in ladder.rungs):
        return None
    constants, formula, error = (float(ladder.rung(name).error[0]) for name in (CONSTANTS, FORMULA, MEASURED))
    added = {"constants": constants, "formula": formula - constants, BLOCKS_AND_REST: error - formula}
    return {
        "form": model.form.name,
        "working": model.working,
        "constants": added["constants"],
        "formula": added["formula"],
        "rest": added[BLOCKS_AND_REST],
        "main": max(added, key=lambda name: abs(added[name])),
    }
