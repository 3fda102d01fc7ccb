"""Mutants judged as any target is."""

import numpy as np

from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep

PLAN = {"float16": "default", "bfloat16": "default", "float32": "quick", "float64": "quick"}


def judged(mutant, dtype="float16", plan=None, policy="limit", few_calls=False):
    """`few_calls`: where calls of other lengths say nothing of what is tested; they take most of the time."""
    plan = make_plan(plan or PLAN[dtype], mutant.function, dtype)
    return sweep(mutant, plan, policy=policy, few_calls=few_calls).record


def subnormals_flushed(dtype, x, y):
    fmt = get_format(dtype)
    small = (y & fmt.uint.type(fmt.sign_mask - 1)) < fmt.uint.type(1 << (fmt.precision - 1))
    return np.where(small, y & fmt.uint.type(fmt.sign_mask), y)


def scaled(factor):
    def fault(dtype, x, y):
        value = y.view(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            return (value * value.dtype.type(factor)).view(y.dtype)

    return fault


def failing(record):
    return {name for name, verdict in record.checks.items() if verdict == "fail"}
