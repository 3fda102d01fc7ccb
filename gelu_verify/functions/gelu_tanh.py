"""gelu_tanh(x) = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), and its derivative."""

from __future__ import annotations

from ..enclosures import Enclosure, Interval
from . import _logistic
from .base import Function

MINIMUM = "-0.752461422071016258487954443288916091"
INFLECTION = "1.41850400879082835554803354559964270"


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = 2 sqrt(2/pi) (a + 0.044715 a^3), and a s'; 0.044715 is an exact decimal."""
    twice = 2 * c.iv.sqrt(2 / c.iv.pi)
    cubic = c.rational(44715, 1000000) * a * a
    return twice * a * (1 + cubic), twice * a * (1 + 3 * cubic)


ENTRIES = (
    Function(
        name="gelu_tanh",
        formula="x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) = x sigmoid(s), s = 2 sqrt(2/pi) (x + 0.044715 x^3)",
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
            "farthest from gelu": "-2.69894138637727030047803986577153095",
            "farthest from gelu, positive": "2.69894138637727030047803986577153095",
            "second farthest from gelu": "-1.36449771736416050432108732311249184",
            "second farthest from gelu, positive": "1.36449771736416050432108732311249184",
        },
        turning_points=(MINIMUM,),
        falls_first=True,
        lower="-0.170040750571254050639067427987555684",
        sign="x",
    ),
    Function(
        name="gelu_tanh_grad",
        formula="sigmoid(s) + x s' sigmoid(s) sigmoid(-s)",
        family="gelu",
        gradient_of="gelu_tanh",
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
            "farthest from gelu_grad": "-2.01865575977183668322192133523830333",
            "farthest from gelu_grad, positive": "2.01865575977183668322192133523830333",
            "second farthest from gelu_grad": "-3.25987675768594631789129886330688263",
            "second farthest from gelu_grad, positive": "3.25987675768594631789129886330688263",
        },
        turning_points=("-" + INFLECTION, INFLECTION),
        falls_first=True,
        lower="-0.128993068658771765455904470399553846",
        upper="1.12899306865877176545590447039955385",
    ),
)
