"""Parameters of tests that only the nightly run takes."""

from __future__ import annotations

import pytest


def nightly(*cases):
    """Each case is a value, or a tuple of several."""
    return [pytest.param(*(c if isinstance(c, tuple) else (c,)), marks=pytest.mark.nightly) for c in cases]
