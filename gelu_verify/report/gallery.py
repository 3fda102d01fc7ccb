"""The functions drawn from exact values: GELU, what approximates it, its relatives, derivatives and differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

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
from .scales import scaled

BOX = {"width": 460, "height": 280, "left": 54, "right": 12, "top": 10, "bottom": 34}
_POINTS = 241
Curve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Picture:
    """A chart: what its curves are, and over which x."""

    title: str
    text: str
    curves: tuple[tuple[str, str, str | None], ...]  # label, function, the one that is subtracted
    low: float = -5.0
    high: float = 5.0
    is_log: bool = False  # log10 of the size
    landmarks: tuple[Landmark, ...] = ()


PICTURES = (
    Picture(
        "Functions",
        "All of them are close to 0 on the left and to x on the right.",
        tuple((name, name, None) for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "relu", "elu")),
        -4,
        3,
        landmarks=(MINIMUM, INFLECTIONS),
    ),
    Picture(
        "Derivatives",
        "A derivative of a GELU leaves [0, 1] on both sides.",
        tuple((name, name, None) for name in ("gelu_grad", "gelu_tanh_grad", "gelu_sigmoid_grad", "silu_grad")),
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
        "The left tail: log\N{SUBSCRIPT ONE}\N{SUBSCRIPT ZERO} of the size",
        "1 + erf(x/\N{SQUARE ROOT}2) cancels here, and 1 + tanh likewise: what is left of a rounded sum is lost.",
        tuple((name, name, None) for name in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")),
        -14,
        0,
        True,
        ZEROS,
    ),
)
NAMES = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu", "relu", "elu")  # their colours; a derivative has its function's


@cache
def gallery() -> list[dict[str, Any]]:
    """Every picture as paths, ticks and labels."""
    return [_drawn(picture) for picture in PICTURES]


def _drawn(picture: Picture) -> dict[str, Any]:
    x = np.linspace(picture.low, picture.high, _POINTS)
    values = [_values(picture, name, base, x) for _, name, base in picture.curves]
    finite = np.concatenate([y[np.isfinite(y)] for y in values])
    ticks = round_ticks(float(finite.min()), float(finite.max()))
    span = min(ticks[0], float(finite.min())), max(ticks[-1], float(finite.max()))
    box = BOX
    right, bottom = box["width"] - box["right"], box["height"] - box["bottom"]

    def x_of(value: float) -> float:
        return scaled(value, (picture.low, picture.high), box["left"], right)

    def y_of(value: float) -> float:
        return scaled(value, span, bottom, box["top"])

    return {
        "title": picture.title,
        "text": picture.text,
        "box": box,
        "lines": [
            {
                "label": label,
                "place": NAMES.index(name.removesuffix("_grad")),
                "path": _path(x, y, x_of, y_of),
                "marks": [(x_of(at), y_of(height), text) for at, height, text in _marks(picture, name, base)],
            }
            for (label, name, base), y in zip(picture.curves, values, strict=True)
        ],
        "x_ticks": [(x_of(at), _label(at)) for at in round_ticks(picture.low, picture.high)],
        "y_ticks": [(y_of(at), _label(at)) for at in ticks],
        "zero": y_of(0.0) if span[0] < 0 < span[1] else None,
    }


def _values(picture: Picture, name: str, base: str | None, x: np.ndarray) -> np.ndarray:
    y = reference(name, x) - (reference(base, x) if base else 0.0)
    if not picture.is_log:
        return np.asarray(y)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log10(np.abs(y)))


def _marks(picture: Picture, name: str, base: str | None) -> list[tuple[float, float, str]]:
    """(x, y, text) of what is proved of a curve, where the picture shows it."""
    function = name.removesuffix("_grad")
    found = [place for landmark in picture.landmarks for place in landmark.at(function)]
    found = [(x, text) for x, text in found if picture.low <= x <= picture.high]
    heights = _values(picture, name, base, np.array([x for x, _ in found])).tolist()
    return [(x, y, text) for (x, text), y in zip(found, heights, strict=True)]


def _path(x: np.ndarray, y: np.ndarray, x_of: Callable[[float], float], y_of: Callable[[float], float]) -> str:
    """A line through the points, those that lie on it left out."""
    points = [(x_of(a), y_of(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True) if math.isfinite(b)]
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in thinned(points))


def thinned(points: Sequence[tuple[float, float]], tolerance: float = 0.15) -> list[tuple[float, float]]:
    """Douglas and Peucker: no point left out is farther than that from the line."""
    if len(points) < 3:
        return list(points)
    (x0, y0), (x1, y1) = points[0], points[-1]
    away = [abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) for x, y in points]
    at = max(range(len(away)), key=away.__getitem__)
    if away[at] <= tolerance:
        return [points[0], points[-1]]
    return thinned(points[: at + 1], tolerance)[:-1] + thinned(points[at:], tolerance)


def round_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in [low, high]."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= most)
    return [round(k * step, 12) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _label(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")
