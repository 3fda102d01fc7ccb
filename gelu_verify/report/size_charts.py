"""Speed over sizes: a line per target, from the first cache to memory, and a copy's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..show.chart import Axis, Chart, Curve, Mark, Note, decades

LEAST_HEIGHT = 250
LINE = 10.5  # height of a label's line
IN_ONE = 3  # points: closer ends share a label
Rates = Mapping[str, float]  # {level: elements per second}


def size_chart(
    title: str,
    levels: Mapping[str, int],
    lines: Mapping[int, Rates],
    copy: Rates,
    places: Mapping[int, int],
    names: Mapping[int, str],
) -> Chart:
    """`levels`: {level: elements}, `lines`: the rates of each number, `places`: its place among the colours, `names`:
    what it stands for."""
    sizes = sorted(levels, key=lambda level: levels[level])
    points = {n: [(float(sizes.index(at)), line[at]) for at in sizes if at in line] for n, line in lines.items()}
    top, bottom = 22, 40
    inset, last = 0.055 * max(len(sizes) - 1, 1), max(len(sizes) - 1, 1)
    chart = Chart(
        title=f"{title}: speed against array size",
        name=f"{title}: elements per second against array size",
        x=Axis((-inset, last + inset), [(k, f"{at}\n{_count(levels[at])}") for k, at in enumerate(sizes)], "elements"),
        y=decades([rate for line in [*lines.values(), copy] for rate in line.values()], "elements per second"),
        curves=[
            Curve(label="a memory copy", points=[(float(k), copy[at]) for k, at in enumerate(sizes) if at in copy],
                  colour=6, kind="dashes"),
            *(Curve(label=f"{n} {names[n]}", points=line, colour=places[n], attributes={"data-c": places[n]})
              for n, line in points.items()),
        ],
        marks=[
            Mark(x=x, y=y, text=str(n), colour=places[n], size=1.6, attributes={"data-c": places[n]})
            for n, line in points.items() for x, y in line
        ],
        width=400, height=max(LEAST_HEIGHT, int(top + bottom + LINE * len(lines))), left=44, right=58, top=top,
        bottom=bottom,
    )  # fmt: skip
    ends = [(chart.y_of(line[-1][1]), chart.x_of(line[-1][0]), n) for n, line in points.items()]
    return replace(chart, labels=list(_labels(chart, ends)))


def _labels(chart: Chart, ends: Sequence[tuple[float, float, int]]) -> Iterator[Note]:
    """Numbers at the right edge, each as high as its line's end (y, x) or as near as the others' height allows."""
    clusters: list[tuple[float, float, list[int]]] = []
    for y, x, number in sorted(ends):
        if clusters and y - clusters[-1][0] < IN_ONE and x == clusters[-1][1] and len(clusters[-1][2]) < 3:
            clusters[-1][2].append(number)
        else:
            clusters.append((y, x, [number]))
    lowest = float(chart.height - chart.bottom)
    places = [y for y, _, _ in clusters]
    for at in range(1, len(places)):
        places[at] = max(places[at], places[at - 1] + LINE)
    for at in reversed(range(len(places))):
        below = places[at + 1] - LINE if at + 1 < len(places) else lowest
        places[at] = min(places[at], below)
    for place, (y, x, numbers) in zip(places, clusters, strict=True):
        right = chart.width - chart.right + 4
        yield Note(right, round(place + 3.5, 1), ", ".join(map(str, numbers)), leads_from=(x + 3, y))


def _count(n: int) -> str:
    """Elements, short: '4 Ki', '16 Mi', '640'."""
    for size, unit in ((1 << 20, "Mi"), (1 << 10, "Ki")):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return str(n)
