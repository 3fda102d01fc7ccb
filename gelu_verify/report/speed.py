"""What the section on speed shows: rows with their numbers, error against speed, speed from cache to memory."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from statistics import median
from typing import Any

import pandas as pd

from . import text
from .charts import scatter
from .rows import grouped
from .size_charts import size_chart
from .verdicts import OWN_FAMILY, dtype_rank, target_order

Group = dict[str, Any]
Key = tuple[str, str]  # run, target


def speed_groups(throughput: pd.DataFrame, sizes: pd.DataFrame) -> list[Group]:
    """Per function: the rows with their numbers (one per target and run), a scatter per dtype, charts over sizes."""
    by_size = dict(grouped(sizes))
    functions = []
    for name, rows in grouped(throughput):
        numbers: dict[Key, int] = {}
        for row in sorted(rows, key=lambda r: (target_order(r["family"], r["target"]), r["run"])):
            row["number"] = numbers.setdefault((row["run"], row["target"]), len(numbers) + 1)
            row["own"] = row["family"] == OWN_FAMILY
            row["title"] = _title(row)
        timed = by_size.get(name, [])
        functions.append(
            {
                "function": name,
                "rows": rows,
                "charts": list(_scatters(rows)),
                "sizes": list(_size_charts(timed, numbers)),
                "size_rows": list(_size_rows(timed, numbers)),
            }
        )
    return functions


def _title(row: Group) -> str:
    error = text.ulp_text(row["max_ulp"], row["bound"])
    ratio = f"{text.number_text(row['copy_ratio'])}{text.TIMES} copy"
    return f"{row['target']}: {error} ULP, {text.rate_text(row['elements_per_s'])}, {ratio}"


def _dtypes(rows: Iterable[Group]) -> list[str]:
    return sorted({row["dtype"] for row in rows}, key=dtype_rank)


def _scatters(rows: list[Group]) -> Iterable[Group]:
    for dtype in _dtypes(rows):
        timed = [row for row in rows if row["dtype"] == dtype and row["elements_per_s"]]
        if timed:
            copies = [row["elements_per_s"] / row["copy_ratio"] for row in timed if row["copy_ratio"]]
            yield {"dtype": dtype, **scatter(timed, median(copies) if copies else None)}


def _size_charts(rows: list[Group], numbers: dict[Key, int]) -> Iterable[Group]:
    """One chart for each dtype and number of threads."""
    for dtype in _dtypes(rows):
        for threads in sorted({row["threads"] for row in rows if row["dtype"] == dtype}):
            here = [row for row in rows if (row["dtype"], row["threads"]) == (dtype, threads) and row["elements_per_s"]]
            if here:
                lines = {
                    numbers[key]: {row["level"]: row["elements_per_s"] for row in members}
                    for key, members in groupby(here, key=lambda row: (row["run"], row["target"]))
                }
                levels = {row["level"]: row["n"] for row in here}
                copy = {
                    level: median(r["elements_per_s"] / r["copy_ratio"] for r in here if r["level"] == level)
                    for level in levels
                }
                yield {"dtype": dtype, "threads": threads, **size_chart(levels, lines, copy)}


def _size_rows(rows: list[Group], numbers: dict[Key, int]) -> Iterable[Group]:
    """One row for each result and number of threads, its levels beside each other."""
    for (_, _, threads), cells in groupby(rows, key=lambda row: (row["run"], row["result"], row["threads"])):
        found = list(cells)
        number = numbers[found[0]["run"], found[0]["target"]]
        yield {**found[0], "threads": threads, "number": number, "levels": {cell["level"]: cell for cell in found}}
