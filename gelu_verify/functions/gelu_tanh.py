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
    minimum=("-0.752461422071016258487954443288916091", "-0.170040750571254050639067427987555684"),
    inflection=(
        "1.41850400879082835554803354559964270",
        "-0.128993068658771765455904470399553846",
        "1.12899306865877176545590447039955385",
    ),
    farthest=("-2.69894138637727030047803986577153095", "-1.36449771736416050432108732311249184"),
    gradient_farthest=("-2.01865575977183668322192133523830333", "-3.25987675768594631789129886330688263"),
    constants=(
        Constant("1/2", "0.5", _logistic.whole(s)),
        Constant("sqrt(2/pi)", "0.797884560802865355879892119868763737", _logistic.through(s, s)),
        Constant("0.044715", "0.044715", _logistic.through(s, cubic)),
    ),
)
