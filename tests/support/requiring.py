"""What some tests need beside the extra `test`: skipped by name where it is absent, red where it is required.

`GELU_VERIFY_REQUIRE` is a comma-separated list: names of packages, `nvcc`, `service` for all that tests/service needs,
`frameworks` for all frameworks, and `gpu` (tests/conftest.py). tox.ini sets it.
"""

from __future__ import annotations

import os
import shutil
from importlib import import_module

import pytest

from gelu_verify.errors import TargetUnavailable
from gelu_verify.gpu.nvcc import command

REQUIRED = frozenset(os.environ.get("GELU_VERIFY_REQUIRE", "").split(","))


def missing(what):
    """Not there: a failure where it is required."""
    if REQUIRED & {what, "service"}:  # with `service` nothing but tests/service is run
        pytest.fail(f"GELU_VERIFY_REQUIRE={','.join(sorted(REQUIRED))}, but there is no {what}")
    pytest.skip(f"needs {what}", allow_module_level=True)


def module(name):
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return missing(name)


def program(*names):
    """Path of the first that is there."""
    return next(filter(None, map(shutil.which, names)), None) or missing(" or ".join(names))


def nvcc():
    """The command of NVIDIA's compiler: of the system, or of the extra `nvcc`."""
    try:
        return command()
    except TargetUnavailable:
        return missing("nvcc")
