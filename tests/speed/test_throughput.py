"""Throughput and provenance: what is reported, never how fast."""

import json
import os
import re
import time

import numpy as np
import pytest
from mutants import correct, target

from gelu_verify import machine
from gelu_verify.commands import output_of
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES
from gelu_verify.gpu.timing import device_throughput
from gelu_verify.inputs.plans import CHUNKS
from gelu_verify.speed import throughput


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_reported(dtype):
    seen = throughput.measure(target("gelu", lambda dtype, x: x), dtype, n=5000)["throughput"]
    assert set(seen) == {"elements_per_s", "spread", "copy_ratio", "n"}
    assert seen["n"] == 5000
    assert seen["elements_per_s"] > 0
    assert seen["spread"] >= 0
    assert seen["copy_ratio"] > 0
    json.dumps(seen, allow_nan=False)


def test_a_slow_target_is_given_fewer_elements():
    lengths = []

    def slow(dtype, x):
        lengths.append(len(x))
        time.sleep(len(x) * 1e-6)
        return x

    seen = throughput.measure(target("gelu", slow), "float32", budget=0.02)["throughput"]
    assert seen["n"] == lengths[-1] < throughput.ELEMENTS
    assert max(lengths) <= CHUNKS[32] + 1
    assert len(lengths) >= throughput.REPEATS


def test_only_the_call_is_timed_and_its_input_is_loaded_once_per_length():
    loads = []

    class Counted(type(correct("gelu"))):
        def load(self, dtype, x_bits):
            loads.append(len(x_bits))
            return super().load(dtype, x_bits)

    throughput.measure(
        Counted(name="test.counted", function="gelu", dtypes=DTYPES, answer=lambda dtype, x: x), "float32"
    )
    assert loads == sorted(set(loads))


def test_inputs_are_normal_with_deviation_2():
    x = throughput.inputs("float32", 1 << 16).view(np.float32)
    assert abs(x.mean()) < 0.05
    assert abs(x.std() - 2) < 0.05


def test_a_target_that_raises_is_a_target_failure():
    def raises(dtype, x):
        raise RuntimeError("out of luck")

    with pytest.raises(TargetFailure, match=r"test\.mutant raised RuntimeError while it was timed"):
        throughput.measure(target("gelu", raises), "float32")


def test_provenance():
    facts = machine.provenance(["scipy", "kernels"], timed=True)
    assert set(facts) == {"versions", "machine", "git", "copy_bytes_per_s", "device"}
    assert facts["versions"]["numpy"] == np.__version__
    keys = {"cpu", "architecture", "isa", "cores", "caches", "os", "python", "compiler", "libm", "switches"}
    assert set(facts["machine"]) == keys
    assert facts["machine"]["cores"] >= 1
    assert set(facts["machine"]["isa"]) <= set(machine.ISA)
    assert facts["copy_bytes_per_s"] > 1e8
    json.dumps(facts, allow_nan=False)


def test_git_state_is_that_of_the_checkout():
    state = machine.git_state()
    if state is not None:
        assert re.fullmatch(r"[0-9a-f]{40}", state["commit"])
        assert state["dirty"] in (True, False)


def test_the_checkout_is_asked_without_its_lock(tmp_path, monkeypatch):
    """A run that is ended meanwhile would leave it, and the user's next commit would fail; so one at the same time."""
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    (file := tmp_path / "package" / "machine.py").parent.mkdir()
    file.touch()
    for asked in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        assert output_of(*git, *asked) is not None
    os.utime(file, (1, 1))  # what `git status` would note in its index
    before = (tmp_path / ".git" / "index").read_bytes()
    monkeypatch.setattr(machine, "__file__", str(file))
    assert machine.git_state()["dirty"] is False
    assert (tmp_path / ".git" / "index").read_bytes() == before


def test_a_command_that_is_not_there_is_no_error():
    assert output_of("no-such-command-of-any-system") is None
    assert machine.versions(["no-such-package", "numpy"]) == {"numpy": np.__version__}


def test_a_device_is_timed_by_its_own_clock():
    class Clock:
        def seconds(self, call):
            return call()

    found = device_throughput(Clock(), lambda: 2.0, lambda: 1.0, 1000, 4)
    assert found == {
        "elements_per_s": 500.0,
        "bytes_per_s": 4000.0,
        "spread": 0.0,
        "copy_ratio": 0.5,
        "copy_bytes_per_s": 8000.0,
        "n": 1000,
    }
