"""Tests that need a CUDA device (marker `gpu`): never skipped. `tox -e gpu` requires one, and ends with 3 without."""

import os
import signal
import sys

import hypothesis
import pytest
import requiring

from gelu_verify import own_faults, plugins
from gelu_verify.errors import TargetUnavailable
from gelu_verify.gpu import cuda

MISSING = 3  # a required measurement is not there
hypothesis.settings.register_profile("no clock", deadline=None)
hypothesis.settings.load_profile("no clock")
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # what commands print depends on them
    os.environ.pop(name, None)
plugins._entry_points = lambda group: []  # the cases are those of the package; test_plugins.py has processes of its own
os.environ[own_faults.SWITCH] = "raise"  # also in the processes that tests start: a fault of ours fails a test
REQUIRED = "gpu" in requiring.REQUIRED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Cases that are too many for every commit are nightly; tests that need a device are run where there is one."""
    _leave_few(items)
    _leave_those_of_this_machine(config, items)


def _leave_few(items):
    """Of each test with the marker `few(k)`, k cases from the first to the last stay; the others become nightly."""
    cases = {}
    for item in items:
        if (mark := item.get_closest_marker("few")) and not item.get_closest_marker("nightly"):
            cases.setdefault((item.nodeid.partition("[")[0], *mark.args), []).append(item)
    for (_, most), each in cases.items():
        kept = {round(k * (len(each) - 1) / (most - 1)) for k in range(most)}
        for k, item in enumerate(each):
            if k not in kept:
                item.add_marker(pytest.mark.nightly)


def _leave_those_of_this_machine(config, items):
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
