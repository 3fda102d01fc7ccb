"""Tests that need a CUDA device (marker `gpu`): never skipped. `tox -e gpu` requires one, and ends with 3 without."""

import os
import sys

import hypothesis
import pytest
import requiring

from gelu_verify.errors import TargetUnavailable
from gelu_verify.gpu import cuda

MISSING = 3  # a required measurement is not there
hypothesis.settings.register_profile("no clock", deadline=None)
hypothesis.settings.load_profile("no clock")
for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # what commands print depends on them
    os.environ.pop(name, None)
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
def path_of_imports():
    """What a test lets us import modules from, by naming one of its folder, is not there for the next one."""
    before = list(sys.path)
    yield
    sys.path[:] = before
