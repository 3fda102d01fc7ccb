"""silu(x) = x sigmoid(x) (swish), and its derivative."""

from __future__ import annotations

from . import _logistic
from .enclosures import Enclosure, Interval


def slope(c: Enclosure, a: Interval) -> tuple[Interval, Interval]:
    """s = a, and a s'."""
    return a, a


ENTRIES = _logistic.variant(
    name="silu",
    formula="x sigmoid(x)",
    gradient="sigmoid(x) + x sigmoid(x) sigmoid(-x)",
    slope=slope,
    minimum=("-1.27846454276107379510935873902298016", "-0.278464542761073795109358739022980155"),
    inflection=(
        "2.39935728051546766783273969728228389",
        "-0.0998393201288669169581849243205709721",
        "1.09983932012886691695818492432057097",
    ),
    farthest=("-1.96546896409309929176916430016917321",),
    gradient_farthest=("-0.864993548420818698453580392960494518", "-2.98582298608312474861001143198994823"),
)
