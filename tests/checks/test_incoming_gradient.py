"""The incoming gradient is asked for where no product with it leaves the range of the dtype."""

import numpy as np
import pytest

from gelu_verify import verify


def swiglu_grad(dy, x, g):
    s = 1 / (1 + np.exp(-x.astype(np.float64)))
    return dy * g * (s * (1 + x * (1 - s))).astype(x.dtype)  # dy g overflows where g alone does not


def first_for_all(dy, x, g):
    return swiglu_grad(dy[:1], x, g)


@pytest.mark.few(1)
@pytest.mark.parametrize(("function", "fails"), [(swiglu_grad, False), (first_for_all, True)])
def test_a_second_input_at_the_end_of_the_dtype_says_nothing_of_it(function, fails):
    found = verify(function, "swiglu_grad", "float32", plan="landmarks", budget=0, call="f(dy, x, g)")
    assert ("incoming_gradient" in found.record.failed_checks) == fails
