"""A plan with more inputs than its own: buckets that were tried whole, or single inputs; and how much of a dtype it is.

What `measure/widening.py` chooses while a target is measured becomes a plan here, so that a sweep of that plan alone
gives the same table: each input is in it once, and its chunks ascend and do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..formats import Format, get_format
from ..functions import Function, get_function
from .plans import CHUNK, Chunk, Plan, SpanChunks, Spans, core, joined_spans

BUCKET = 1 << 16  # inputs of a bucket of a 32-bit dtype
MANY = CHUNK // BUCKET  # buckets of a long chunk: there are two lengths only, because some frameworks compile for each


def chunks_of(plan: Plan, buckets: Sequence[int], many: int = MANY) -> list[Chunk]:
    """Chunks of whole buckets (ascending numbers, as in `Table`), `many` in one where so many are consecutive."""
    return [
        Chunk(index, plan.dtype, plan.seed, (first - 0x8000) * BUCKET, count * BUCKET)
        for index, (first, count) in enumerate(_runs(buckets, many))
    ]


def _runs(buckets: Sequence[int], many: int) -> Iterator[tuple[int, int]]:
    """(first, count) of runs of `many` consecutive buckets, and single ones."""
    start = 0
    while start < len(buckets):
        end = start + many
        whole = end <= len(buckets) and buckets[end - 1] - buckets[start] == many - 1
        yield buckets[start], many if whole else 1
        start = end if whole else start + 1


def widened(plan: Plan, calls: Sequence[Chunk], steps: int) -> Plan:
    """`plan` with the inputs of those calls: of whole buckets, or explicit ones that the plan does not have."""
    whole = joined_spans((chunk.first, chunk.first + chunk.size - 1) for chunk in calls if chunk.explicit is None)
    more = [chunk.explicit for chunk in calls if chunk.explicit is not None]
    own = [chunk.explicit for chunk in plan.chunks if chunk.explicit is not None]
    explicit = np.sort(np.concatenate([*own, *more]))
    pieces = outside(explicit, whole, plan.usual_length)
    chunks = [Chunk(0, plan.dtype, plan.seed, int(piece[0]), len(piece), piece) for piece in pieces]
    if whole:
        spanned = SpanChunks(plan.dtype, plan.seed, whole, CHUNK)
        chunks = sorted([*chunks, *spanned[:]], key=lambda chunk: chunk.first)
    chunks = [replace(chunk, index=index) for index, chunk in enumerate(chunks)]
    size = sum(chunk.size for chunk in chunks)
    return replace(
        plan, chunks=chunks, size=size, exhaustive=size == 1 << get_format(plan.dtype).width, whole=whole, steps=steps,
        made=[*plan.chunks, *calls],
    )  # fmt: skip


def outside(explicit: np.ndarray, whole: Spans, length: int) -> list[np.ndarray]:
    """Ordinals (ascending) that are in no span, cut where one lies between them, none longer than `length`."""
    firsts, lasts = (np.array([span[end] for span in whole], dtype=np.int64) for end in (0, 1))
    place = np.searchsorted(firsts, explicit, side="right")  # spans that begin at or before it
    inside = (place > 0) & (explicit <= np.append(lasts, 0)[place - 1])
    explicit, place = explicit[~inside], place[~inside]
    parts = np.split(explicit, np.flatnonzero(np.diff(place)) + 1) if len(explicit) else []
    return [part[start : start + length] for part in parts for start in range(0, len(part), length)]


# ---- how much of a dtype that is -----------------------------------------------------------------


@dataclass(frozen=True)
class Untried:
    """The longest run of consecutive inputs that nobody tried: ordinals, both ends in."""

    first: int
    last: int


def longest_untried(plan: Plan) -> tuple[Untried | None, Untried | None]:
    """Among all finite inputs, and among those where the function is not trivial (`plans.core`); None: none is."""
    fmt, function = get_format(plan.dtype), get_function(plan.function)
    if plan.exhaustive:
        return None, None
    starts, ends = _tried(plan)
    most = fmt.ordinal(fmt.max_finite)
    return (
        _longest(starts, ends, [(-1 - most, most)]),
        _longest(starts, ends, _core(function, fmt)),
    )


def _core(function: Function, fmt: Format) -> list[tuple[int, int]]:
    """Spans of ordinals inside of the domain."""
    tiny, left, right = core(function, fmt)
    least, most = function.ordinals(fmt)
    spans = (max(-1 - left, least), min(-1 - tiny, most)), (max(tiny, least), min(right, most))
    return [span for span in spans if span[0] <= span[1]]


def _tried(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """First and last ordinals of everything tried, ascending and apart."""
    if plan.spans is not None:
        found = np.array(plan.spans, dtype=np.int64)
        return found[:, 0], found[:, 1]
    explicit = [chunk.explicit for chunk in plan.chunks if chunk.explicit is not None]
    spans = np.array(plan.whole, dtype=np.int64).reshape(-1, 2)
    starts = np.concatenate([*explicit, spans[:, 0]])
    ends = np.concatenate([*explicit, spans[:, 1]])
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order]


def _longest(starts: np.ndarray, ends: np.ndarray, inside: list[tuple[int, int]]) -> Untried | None:
    found: list[tuple[int, int, int]] = []
    for first, last in inside:
        some = slice(int(np.searchsorted(ends, first)), int(np.searchsorted(starts, last, side="right")))
        before = np.concatenate([[first], ends[some] + 1])  # where each gap begins, and where it ends
        after = np.concatenate([starts[some] - 1, [last]])
        length = np.where(after >= before, (after - before).view(np.uint64) + np.uint64(1), np.uint64(0))
        most = int(np.argmax(length))
        if length[most]:
            found.append((int(length[most]), int(before[most]), int(after[most])))
    return Untried(*max(found)[1:]) if found else None
