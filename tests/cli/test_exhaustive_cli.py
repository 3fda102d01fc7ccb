"""What a run does with plans of 2^32 inputs, short of sweeping them."""

from dataclasses import replace

import pytest
from mutants import correct

from gelu_verify import verify
from gelu_verify.cli.run import _times
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.records.parts import SweepTime


def named(name, function="gelu", dtypes=("float32",)):
    return replace(correct(function), name=name, dtypes=dtypes)


def found(*targets, **request):
    """What is measured of these targets, and what is left out."""
    result = find_jobs(Request(**{"plan": "exhaustive", **request}), select=lambda names, **_: (list(targets), {}))
    return [job.key for job in result.jobs], result.left_out


FOUND = [named("torch.gelu", dtypes=("float32", "float16")), named("torch.gelu-erf"), named("f:g")]
KEYS = ["torch.gelu/gelu/float32", "torch.gelu/gelu/float16", "torch.gelu-erf/gelu/float32", "f:g/gelu/float32"]


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ({}, [0, 1, 3]),
        ({"targets": ("torch.gelu-erf",)}, [0, 1, 2, 3]),
        ({"plan": "default"}, [0, 1, 2, 3]),
        ({"ranges": ("1:2",), "dtypes": ("float32",)}, [0, 2, 3]),
    ],
)
def test_a_family_is_asked_for_its_main_path_only(request_, kept):
    assert found(*FOUND, **request_) == ([KEYS[k] for k in kept], [] if 2 in kept else ["torch.gelu-erf"])


def test_a_family_without_a_main_path_is_measured_whole():
    odd = [named("torch.gelu-erf"), named("torch.gelu-erfc")]
    assert found(*odd) == (["torch.gelu-erf/gelu/float32", "torch.gelu-erfc/gelu/float32"], [])


def test_both_times_are_printed():
    record = replace(verify("kernels.gelu_erf", "gelu", "float32", "landmarks").record, n=1 << 32)
    assert _times(record, SweepTime(sweep_s=6.0, target_s=5.0, threads=2, ratio=2.4)) == (
        "kernels.gelu_erf gelu float32: 4,294,967,296 inputs in 6.0 s, 2.40 times the 2.5 s that the calls alone take "
        "on 2 threads"
    )
