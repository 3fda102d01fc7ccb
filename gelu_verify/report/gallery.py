"""The functions drawn from exact values: GELU, what approximates it, its relatives, derivatives and differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..show.chart import Chart, Curve, Mark, linear, round_ticks
from ..truth.values import reference
from .landmarks import (
    CROSSINGS,
    EXTREMA,
    FARTHEST,
    GRADIENT_FARTHEST,
    INFLECTIONS,
    MINIMUM,
    ROOT,
    ZEROS,
    Landmark,
)

_POINTS = 241


@dataclass(frozen=True)
class Picture:
    """A chart: what its curves are, and over which x."""

    title: str
    text: str
    curves: tuple[tuple[str, str, str | None], ...]  # label, function, the one that is subtracted
    height: str = "difference"  # what y is
    low: float = -5.0
    high: float = 5.0
    is_log: bool = False  # log10 of the size
    landmarks: tuple[Landmark, ...] = ()


PICTURES = (
    Picture(
        "Functions",
        "All of them are close to 0 on the left and to x on the right.",
        tuple((name, name, None) for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "relu", "elu")),
        "f(x)",
        -4,
        3,
        landmarks=(MINIMUM, INFLECTIONS),
    ),
    Picture(
        "Derivatives",
        "A derivative of a GELU leaves [0, 1] on both sides.",
        tuple((name, name, None) for name in ("gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad")),
        "f'(x)",
        landmarks=(ROOT, EXTREMA),
    ),
    Picture(
        "Difference from gelu",
        "What the approximations give up, however well they are computed.",
        tuple((f"{name} \N{MINUS SIGN} gelu", name, "gelu") for name in ("gelu_tanh", "gelu_sigmoid", "silu", "relu")),
        landmarks=(FARTHEST,),
    ),
    Picture(
        "Tanh form: difference from gelu",
        "Largest at the two outer marks; zero at 0 and at the two inner ones.",
        (("gelu_tanh \N{MINUS SIGN} gelu", "gelu_tanh", "gelu"),),
        landmarks=(FARTHEST, CROSSINGS),
    ),
    Picture(
        "Difference of the derivatives",
        "The same for training.",
        tuple(
            (f"{name} \N{MINUS SIGN} gelu_grad", name, "gelu_grad")
            for name in ("gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad")
        ),
        landmarks=(GRADIENT_FARTHEST,),
    ),
    Picture(
        "The left tail: log10 of the size",
        "1 + erf(x/\N{SQUARE ROOT}2) cancels here, and 1 + tanh likewise: what is left of a rounded sum is lost.",
        tuple((name, name, None) for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")),
        "log10 |f(x)|",
        -14,
        0,
        True,
        ZEROS,
    ),
)
NAMES = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "elu", "relu")  # their colours; a derivative has its function's


@cache
def gallery() -> list[Chart]:
    """Every picture."""
    return [_drawn(picture) for picture in PICTURES]


def _drawn(picture: Picture) -> Chart:
    x = np.linspace(picture.low, picture.high, _POINTS)
    curves, marks = [], []
    for label, name, base in picture.curves:
        points = list(zip(x.tolist(), _values(picture, name, base, x).tolist(), strict=True))
        colour = NAMES.index(name.removesuffix("_grad"))
        curves.append(Curve(label=label, points=points, colour=colour))
        marks += [
            Mark(x=at, y=height, text=f"{label}, {text}", colour=colour, shape="ring", size=3)
            for at, height, text in _marks(picture, name, base)
        ]
    heights = [y for curve in curves for _, y in curve.points if not math.isnan(y)]
    ticks = round_ticks(min(heights), max(heights))
    return Chart(
        title=picture.title,
        name=f"{picture.title}: {', '.join(curve.label for curve in curves)}",
        text=picture.text,
        x=linear(picture.low, picture.high, "x"),
        y=linear(min(ticks[0], *heights), max(ticks[-1], *heights), picture.height),
        curves=curves,
        marks=marks,
    )


def _values(picture: Picture, name: str, base: str | None, x: np.ndarray) -> np.ndarray:
    """What is drawn, and NaN where that is not finite."""
    y = np.asarray(reference(name, x) - (reference(base, x) if base else 0.0))
    if not picture.is_log:
        return y
    with np.errstate(divide="ignore"):
        size = np.log10(np.abs(y))
    return np.where(np.isfinite(size), size, math.nan)


def _marks(picture: Picture, name: str, base: str | None) -> list[tuple[float, float, str]]:
    """(x, y, text) of what is proved of a curve, where the picture shows it."""
    function = name.removesuffix("_grad")
    found = [place for landmark in picture.landmarks for place in landmark.at(function)]
    found = [(x, text) for x, text in found if picture.low <= x <= picture.high]
    heights = _values(picture, name, base, np.array([x for x, _ in found])).tolist()
    return [(x, y, text) for (x, text), y in zip(found, heights, strict=True)]
