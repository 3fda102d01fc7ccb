"""A study as one HTML page: no network, no script; and its tables as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..formats import DTYPES
from ..show.html import read
from ..study.comparisons import UnitComparison
from ..study.study import Study
from ..study.tasks import SOURCES
from ..study.units import UNITS
from .files import environment, inline, replace_files
from .study_charts import curves, differences, shifts, svg
from .study_text import (
    StudyTable,
    comparison_frame,
    comparison_table,
    conclusions,
    dtype_served_table,
    kernel_served_table,
    loss_table,
    rate_table,
)

SHOWN = "float32"  # the dtype of what is shown for one only


def write_report(study: Study, found: Sequence[UnitComparison], out: Path) -> list[Path]:
    """Write index.html and one CSV file for each table into `out`."""
    frames = {
        "comparisons": comparison_frame(found),
        **{name: getattr(study, name) for name in ("tuning", "trainings", "curves", "networks", "served")},
    }
    tables: dict[str, str | bytes] = {f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    return replace_files({"index.html": study_page(study, found), **tables}, out)


def study_page(study: Study, found: Sequence[UnitComparison]) -> str:
    """The page as one string."""
    said = conclusions(study, found)
    plan = study.plan
    dtype = SHOWN if SHOWN in plan.dtypes else plan.dtypes[0]
    in_one_dtype = [
        comparison_table(found, "function", f"Activations beside gelu, {each}", [each]) for each in plan.dtypes
    ]
    return environment().get_template("study.html").render(
        version=__version__,
        headline=said[0],
        conclusions=said[1:],
        curves=_drawn(curves(study, task, dtype) for task in plan.trained),
        dtypes=DTYPES,
        differences=_drawn(differences(found, task) for task in plan.trained),
        shifts=_drawn(shifts(study, task) for task in reversed(plan.tasks)),
        losses=loss_table(study, dtype),
        activations=_folded(in_one_dtype, dtype),
        kernels=comparison_table(found, "kernel", "Kernels beside their function correctly rounded", plan.dtypes),
        narrower=comparison_table(found, "dtype", "gelu in a dtype beside gelu in float64", plan.dtypes),
        dtype_served=dtype_served_table(study),
        kernel_served=kernel_served_table(study),
        rates=rate_table(study),
        tasks=[(name, SOURCES[name].text, SOURCES[name].network) for name in plan.tasks],
        units=[UNITS[name] for name in plan.units],
        provenance=_provenance(study),
        style=read("page.css") + inline("comparison.css") + inline("study_chart.css") + inline("study.css"),
    )  # fmt: skip


def _drawn(charts: Any) -> list[Any]:
    return [{**chart, "svg": svg(chart)} for chart in charts if chart]


def _folded(tables: Sequence[StudyTable], shown: str) -> list[tuple[StudyTable, bool]]:
    """Each table, and whether it is open."""
    return [(table, table.title.endswith(shown)) for table in tables if table.rows]


def _provenance(study: Study) -> list[tuple[str, str]]:
    plan, origin = study.plan, study.origin
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    return [
        ("seed", str(plan.seed)),
        ("runs", f"{plan.runs} of each activation, dtype and task"),
        ("versions", versions),
        ("processor", str(origin["machine"].get("cpu", ""))),
        ("data", ", ".join(f"{task} {digest}" for task, digest in origin["data"].items())),
    ]
