"""The calls that every target is asked beside its plan, whether it is timed or not; few that nobody asked for.

They are of many lengths, at many addresses, sorted, constant and with equal neighbours. Their inputs are those of
`Positions`, whose outputs are known from long calls: what differs is kept, to be judged. One call is with as many
numbers as a timed one, the same ones: all its outputs are judged. One is on the main thread of the target's process.
"""

from __future__ import annotations

import numpy as np

from ..arrays import distinct
from ..formats import differ, is_finite, is_nan, is_zero, ordinals
from ..inputs.special import POSITIONS, normal_bits
from ..targets import short_calls
from ..targets.extra_outputs import differences
from ..truth.values import reference_bits
from ..work.packing import array_of_text
from .base import Evidence

POWERS = range(7, 17)  # of two: calls of one less, as many, and one more
ENDS = 64  # elements at the end of a long call, which a loop that is unrolled may treat by themselves
LEAST = 1 << 12  # inputs: calls are up to so long, whatever the plan
VECTORS = (*range(65, 128), *range(1000, 11_000, 1000))  # every remainder of long vectors, and round numbers
RANDOM, LONGEST_RANDOM = 12, 20_000
LONG = (100_000, (1 << 17) + 1)  # beyond the calls of a plan, where those are as long as they get
CONSTANT = (8, 64, 100, 1000)  # elements of calls with one input only
CONSTANTS = 7  # of such inputs
RUNS = (2, 8, 16)  # equal neighbours
PATTERN = 1000  # elements of calls that are sorted, or have equal neighbours
FEW_LENGTHS = ((1, 4), (17, 17))  # and how many inputs lie between the first ones of two calls


def make_calls(evidence: Evidence) -> None:
    """All of them; few where each length is compiled, and where nobody asked for the target."""
    if evidence.target.compiles_per_length:
        _of_few_lengths(evidence)
        _patterns(evidence, (evidence.length,), evidence.length)
    elif evidence.few_calls:
        _of_short_lengths(evidence)
        _patterns(evidence, CONSTANT, PATTERN)
        return
    else:
        _in_short_calls(evidence)
        _of_other_lengths(evidence)
        _patterns(evidence, CONSTANT, PATTERN)
    _on_main_thread(evidence)
    _as_timed(evidence)


