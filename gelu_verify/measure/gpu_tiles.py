"""Verification on the device that has the outputs: `src/cuda/verify.cu` judges and counts there, tile by tile.

A tile is a part of one bucket, one region and one monotone piece. A record of some 600 bytes comes back for each tile;
these records are merged to the table that the CPU's reducer makes of the same inputs, bit for bit. Inputs are
consecutive (float32), or drawn one from each of as many strata (float64), on the device, from a seed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

from ..arrays import distinct
from ..buckets.approximation import approximation_facts
from ..buckets.reducer import (
    FACTS,
    ROW,
    Outcome,
    Reduction,
    facts_of,
    region_columns,
    row_columns,
    rules_of,
    truth_of,
)
from ..buckets.table import Facts, MonotonePieces, Records, Table, merge, merged_regions, merged_rows
from ..errors import OracleError
from ..formats import Format, magnitudes
from ..functions import Function, get_function
from ..truth.oracle import judge_exactly

_TRUTH = np.dtype([("function", "u8"), ("exact", "u8"), ("limits", "u8", 6), ("at_zero", "f8")])
_SPAN_FIELDS = ("first", "last", "kind", "is_first_order", "accepted", "constant", "required")
_SPAN = np.dtype([(name, "i8") for name in _SPAN_FIELDS])
RULES = np.dtype(
    [
        *(("fmt", "i4", 4), ("truth", _TRUTH), ("approximated", _TRUTH), ("turns", "i8", 8), ("turn_count", "i8")),
        *(("falls_first", "i8"), ("infinity", "i8"), ("edges", "i8", 17), ("region_count", "i8"), ("tail_end", "i8")),
        *(("stays_below_x", "i8"), ("either_zero", "i8"), ("span_count", "i8"), ("spans", _SPAN, 16)),
        *(("bins", "u1", 4097), ("unused", "u1", 7)),
    ]
)
TILE = np.dtype([*((name, "i8") for name in ("first", "step", "count", "place", "region", "span")), ("seed", "u8")])
TALLY = np.dtype([("row", ROW), ("facts", FACTS), ("ends", "i8", 4)])
UNDECIDED = np.dtype([("x", "u8"), ("got", "u8"), ("approximated", "i8")])  # the records of src/buckets and src/cuda
MOST_UNDECIDED = 1 << 16  # outputs that even double-double does not decide, in one call
BUCKET_BITS = 16  # of an ordinal


class Judge(Protocol):
    """What has the outputs and judges them: a device, or, in tests, the same code on the CPU."""

    def __call__(self, rules: Records, tiles: Records) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Records of TALLY for the tiles, records of UNDECIDED, and samples as in `Table`."""


def rules_record(fmt: Format, function: Function) -> np.ndarray:
    """The rules of a sweep as the record that C has of them; pointers are null."""
    rules, record = rules_of(fmt, function, MonotonePieces.of(function, fmt)), np.zeros((), RULES)
    record["fmt"] = rules["fmt"]
    for name, entry in (("truth", function), ("approximated", function.approximates)):
        if entry is not None:
            _, limits, at_zero = truth_of(fmt, entry if isinstance(entry, Function) else get_function(entry))
            record[name]["limits"], record[name]["at_zero"] = limits, at_zero
    for name in ("turns", "edges"):
        record[name][: len(rules[name])] = rules[name]
    record["turn_count"], record["region_count"] = len(rules["turns"]), len(rules["edges"]) - 1
    for name in ("falls_first", "infinity", "tail_end", "stays_below_x", "either_zero"):
        record[name] = rules[name]
    record["span_count"] = len(rules["spans"])
    for index, span in enumerate(rules["spans"]):
        for name in _SPAN_FIELDS:
            record["spans"][index][name] = getattr(span, name)
    record["bins"] = np.frombuffer(rules["bins"], np.uint8)
    return record


# ---- tiles ---------------------------------------------------------------------------------------


def consecutive(fmt: Format, rules: Records, first: int, last: int) -> Records:
    """Tiles of all inputs from one ordinal to another; outputs lie by ordinal, in whole strips."""
    cuts = _cuts(fmt, rules, first, last)
    tiles: Records = np.zeros(len(cuts) - 1, TILE)
    tiles["first"], tiles["count"], tiles["step"] = cuts[:-1], np.diff(cuts), 1
    tiles["place"] = tiles["first"] - (first & ~255)
    tiles["region"], tiles["span"] = _regions(rules, tiles["first"]), -1
    for index in range(int(rules["span_count"])):
        span = rules["spans"][index]
        inside = (tiles["first"] >= span["first"]) & (cuts[1:] - 1 <= span["last"])
        tiles["span"][inside & (not span["is_first_order"]) & (tiles["span"] < 0)] = index
    return tiles


