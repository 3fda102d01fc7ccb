"""The HTML page: one file, no network, useful without JavaScript.

Here the frames become the nested lists that the template walks; the template holds all markup and
escapes every text. Plots: Python draws static strips, plot.js replaces them from the same envelopes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from .. import __version__
from ..buckets.bins import ENVELOPE_COLUMNS, FLOOR, HIGHEST, LEVELS_PER_OCTAVE, bins_per_binade, envelope, octaves
from ..functions import FUNCTIONS
from ..records.result import Record
from . import text
from .axis import edge_values, ticks
from .charts import STRIP_HEIGHT, half_ulp_line, strip_path
from .columns import TAIL_CHECKS
from .evidence import evidence
from .files import environment, inline
from .frames import SPECIALS, RunLike, ordered_results, run_letter
from .rows import grouped, rows_of
from .speed import speed_groups
from .verdicts import OWN_FAMILY, absences, dtype_rank, grade_title, headline, target_order

_LARGEST_OCTAVES = 54  # the bar under an error is full at 2^53 ULP, everything lost in float64

Group = dict[str, Any]


def render(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """The page as one string."""
    plots = _plots(runs)
    return template().render(
        **_head(runs),
        version=__version__,
        dtypes=_dtypes(frames["summary"]),
        functions=_matrix(frames["summary"]),
        formulas={name: f.formula for name, f in FUNCTIONS.items()},
        plots=plots,
        strip_height=STRIP_HEIGHT,
        tail=grouped(_relevant_tail(frames["tail"])),
        tail_checks=TAIL_CHECKS,
        specials=_specials(frames["special"]),
        special_inputs=list(SPECIALS.values()),
        **_regions(frames["regions"]),
        approximations=grouped(frames["summary"].dropna(subset=["approximates"])),
        attributions=grouped(frames["attribution"]),
        speed=speed_groups(frames["throughput"], frames["sizes"]),
        raised=rows_of(frames["summary"].dropna(subset=["failure"])),
        measurements=_measurements(runs, frames),
        style=inline("vendor/uPlot.min.css") + inline("page.css"),
        script=inline("vendor/uPlot.iife.min.js") + inline("plot.js"),
        plot_data=_json(_plot_data(plots)),
    )


def template() -> jinja2.Template:
    """The page, compiled."""
    made = environment()
    made.globals.update(bar=_bar, anchor=_anchor, ticks=ticks, grade_title=grade_title)
    return made.get_template("template.html")


def _json(data: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    return Markup(json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c"))


def _anchor(row: Mapping[str, Any]) -> str:
    """Id of the details of a result, the same on every page made from these runs."""
    return f"m-{row['run']}-{row['result']}"


def _bar(max_ulp: float | None) -> int:
    """Length in per cent of the bar under an error: its logarithm, 0.5 ULP to everything lost."""
    if max_ulp is None or not max_ulp > 0.5:
        return 0
    return 100 if math.isinf(max_ulp) else min(round(100 * (math.log2(max_ulp) + 1) / _LARGEST_OCTAVES), 100)


def _head(runs: Sequence[RunLike]) -> Group:
    records = [record for run in runs for record in run.results]
    return {
        "headline": headline(records),
        "facts": [
            _fact(len({record.target for record in records}), "target"),
            _fact(len({record.function for record in records}), "function"),
            _fact(len(records), "measurement"),
            ("inputs tested", sum(record.n for record in records if record.failure is None)),
        ],
        "runs": [
            {"letter": run_letter(i), "recorded": None, "device": None, **run.manifest} for i, run in enumerate(runs)
        ],
        "several": len(runs) > 1,
        "absent": absences(run.manifest for run in runs),
    }


def _fact(n: int, noun: str) -> tuple[str, int]:
    return (noun if n == 1 else noun + "s"), n


def _dtypes(summary: pd.DataFrame) -> list[str]:
    return sorted(summary["dtype"].unique(), key=lambda name: (dtype_rank(name), name))


def _matrix(summary: pd.DataFrame) -> list[Group]:
    """[{function, groups: [(family, rows)]}]; a row has target, run, form and {dtype: record}."""
    functions = []
    for name, found in grouped(summary):
        own_last = sorted(found, key=lambda r: (target_order(r["family"], r["target"]), r["run"]))
        families = []
        for family, members in groupby(own_last, key=lambda r: r["family"]):
            rows = []
            for (target, run), cells in groupby(members, key=lambda r: (r["target"], r["run"])):
                by_dtype = {cell["dtype"]: cell for cell in cells}
                rows.append({"target": target, "run": run, "cells": by_dtype, **_shared(by_dtype.values())})
            families.append((family, rows))
        functions.append({"function": name, "families": families})
    return functions


def _shared(cells: Any) -> Group:
    return {name: next((c[name] for c in cells if c[name]), "") for name in ("form", "version", "recorded", "stale")}


def _relevant_tail(tail: pd.DataFrame) -> pd.DataFrame:
    """Rows with a tail to speak of: a threshold, an early zero, or a check that applies."""
    says = tail[TAIL_CHECKS].isin(["pass", "fail"]).any(axis=1)
    return tail[says | tail["zero_threshold_x_bits"].notna() | tail["zero_from_x_bits"].notna()]


def _specials(special: pd.DataFrame) -> list[tuple[str, list[Group]]]:
    """[(function, rows)]; a row is one result with {input: record}."""
    groups = []
    for name, found in grouped(special):
        rows = []
        for _, cells in groupby(found, key=lambda r: (r["run"], r["result"])):
            inputs = list(cells)
            rows.append({**inputs[0], "inputs": {cell["input"]: cell for cell in inputs}})
        groups.append((name, rows))
    return groups


def _regions(regions: pd.DataFrame) -> Group:
    """The regions table: one column per region in the order of the runs, one row per result."""
    groups = []
    for name, found in grouped(regions):
        rows = []
        for _, cells in groupby(found, key=lambda r: (r["run"], r["result"])):
            parts = list(cells)
            rows.append({**parts[0], "regions": {cell["region"]: cell for cell in parts}})
        groups.append((name, rows))
    return {"regions": groups, "region_names": list(dict.fromkeys(regions["region"]))}


def _measurements(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> list[tuple[str, list[Group]]]:
    """[(function, rows)] of every result, all that is known about it in `evidence`."""
    findings: dict[tuple[str, int], list[Group]] = {}
    for finding in rows_of(frames["findings"]):
        findings.setdefault((finding["run"], finding["result"]), []).append(finding)
    groups = grouped(frames["summary"])
    for _, rows in groups:
        for row in rows:
            row["evidence"] = evidence(row, findings.get((row["run"], row["result"]), []))
    return groups


def _plots(runs: Sequence[RunLike]) -> list[Group]:
    """[{function, charts}]; a chart is one dtype with its layout, scale and series."""
    measured = [item for item in ordered_results(runs) if item[2].buckets is not None]
    detail = bins_per_binade(len(measured))
    several = len(runs) > 1
    functions = []
    for name, items in groupby(measured, key=lambda item: item[2].function):
        charts = []
        for dtype, members in groupby(items, key=lambda item: item[2].dtype):
            entries = list(members)
            span = octaves(*(record.max_ulp or 0 for _, _, record in entries))
            series = [_series(runs, item, span, detail, several) for item in entries]
            layout = series[0]["envelope"].layout
            charts.append(
                {"dtype": dtype, "id": f"p-{name}-{dtype}", "span": span, "half": half_ulp_line(span), "series": series,
                 "layout": layout, "strip": series[0]["strip"], "top": text.power_text(span[1])}
            )  # fmt: skip
        functions.append({"function": name, "charts": charts})
    return functions


def _series(
    runs: Sequence[RunLike], item: tuple[int, int, Record], span: tuple[int, int], detail: int, several: bool
) -> Group:
    run, index, record = item
    shape = envelope(runs[run].table(index, ENVELOPE_COLUMNS), record.dtype, detail)
    strip = shape.coarser(2)
    letter = run_letter(run)
    return {
        "name": f"{record.target} [{letter}]" if several else record.target,
        "family": record.family,
        "run": letter,
        "result": index,
        "max_ulp": record.max_ulp,
        "bound": record.bound,
        "grade": record.grade,
        "envelope": shape,
        "strip": strip,
        "path": strip_path(strip, span),
        "nonfinite": strip.nonfinite_ranges(),
    }


def _plot_data(plots: list[Group]) -> Group:
    """What plot.js needs: one layout per dtype, and per plot the encoded envelopes."""
    layouts: Group = {}
    figures: Group = {}
    for chart in (chart for function in plots for chart in function["charts"]):
        layout = chart["layout"]
        layouts[chart["dtype"]] = {"edges": edge_values(layout), "ticks": ticks(layout), "perBinade": layout.per_binade}
        figures[chart["id"]] = {
            "dtype": chart["dtype"],
            "span": chart["span"],
            "series": [
                {
                    "name": s["name"],
                    "family": s["family"],
                    "max": text.ulp_text(s["max_ulp"], s["bound"]),
                    "worst": s["max_ulp"] if s["max_ulp"] is not None and math.isfinite(s["max_ulp"]) else 0,
                    "bound": s["bound"],
                    "nonfinite": s["envelope"].nonfinite_ranges(),
                    "levels": s["envelope"].encoded(),
                }
                for s in chart["series"]
            ],
        }
    return {
        "own": OWN_FAMILY,
        "perOctave": LEVELS_PER_OCTAVE,
        "floor": FLOOR,
        "ceiling": HIGHEST,
        "layouts": layouts,
        "figures": figures,
    }
