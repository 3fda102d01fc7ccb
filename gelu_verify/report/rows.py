"""Frames as rows: nested lists that a template walks, and the text of files."""

from __future__ import annotations

import json
import math
from itertools import groupby
from typing import Any

import pandas as pd

from .columns import KEYS, RESULT, TABLES

Group = dict[str, Any]


def rows_of(frame: pd.DataFrame) -> list[Group]:
    """Rows as dicts with None for everything missing; column by column, because a frame has many and few rows."""
    columns = [
        [None if missing else value for value, missing in zip(column.astype(object), column.isna(), strict=True)]
        for _, column in frame.items()
    ]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def grouped(frame: pd.DataFrame) -> list[tuple[str, list[Group]]]:
    """[(function, rows)] in the order of the frame."""
    return [(str(name), list(rows)) for name, rows in groupby(rows_of(frame), key=lambda row: row["function"])]


def csv_text(table: str, frame: pd.DataFrame) -> str:
    """A frame as CSV, with the columns that are documented."""
    return str(_documented(table, frame).to_csv(index=False, lineterminator="\n"))


def json_text(table: str, frame: pd.DataFrame) -> str:
    """The same as JSON, a list of objects: what is missing is null, and an infinite number is text."""
    found = [
        {key: str(value) if isinstance(value, float) and math.isinf(value) else value for key, value in row.items()}
        for row in rows_of(_documented(table, frame))
    ]
    return json.dumps(found, allow_nan=False)


def _documented(table: str, frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[column.name for column in (*KEYS, *TABLES[table].columns, RESULT)]]
