"""What the section on speed shows: error against speed, and speed from cache to memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median
from typing import Any

import pandas as pd

from .pareto import pareto_chart
from .ranking import Row
from .rows import grouped, rows_of
from .size_charts import size_chart
from .verdicts import dtype_rank, function_rank

Group = dict[str, Any]


def speed_groups(rows: Sequence[Row], throughput: pd.DataFrame, sizes: pd.DataFrame) -> list[Group]:
    """Per function: a chart of error against speed for each dtype, and charts over sizes."""
    copies = {_key(row): row["elements_per_s"] / row["copy_ratio"] for row in rows_of(throughput) if row["copy_ratio"]}
    timed = [row for row in rows if row["rate"]]
    by_size = dict(grouped(sizes))
    found = []
    for function in sorted({row["function"] for row in timed}, key=lambda name: (function_rank(name), name)):
        here = [row for row in timed if row["function"] == function]
        found.append(
            {
                "function": function,
                "timed": len(here),
                "charts": list(_charts(function, here, copies)),
                "sizes": list(
                    _size_charts(function, by_size.get(function, []), {row["target"]: row["place"] for row in here})
                ),
            }
        )
    return found


def _key(row: Row) -> str:
    return f"{row['run']}-{row['result']}"


def _dtypes(rows: Iterable[Row]) -> list[str]:
    return sorted({row["dtype"] for row in rows}, key=lambda name: (dtype_rank(name), name))


def _charts(function: str, rows: Sequence[Row], copies: Mapping[str, float]) -> Iterable[Group]:
    for dtype in _dtypes(rows):
        here = [row for row in rows if row["dtype"] == dtype]
        beside = [copies[row["id"]] for row in here if row["id"] in copies]
        yield {"dtype": dtype, "chart": pareto_chart(f"{function}, {dtype}", here, beside)}


def _size_charts(function: str, rows: Sequence[Row], places: Mapping[str, int]) -> Iterable[Group]:
    """One chart for each dtype and number of threads."""
    numbers = {target: number for number, target in enumerate(sorted(places, key=lambda name: places[name]), 1)}
    for dtype in _dtypes(rows):
        for threads in sorted({row["threads"] for row in rows if row["dtype"] == dtype}):
            asked = [row for row in rows if (row["dtype"], row["threads"]) == (dtype, threads)]
            here = [row for row in asked if row["elements_per_s"]]
            if here:
                lines = {
                    numbers[target]: {row["level"]: row["elements_per_s"] for row in members}
                    for target, members in groupby(here, key=lambda row: row["target"])
                }
                levels = {row["level"]: row["n"] for row in here}
                copy = {
                    level: median(r["elements_per_s"] / r["copy_ratio"] for r in here if r["level"] == level)
                    for level in levels
                }
                named = {number: target for target, number in numbers.items() if number in lines}
                colours = {number: places[target] for number, target in named.items()}
                title = f"{function}, {dtype}, {threads} thread{'s' if threads > 1 else ''}"
                yield {
                    "dtype": dtype,
                    "left_out": [row for row in asked if row["left_out"]],
                    "chart": size_chart(title, levels, lines, copy, colours, named),
                }
