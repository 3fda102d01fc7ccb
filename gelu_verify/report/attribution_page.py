"""An attribution as an HTML page and as CSV: the error after each step against x, and the conditioning."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..attribution import Attribution
from ..attribution.conditioning import from_input, kappa
from ..buckets.bins import HIGHEST, Layout, envelope, layout
from ..formats import buckets, from_ordinals, get_format, to_float64
from ..show.chart import Axis, Chart, Curve, ReferenceLine, octaves
from ..show.document import Document, Figures, Listing, Section, Text, plain
from ..show.html import page
from . import text
from .attribution_text import facts, is_known, sections_of
from .axis import edge_values, octaves_of, ticks
from .files import replace_files

PER_BINADE = 16
LOWEST = -6  # octaves: errors below 1/64 ULP are on the floor of the plot
_CAUSES = {"blocks": "building blocks", "known": "own code", "rest": "unexplained"}
_CONDITIONS = {
    "kappa": "\u03ba(x) = |x f\u2032(x) / f(x)|",
    "input_ulp": "error in ULP that half an ULP of error in x causes",
}
_PLOT = (
    "The x axis follows the order of the floats, so that every binade is equally wide; the y axis is the largest error "
    "|E| in ULP, on a logarithmic scale. Each step adds one source of error: rounded constants with exact arithmetic; "
    "then every operation and building block correctly rounded, which is the error of the formula itself; then the "
    "library's building blocks. The dashed line is 0.5 ULP, the limit of correct rounding."
)
_FILES = (
    "In the same folder: attribution.json, rungs.csv (one row per step and region), curve.csv, operations.csv. Error "
    "in ULP: E = (got - y) / u(y), where y is the exact value and u(y) the distance between neighbouring floats at y. "
    "Amplification is the factor by which a relative error of an operation grows on its way to the result."
)

Row = dict[str, Any]


def write_attribution(found: Attribution, out: Path) -> list[Path]:
    """Write index.html, attribution.json, rungs.csv, curve.csv and operations.csv into `out`; the files written."""
    curves = curve_frame(found)
    texts = {
        "index.html": render(found, curves),
        "attribution.json": json.dumps(found.record, indent=1, allow_nan=False) + "\n",
    }
    frames = {"rungs": rungs_frame(found.record), "curve": curves, "operations": operations_frame(found.record)}
    texts |= {f"{name}.csv": frame.to_csv(index=False, lineterminator="\n") for name, frame in frames.items()}
    return replace_files(texts, out)


def curve_frame(found: Attribution) -> pd.DataFrame:
    """One row per bin of the ordinal axis: its ends, kappa and the error of a rounded input at its middle, and the
    largest error of each rung, by its name; empty where the rung has no input."""
    bins = layout(found.dtype, PER_BINADE)
    middles = _middles(found.dtype, bins)
    columns: dict[str, Any] = {
        "x_from": edge_values(bins)[:-1],
        "x_to": edge_values(bins)[1:],
        "kappa": kappa(found.function, to_float64(get_format(found.dtype), middles)),
        "input_ulp": from_input(found.function, found.dtype, middles),
    }
    place = buckets(get_format(found.dtype), found.ladder.x_bits)
    for rung in found.ladder.rungs:
        size = np.abs(rung.error)
        table = pd.DataFrame({"bucket": place, "max_error": np.where(np.isfinite(size), size, np.nan), "nonfinite": 0})
        columns[f"{rung.name}_ulp"] = envelope(table, found.dtype, PER_BINADE).max_error
    return pd.DataFrame(columns)


def _middles(dtype: str, bins: Layout) -> np.ndarray:
    """Bits in the middle of each bin; never a zero."""
    fmt = get_format(dtype)
    shift = fmt.width - 16
    edges = (bins.edges - 0x8000) << shift
    middle = edges[:-1] + np.diff(edges) // 2  # their sum would overflow
    return from_ordinals(fmt, np.where(middle >= 0, np.maximum(middle, 1), np.minimum(middle, -2)))


def rungs_frame(record: Row) -> pd.DataFrame:
    """One row per rung and region."""
    return pd.DataFrame(
        [
            {"rung": rung["name"], "title": rung["title"], "source": rung["source"], **_with_values(record, row)}
            for rung in record["rungs"]
            for row in rung["regions"]
        ]
    )


def operations_frame(record: Row) -> pd.DataFrame:
    """One row per operation, the costliest first."""
    columns = ["operation", "name", "max_ulp", "x_bits", "x", "amplification", "at_worst"]
    rows = [{**row, "x": text.value_text(record["dtype"], row["x_bits"])} for row in record["operations"]]
    return pd.DataFrame(rows, columns=columns)


def _with_values(record: Row, row: Row) -> Row:
    return {**row, **{name: text.value_text(record["dtype"], row[f"{name}_bits"]) for name in ("x", "got")}}


def render(found: Attribution, curves: pd.DataFrame) -> str:
    """The page as one string: no network, no script."""
    regions, *others = sections_of(found.record, on_page=True)
    blocks = [
        *facts(found.record, on_page=True),
        Section("Error against x, step by step", [Text(_PLOT, "lead"), Figures([_errors(found, curves)]),
                                                  Figures([_conditions(found, curves)])], id="plot"),
        Section("Largest error by region", regions.blocks),
        *(Section(plain(each.title)[0].upper() + plain(each.title)[1:], each.blocks) for each in others),
        Section("Repeat", [Listing(found.repeat), Text(_FILES, "note")]),
    ]  # fmt: skip
    title = f"where the error of {found.record['target']} comes from"
    return page(Document(title=title, headline=headline(found.record), blocks=blocks))


def _errors(found: Attribution, curves: pd.DataFrame) -> Chart:
    rungs = found.record["rungs"]
    sizes = {rung["title"]: curves[f"{rung['name']}_ulp"].to_numpy(np.float64) for rung in rungs}
    *steps, (title, measured) = sizes.items()
    area = Curve(label=title, points=list(enumerate([*measured.tolist(), math.nan])), kind="area", colour=6)
    return _chart(
        found, "error against x, step by step", "largest |E|, ULP", sizes.values(), [area, *_lines(dict(steps))], 320, 7
    )


def _conditions(found: Attribution, curves: pd.DataFrame) -> Chart:
    values = {name: curves[key].to_numpy(np.float64) for key, name in _CONDITIONS.items()}
    return _chart(found, "conditioning against x", "factor; ULP", values.values(), _lines(values), 150, 4)


def _lines(values: Mapping[str, np.ndarray]) -> list[Curve]:
    """Through the middles of the bins that have a value."""
    return [
        Curve(label=label, points=[(at + 0.5, y) for at, y in enumerate(each.tolist()) if y == y], colour=colour % 6)
        for colour, (label, each) in enumerate(values.items())
    ]


def _chart(
    found: Attribution,
    title: str,
    axis: str,
    values: Iterable[np.ndarray],
    curves: list[Curve],
    height: int,
    most: int,
) -> Chart:
    bins = layout(found.dtype, PER_BINADE)
    return Chart(
        title=title, curves=curves, rules=[ReferenceLine(0.5)], width=760, height=height,
        x=Axis((0, bins.size), ticks(bins), "x, in the order of the floats"),
        y=octaves(octaves_of([*values], LOWEST, HIGHEST), axis, most), attributes={"class": "chart wide"},
    )  # fmt: skip


def headline(record: Row) -> str:
    """One sentence for the top of the page."""
    name = f"{record['target']}, {record['function']} in {record['dtype']}"
    worst = record["worst"]
    if worst is None:
        return f"{name}: no finite error was measured."
    if not is_known(record):
        size = text.ulp_text(abs(worst["error"]), record["bound"])
        return f"{name}: {size} ULP, and no known formula explains it."
    sign = "" if record["bound"] == "=" else "at least "
    size = text.ulp_text(abs(worst["error"]), record["bound"])
    return f"{name}: {sign}{size} ULP; main cause: {_CAUSES.get(worst['main'], worst['main'])}."
