"""Parameters of tests that only the nightly run takes."""

from __future__ import annotations

import pytest

from gelu_verify.functions import FUNCTIONS
from gelu_verify.truth import _core


def nightly(*cases):
    """Each case is a value, or a tuple of several."""
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=pytest.mark.nightly) for c in cases]


NATIVE_FIRST = [*_core.functions(), *nightly(*(name for name in FUNCTIONS if name not in _core.functions()))]
"""All functions; those without native code, which take a hundred times as long, only in the nightly run."""