def _in_short_calls(evidence: Evidence) -> None:
    """Each length from 1 to 64, flush with the guards of an isolated target; then at several addresses."""
    fmt, positions = evidence.fmt, evidence.positions
    _of_short_lengths(evidence)  # first: a failure says with which inputs
    order, ordinary = ordinary_first(evidence)
    x, usual, most = positions.x[order], positions.usual[order], f"at most indices of a call of {len(positions.first)}"
    calls, inputs, ends = short_calls.schedule(fmt.width // 8, len(x), ordinary)
    answered = evidence.target.applied(len(calls), short_calls.outputs, fmt.name, x.tolist(), ordinary)
    got = array_of_text(answered, fmt.uint)
    places = np.flatnonzero(differ(fmt, usual[inputs], got))
    for index in distinct(np.searchsorted(ends, places, side="right")):
        call, whole = calls[index], slice(ends[index] - len(calls[index].inputs), ends[index])
        bad = differences(fmt, x[call.inputs], usual[call.inputs], got[whole], (most, call.where))
        evidence.others.differences.extend(bad)


def _of_short_lengths(evidence: Evidence) -> None:
    """Each length from 1 to 64."""
    positions = evidence.positions
    order, ordinary = ordinary_first(evidence)
    x, usual = positions.x[order], positions.usual[order]
    twice, start = np.resize(np.arange(ordinary), ordinary + short_calls.LENGTHS), 0
    for n in range(1, short_calls.LENGTHS + 1):
        part = twice[start : start + n]
        evidence.compare(x[part], usual[part])
        start = (start + n) % ordinary


def _of_few_lengths(evidence: Evidence) -> None:
    """Where each length is compiled: one element, of every fourth input, and a vector with a remainder, of all."""
    positions = evidence.positions
    for n, step in FEW_LENGTHS:
        for start in range(0, POSITIONS, step):
            part = np.arange(start, start + n) % POSITIONS
            evidence.compare(positions.x[part], positions.usual[part])


def _of_other_lengths(evidence: Evidence) -> None:
    """Calls of other lengths, up to the size of the plan; the inputs nearest to 1 and -1 are at their ends."""
    positions, size = evidence.positions, max(evidence.plan.size + 1, LEAST + 1)
    order, ordinary = ordinary_first(evidence)
    for offset, n in enumerate(_lengths(size, evidence.plan.seed)):
        part = np.resize(np.roll(order[:ordinary], -offset), n)
        part[-ENDS:] = np.roll(order[:ENDS], -offset)
        evidence.compare(positions.x[part], positions.usual[part])


def _lengths(size: int, seed: int) -> list[int]:
    """Around powers of two, of VECTORS, and random ones; where the plan is as long as they are, LONG ones."""
    powers = [n for k in POWERS for n in ((1 << k) + 1, (1 << k) - 1, 1 << k)]
    some = np.random.default_rng(seed).uniform(np.log(128), np.log(LONGEST_RANDOM), RANDOM)
    found = [n for n in (*powers, *VECTORS, *np.exp(some).astype(int).tolist()) if n <= size]
    return [*found, *LONG] if size > 1 << POWERS[-1] else found


def _patterns(evidence: Evidence, constant: tuple[int, ...], n: int) -> None:
    """Calls that are sorted either way, that have equal neighbours, and that have one input only."""
    positions = evidence.positions
    order, ordinary = ordinary_first(evidence)
    by_value = np.argsort(ordinals(evidence.fmt, positions.x), kind="stable")
    by_value = by_value[~is_nan(evidence.fmt, positions.x[by_value])]
    ascending = np.sort(np.resize(np.arange(len(by_value)), n))
    found = [by_value, by_value[::-1], by_value[ascending], by_value[ascending[::-1]]] if n == PATTERN else []
    found = found or [by_value[ascending], by_value[ascending[::-1]]]
    found += [np.resize(np.repeat(order, run), n) for run in RUNS]
    chosen = order[np.linspace(0, ordinary - 1, CONSTANTS).round().astype(int)]
    found += [np.full(length, k) for length in constant for k in chosen]
    for part in found:
        evidence.compare(positions.x[part], positions.usual[part])


def _on_main_thread(evidence: Evidence) -> None:
    """One call with all inputs on the main thread of the target's process: the others are made on other threads."""
    fmt, positions, target = evidence.fmt, evidence.positions, evidence.target
    n = evidence.length if target.compiles_per_length else POSITIONS
    answered = target.applied_on_main_thread(short_calls.one_call, fmt.name, positions.x.tolist(), n)
    if answered is not None:
        got, part = array_of_text(answered, fmt.uint), np.arange(n) % POSITIONS
        where = "at most indices", f"at index {{}} in a call of {n} on the main thread"
        evidence.others.differences.extend(differences(fmt, positions.x[part], positions.usual[part], got, where))


def _as_timed(evidence: Evidence) -> None:
    """One call with the numbers that timed calls begin with, as many as a call of the plan has."""
    if evidence.plan.spans is None:
        evidence.target.timed(evidence.fmt.name, normal_bits(evidence.fmt.name, evidence.length).copy())


def ordinary_first(evidence: Evidence) -> tuple[np.ndarray, int]:
    """Indices of the inputs, and how many of the first of them have results that are not x, 0 or 1.

    Those nearest to 1 and -1, by ratio, come first.
    """
    fmt, x = evidence.fmt, evidence.positions.x
    want = reference_bits(evidence.function.name, fmt.name, x)
    magnitude = want & fmt.uint.type(fmt.sign_mask - 1)
    plain = is_finite(fmt, want) & ~is_zero(fmt, want) & (want != x) & (magnitude != fmt.uint.type(fmt.one))
    plain &= magnitude >= fmt.uint.type(1 << (fmt.precision - 1))
    if plain.sum() < short_calls.LENGTHS:  # relu
        plain = is_finite(fmt, x) & ~is_zero(fmt, x)
    near = np.abs(ordinals(fmt, x & fmt.uint.type(fmt.sign_mask - 1)) - fmt.one)
    return np.lexsort((near, ~plain)), int(plain.sum())