def drawn(fmt: Format, rules: Records, seed: int, per_bucket: int, first: int, last: int) -> Records:
    """Tiles of `per_bucket` inputs of each whole bucket, fewer of its parts, one from each of as many strata."""
    cuts = _cuts(fmt, rules, first, last)
    width = np.diff(cuts)
    whole = 1 << (fmt.width - BUCKET_BITS)
    tiles: Records = np.zeros(len(width), TILE)
    tiles["count"] = np.maximum(1, [int(each) * per_bucket // whole for each in width])
    tiles["step"] = width // tiles["count"]
    tiles["first"], tiles["seed"], tiles["span"] = cuts[:-1], seed, -1
    tiles["place"] = np.concatenate([[0], np.cumsum(tiles["count"])[:-1]])
    tiles["region"] = _regions(rules, tiles["first"])
    return tiles


def _cuts(fmt: Format, rules: Records, first: int, last: int) -> np.ndarray:
    """Where tiles begin, ascending, and the end of the last: no tile has two buckets, regions or pieces."""
    step = 1 << (fmt.width - BUCKET_BITS)
    turns = rules["turns"][: int(rules["turn_count"])] + 1
    edges = rules["edges"][: int(rules["region_count"]) + 1]
    inner = np.concatenate([np.arange(first // step + 1, last // step + 1) * step, turns, edges]).astype(np.int64)
    return distinct(np.concatenate([[first, last + 1], inner[(inner > first) & (inner <= last)]]).astype(np.int64))


def _regions(rules: Records, first: np.ndarray) -> np.ndarray:
    """The region of each ordinal, -1 where there is none."""
    count = int(rules["region_count"])
    place = np.searchsorted(rules["edges"][: count + 1], first, side="right") - 1
    return np.where((place >= 0) & (place < count), place, -1)


# ---- the table -----------------------------------------------------------------------------------


def counted(fmt: Format, function: Function, tiles: Records, judge: Judge, rules: Records) -> Table:
    """The table of the inputs of the tiles, before `finish` compares neighbours in different tiles.

    Raises
    ------
    OracleError : more than MOST_UNDECIDED outputs are not decided by double-double
    """
    tallies, undecided, samples = judge(rules, tiles)
    if len(undecided) > MOST_UNDECIDED:
        raise OracleError(f"the device does not decide {len(undecided)} outputs (accepted: up to {MOST_UNDECIDED})")
    table = _table(fmt, tiles, tallies, samples)
    judged, facts = _decided(fmt, function, undecided)
    whole = merge([table, *judged])
    return replace(whole, segments=table.segments, samples=table.samples, facts=whole.facts.merged(facts))


def _table(fmt: Format, tiles: Records, tallies: Records, samples: np.ndarray) -> Table:
    judged = tallies["row"]["n"] > 0
    bucket = (tiles["first"] >> (fmt.width - BUCKET_BITS)) + 0x8000
    counted = judged | (tallies["row"]["count"].sum(axis=1) > 0)
    columns, hist = merged_rows(fmt, *row_columns(fmt, bucket[counted], tallies["row"][counted]))
    inside = judged & (tiles["region"] >= 0)
    rows = tallies["row"][inside]
    regions = merged_regions(fmt, region_columns(tiles["region"][inside], rows["n"].astype(np.int64), rows["worst"]))
    by_x = np.argsort(tallies["ends"][:, 0])
    facts = facts_of(_least(tallies["facts"]))
    return Table(fmt, columns, hist, regions, tallies["ends"][by_x], samples, facts)


def _least(facts: Records) -> np.ndarray:
    """The facts of all tiles: of each the one that counts, ties by the lowest ordinal."""
    least = np.zeros((), FACTS)
    least["max_rank"] = facts["max_rank"].max()
    for name in (FACTS.names or ())[1:]:
        present = facts[name][facts[name]["present"] != 0]
        if len(present):
            value = present["value"] if "value" in present.dtype.names else magnitudes(present["ordinal"])
            value = -value if name.startswith("approximation") else value
            least[name] = present[np.lexsort((present["ordinal"], value))[0]]
    return least


def _decided(fmt: Format, function: Function, undecided: np.ndarray) -> tuple[list[Table], Facts]:
    """Outputs that the device does not decide, by the oracle: a table of those judged, facts of those approximated."""
    reduction, facts = Reduction(fmt, function, MonotonePieces.of(function, fmt)), Facts()
    for output in np.sort(undecided):
        x, got = int(output["x"]), int(output["got"])
        entry = get_function(function.approximates) if output["approximated"] and function.approximates else function
        want, error, faithful = judge_exactly(entry, fmt, x, got)
        x_bits, got_bits, want_bits = (np.array([bits], fmt.uint) for bits in (x, got, want))
        if not output["approximated"]:  # a run of its own: no neighbour is compared here
            judged = Outcome(x_bits, got_bits, want_bits, np.array([error]), np.array([faithful]))
            reduction.add_outcome(judged)
        elif abs(error) < np.inf:
            found = approximation_facts(fmt, entry.name, x_bits, want_bits, np.array([abs(error)]))
            facts = facts.merged(found)
    return [reduction.table()] if (undecided["approximated"] == 0).any() else [], facts
