"""A chart as SVG.

Where its texts stand is decided here. Its colours are safe for readers who see few of them, no two of the seven have
lines of the same dashes, and all follow the reader's choice of light or dark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..errors import printable
from .chart import Axis, Chart, Curve, Mark, Outline, Point, ReferenceLine, Ticks, placed
from .labels import LETTER, Drawn, Place

FLAT = 0.15  # units: what lies so near to a line is left out of it
_LINE = 15  # height of a line of the key
_CORNERS: dict[Outline, Sequence[Point]] = {
    "triangle": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
}

DASHES = ("", "7 3", "2 2.5", "9 3 2 3", "14 3", "8 2.5 2 2.5 2 2.5", "3 6")
"""Of the line of each colour: those of one chart differ without it."""
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
.chart .curve { stroke: var(--k); stroke-width: 1.6; } .chart .dashes { stroke-dasharray: 1 3; }
.chart .band { fill: var(--k); opacity: .14; } .chart .area { fill: var(--k); opacity: .3; }
.chart .k1.area { stroke: var(--k); stroke-dasharray: 2 2; }
.chart .mark { fill: var(--k); stroke: var(--k); stroke-width: 1.4; } .chart .ring { fill: var(--ground); }
.chart .bar, .chart .cross { stroke-width: 2; } .chart .reach { stroke: var(--k); stroke-width: 1.4; opacity: .6; }
.chart .label { fill: var(--strong); } .chart .title { fill: var(--strong); font-weight: 600; font-size: 12px; }
""" + "\n".join(
    f".chart .k{place} {{ --k: var(--c{place}); }}"
    + (f" .chart .k{place}.line {{ stroke-dasharray: {dash}; }}" if dash else "")
    for place, dash in enumerate(DASHES)
)


def svg(chart: Chart, *, alone: bool = False, scale: float = 1, note: str = "") -> Markup:
    """The chart as an element of a page; `alone`: as a file, with its title, its style and `note` in a comment, and so
    many times as large."""
    key, rows = _key(chart)
    above = (22 if alone else 0) + _LINE * rows
    height = chart.height + above
    drawn = Drawn(chart)
    marks = [_mark(chart, mark, drawn.of_mark(mark) if mark.label else None) for mark in chart.marks]
    body = Markup("").join((*_axes(chart, drawn), *_curves(chart), *marks, *_labels(chart)))
    of_body = {"data-part": "body", **({"transform": f"translate(0 {above})"} if above else {})}
    top = Markup("")
    attributes: dict[str, object] = {"class": "chart", "viewBox": f"0 0 {chart.width} {height}", "role": "img"}
    if alone:
        size = {"width": f"{scale * chart.width:g}", "height": f"{scale * height:g}"}
        attributes |= {"xmlns": "http://www.w3.org/2000/svg", **size}
        title = Markup('<text class="title" x="8" y="16">{}</text>').format(chart.title)
        top = Markup('<style>{}</style>\n<rect class="ground" width="100%" height="100%"/>{}\n').format(
            Markup(STYLE), title
        )
        key = _element("g", {"data-part": "key", "transform": "translate(0 22)"}, key)
    elif key:
        key = _element("g", {"data-part": "key"}, key)
    attributes |= {"aria-label": chart.name or chart.title, **chart.attributes}
    text = _element("svg", attributes, Markup("\n{}{}\n{}\n").format(top, key, _element("g", of_body, body)))
    return Markup("<!-- {} -->\n{}\n").format(note, text) if note else text


