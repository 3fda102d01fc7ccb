"""Parameters of tests that only the nightly run takes."""

from __future__ import annotations

import pytest

from gelu_verify.functions import FUNCTIONS
from gelu_verify.paths import resource
from gelu_verify.truth import _core


def nightly(*cases):
    """Each case is a value, or a tuple of several."""
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=pytest.mark.nightly) for c in cases]


CORE = [name for name in _core.functions() if resource(f"data/reference/{name}").exists()]
"""Functions with native code and tables of 16-bit results: those that implementations are measured on."""
NATIVE = [*CORE, *nightly(*(name for name in _core.functions() if name not in CORE))]
"""All functions with native code; others than those only in the nightly run."""
NATIVE_FIRST = [*CORE, *nightly(*(name for name in FUNCTIONS if name not in CORE))]
"""All functions; others than those only in the nightly run: without native code they take a hundred times as long."""
