"""What one stored witness says: how much of that error is the formula's own. Needs no library, only its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..fenv import in_default_environment
from ..formats import get_format, is_finite
from ..functions import FUNCTIONS
from .ladder import CONSTANTS, FORMULA, MEASURED, Model, climb
from .models import distance, forms_for

BLOCKS_AND_REST = "building blocks / unexplained"

Record = dict[str, Any]


@in_default_environment
def witness_parts(result: Mapping[str, Any]) -> Record | None:
    """{form, working, constants, formula, rest, main} of a RESULT's witness, in ULP; None where no form is known.

    `rest` is what building blocks, constants that are not correctly rounded, and the order of operations add. Which
    form, and which dtype it is computed in, is what explains the witnesses of all regions best.
    """
    function, dtype = result["function"], result["dtype"]
    if result["witness"] is None or function not in FUNCTIONS:
        return None
    forms = forms_for(result["target"], function, f"{result['form']}; {result['note']}", result["form"])
    wider = (dtype, "float32") if get_format(dtype).width == 16 else (dtype,)
    x, got = _witnesses(result)
    models = [Model(form, working, {}, {}) for form in forms for working in wider]
    if not models or not is_finite(get_format(dtype), x[:1])[0]:
        return None
    model = min(models, key=lambda each: distance(dtype, each.bits(dtype, x), got))
    return _parts(model, dtype, x[:1], got[:1])


def _witnesses(result: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """x and got of the largest error, then of each region's."""
    fmt = get_format(result["dtype"])
    found = [result["witness"], *(region["witness"] for region in result["regions"] if region["witness"])]
    x, got = (np.array([int(each[name], 16) for each in found], fmt.uint) for name in ("x_bits", "got_bits"))
    return x, got


def _parts(model: Model, dtype: str, x: np.ndarray, got: np.ndarray) -> Record | None:
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
