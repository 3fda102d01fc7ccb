"""The one chart of all pages and figures: curves, areas, bands and marks over two axes; numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

MINUS = "\N{MINUS SIGN}"
Point = tuple[float, float]
Ticks = Sequence[tuple[float, str]]
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """One axis: its ends and its ticks are places, as `place` makes them of values; beyond the ends is at the ends."""

    span: tuple[float, float]
    ticks: Ticks = ()
    title: str = ""
    place: Callable[[float], float] = float
    has_zero: bool = False  # whether a line is drawn there


Outline = Literal["circle", "triangle", "square", "diamond"]
"""Of a dot: tells kinds apart without colour."""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Points under a label: a line between them, an area over bins that begin there, or only an entry of the key.

    Where y is not a number, there is a gap. `band` is what lies between a lower and an upper curve.
    """

    label: str = ""
    points: Sequence[Point] = ()
    colour: int = 0
    kind: Literal["line", "area", "dashes", "stairs", "dots"] = "line"
    band: Sequence[tuple[float, float, float]] = ()
    outline: Outline = "circle"  # of dots
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A point: what it is on a click or under the pointer, and a label beside it, where that covers nothing."""

    x: float
    y: float
    text: str = ""
    colour: int | None = 0
    shape: Literal["dot", "ring", "cross", "bar"] = "dot"
    outline: Outline = "circle"  # of a dot or a ring
    size: float = 2.8
    reach: tuple[float, float] | None = None  # an error bar along x
    label: str = ""
    side: Literal["above", "below", "left", "right"] = "above"
    link: str = ""
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ReferenceLine:
    """A dashed line across the chart: at a value of x, or of y."""

    at: float
    axis: Literal["x", "y"] = "y"
    label: str = ""
    at_end: bool = False  # where the label of a line across stands, if it covers nothing there


@dataclass(frozen=True)
class Note:
    """A text at a place of the drawing, with a line that leads to it."""

    x: float
    y: float
    text: str
    leads_from: Point | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What is drawn, and how large; the numbers are as wide as 10 of them make a letter high."""

    title: str
    x: Axis
    y: Axis
    curves: Sequence[Curve] = ()
    marks: Sequence[Mark] = ()
    rules: Sequence[ReferenceLine] = ()
    labels: Sequence[Note] = ()
    text: str = ""  # said below the title
    name: str = ""  # for those who cannot see it; default: the title
    width: int = 460
    height: int = 270
    left: int = 52
    right: int = 12
    top: int = 18  # room for the name of the axis of y
    bottom: int = 32
    attributes: Mapping[str, object] = field(default_factory=dict)

    def x_of(self, value: float) -> float:
        """Where a value of x stands."""
        return placed(self.x, value, self.left, self.width - self.right)

    def y_of(self, value: float) -> float:
        """Where a value of y stands."""
        return placed(self.y, value, self.height - self.bottom, self.top)


def placed(axis: Axis, value: float, start: float, end: float) -> float:
    """Where a value of an axis stands between two places; beyond its ends: there."""
    low, high = axis.span
    place = axis.place(value)
    if place < low:
        place = low
    elif place > high:
        place = high
    return round(start + (place - low) / (high - low) * (end - start), 1)


# ---- axes ----------------------------------------------------------------------------------------


def linear(low: float, high: float, title: str = "", ticks: Ticks = ()) -> Axis:
    """From `low` to `high`, with round numbers at the ticks."""
    return Axis((low, high), ticks or [(at, number(at)) for at in round_ticks(low, high)], title, has_zero=True)


def octaves(span: tuple[int, int], title: str = "", most: int = 7) -> Axis:
    """Powers of two."""
    return Axis(span, octave_ticks(span, most), title, _log(math.log2, span[0]))


def decades(rates: Sequence[float], title: str = "") -> Axis:
    """Powers of ten that hold these rates: at least one decade, with a little room."""
    low, high = math.log10(min(rates)) - 0.05, math.log10(max(rates)) + 0.05
    missing = max(0.0, 1.0 - (high - low)) / 2
    span = low - missing, high + missing
    return Axis(span, rate_ticks(span), title, _log(math.log10, span[0]))


def _log(log: Callable[[float], float], lowest: float) -> Callable[[float], float]:
    return lambda value: log(value) if 0 < value < math.inf else math.inf if value > 0 else lowest


def number(value: float) -> str:
    """With a real minus sign."""
    return f"{value:g}".replace("-", MINUS)


def power_text(exponent: int) -> str:
    """2^exponent as a tick label: '0.5', '64', '2²⁴'."""
    return f"{2.0**exponent:g}" if -4 <= exponent <= 10 else "2" + str(exponent).translate(_SUPERSCRIPT)


def decade_text(exponent: int) -> str:
    """10^exponent as a tick label: '1', '10⁻²⁴'."""
    return "10" + str(exponent).translate(_SUPERSCRIPT) if exponent else "1"


def octave_ticks(span: tuple[int, int], most: int = 7) -> list[tuple[float, str]]:
    """(octave, label) of whole powers of two, always with 2^-1."""
    step = max(1, math.ceil((span[1] - span[0]) / most))
    return [(float(k), power_text(k)) for k in range(span[0], span[1] + 1) if (k + 1) % step == 0]


def rate_ticks(span: tuple[float, float], most: int = 6) -> list[tuple[float, str]]:
    """(log10, label) of round rates in the span: 1, 2, 5 of every decade, or 1 and 3, or decades."""
    whole = range(math.floor(span[0]), math.ceil(span[1]) + 1)
    found: list[float] = []
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d * 10.0**e for e in whole for d in digits if span[0] <= math.log10(d * 10.0**e) <= span[1]]
        if len(found) <= most:
            break
    return [(math.log10(rate), _rate(rate)) for rate in found]


def _rate(rate: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:g}{unit}"
    return f"{rate:g}"


def round_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in [low, high]."""
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= most)
    return [round(k * step, 12) for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
