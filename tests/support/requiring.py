"""What the tests of the service need beside Python: skipped by name where it is absent, red in `tox -e service`."""

from __future__ import annotations

import os
import shutil
from importlib import import_module

import pytest

REQUIRED = "service" in os.environ.get("GELU_VERIFY_REQUIRE", "").split(",")


def missing(what):
    """Not there: a failure where it is required."""
    if REQUIRED:
        pytest.fail(f"GELU_VERIFY_REQUIRE=service, but there is no {what}")
    pytest.skip(f"needs {what}", allow_module_level=True)


def module(name):
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return missing(name)


def program(*names):
    """Path of the first that is there."""
    return next(filter(None, map(shutil.which, names)), None) or missing(" or ".join(names))
