"""What the command does with plans of 2^32 inputs, short of sweeping them."""

from dataclasses import replace

import pytest
from mutants import correct

from gelu_verify.cli.run import Request, _affordable, _times
from gelu_verify.measure.verification import Job


def request(**typed):
    blank = dict.fromkeys(Request.__dataclass_fields__)
    return Request(**{**blank, "targets": (), "plan": "exhaustive", "ranges": (), **typed})


def named(name, function="gelu", dtype="float32"):
    return Job(replace(correct(function), name=name), dtype)


FOUND = [named("torch.gelu"), named("torch.gelu-erf"), named("torch.gelu", dtype="float16"), named("f:g")]


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ({}, [0, 2, 3]),
        ({"targets": ("torch.gelu-erf",)}, [0, 1, 2, 3]),
        ({"plan": "default"}, [0, 1, 2, 3]),
        ({"ranges": ("1:2",)}, [0, 1, 2, 3]),
    ],
)
def test_a_family_is_asked_for_its_main_path_only(typed, kept, capsys):
    assert _affordable(FOUND, request(**typed)) == [FOUND[k] for k in kept]
    assert ("torch.gelu-erf" in capsys.readouterr().err) == (1 not in kept)


def test_a_family_without_a_main_path_is_measured_whole():
    odd = [named("torch.gelu-erf"), named("torch.gelu-erfc")]
    assert _affordable(odd, request()) == odd


def test_both_times_are_printed():
    time = {"sweep_s": 6.0, "target_s": 5.0, "threads": 2, "ratio": 2.4}
    record = {"target": "torch.gelu", "function": "gelu", "dtype": "float32", "n": 1 << 32, "time": time}
    assert _times(record) == (
        "torch.gelu gelu float32: 4,294,967,296 inputs in 6.0 s, 2.40 times the 2.5 s that the calls alone take "
        "on 2 threads"
    )
