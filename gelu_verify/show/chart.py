"""The one chart of all pages and figures: curves, areas, bands and marks over two axes, as SVG.

A chart has numbers and texts; where they stand is decided here. Its colours are safe for readers who see few of them,
curves differ in their dashes too, and all follow the reader's choice of light or dark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from ..errors import printable

MINUS = "\N{MINUS SIGN}"
Point = tuple[float, float]
Ticks = Sequence[tuple[float, str]]
FLAT = 0.15  # units: what lies so near to a line is left out of it
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LETTER, _LINE = 5.6, 15  # width of a letter of a text, height of a line of the key


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
_CORNERS: dict[Outline, Sequence[Point]] = {
    "triangle": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
}


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
    """A point: what it is on a click or under the pointer, and a label beside it."""

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
    at_end: bool = False  # where the label of a line across stands


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
    top: int = 10
    bottom: int = 32
    attributes: Mapping[str, object] = field(default_factory=dict)

    def x_of(self, value: float) -> float:
        """Where a value of x stands."""
        return _placed(self.x, value, self.left, self.width - self.right)

    def y_of(self, value: float) -> float:
        """Where a value of y stands."""
        return _placed(self.y, value, self.height - self.bottom, self.top)


def _placed(axis: Axis, value: float, start: float, end: float) -> float:
    low, high = axis.span
    place = min(max(axis.place(value), low), high)
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


# ---- the drawing ---------------------------------------------------------------------------------

STYLE = """\
.chart { --c0: #0072b2; --c1: #d55e00; --c2: #00855f; --c3: #b0578d; --c4: #8a6a00; --c5: #2a93cf; --c6: #4b4f55;
  --text: #566069; --lines: #e3e6e6; --ground: #fcfcfa; --strong: #15181c; }
@media (prefers-color-scheme: dark) { .chart { --c0: #56b4e9; --c1: #ff8a3c; --c2: #3fcf9f; --c3: #e39bc6;
  --c4: #e6c04a; --c5: #8fb8ff; --c6: #c3c8ce; --text: #a1aab3; --lines: #2b3136; --ground: #14171a;
  --strong: #e4e7ea; } }
.chart .ground { fill: var(--ground); } .chart path { fill: none; stroke-linejoin: round; }
.chart text { fill: var(--text); font: 10px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
.chart .grid { stroke: var(--lines); } .chart .zero { stroke: var(--text); stroke-width: .8; }
.chart .rule { stroke: var(--text); stroke-dasharray: 3 3; } .chart .leader { stroke: var(--text); stroke-width: .6; }
.chart .curve { stroke: var(--k); stroke-width: 1.6; } .chart .dashes { stroke-dasharray: 4 3; }
.chart .band { fill: var(--k); opacity: .14; } .chart .area { fill: var(--k); opacity: .3; }
.chart .k1.line, .chart .k5.line { stroke-dasharray: 7 3; } .chart .k2.line { stroke-dasharray: 2 2.5; }
.chart .k3.line, .chart .k6.line { stroke-dasharray: 9 3 2 3; } .chart .k4.line { stroke-dasharray: 14 3; }
.chart .mark { fill: var(--k); stroke: var(--k); stroke-width: 1.4; } .chart .ring { fill: var(--ground); }
.chart .bar, .chart .cross { stroke-width: 2; } .chart .reach { stroke: var(--k); stroke-width: 1.4; opacity: .6; }
.chart .label { fill: var(--strong); } .chart .title { fill: var(--strong); font-weight: 600; font-size: 12px; }
""" + " ".join(f".chart .k{place} {{ --k: var(--c{place}); }}" for place in range(7))


def svg(chart: Chart, *, alone: bool = False, scale: float = 1, note: str = "") -> Markup:
    """The chart as an element of a page; `alone`: as a file, with its title, its style and `note` in a comment, and so
    many times as large."""
    key, rows = _key(chart)
    above = (22 if alone else 0) + _LINE * rows
    height = chart.height + above
    body = Markup("").join((*_axes(chart), *_curves(chart), *map(_mark_of(chart), chart.marks), *_labels(chart)))
    inner = Markup('<g transform="translate(0 {})">{}</g>').format(above, body) if above else body
    top = Markup("")
    attributes: dict[str, object] = {"class": "chart", "viewBox": f"0 0 {chart.width} {height}", "role": "img"}
    if alone:
        size = {"width": f"{scale * chart.width:g}", "height": f"{scale * height:g}"}
        attributes |= {"xmlns": "http://www.w3.org/2000/svg", **size}
        title = Markup('<text class="title" x="8" y="16">{}</text>').format(chart.title)
        top = Markup('<style>{}</style>\n<rect class="ground" width="100%" height="100%"/>{}\n').format(
            Markup(STYLE), title
        )
        key = Markup('<g transform="translate(0 22)">{}</g>').format(key)
    attributes |= {"aria-label": chart.name or chart.title, **chart.attributes}
    text = _element("svg", attributes, Markup("\n{}{}\n{}\n").format(top, key, inner))
    return Markup("<!-- {} -->\n{}\n").format(note, text) if note else text


_PLAIN = {
    "grid": 'stroke="currentColor" stroke-opacity=".15"',
    "rule": 'stroke="currentColor" stroke-opacity=".7" stroke-dasharray="4 3"',
    "area": 'fill="currentColor" fill-opacity=".8"',
    "k0": 'color="#3d85c6"',
    "k1": 'color="#d1443a"',
}


def without_style(drawn: Markup) -> Markup:
    """A drawing of areas for a page that is not ours: attributes in the place of classes, and the page's own colour."""
    return Markup(re.sub('class="([^"]*)"', lambda found: " ".join(map(_PLAIN.__getitem__, found[1].split())), drawn))


def _element(tag: str, attributes: Mapping[str, object], content: str | Markup | None = None) -> Markup:
    inside = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in attributes.items())
    if content is None:
        return Markup("<{0}{1}/>").format(Markup(tag), inside)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), inside, content)


def _text(x: float, y: float, text: str, anchor: str = "start", style: str = "", **attributes: object) -> Markup:
    lines = text.split("\n")
    named = {"class": style, "x": f"{x:g}", "y": f"{y:g}", "text-anchor": anchor if anchor != "start" else ""}
    kept = {name: value for name, value in named.items() if value} | attributes
    if len(lines) == 1:
        return _element("text", kept, printable(text))
    spans = [_element("tspan", {"x": f"{x:g}", "dy": 11 if at else 0}, each) for at, each in enumerate(lines)]
    return _element("text", kept, Markup("").join(spans))


def _path(style: str, data: str, **attributes: object) -> Markup:
    return _element("path", {"class": style, "d": data, **attributes})


def _key(chart: Chart) -> tuple[Markup, int]:
    """The entries side by side, and how many lines they take: none where there is one curve."""
    named = [each for each in chart.curves if each.label]
    if len(named) < 2:
        return Markup(""), 0
    parts, at, row = [], 8.0, 0
    for curve in named:
        wide = 44 + _LETTER * len(curve.label)
        if at > 8 and at + wide > chart.width:
            at, row = 8.0, row + 1
        y = 10 + _LINE * row
        if curve.kind == "dots":
            parts.append(_spot(f"mark k{curve.colour}", at + 20, y - 3, 3.2, curve.outline))
        else:
            parts.append(
                _path(
                    _style(curve),
                    f"M{at:g} {y - 3}h26" + ("v5h-26z" if curve.kind == "area" else ""),
                    **curve.attributes,
                )
            )
        parts.append(_text(at + 31, y, curve.label))
        at += wide
    return Markup("").join(parts), row + 1


def _style(curve: Curve) -> str:
    return f"{'area' if curve.kind == 'area' else f'curve {curve.kind}'} k{curve.colour % 7}"


def _axes(chart: Chart) -> Iterator[Markup]:
    right, bottom = chart.width - chart.right, chart.height - chart.bottom

    def inside(axis: Axis) -> Ticks:
        return [(at, text) for at, text in axis.ticks if axis.span[0] <= at <= axis.span[1]]

    for at, text in inside(chart.y):
        y = _placed(Axis(chart.y.span), at, bottom, chart.top)
        yield _path("grid", f"M{chart.left} {y:g}H{right}")
        yield _text(chart.left - 6, y + 3.5, text, "end")
    for at, text in inside(chart.x):
        x = _placed(Axis(chart.x.span), at, chart.left, right)
        yield _path("grid", f"M{x:g} {chart.top}V{bottom}")
        yield _text(x, bottom + 13, text, "middle")
    if chart.y.has_zero and chart.y.span[0] < 0 < chart.y.span[1]:
        yield _path("zero", f"M{chart.left} {chart.y_of(0):g}H{right}")
    if chart.x.title:
        yield _text(right, chart.height - 4, f"{chart.x.title} \N{RIGHTWARDS ARROW}", "end")
    if chart.y.title:
        yield _text(2, 10, chart.y.title)
    for rule in chart.rules:
        yield from _rule(chart, rule, right, bottom)


def _rule(chart: Chart, rule: ReferenceLine, right: float, bottom: float) -> Iterator[Markup]:
    if rule.axis == "x":
        x = chart.x_of(rule.at)
        yield _path("rule", f"M{x:g} {chart.top}V{bottom}")
        yield _text(x, chart.top - 5, rule.label, "middle")
    else:
        y = chart.y_of(rule.at)
        yield _path("rule", f"M{chart.left} {y:g}H{right}")
        if rule.label:
            at, anchor = (right - 4, "end") if rule.at_end else (chart.left + 4, "start")
            yield _text(at, y - 4, rule.label, anchor)


def _curves(chart: Chart) -> Iterator[Markup]:
    for curve in chart.curves:
        if curve.band:
            around = [*((x, high) for x, _, high in curve.band), *((x, low) for x, low, _ in reversed(curve.band))]
            yield _path(f"band k{curve.colour % 7}", _joined((chart.x_of(x), chart.y_of(y)) for x, y in around) + "z")
        if data := path_data(chart, curve):
            title = _element("title", {}, curve.label) if curve.label else ""
            yield _element("path", {"class": _style(curve), "d": data, **curve.attributes}, title or None)


def path_data(chart: Chart, curve: Curve) -> str:
    """The path of a curve, in as many pieces as it has; for a page that draws it itself, too."""
    if curve.kind == "area":
        return _steps(chart, curve)
    pieces: list[list[Point]] = [[]]
    for x, y in curve.points:
        if math.isnan(y):
            pieces.append([])
        else:
            pieces[-1].append((chart.x_of(x), chart.y_of(y)))
    if curve.kind == "stairs":
        return "".join(_stairs(chart, piece) for piece in pieces if piece)
    return "".join(_joined(thinned(piece)) for piece in pieces if len(piece) > 1)


def _joined(points: Sequence[Point] | Iterator[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _stairs(chart: Chart, points: Sequence[Point]) -> str:
    """What is reached at least: from the top down, and to the left edge."""
    (x, y), *rest = points
    return f"M{x:g} {chart.top}V{y:g}" + "".join(f"H{x:g}V{y:g}" for x, y in rest) + f"H{chart.left}"


def _steps(chart: Chart, curve: Curve) -> str:
    """Bins from each x to the next one, filled down to the axis; the last point ends the last bin."""
    bottom = chart.height - chart.bottom
    path, height, end = [], math.nan, 0.0
    for (x, y), (after, _) in zip(curve.points, curve.points[1:], strict=False):
        start, level, stop = chart.x_of(x), math.nan if math.isnan(y) else chart.y_of(y), chart.x_of(after)
        if not math.isnan(height) and math.isnan(level):
            path.append(f"H{end:g}V{bottom}z")
        elif math.isnan(height) and not math.isnan(level):
            path.append(f"M{start:g} {bottom}V{level:g}")
        elif level != height and not math.isnan(level):
            path.append(f"H{start:g}V{level:g}")
        height, end = level, stop
    return "".join(path) + ("" if math.isnan(height) else f"H{end:g}V{bottom}z")


def thinned(points: Sequence[Point], tolerance: float = FLAT) -> list[Point]:
    """Douglas and Peucker: no point left out is farther than that from the line."""
    if len(points) < 3:
        return list(points)
    (x0, y0), (x1, y1) = points[0], points[-1]
    away = [abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) if x1 != x0 else abs(y - y0) for x, y in points]
    at = max(range(1, len(away) - 1), key=away.__getitem__)
    if away[at] <= tolerance:
        return [points[0], points[-1]]
    return thinned(points[: at + 1], tolerance)[:-1] + thinned(points[at:], tolerance)


_SIDES = {"above": (0, -8, "middle"), "below": (0, 16, "middle"), "right": (8, 3.5, "start"), "left": (-8, 3.5, "end")}


def _mark_of(chart: Chart) -> Callable[[Mark], Markup]:
    return lambda mark: _mark(chart, mark)


def _mark(chart: Chart, mark: Mark) -> Markup:
    x, y, r = chart.x_of(mark.x), chart.y_of(mark.y), mark.size
    colour = "" if mark.colour is None else f" k{mark.colour % 7}"
    style = f"mark {mark.shape}{colour}"
    if mark.shape in ("dot", "ring"):
        drawn = _spot(style, x, y, r, mark.outline)
    elif mark.shape == "bar":
        drawn = _path(style, f"M{x:g} {y - 6:g}v12")
    else:
        drawn = _path(style, f"M{x - r:g} {y - r:g}l{2 * r:g} {2 * r:g}m0-{2 * r:g}l-{2 * r:g} {2 * r:g}")
    if mark.reach:
        drawn = _path(f"reach{colour}", f"M{chart.x_of(mark.reach[0]):g} {y:g}H{chart.x_of(mark.reach[1]):g}") + drawn
    if mark.label:
        dx, dy, anchor = _SIDES[mark.side]
        drawn += _text(x + dx, y + dy, mark.label, anchor, "label")
    if not (mark.text or mark.link or mark.attributes):
        return drawn
    title = _element("title", {}, printable(mark.text)) if mark.text else Markup("")
    link = {"href": f"#{mark.link}"} if mark.link else {}
    return _element("a" if mark.link else "g", {**link, **mark.attributes}, title + drawn)


def _spot(style: str, x: float, y: float, r: float, outline: Outline) -> Markup:
    if outline == "circle":
        return _element("circle", {"class": style, "cx": f"{x:g}", "cy": f"{y:g}", "r": r})
    corners = "L".join(f"{x + r * dx:.4g} {y + r * dy:.4g}" for dx, dy in _CORNERS[outline])
    return _path(style, f"M{corners}z")


def _labels(chart: Chart) -> Iterator[Markup]:
    for label in chart.labels:
        if label.leads_from:
            x, y = label.leads_from
            yield _path("leader", f"M{x:g} {y:g}L{label.x - 2:g} {label.y - 3.5:g}")
        yield _text(label.x, label.y, label.text, "start", "label", **label.attributes)