_PLAIN = {
    "grid": 'stroke="currentColor" stroke-opacity=".15"',
    "rule": 'stroke="currentColor" stroke-opacity=".7" stroke-dasharray="4 3"',
    "area": 'fill="currentColor" fill-opacity=".8"',
    "k0": 'color="#3d85c6"',
    "k1": 'color="#d1443a" stroke="currentColor" stroke-dasharray="2 2"',
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
        wide = 44 + LETTER * len(curve.label)
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


_AXIS: dict[str, Any] = {"data-part": "axis"}  # its name
_NAME: dict[str, Any] = {"data-part": "name"}  # of a reference line


def _axes(chart: Chart, drawn: Drawn) -> Iterator[Markup]:
    right, bottom = chart.width - chart.right, chart.height - chart.bottom

    def inside(axis: Axis) -> Ticks:
        return [(at, text) for at, text in axis.ticks if axis.span[0] <= at <= axis.span[1]]

    for at, text in inside(chart.y):
        y = placed(Axis(chart.y.span), at, bottom, chart.top)
        yield _path("grid", f"M{chart.left} {y:g}H{right}")
        yield _text(chart.left - 6, y + 3.5, text, "end")
    for at, text in inside(chart.x):
        x = placed(Axis(chart.x.span), at, chart.left, right)
        yield _path("grid", f"M{x:g} {chart.top}V{bottom}")
        yield _text(x, bottom + 13, text, "middle")
    if chart.y.has_zero and chart.y.span[0] < 0 < chart.y.span[1]:
        yield _path("zero", f"M{chart.left} {chart.y_of(0):g}H{right}")
    if chart.x.title:
        yield _text(right, chart.height - 4, f"{chart.x.title} \N{RIGHTWARDS ARROW}", "end", **_AXIS)
    if chart.y.title:
        yield _text(2, 10, chart.y.title, **_AXIS)
    for rule in chart.rules:
        yield from _rule(chart, rule, drawn)


def _rule(chart: Chart, rule: ReferenceLine, drawn: Drawn) -> Iterator[Markup]:
    if rule.axis == "x":
        x = chart.x_of(rule.at)
        yield _path("rule", f"M{x:g} {chart.top}V{chart.height - chart.bottom}")
        yield _text(x, chart.top - 5, rule.label, "middle", **_NAME)
    else:
        y = chart.y_of(rule.at)
        yield _path("rule", f"M{chart.left} {y:g}H{chart.width - chart.right}")
        if rule.label and (place := drawn.of_rule(rule)):
            yield _text(*place[:2], rule.label, place[2], **_NAME)


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
    x, y = np.array(points, dtype=np.float64).reshape(-1, 2).T
    kept = [True] * len(points)
    pieces = [(0, len(points) - 1)]
    for first, last in pieces:  # grows
        if last - first < 2:
            continue
        if last - first > _MANY:
            away, at = _farthest(x[first : last + 1], y[first : last + 1])
        else:
            (x0, y0), (x1, y1) = points[first], points[last]
            inner = points[first + 1 : last]
            if x1 == x0:
                distances = [abs(y - y0) for _, y in inner]
            else:
                distances = [abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) for x, y in inner]
            away = max(distances)
            at = distances.index(away)
        if away <= tolerance:
            kept[first + 1 : last] = [False] * (last - first - 1)
        else:
            pieces += [(first, first + 1 + at), (first + 1 + at, last)]
    return [point for point, stays in zip(points, kept, strict=True) if stays]


_MANY = 48  # points from which on arrays are faster than lists


def _farthest(x: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """How far the inner point is that is farthest from the line between the ends, and which it is."""
    line = y[0] + (y[-1] - y[0]) * (x[1:-1] - x[0]) / (x[-1] - x[0]) if x[-1] != x[0] else y[0]
    away = np.abs(y[1:-1] - line)
    at = int(away.argmax())
    return float(away[at]), at


def _mark(chart: Chart, mark: Mark, place: Place | None) -> Markup:
    x, y, r = chart.x_of(mark.x), chart.y_of(mark.y), mark.size
    colour = "" if mark.colour is None else f" k{mark.colour % 7}"
    style = f"mark {mark.shape}{colour}"
    if mark.shape in ("dot", "ring"):
        drawn = _spot(style, x, y, r, mark.outline)
    elif mark.shape == "bar":  # with its outline on top
        drawn = _path(style, f"M{x:g} {y - 6:g}v12") + _spot(style, x, y - 6, 1.8, mark.outline)
    else:
        drawn = _path(style, f"M{x - r:g} {y - r:g}l{2 * r:g} {2 * r:g}m0-{2 * r:g}l-{2 * r:g} {2 * r:g}")
    if mark.reach:
        drawn = _path(f"reach{colour}", f"M{chart.x_of(mark.reach[0]):g} {y:g}H{chart.x_of(mark.reach[1]):g}") + drawn
    if place:
        drawn += _text(*place[:2], mark.label, place[2], "label")
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
