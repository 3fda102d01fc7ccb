"""The table that every form of the report begins with: targets by dtypes, one for each function."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from .rows import Group, rows_of
from .verdicts import dtype_rank, target_order

Cells = dict[str, dict[str, Group]]  # {target: {dtype: row of the summary}}


def matrices(summary: pd.DataFrame) -> Iterator[tuple[str, list[str], Cells]]:
    """(function, dtypes, rows) in the order of the frame."""
    by_function: dict[str, list[Group]] = {}
    for row in rows_of(summary):
        by_function.setdefault(str(row["function"]), []).append(row)
    for function, rows in by_function.items():
        cells: Cells = {}
        for row in sorted(rows, key=lambda row: target_order(row["family"], row["target"])):
            cells.setdefault(target_name(row), {})[row["dtype"]] = row
        yield function, sorted(dict.fromkeys(row["dtype"] for row in rows), key=dtype_rank), cells


def target_name(row: Group) -> str:
    """A target, and its run where that is not the first."""
    return f"{row['target']} [{row['run']}]" if row["run"] != "A" else str(row["target"])
