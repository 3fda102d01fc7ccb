"""Where other implementations are worst: the inputs that a search looks at first."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from fractions import Fraction

from ..formats import Format, get_format
from ..paths import resource
from ..records.result import Record
from ..runs.committed import committed_runs, matrix_runs

MOST = 256


def worst_elsewhere(function: str, dtype: str) -> tuple[int, ...]:
    """Bits of inputs that are the worst of some implementation, rounded to the dtype: published ones, those that our
    own searches found, and those of all results for the function in the committed runs."""
    fmt = get_format(dtype)
    found = dict.fromkeys(fmt.round(Fraction(x)) for x in [*published(function), *found_before(function)])
    records = [record for run in matrix_runs() for record in run.results]
    records += [record for run in committed_runs() for record in run.results]
    for record in records:
        if record.function == function:
            found |= dict.fromkeys(_converted(fmt, record))
    return tuple(found)[:MOST]


def published(function: str) -> dict[float, str]:
    """{input: libraries that are worst there} of data/worst_inputs."""
    return {float.fromhex(row["x"]): row["library"] for row in _rows("float64.csv", function)}


def found_before(function: str) -> dict[float, str]:
    """{input: target that is worst there} of our own searches."""
    return {float.fromhex(row["x"]): row["target"] for row in _rows("found_float64.csv", function)}


def _rows(name: str, function: str) -> list[dict[str, str]]:
    with resource(f"data/worst_inputs/{name}").open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [row for row in rows if row["function"] == function]


def _converted(fmt: Format, record: Record) -> Iterator[int]:
    """The witnesses of a result, in another format."""
    own = get_format(record.dtype)
    for each in (record.witness, *(region.witness for region in record.regions or ())):
        if each is not None and own.is_finite(bits := int(each.x_bits, 16)):
            yield fmt.round(own.fraction(bits), negative_zero=own.is_negative(bits))
