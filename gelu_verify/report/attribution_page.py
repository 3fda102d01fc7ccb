"""An attribution as an HTML page and as CSV: the error after each step against x, and the conditioning."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import __version__
from ..attribution import Attribution
from ..attribution.conditioning import from_input, kappa
from ..attribution.ladder import stored_text
from ..buckets.bins import HIGHEST, Layout, envelope, layout
from ..formats import buckets, from_ordinals, get_format, to_float64
from ..show.html import read
from . import text
from .attribution_text import (
    condition_lines,
    explained_text,
    is_known,
    known_lines,
    piece_text,
    rewrites_lines,
    source_texts,
    unexplained_text,
)
from .axis import edge_values
from .curves import HEIGHT, area, line, octaves_of, x_ticks, y_ticks
from .files import environment, inline, replace_files

PER_BINADE = 16
LOWEST = -6  # octaves: errors below 1/64 ULP are on the floor of the plot
SHORT = {
    "constants": "constants",
    "formula": "formula",
    "flushing": "flushing",
    "blocks": "building blocks",
    "known": "own code",
    "rest": "unexplained",
}

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
    record, bins = found.record, layout(found.dtype, PER_BINADE)
    errors = {rung["name"]: curves[f"{rung['name']}_ulp"].to_numpy(np.float64) for rung in record["rungs"]}
    span = octaves_of(list(errors.values()), LOWEST, HIGHEST)
    conditions = [curves[name].to_numpy(np.float64) for name in ("kappa", "input_ulp")]
    below = octaves_of(conditions, LOWEST, HIGHEST)
    return environment().get_template("attribution.html").render(
        version=__version__,
        record=record,
        stored=stored_text,
        known=[line.strip() for line in known_lines(record)],
        condition=" ".join(condition_lines(record)),
        piece=piece_text,
        rewrites=[line.strip() for line in rewrites_lines(record)],
        surely=explained_text(record) if is_known(record) else unexplained_text(record),
        headline=headline(record),
        lines=[
            {**rung, "path": line(errors[rung["name"]], span), "colour": index}
            for index, rung in enumerate(record["rungs"][:-1])
        ],
        measured={**record["rungs"][-1], "path": area(errors[record["rungs"][-1]["name"]], span)},
        kappa=line(conditions[0], below),
        input_ulp=line(conditions[1], below),
        half=HEIGHT * (span[1] + 1) / (span[1] - span[0]),
        height=HEIGHT,
        bins=bins.size,
        x_ticks=x_ticks(bins),
        y_ticks=y_ticks(span),
        below_ticks=y_ticks(below, 4),
        parts=list(_parts(record)),
        short_source=SHORT,
        style=read("page.css") + inline("attribution.css"),
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
    return f"{name}: {sign}{size} ULP; main cause: {SHORT[worst['main']]}."


def _parts(record: Row) -> Iterator[Row]:
    """What each source adds at the worst input, with the length of its bar in per cent of the largest."""
    worst = record["worst"]
    if worst is not None:
        causes = source_texts(record)
        largest = max(abs(worst[name]) for name in causes) or 1.0
        for name, cause in causes.items():
            share = 100 * abs(worst[name]) / largest
            yield {"name": name, "text": cause, "ulp": worst[name], "bar": round(share), "main": name == worst["main"]}
