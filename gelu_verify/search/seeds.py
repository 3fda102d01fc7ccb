"""Where other implementations are worst: the inputs that a search looks at first."""

from __future__ import annotations

from collections.abc import Iterator

from ..formats import get_format
from ..records.result import Record
from ..runs.committed import committed_runs, matrix_runs

MOST = 256


def worst_elsewhere(function: str, dtype: str) -> tuple[int, ...]:
    """Bits of the worst inputs of every result for the function in the committed runs, rounded to the dtype."""
    fmt = get_format(dtype)
    found: dict[int, None] = {}
    for run in (*matrix_runs(), *committed_runs()):
        for record in run.results:
            if record.function == function:
                other = get_format(record.dtype)
                for bits in _witnesses(record):
                    if other.is_finite(bits):
                        found[fmt.round(other.fraction(bits), negative_zero=other.is_negative(bits))] = None
    return tuple(found)[:MOST]


def _witnesses(record: Record) -> Iterator[int]:
    for each in (record.witness, *(region.witness for region in record.regions or ())):
        if each is not None:
            yield int(each.x_bits, 16)
