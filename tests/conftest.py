"""Tests that need a CUDA device (marker `gpu`): never skipped. `tox -e gpu` requires one, and ends with 3 without."""

import gc
import os
import signal
import sys
import threading

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


gc.disable()  # what collecting tests makes stays until the end


def pytest_collection_finish(session):
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Of a test with the marker `few(k)`, k cases from the first to the last stay; the others become nightly.

    Cases that `-m "not ..."` leaves out are not made: they are more than all others.
    """
    yield
    calls, definition = metafunc._calls, metafunc.definition
    if few := definition.get_closest_marker("few"):
        (most,) = few.args
        each = [call for call in calls if not any(mark.name == "nightly" for mark in call.marks)]
        kept = {round(k * (len(each) - 1) / max(most - 1, 1)) for k in range(most)}
        for k, call in enumerate(each):
            if k not in kept:
                call.marks.append(pytest.mark.nightly.mark)
    expression = metafunc.config.option.markexpr
    words = [] if " or " in expression else expression.split(" and ")
    left_out = {word.removeprefix("not ") for word in words if word.startswith("not ")}
    of_all = [mark.name for mark in definition.iter_markers()]
    wanted = [call for call in calls if left_out.isdisjoint([*of_all, *(mark.name for mark in call.marks)])]
    metafunc._calls = wanted or calls[:1]  # of a test with no case at all pytest would make one


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tests that need a device are run where there is one."""
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


def pytest_runtest_teardown():
    """A run that ended with an error may be loading what a report needs: pytest meets modules that change."""
    for thread in threading.enumerate():
        if thread.name == "loading":
            thread.join()


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
