"""silu(x) = x sigmoid(x) (swish), and its derivative."""

from __future__ import annotations

from ..enclosures import Enclosure, Interval
from . import _logistic
from .base import Function

MINIMUM = "-1.27846454276107379510935873902298016"
INFLECTION = "2.39935728051546766783273969728228389"


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = a, and a s'."""
    return a, a


ENTRIES = (
    Function(
        name="silu",
        formula="x sigmoid(x)",
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
            "farthest from gelu": "-1.96546896409309929176916430016917321",
            "farthest from gelu, positive": "1.96546896409309929176916430016917321",
        },
        turning_points=(MINIMUM,),
        falls_first=True,
        lower="-0.278464542761073795109358739022980155",
        sign="x",
    ),
    Function(
        name="silu_grad",
        formula="sigmoid(x) + x sigmoid(x) sigmoid(-x)",
        family="gelu",
        gradient_of="silu",
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
            "farthest from gelu_grad": "-0.864993548420818698453580392960494518",
            "farthest from gelu_grad, positive": "0.864993548420818698453580392960494518",
            "second farthest from gelu_grad": "-2.98582298608312474861001143198994823",
            "second farthest from gelu_grad, positive": "2.98582298608312474861001143198994823",
        },
        turning_points=("-" + INFLECTION, INFLECTION),
        falls_first=True,
        lower="-0.0998393201288669169581849243205709721",
        upper="1.09983932012886691695818492432057097",
    ),
)
