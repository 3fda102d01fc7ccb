"""gelu_sigmoid(x) = x sigmoid(1.702 x) ("quick gelu"), and its derivative."""

from __future__ import annotations

from ..enclosures import Enclosure, Interval
from . import _logistic
from .base import Function

MINIMUM = "-0.751154255441288951298095616347226883"
INFLECTION = "1.40972813191273070965495869405539594"


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = 1.702 a and a s'; 1.702 is an exact decimal."""
    s = c.rational(1702, 1000) * a
    return s, s


ENTRIES = (
    Function(
        name="gelu_sigmoid",
        formula="x sigmoid(1.702 x)",
        family="gelu",
        terms=_logistic.scaled(slope),
        at_minus_infinity="-0",
        at_plus_infinity="inf",
        at_zero="x",
        approximates="gelu",
        landmarks={
            "minimum": MINIMUM,
            "inflection": "-" + INFLECTION,
            "inflection, positive": INFLECTION,
            "farthest from gelu": "-2.27039773719661017454790721623138123",
            "farthest from gelu, positive": "2.27039773719661017454790721623138123",
            "second farthest from gelu": "-0.755632749071671348941458596685057435",
            "second farthest from gelu, positive": "0.755632749071671348941458596685057435",
        },
        turning_points=(MINIMUM,),
        falls_first=True,
        lower="-0.163610189636353581145334159237943687",
        sign="x",
    ),
    Function(
        name="gelu_sigmoid_grad",
        formula="sigmoid(s) + s sigmoid(s) sigmoid(-s), s = 1.702 x",
        family="gelu",
        gradient_of="gelu_sigmoid",
        terms=_logistic.scaled_grad(slope),
        at_minus_infinity="-0",
        at_plus_infinity="1",
        at_zero="0.5",
        approximates="gelu_grad",
        landmarks={
            "root": MINIMUM,
            "crosses 1": MINIMUM.removeprefix("-"),
            "minimum": "-" + INFLECTION,
            "maximum": INFLECTION,
            "farthest from gelu_grad": "-1.42194759096482324727215153585467856",
            "farthest from gelu_grad, positive": "1.42194759096482324727215153585467856",
            "second farthest from gelu_grad": "-2.99992337810829882850394508100929275",
            "second farthest from gelu_grad, positive": "2.99992337810829882850394508100929275",
        },
        turning_points=("-" + INFLECTION, INFLECTION),
        falls_first=True,
        lower="-0.0998393201288669169581849243205709721",
        upper="1.09983932012886691695818492432057097",
    ),
)
