"""Verification where the answers are: `src/cuda/verify.cu` judges and counts on the device, tile by tile.

A tile is a part of one bucket, one region and one monotone piece. What comes back of it is a record of some hundred
bytes; they are merged here to the table that the CPU's reducer makes of the same inputs, bit for bit. Inputs are
consecutive (float32), or drawn one from each of as many strata (float64), on the device, from a seed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np

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
from ..buckets.table import Facts, Pieces, Table, merge, merged_regions, merged_rows
from ..errors import OracleError
from ..fenv import in_default_environment
from ..formats import Format, magnitudes
from ..functions import Function, get_function
from ..truth.oracle import judge_exactly

_TRUTH = np.dtype(
    [("values", "u8"), ("slope", "f8"), ("bend", "f8"), ("activation", "i8"), ("exact", "u8"), ("limits", "u8", 6),
     ("at_zero", "f8")]
)  # fmt: skip
_SPAN = np.dtype([(name, "i8") for name in ("first", "last", "kind", "drifts", "accepted", "constant", "required")])
RULES = np.dtype(
    [
        *(("fmt", "i4", 4), ("truth", _TRUTH), ("approximated", _TRUTH), ("turns", "i8", 8), ("turn_count", "i8")),
        *(("falls_first", "i8"), ("last", "i8"), ("edges", "i8", 17), ("region_count", "i8"), ("tail_end", "i8")),
        *(("stays_below_x", "i8"), ("either_zero", "i8"), ("span_count", "i8"), ("spans", _SPAN, 16)),
        *(("bins", "u1", 4097), ("unused", "u1", 7)),
    ]
)
TILE = np.dtype([*((name, "i8") for name in ("first", "step", "count", "place", "region", "span")), ("seed", "u8")])
TALLY = np.dtype([("row", ROW), ("facts", FACTS), ("ends", "i8", 4)])
OPEN = np.dtype([("x", "u8"), ("got", "u8"), ("approximated", "i8")])  # the records of src/reduce and src/cuda
ROOM = 1 << 16  # answers that even double-double leaves open, in one call
BUCKET = 16


class Judge(Protocol):
    """What has the answers and judges them: a device, or, in tests, the same code on the CPU."""

    def __call__(self, rules: np.ndarray, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Records of TALLY for the tiles, records of OPEN, and (fixed inputs met, 2) bits of them and their answers."""


@in_default_environment
def rules_record(fmt: Format, function: Function) -> np.ndarray:
    """The rules of a sweep as the record that C has of them; pointers are null."""
    rules, record = rules_of(fmt, function, Pieces.of(function, fmt)), np.zeros((), RULES)
    record["fmt"] = rules["fmt"]
    for name, entry in (("truth", function), ("approximated", function.approximates)):
        if entry is not None:
            _, limits, at_zero = truth_of(fmt, entry if isinstance(entry, Function) else get_function(entry))
            record[name]["limits"], record[name]["at_zero"] = limits, at_zero
    for name in ("turns", "edges"):
        record[name][: len(rules[name])] = rules[name]
    record["turn_count"], record["region_count"] = len(rules["turns"]), len(rules["edges"]) - 1
    for name in ("falls_first", "last", "tail_end", "stays_below_x", "either_zero"):
        record[name] = rules[name]
    record["span_count"] = len(rules["spans"])
    for index, span in enumerate(rules["spans"]):
        told = {name: getattr(span, name) for name in ("first", "last", "kind", "drifts", "accepted")}
        for name, value in {**told, "constant": span.constant, "required": span.required}.items():
            record["spans"][index][name] = value
    record["bins"] = np.frombuffer(rules["bins"], np.uint8)
    return record


# ---- tiles ---------------------------------------------------------------------------------------


def consecutive(fmt: Format, rules: np.ndarray, first: int, last: int) -> np.ndarray:
    """Tiles of all inputs from one ordinal to another; answers lie by ordinal, in whole strips."""
    cuts = _cuts(fmt, rules, first, last)
    tiles = np.zeros(len(cuts) - 1, TILE)
    tiles["first"], tiles["count"], tiles["step"] = cuts[:-1], np.diff(cuts), 1
    tiles["place"] = tiles["first"] - (first & ~255)
    tiles["region"], tiles["span"] = _regions(rules, tiles["first"]), -1
    for index in range(int(rules["span_count"])):
        span = rules["spans"][index]
        inside = (tiles["first"] >= span["first"]) & (cuts[1:] - 1 <= span["last"])
        tiles["span"][inside & (not span["drifts"]) & (tiles["span"] < 0)] = index
    return tiles


