"""gelu_tanh(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its derivative."""

from __future__ import annotations

import numpy as np

from . import _logistic
from .base import Constant
from .enclosures import Enclosure, Interval


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = 2 sqrt(2/pi) (a + 0.044715 a^3), and a s'; 0.044715 is an exact decimal."""
    twice = 2 * c.iv.sqrt(2 / c.iv.pi)
    cubic = c.rational(44715, 1000000) * a * a
    return twice * a * (1 + cubic), twice * a * (1 + 3 * cubic)


def s(x: np.ndarray) -> np.ndarray:
    return np.asarray(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))


def cubic(x: np.ndarray) -> np.ndarray:
    return np.asarray(2 * np.sqrt(2 / np.pi) * 0.044715 * x**3)


ENTRIES = _logistic.variant(
    name="gelu_tanh",
    formula="x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) = x sigmoid(s), s = 2 sqrt(2/pi) (x + 0.044715 x^3)",
    gradient="sigmoid(s) + x s' sigmoid(s) sigmoid(-s)",
    slope=slope,
    second_farthest="-1.36449771736416050432108732311249184",
    gradient_second_farthest="-3.25987675768594631789129886330688263",
    constants=(
        Constant("1/2", "0.5", _logistic.whole(s)),
        Constant("sqrt(2/pi)", "0.797884560802865355879892119868763737", _logistic.through(s, s)),
        Constant("0.044715", "0.044715", _logistic.through(s, cubic)),
    ),
)
