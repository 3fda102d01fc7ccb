"""The value of an input does not depend on where it stands: index, lane, neighbours, length and offset of the array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..points import POSITIONS
from ._positions import STRIDE
from .base import Check, Evidence, Finding

LENGTHS = (*range(1, 34), 65)
LANES = (2, 4, 8, 16, 32, 64)
OFFSETS = 8  # elements before the array in its memory, in turn


class Differences(NamedTuple):
    """Inputs (indices into the cycle) that had other answers than usual in one call, and where."""

    inputs: np.ndarray
    got: np.ndarray
    places: np.ndarray
    where: str  # with a gap for the place


def run(evidence: Evidence) -> Finding:
    seen = evidence.positions
    if seen.differ(seen.first, seen.again).any():
        return Finding("not applicable", "equal calls differ: see repeatable")
    both_faithful = ""
    for inputs, got, places, where in _calls(evidence):
        usual = seen.usual[inputs]
        off = np.maximum(*(np.abs(evidence.judge(seen.x[inputs], answer)[1]) for answer in (usual, got)))
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        x_bits, pair = int(seen.x[inputs[worst]]), (int(usual[worst]), int(got[worst]))
        floats = abs(evidence.fmt.rank(pair[0]) - evidence.fmt.rank(pair[1]))
        said = f"f({evidence.told(x_bits)}) = {evidence.told(pair[0])}, but {evidence.told(pair[1])} "
        said += f"{where.format(places[worst])}: {floats} floats apart"
        if not off[worst] <= 1:
            return evidence.two_answers(said, x_bits, pair)
        both_faithful = both_faithful or f"{said}, both faithful"
    return Finding("pass", both_faithful)


def _calls(evidence: Evidence) -> Iterator[Differences]:
    """What differs in long calls, in the sweep, in short ones."""
    yield from _in_long_calls(evidence)
    yield from _in_the_sweep(evidence)
    if not evidence.target.compiles_per_length:
        yield from _in_short_calls(evidence)


def _in_long_calls(evidence: Evidence) -> Iterator[Differences]:
    """Among answers of one call, and of one in another order."""
    seen, size = evidence.positions, len(evidence.positions.first)
    for got, stride, also in ((seen.first, 1, ""), (seen.other_order, STRIDE, ", beside other neighbours")):
        inputs = seen.places * stride % POSITIONS
        places = np.flatnonzero(seen.differ(got, seen.usual[inputs]))
        if len(places):
            said = f"at index {{}} of {size}{also} (so at {_pattern(places, size)})"
            yield Differences(inputs[places], got[places], places, said)


def _in_the_sweep(evidence: Evidence) -> Iterator[Differences]:
    """Against what the sweep saw, where inputs of all kinds stood beside each other."""
    seen = evidence.positions
    known, got = evidence.table.samples.T.astype(evidence.fmt.uint)
    if len(known):
        place = np.minimum(np.searchsorted(known, seen.x), len(known) - 1)
        bad = np.flatnonzero((known[place] == seen.x) & seen.differ(got[place], seen.usual))
        if len(bad):
            yield Differences(bad, got[place[bad]], bad, "in a call of the sweep")


def _in_short_calls(evidence: Evidence) -> Iterator[Differences]:
    """In calls of few inputs, each call at another place of memory."""
    seen, start = evidence.positions, 0
    for length in LENGTHS:
        inputs, offset = np.arange(start, start + length) % POSITIONS, length % OFFSETS
        memory = np.zeros(length + offset, evidence.fmt.uint)
        memory[offset:] = seen.x[inputs]
        got = evidence.lent(memory[offset:])
        bad = np.flatnonzero(seen.differ(got, seen.usual[inputs]))
        if len(bad):
            said = f"at index {{}} in a call of {length}, {offset} elements into its memory"
            yield Differences(inputs[bad], got[bad], bad, said)
        start += length


def _pattern(places: np.ndarray, size: int) -> str:
    """In what those places are alike."""
    if places[0] >= size - LANES[-1]:
        return f"{len(places)} of the last {size - places[0]}"
    shared = [lanes for lanes in LANES if (places % lanes == places[0] % lanes).all()]
    if len(places) == 1 or not shared:
        return f"{len(places)} places"
    return f"{len(places)} places, all in lane {places[0] % shared[-1]} of {shared[-1]}"


CHECK = Check("lane", "bodies and tails of SIMD loops differ (RuVector#761, AiDotNet.Tensors#83, pytorch#98212)", run)