def drawn(fmt: Format, rules: np.ndarray, seed: int, per_bucket: int, first: int, last: int) -> np.ndarray:
    """Tiles of `per_bucket` inputs of each whole bucket, fewer of its parts, one from each of as many strata."""
    cuts = _cuts(fmt, rules, first, last)
    width = np.diff(cuts)
    whole = 1 << (fmt.width - BUCKET)
    tiles = np.zeros(len(width), TILE)
    tiles["count"] = np.maximum(1, [int(each) * per_bucket // whole for each in width])
    tiles["step"] = width // tiles["count"]
    tiles["first"], tiles["seed"], tiles["span"] = cuts[:-1], seed, -1
    tiles["place"] = np.concatenate([[0], np.cumsum(tiles["count"])[:-1]])
    tiles["region"] = _regions(rules, tiles["first"])
    return tiles


def _cuts(fmt: Format, rules: np.ndarray, first: int, last: int) -> np.ndarray:
    """Where tiles begin, ascending, and the end of the last: no tile has two buckets, regions or pieces."""
    step = 1 << (fmt.width - BUCKET)
    turns = rules["turns"][: int(rules["turn_count"])] + 1
    edges = rules["edges"][: int(rules["region_count"]) + 1]
    inner = np.concatenate([np.arange(first // step + 1, last // step + 1) * step, turns, edges]).astype(np.int64)
    return np.unique(np.concatenate([[first, last + 1], inner[(inner > first) & (inner <= last)]]).astype(np.int64))


def _regions(rules: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The region of each ordinal, -1 where there is none."""
    count = int(rules["region_count"])
    place = np.searchsorted(rules["edges"][: count + 1], first, side="right") - 1
    return np.where((place >= 0) & (place < count), place, -1)


# ---- the table -----------------------------------------------------------------------------------


@in_default_environment
def counted(fmt: Format, function: Function, tiles: np.ndarray, judge: Judge, rules: np.ndarray) -> Table:
    """What the inputs and answers of the tiles come to, before `finish` compares neighbours in different tiles.

    Raises
    ------
    OracleError : more answers are left open than there is room for
    """
    tallies, left, samples = judge(rules, tiles)
    if len(left) > ROOM:
        raise OracleError(f"{len(left)} answers are undecided on the device (limit: {ROOM})")
    found = _table(fmt, tiles, tallies, samples)
    more, facts = _asked(fmt, function, left)
    whole = merge([found, *more])
    return replace(whole, segments=found.segments, samples=found.samples, facts=whole.facts.merged(facts))


def _table(fmt: Format, tiles: np.ndarray, tallies: np.ndarray, samples: np.ndarray) -> Table:
    met = tallies["row"]["n"] > 0
    bucket = (tiles["first"] >> (fmt.width - BUCKET)) + 0x8000
    counted = met | (tallies["row"]["count"].sum(axis=1) > 0)
    columns, hist = merged_rows(fmt, *row_columns(fmt, bucket[counted], tallies["row"][counted]))
    inside = met & (tiles["region"] >= 0)
    rows = tallies["row"][inside]
    regions = merged_regions(fmt, region_columns(tiles["region"][inside], rows["n"].astype(np.int64), rows["worst"]))
    by_x = np.argsort(tallies["ends"][:, 0])
    facts = facts_of(_least(tallies["facts"]))
    return Table(fmt, columns, hist, regions, tallies["ends"][by_x], samples, facts)


def _least(facts: np.ndarray) -> np.ndarray:
    """The facts of all tiles: of each the one that counts, ties by the lowest ordinal."""
    least = np.zeros((), FACTS)
    least["max_rank"] = facts["max_rank"].max()
    for name in (FACTS.names or ())[1:]:
        met = facts[name][facts[name]["met"] != 0]
        if len(met):
            value = met["value"] if "value" in met.dtype.names else magnitudes(met["ordinal"])
            value = -value if name.startswith("approximation") else value
            least[name] = met[np.lexsort((met["ordinal"], value))[0]]
    return least


def _asked(fmt: Format, function: Function, left: np.ndarray) -> tuple[list[Table], Facts]:
    """Answers that the device left open, by the oracle: tables of the judged, facts of the approximated."""
    tables, facts = [], Facts()
    for answer in np.sort(left):
        x, got = int(answer["x"]), int(answer["got"])
        entry = get_function(function.approximates) if answer["approximated"] and function.approximates else function
        want, error, faithful = judge_exactly(entry, fmt, x, got)
        if answer["approximated"]:
            if abs(error) < np.inf:
                x_bits, want_bits = np.array([x], fmt.uint), np.array([want], fmt.uint)
                off = np.array([abs(error)])
                facts = facts.merged(approximation_facts(fmt, entry.name, x_bits, want_bits, off))
            continue
        x_bits, got_bits, want_bits = (np.array([each], fmt.uint) for each in (x, got, want))
        reduction = Reduction(fmt, function, Pieces.of(function, fmt))
        reduction.add_outcome(Outcome(x_bits, got_bits, want_bits, np.array([error]), np.array([faithful])))
        tables.append(reduction.table())
    return tables, facts
