"""Pieces of x where different code explains the results: clamps, a polynomial in the body, another formula in the tail.

What may explain a piece: the formula that explains most, other formulas, kernels of ours, and what clamps return (x,
x/2, zeros, correctly rounded results). Pieces are the cheapest way through all of them: a result that one does
not give costs 1, a change of explanation CHANGE, and a result that none explains the share that one may miss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import distinct
from ..formats import differ, from_ordinals, get_format, is_nan, ordinals, values
from ..targets import Target
from ..truth.values import judge, reference_bits
from .evaluation import to_bits
from .ladder import Model, climb
from .search import EXPLAINS

CELL = 16  # inputs: pieces begin at one of so many places, before their ends are searched
CHANGE = 24.0  # results that an explanation must explain more than another one before it takes over
GRID, ROUNDS = 256, 8  # inputs between two of the plan, tried at once, to find where a piece ends; and how often
LEFT = 0.1  # of the results that one formula does not give: pieces may leave so many
LEAST, LOOKED_AT = 256, 3  # inputs of an unknown piece that is looked at by itself, and how many are
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Explanation:
    """`returns(x_bits)` is what it gives; `kind` of "formula", "kernel", "limit"; `model` where it is a formula."""

    what: str
    kind: str
    returns: Callable[[np.ndarray], np.ndarray]
    model: Model | None = None


def limits(function: str, dtype: str) -> list[Explanation]:
    """What code returns where it does not compute: x, x/2, a zero, a correctly rounded result."""
    fmt = get_format(dtype)
    sign = fmt.uint.type(fmt.sign_mask)

    def half(x: np.ndarray) -> np.ndarray:
        real = values(fmt, x)
        wide = real if fmt.width >= 32 else real.astype(np.float32)
        with np.errstate(all="ignore"):
            return to_bits(fmt, wide * wide.dtype.type(0.5))

    found = {
        "x itself": lambda x: x,
        "a zero": lambda x: np.zeros_like(x),
        "a zero with the sign of x": lambda x: x & sign,
        "x/2": half,
        "correctly rounded": lambda x: np.asarray(reference_bits(function, dtype, x)),
    }
    return [Explanation(what, "limit", returns) for what, returns in found.items()]


def pieces_of(
    target: Target,
    dtype: str,
    function: str,
    x_bits: np.ndarray,
    got: np.ndarray,
    able: Sequence[Explanation],
    more: Callable[[slice], Iterable[Explanation]] = lambda inside: (),
    explained: bool = False,
) -> list[dict[str, Any]]:
    """The pieces as in docs/json.md, ascending in x; empty where one explanation holds everywhere.

    Parameters
    ----------
    x_bits, got : finite inputs, ascending, and the results; `function` is what errors are judged by
    able : explanations, the likeliest first
    more : explanations of the inputs of a slice that none of these explains
    explained : the first gives nearly all results that distinguish formulas: pieces must account for the others
    """
    edges, fmt = _cells(len(x_bits)), get_format(dtype)
    missed = _missed(dtype, x_bits, got, able)
    states = _cheapest(missed, len(able))
    if found := [each for inside in _unknown(states, len(able), edges) for each in more(inside)]:
        able = [*able, *found]
        missed = _missed(dtype, x_bits, got, able)
        states = _cheapest(missed, len(able))
    if len(set(states)) < 2 or (explained and _left(missed, states, edges) > LEFT * np.count_nonzero(missed[0])):
        return []
    turns = np.flatnonzero(np.diff(states)) + 1
    chosen = [int(states[at]) for at in (0, *turns)]
    inner = [_edge(missed, edges, int(at), *pair) for at, pair in zip(turns, pairwise(chosen), strict=True)]
    place = ordinals(fmt, x_bits)
    begins = [int(place[0])]
    for first, pair in zip(inner, pairwise(chosen), strict=True):
        sides = tuple(able[state] if state < len(able) else None for state in pair)
        begins.append(_searched_edge(target, dtype, sides, int(place[first - 1]), int(place[first])))
    ends = [*(begin - 1 for begin in begins[1:]), int(place[-1])]
    spans = from_ordinals(fmt, np.array([begins, ends])).tolist()
    error = np.abs(judge(function, dtype, x_bits, got).error)
    records = []
    inputs = [slice(*ends) for ends in zip([0, *inner], [*inner, len(x_bits)], strict=True)]
    numbers = {state for state, inside in zip(chosen, inputs, strict=True) if not is_nan(fmt, got[inside]).all()}
    for at, (state, inside) in enumerate(zip(chosen, inputs, strict=True)):
        each = able[state] if state < len(able) and state in numbers else None  # NaN alone is evidence of none
        first, last = inside.start, inside.stop
        worst = first + int(np.argmax(np.where(np.isfinite(error[inside]), error[inside], -1.0)))
        records.append(
            {
                "from": fmt.bits_text(spans[0][at]),
                "to": fmt.bits_text(spans[1][at]),
                "n": last - first,
                "share": (last - first) / len(x_bits),
                "what": (UNKNOWN if state in numbers else f"{UNKNOWN}: NaN") if each is None else each.what,
                "kind": UNKNOWN if each is None else each.kind,
                "agreement": None if each is None else float(1 - np.mean(missed[state, inside])),
                "max_ulp": float(error[worst]) if np.isfinite(error[worst]) else None,
                "x_bits": fmt.bits_text(int(x_bits[worst])),
                "main": _cause(each, dtype, x_bits[worst : worst + 1], got[worst : worst + 1]),
            }
        )
    return records


def _cells(n: int) -> np.ndarray:
    """Where cells begin, and the end."""
    return np.append(np.arange(0, n, CELL), n)


def _missed(dtype: str, x_bits: np.ndarray, got: np.ndarray, able: Sequence[Explanation]) -> np.ndarray:
    """Where each explanation fails, a row for each, and a last one for none, which is never compared."""
    fmt = get_format(dtype)
    return np.array([*(differ(fmt, each.returns(x_bits), got) for each in able), np.zeros(len(x_bits), bool)])


def _unknown(states: np.ndarray, unknown: int, edges: np.ndarray) -> list[slice]:
    """The largest pieces that nothing explains."""
    turns = [0, *(np.flatnonzero(np.diff(states)) + 1), len(states)]
    found = [slice(int(edges[a]), int(edges[b])) for a, b in pairwise(turns) if states[a] == unknown]
    found = [each for each in found if each.stop - each.start >= LEAST]
    return sorted(found, key=lambda each: each.start - each.stop)[:LOOKED_AT]


def _left(missed: np.ndarray, states: np.ndarray, edges: np.ndarray) -> int:
    """Results that the pieces do not account for; in an unknown piece, all."""
    unknown = np.vstack([missed[:-1], np.full((1, missed.shape[1]), True)])
    return int(np.count_nonzero(unknown[np.repeat(states, np.diff(edges)), np.arange(missed.shape[1])]))


def _cheapest(missed: np.ndarray, unknown: int) -> np.ndarray:
    """The explanation of each cell, on the cheapest way through all (Viterbi); the last one explains nothing."""
    edges = _cells(missed.shape[1])
    cost = np.add.reduceat(missed, edges[:-1], axis=1).astype(np.float64)
    cost[unknown] = (1 - EXPLAINS) * np.diff(edges)
    cost += np.arange(len(cost))[:, None] * 1e-9  # among equal ones, the likeliest
    total, came = cost[:, 0].copy(), np.zeros(cost.shape, np.int64)
    for cell in range(1, cost.shape[1]):
        least = int(np.argmin(total))
        changes = total[least] + CHANGE < total
        came[:, cell] = np.where(changes, least, np.arange(len(total)))
        total = np.where(changes, total[least] + CHANGE, total) + cost[:, cell]
    states = np.zeros(cost.shape[1], np.int64)
    states[-1] = int(np.argmin(total))
    for cell in range(cost.shape[1] - 1, 0, -1):
        states[cell - 1] = came[states[cell], cell]
    return states


def _edge(missed: np.ndarray, edges: np.ndarray, cell: int, before: int, after: int) -> int:
    """Index of the input from which the next explanation misses least, in the two cells around.

    What nothing explains counts as half missed: the edge is where the other side begins or ends to hold.
    """
    low, high = int(edges[cell - 1]), int(edges[min(cell + 1, len(edges) - 1)])
    left, right = (
        np.concatenate(
            [[0.0], np.cumsum(missed[state, low:high] if state < len(missed) - 1 else np.full(high - low, 0.5))]
        )
        for state in (before, after)
    )
    return max(1, low + int(np.argmin(left + right[-1] - right)))


def _searched_edge(target: Target, dtype: str, sides: tuple[Explanation | None, ...], low: int, high: int) -> int:
    """Ordinal of the first input of a piece, between two inputs of the plan: by inputs that only one side explains."""
    fmt = get_format(dtype)
    for _ in range(ROUNDS):
        if high - low <= 1:
            break
        grid = distinct(np.linspace(low, high, GRID + 1).astype(np.int64))
        x = from_ordinals(fmt, grid)
        got = target.evaluate(dtype, x)
        left, right = (None if side is None else ~differ(fmt, side.returns(x), got) for side in sides)
        if left is None:  # the other side holds after the last input that it does not explain
            start = int(np.flatnonzero(~right)[-1]) if right is not None and not right.all() else 0
            end = min(start + 1, len(grid) - 1)
        elif right is None:
            end = int(np.flatnonzero(~left)[0]) if not left.all() else len(grid) - 1
            start = max(end - 1, 0)
        else:
            only_right = np.flatnonzero(right & ~left)
            end = int(only_right[0]) if len(only_right) else len(grid) - 1
            only_left = np.flatnonzero((left & ~right)[:end])
            start = int(only_left[-1]) if len(only_left) else 0
        if (int(grid[start]), int(grid[end])) == (low, high):
            break
        low, high = int(grid[start]), int(grid[end])
    return high


def _cause(each: Explanation | None, dtype: str, x_bits: np.ndarray, got: np.ndarray) -> str | None:
    """The main source of the error at one input, of an explanation that is a formula; what it returns of a limit."""
    if each is None:
        return None
    if each.model is None:
        return each.kind
    ladder = climb(each.model, dtype, x_bits, got)
    if not len(ladder.x_bits):
        return None
    added = ladder.added(0)
    return max(added, key=lambda source: abs(added[source])) if all(map(np.isfinite, added.values())) else None
