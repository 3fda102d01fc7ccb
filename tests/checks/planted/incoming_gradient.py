"""Implementations with a fault that the check `incoming_gradient` must catch, each with a dtype."""

import numpy as np

from gelu_verify.targets.python_callables import callable_target
from gelu_verify.truth.values import reference_bits


def right(x):
    return reference_bits("gelu_grad", "float32", x.view(np.uint32)).view(np.float32)


def ignoring(dy, x):
    return right(x)


def first_for_all(dy, x):
    return dy[:1] * right(x)


def size_only(dy, x):
    return np.abs(dy) * right(x)


MUTANTS = [
    (callable_target(each, "gelu_grad", "float32", call="f(dy, x)"), "float32")
    for each in (ignoring, first_for_all, size_only)
]
