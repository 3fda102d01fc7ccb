"""The library door: anything in, one Result out."""

import dataclasses

import numpy as np
import pytest

import gelu_verify
from gelu_verify.errors import UsageError
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.measure.verification import verify
from gelu_verify.targets import select


def relu(x):
    return np.maximum(x, 0)


def test_a_callable_a_name_and_a_target_are_judged_alike():
    (target,), _ = select(["kernels.gelu_erf"], dtype="float32")
    judged = [
        verify("kernels.gelu_erf", "gelu", "float32", "landmarks"),
        verify(target, "gelu", "float32", "landmarks"),
    ]
    assert judged[0].record == judged[1].record
    assert judged[0].max_ulp > 1e6
    assert "tail_zero" in judged[0].failed_checks

    found = gelu_verify.verify(relu, "relu", "bfloat16")
    assert (found.max_ulp, found.failed_checks, found.record.bound) == (0, [], "=")
    assert verify(relu, "gelu", "float16").max_ulp > 100


def test_what_a_target_raises_is_a_result():
    def broken(x):
        raise RuntimeError("no")

    assert "raised RuntimeError: no" in verify(broken, "gelu", "float16").failure


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((relu, "gleu"), "unknown function 'gleu'"),
        ((relu, "relu", "float31"), "unknown dtype 'float31'"),
        ((relu, "relu", "float32", "al"), "unknown plan 'al'"),
        (("kernels", "gelu", "float32"), "matches"),
        (("nothing", "gelu", "float32"), "unknown target"),
    ],
)
def test_what_cannot_be_used_is_reported(args, message):
    with pytest.raises(UsageError, match=message):
        verify(*args)


def test_a_target_is_judged_only_in_its_dtypes():
    (target,), _ = select(["kernels.gelu_erf"])
    with pytest.raises(UsageError, match="float32"):
        verify(dataclasses.replace(target, dtypes=("float16",)), "gelu", "float32")


def test_jobs_are_every_path_of_what_was_named():
    request = Request(targets=("kernels",), functions=("gelu", "silu"), dtypes=("float32", "float64"))
    found = find_jobs(request)
    assert {job.plan.function for job in found.jobs} == {"gelu", "silu"}
    assert {job.plan.dtype for job in found.jobs} == {"float32", "float64"}
    assert len({job.key for job in found.jobs}) == len(found.jobs)
    assert (found.absent, found.left_out) == ({}, [])


def test_a_result_prints_as_one_line():
    result = verify("kernels.silu_exp", "silu", "float16", "landmarks")
    assert repr(result) == str(result)
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300
    for text in ("kernels.silu_exp", "silu", "float16", *result.failed_checks):
        assert text in repr(result)
