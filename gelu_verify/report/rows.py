"""Frames as the nested lists that a template walks."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pandas as pd

Group = dict[str, Any]


def rows_of(frame: pd.DataFrame) -> list[Group]:
    """Rows as dicts with None for everything missing."""
    found: list[Group] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return found


def grouped(frame: pd.DataFrame) -> list[tuple[str, list[Group]]]:
    """[(function, rows)] in the order of the frame."""
    return [(str(name), list(rows)) for name, rows in groupby(rows_of(frame), key=lambda row: row["function"])]
