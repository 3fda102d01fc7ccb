"""Other libraries and lower levels: their part of docs/speed.md, and plots, from docs/speed/<day>-peers.json."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from guide.drawing import Series, lines, ticks
from time_peers import FUNCTIONS, PLOTTED, RIVALS

from gelu_verify.formats import DTYPES
from gelu_verify.show.chart import power_text

Run = Mapping[str, Any]
NAMES = {"torch": "PyTorch", "onnxruntime": "ONNX Runtime", "jax": "JAX", "openvino": "OpenVINO", "copy": "copy"}
LEVELS = {"avx512": "AVX-512", "avx2": "AVX2", "sse4_2": "SSE4.2"}
TABULATED = (1 << 14, 1 << 18, 1 << 22)
DECADES = (1, 10, 100, 1000, 10_000, 100_000)
ORDER = ("float32", "float64", "float16", "bfloat16")

TEXT = """\
Ours in million elements a second, and its ratio to others (above 1 ours is faster), `~` as above. 2*randn, one thread
each, in one process; PyTorch, ONNX Runtime, OpenVINO and our kernels write into preallocated outputs, JAX (`jax.jit`)
allocates its own. OpenVINO computes every dtype in float32. A copy (`numpy.copyto`) bounds what any kernel can reach in
long arrays. None of the libraries rounds correctly: docs/matrix.md says how far off each is.
"""


def section(run: Run, day: str, varies: float) -> list[str]:
    """Lines of Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items() if name in NAMES)
    lines = [f"## Beside other libraries, {day}", "", f"{run['machine']['cpu']}; {versions}.", "", TEXT]
    lines += [f"Missing: {'; '.join(run['missing'])}.", ""] if run["missing"] else []
    for dtype in ORDER:
        lines += [*table(run, dtype, varies), ""]
    for dtype in ORDER:
        lines += [f"![{PLOTTED} in {dtype}: million elements a second by size, ours and others](speed/{dtype}.svg)"]
    lines += ["", "The same kernels where they are held to a lower instruction-set level:", ""]
    for dtype in ORDER:
        lines += [f"![{PLOTTED} in {dtype}: million elements a second by size and level](speed/{dtype}-levels.svg)"]
    return [*lines, ""]


def table(run: Run, dtype: str, varies: float) -> list[str]:
    """A row for each function and size, a column for each rival."""
    heads = [dtype, "ours", *NAMES.values()]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for function in FUNCTIONS:
        for n in TABULATED:
            found = {row["rival"]: row for row in rows(run, function, dtype, run["level"]) if row["n"] == n}
            if found:
                ours = next(iter(found.values()))["ours"]["elements_per_s"] / 1e6
                cells = [ratio(found.get(rival), varies) for rival in NAMES]
                lines.append(f"| {function}, 2^{n.bit_length() - 1} | {ours:.0f} | " + " | ".join(cells) + " |")
    return lines


def rows(run: Run, function: str, dtype: str, level: str) -> Iterator[Run]:
    wanted = (function, dtype, level)
    return (row for row in run["results"] if (row["function"], row["dtype"], row["level"]) == wanted)


def ratio(row: Run | None, varies: float) -> str:
    if not row:
        return ""
    spread = max(row[side]["spread"] for side in ("ours", "theirs"))
    return f"{'~' if spread > varies else ''}{row['ratio']:.2f}"


def plots(run: Run) -> dict[str, str]:
    """Name -> SVG."""
    drawn = {}
    for dtype in DTYPES:
        drawn[dtype] = plot(f"Speed of {PLOTTED} in {dtype}", list(libraries(run, dtype)))
        drawn[f"{dtype}-levels"] = plot(f"Speed of {PLOTTED} in {dtype} by instruction set", list(levels(run, dtype)))
    return drawn


def libraries(run: Run, dtype: str) -> Iterator[Series]:
    yield from levels(run, dtype, "ours", only=run["level"])
    for rival in RIVALS:  # the one that lacks dtypes is the last, so that a library has one colour
        points = [(row["n"], row["theirs"]) for row in rows(run, PLOTTED, dtype, run["level"]) if row["rival"] == rival]
        if points:
            yield series(NAMES[rival], points)


def levels(run: Run, dtype: str, name: str = "", only: str = "") -> Iterator[Series]:
    for level, title in LEVELS.items():
        points = [(row["n"], row["ours"]) for row in rows(run, PLOTTED, dtype, level) if row["rival"] == "copy"]
        if points and only in ("", level):
            yield series(name or title, points)


def series(name: str, points: list[tuple[int, Run]]) -> Series:
    """Logarithms of sizes and of million elements a second."""
    points = sorted(points, key=lambda point: point[0])
    rates = [math.log10(rate["elements_per_s"] / 1e6) for _, rate in points]
    return name, [math.log2(n) for n, _ in points], rates


def plot(title: str, found: list[Series]) -> str:
    sizes, values = (sorted(value for line in found for value in line[at]) for at in (1, 2))
    return lines(
        title,
        "elements",
        "million elements a second",
        found,
        x_ticks=ticks(range(int(sizes[0]), int(sizes[-1]) + 1, 2), power_text),
        y_ticks=[(math.log10(at), f"{at:,}") for at in DECADES],
        span=(math.floor(2 * values[0]) / 2, math.ceil(2 * values[-1]) / 2),
        script="make_speed.py",
    )
