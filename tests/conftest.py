"""Tests that need a CUDA device (marker `gpu`): never skipped. `tox -e gpu` requires one, and ends with 3 without."""

import os
import signal
import sys

import hypothesis
import pytest
import requiring

from gelu_verify import own_faults
from gelu_verify.errors import TargetUnavailable
from gelu_verify.gpu import cuda

MISSING = 3  # a required measurement is not there
hypothesis.settings.register_profile("no clock", deadline=None)
hypothesis.settings.load_profile("no clock")
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # what commands print depends on them
    os.environ.pop(name, None)
os.environ[own_faults.SWITCH] = "raise"  # also in the processes that tests start: a fault of ours fails a test
REQUIRED = "gpu" in requiring.REQUIRED


def pytest_collection_modifyitems(config, items):
    """Without a device the tests that need one are not among those that are run; where it is required, none are."""
    on_device = [item for item in items if item.get_closest_marker("gpu")]
    if not (on_device or REQUIRED):
        return
    try:
        cuda.device()
    except TargetUnavailable as reason:
        if REQUIRED:
            pytest.exit(f"a CUDA device is required: {reason}", returncode=MISSING)
        items[:] = [item for item in items if item not in on_device]
        config.hook.pytest_deselected(items=on_device)


@pytest.fixture(autouse=True)
def no_time_for_more_inputs(monkeypatch):
    """Hundreds of results with the plan's own inputs alone; tests of more inputs say how many (`--budget`)."""
    monkeypatch.setattr("gelu_verify.measure.budget.EACH_S", 0.0)
    monkeypatch.setattr("gelu_verify.measure.budget.ALONE_S", 0.0)


@pytest.fixture
def ctrl_c():
    """Python's own handling of Ctrl-C, also where pytest is a job in the background of a script and so ignores it."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, inherited)


@pytest.fixture(autouse=True)
def path_of_imports():
    """What a test lets us import modules from, by naming one of its folder, is not there for the next one."""
    before = list(sys.path)
    yield
    sys.path[:] = before
