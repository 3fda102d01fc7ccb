"""Hard cases that are shipped: inputs where a rounding is delicate, with their correctly rounded results."""

from __future__ import annotations

import csv
import os
from functools import cache
from typing import NamedTuple

from ..paths import resource


class HardCase(NamedTuple):
    """One row of data/hard_cases: bits of x and of f(x), and why x is hard."""

    x_bits: int
    y_bits: int
    kind: str


@cache
def hard_cases(function: str, dtype: str) -> tuple[HardCase, ...]:
    """The rows of data/hard_cases/<function>-<dtype>.csv; none where there is no such file."""
    path = resource(f"data/hard_cases/{function}-{dtype}.csv")
    if not os.path.exists(path):  # False for a name that is too long for a file
        return ()
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(HardCase(int(row["x_bits"], 16), int(row["y_bits"], 16), row["kind"]) for row in rows)
