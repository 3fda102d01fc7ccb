"""Where the numbers of docs/guide.md come from: proved facts, committed runs, measured curves."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from make_matrix import records

from gelu_verify.facts import stored_facts
from gelu_verify.records.result import Record
from gelu_verify.runs.committed import matrix_runs

from .measure import FILE, ROOT


@cache
def fact(name: str, value: str) -> str:
    """A value of a proved fact, with all its digits."""
    return next(each for each in stored_facts() if each.name == name).values[value]


@cache
def matrix() -> dict[tuple[str, str, str], Record]:
    """The results of docs/matrix.md, by target, function and dtype."""
    found = records(matrix_runs(ROOT / "data" / "runs"))
    return {(record.target, record.function, record.dtype): record for record in found}


@cache
def measured() -> dict[str, Any]:
    """docs/guide/measured.json."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def octaves(target: str, dtype: str) -> np.ndarray:
    """log2 of the largest error in ULP of a measured target, bin by bin."""
    return np.array(measured()["curves"][f"{target} {dtype}"]["octaves"].split(), np.float64)
