"""One formula on several paths through a library: eager and compiled, contiguous and strided, a dispatch on and off.

A path is compared with the first of the same family, function, dtype and form, on the fixed inputs that every
sweep contains; at an instruction-set level with the same path at the first level that was measured. No path
is right because another one agrees: this says where they part, the checks say what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats import differ, get_format
from ..isa import split_level
from ..records.parts import Pair, PairWitness
from ..records.result import Record, Result


@dataclass(frozen=True)
class _Path:
    """What is kept of a path: its record, and (x, got) of the fixed inputs; not its buckets, which are large."""

    record: Record
    samples: np.ndarray

    @classmethod
    def of(cls, result: Result) -> _Path:
        table = result.table
        assert table is not None
        return cls(result.record, table.samples.astype(get_format(result.record.dtype).uint))


class FirstPaths:
    """The first path of each kind in a run; later ones are compared with it as they come."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], _Path] = {}

    def pair(self, result: Result) -> Pair | None:
        """What differs from the first path; None for a first one, or where one failed."""
        record = result.record
        if result.table is None:
            return None
        here = _Path.of(result)
        path, level = split_level(record.target)
        first = self._first.setdefault((path, record.function, record.dtype), here)
        if first is here and record.form:
            key = (record.family, level, record.function, record.dtype, record.form)
            first = self._first.setdefault(key, here)
        return None if first is here else _compared(first, here)


def compared(first: Result, other: Result) -> Pair:
    """What `other` gives at the fixed inputs where `first` gives something else (a NaN is a NaN).

    The input with the largest difference is the witness.
    """
    return _compared(_Path.of(first), _Path.of(other))


def _compared(first: _Path, other: _Path) -> Pair:
    fmt = get_format(other.record.dtype)
    x, here, there = np.intersect1d(first.samples[:, 0], other.samples[:, 0], return_indices=True)
    one, two = first.samples[here, 1], other.samples[there, 1]
    places = np.flatnonzero(differ(fmt, one, two))
    target, max_ulp = first.record.target, first.record.max_ulp
    alike = _all_alike(first.record, other.record)
    if not len(places):
        return Pair(target, len(x), 0, 0, None, max_ulp, alike)
    away = [abs(fmt.rank(int(a)) - fmt.rank(int(b))) for a, b in zip(one[places], two[places], strict=True)]
    worst = int(places[int(np.argmax(away))])
    witness = PairWitness(*(fmt.bits_text(int(array[worst])) for array in (x, two, one)))
    return Pair(target, len(x), len(places), max(away), witness, max_ulp, alike)


def _all_alike(first: Record, other: Record) -> bool | None:
    """Whether all results are the same, not those for the fixed inputs alone."""
    return first.bits_sha256 == other.bits_sha256 if first.inputs_sha256 == other.inputs_sha256 else None
