"""Implementations with a fault that the check `second_input` must catch, each with a dtype."""

import gated_forms
import numpy as np

from gelu_verify.targets.python_callables import callable_target


def rounded_before(x, g):
    """The activation is 0 before the product with an infinity."""
    with np.errstate(all="ignore"):
        return np.where(x < -20, np.float32(0), gated_forms.silu(x)) * g


MUTANTS = [
    (callable_target(each, "swiglu", "float32"), "float32")
    for each in (gated_forms.first_for_all, gated_forms.reversed_gate, rounded_before, gated_forms.swapped)
]
MUTANTS += [
    (callable_target(gated_forms.swapped_halves, "swiglu", dtype, call="f(packed(x, g))"), dtype)
    for dtype in ("float16", "bfloat16")
]
