"""gelu_sigmoid(x) = x sigmoid(1.702 x) ("quick gelu"), and its derivative."""

from __future__ import annotations

import numpy as np

from . import _logistic
from .base import Constant
from .enclosures import Enclosure, Interval


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = 1.702 a and a s'; 1.702 is an exact decimal."""
    s = c.rational(1702, 1000) * a
    return s, s


def scaled(x: np.ndarray) -> np.ndarray:
    return 1.702 * x


ENTRIES = _logistic.variant(
    name="gelu_sigmoid",
    formula="x sigmoid(1.702 x)",
    gradient="sigmoid(s) + s sigmoid(s) sigmoid(-s), s = 1.702 x",
    slope=slope,
    second_farthest="-0.755632749071671348941458596685057435",
    gradient_second_farthest="-2.99992337810829882850394508100929275",
    constants=(Constant("1.702", "1.702", _logistic.through(scaled, scaled)),),
)
