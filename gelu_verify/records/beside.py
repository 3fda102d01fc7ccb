"""Outputs beside a table: of other calls than those that its plan made. They can only make what is said of it worse.

A record keeps those that decide a measure (`Record.beside`), so that whoever reads it derives the same from its
buckets again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

import numpy as np

from ..buckets.reducer import Outcome, Reduction
from ..buckets.table import HIST_EDGES, NEAREST, Columns, MonotonePieces, Table, merged_rows
from ..formats import Format, get_format, ordinals
from ..functions import Function
from ..truth.values import judge
from .bucket_errors import ACCURATE
from .parts import Beside

_FAULTS = (*NEAREST, "zero_sign")  # columns that count what is wrong


def joined(table: Table, function: Function, beside: Sequence[Beside]) -> Table:
    """The rows and the facts of a table with those outputs, which have no neighbours: each is in the row of its bucket.

    Counts stay those of the table, but that none says that all are right, or that none is wrong, where one of these
    outputs is the contrary; so do regions, segments and samples.
    """
    if not beside:
        return table
    bits = [[int(getattr(each, name), 16) for each in beside] for name in ("x_bits", "got_bits")]
    x, got = (np.array(each, table.fmt.uint) for each in bits)
    found = judged(function, table.fmt.name, x, got)
    known = np.array([np.nan if each.ulp is None else each.ulp for each in beside])
    # to the last bit as it was measured: another version of the native code may judge otherwise in that
    error = np.where(np.isnan(known), found.error, np.copysign(known, found.error))
    return with_outputs(table, function, replace(found, error=error))


def judged(function: Function, dtype: str, x: np.ndarray, got: np.ndarray) -> Outcome:
    """Outputs to any inputs (bits), in any order and also several to one input, judged."""
    return Outcome.of(get_format(dtype), x, got, judge(function.name, dtype, x, got))


def with_outputs(table: Table, function: Function, outputs: Outcome) -> Table:
    """As `joined`, of judged outputs."""
    fmt = table.fmt
    if not len(outputs.x):
        return table
    reduction = Reduction(fmt, function, MonotonePieces.of(function, fmt))
    for run in _ascending(fmt, outputs):
        reduction.add_outcome(run)
    other = reduction.table()
    columns, hist = _with_rows(table, other)
    facts = table.facts.merged(replace(other.facts, rises=None))
    return replace(table, columns=columns, hist=hist, facts=facts)


def part(outputs: Outcome, rows: np.ndarray) -> Outcome:
    """Some of the outputs."""
    return Outcome(*(np.ascontiguousarray(getattr(outputs, each.name)[rows]) for each in fields(Outcome)))


def _ascending(fmt: Format, outputs: Outcome) -> Iterator[Outcome]:
    """The outputs in runs of ascending inputs, none twice in one."""
    ordinal = ordinals(fmt, outputs.x)
    order = np.argsort(ordinal, kind="stable")
    first = np.searchsorted(ordinal[order], ordinal[order])
    turn = np.arange(len(order)) - first  # of the outputs to one input
    for number in range(int(turn.max(initial=-1)) + 1):
        yield part(outputs, order[turn == number])


def _with_rows(table: Table, other: Table) -> tuple[Columns, np.ndarray]:
    """The rows of both; those of one bucket joined. The other one has few."""
    bucket = table.columns["bucket"]
    place = np.searchsorted(bucket, other.columns["bucket"])
    shared = bucket[np.minimum(place, len(bucket) - 1)] == other.columns["bucket"]
    rows = place[shared]
    own = {name: table.columns[name] for name in other.columns}
    both = {name: np.concatenate([column[rows], other.columns[name]]) for name, column in own.items()}
    both, hist = merged_rows(table.fmt, both, np.concatenate([table.hist[:, rows], other.hist], axis=1))
    above = np.flatnonzero(np.array(HIST_EDGES) > ACCURATE)
    one, two = table.hist[np.ix_(above, rows)], other.hist[np.ix_(above, np.flatnonzero(shared))]
    larger = np.where(one.sum(axis=0) >= two.sum(axis=0), one, two)  # not their sum: both may be of the same inputs
    hist[np.ix_(above, np.flatnonzero(shared))] = larger
    both |= _counts({name: column[rows] for name, column in own.items()}, both, shared) | {"hist": hist.T}
    columns = {name: column.copy() for name, column in own.items()} | {"hist": table.hist.T.copy()}
    for name, found in both.items():
        columns[name][rows] = found[shared]
        if not shared.all():
            columns[name] = np.insert(columns[name], place[~shared], found[~shared], axis=0)
    hist = np.ascontiguousarray(columns.pop("hist").T)
    return columns, hist


def _counts(own: Columns, both: Columns, shared: np.ndarray) -> Columns:
    """The counts of rows that both tables have."""
    found = {name: both[name].copy() for name in ("n", "correct", "faithful", *_FAULTS)}
    for name in ("correct", "faithful"):
        is_less = both[name][shared] - own[name] < both["n"][shared] - own["n"]
        found[name][shared] = np.where(is_less, np.minimum(own[name], own["n"] - 1), own[name])
    for name in _FAULTS:
        found[name][shared] = np.where(own[name] > 0, own[name], np.minimum(both[name][shared], 1))
    found["n"][shared] = own["n"]
    return found
