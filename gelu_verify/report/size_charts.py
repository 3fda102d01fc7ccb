"""Geometry of the charts of speed over sizes: a line per target, from the first cache to memory, and a copy's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..show.chart import decades, rate_ticks
from .scales import scaled

BOX = {"width": 350, "left": 44, "right": 58, "top": 22, "bottom": 30}
LEAST_HEIGHT = 250
LINE = 10.5  # height of a label's line
IN_ONE = 3  # points: closer ends share a label


def size_chart(
    levels: Mapping[str, int], lines: Mapping[int, Mapping[str, float]], copy: Mapping[str, float]
) -> dict[str, Any]:
    """Paths, ticks and labels; `levels`: {level: elements}, `lines`: {number: {level: elements per second}}."""
    names = sorted(levels, key=lambda level: levels[level])
    last = {number: next(level for level in reversed(names) if level in line) for number, line in lines.items()}
    span = decades([rate for line in [*lines.values(), copy] for rate in line.values()]).span
    height = max(LEAST_HEIGHT, int(BOX["top"] + BOX["bottom"] + LINE * len(last)))
    box = {**BOX, "height": height}
    xs = {level: _x(box, at, len(names)) for at, level in enumerate(names)}

    def y_of(rate: float) -> float:
        return scaled(math.log10(rate), span, height - box["bottom"], box["top"])

    return {
        "box": box,
        "x_ticks": [(xs[level], level, _count(levels[level])) for level in names],
        "y_ticks": [(scaled(e, span, height - box["bottom"], box["top"]), label) for e, label in rate_ticks(span)],
        "lines": [{"number": n, "path": _path(xs, line, y_of), "points": _points(xs, line, y_of)}
                  for n, line in lines.items()],
        "copy_path": _path(xs, copy, y_of),
        "labels": _labels([(y_of(lines[n][level]), xs[level], n) for n, level in last.items()], box),
    }  # fmt: skip


def _x(box: Mapping[str, int], at: int, count: int) -> float:
    return round(box["left"] + 14 + (box["width"] - box["left"] - box["right"] - 28) * at / max(count - 1, 1), 1)


def _points(xs: Mapping[str, float], line: Mapping[str, float], y_of: Any) -> list[tuple[float, float]]:
    return [(xs[level], y_of(line[level])) for level in xs if level in line]


def _path(xs: Mapping[str, float], line: Mapping[str, float], y_of: Any) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in _points(xs, line, y_of))


def _labels(ends: Sequence[tuple[float, float, int]], box: Mapping[str, int]) -> list[dict[str, Any]]:
    """Numbers at the right edge, each as high as its line's end (y, x) or as near as the others' height allows."""
    clusters: list[tuple[float, float, list[int]]] = []
    for y, x, number in sorted(ends):
        if clusters and y - clusters[-1][0] < IN_ONE and x == clusters[-1][1] and len(clusters[-1][2]) < 3:
            clusters[-1][2].append(number)
        else:
            clusters.append((y, x, [number]))
    lowest = float(box["height"] - box["bottom"])
    places = [y for y, _, _ in clusters]
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + LINE)
    for at in reversed(range(len(places))):
        below = places[at + 1] - LINE if at + 1 < len(places) else lowest
        places[at] = min(places[at], below)
    return [
        {"y": round(place, 1), "end": (x + 3, y), "numbers": ", ".join(map(str, numbers))}
        for place, (y, x, numbers) in zip(places, clusters, strict=True)
    ]


def _count(n: int) -> str:
    """Elements, short: '4 Ki', '16 Mi', '640'."""
    for size, unit in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return str(n)
