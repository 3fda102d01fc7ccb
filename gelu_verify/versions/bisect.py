"""At which release, or commit, an outcome changed: found by halving, with few of them measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..errors import MissingMeasurement
from ..records.fields import Count, about
from .releases import Release

UNMEASURED = "cannot be measured: "
Outcome = Callable[[Release], str]


@dataclass(frozen=True)
class FirstChange:
    """Two releases beside each other, measured ones, between which an outcome changed."""

    last_same: str = field(metadata=about("the last release that gives what the first one gave"))
    first_changed: str = field(metadata=about("the first release that gives something else"))
    before: str = field(metadata=about("what the first one gave: bits, or the digest of all outputs"))
    after: str = field(metadata=about("what is given since"))
    skipped: tuple[str, ...] = field(metadata=about("releases between these two that could not be measured"))
    asked: Count = field(metadata=about("how many releases were measured"))


def first_change(releases: Sequence[Release], outcome: Outcome) -> FirstChange | None:
    """Where the outcome of the last release began to differ from that of the first; None where these are the same.

    An outcome that begins with UNMEASURED is none. Where it changed several times, one of these changes is found.

    Raises
    ------
    MissingMeasurement : fewer than two releases have an outcome
    """
    known: dict[int, str] = {}

    def at(place: int) -> str:
        if place not in known:
            known[place] = outcome(releases[place])
        return known[place]

    places = list(range(len(releases)))
    low = next((place for place in places if not at(place).startswith(UNMEASURED)), None)
    high = next((place for place in reversed(places) if not at(place).startswith(UNMEASURED)), None)
    if low is None or high is None or low == high:
        why = next((f" ({text})" for text in known.values() if text.startswith(UNMEASURED)), "")
        what = "no release can" if low is None else f"only {releases[low].version} can"
        raise MissingMeasurement(f"{what} be measured, and two are needed{why}")
    if at(low) == at(high):
        return None
    first = at(low)
    while True:
        middle = _usable(low, high, at)
        if middle is None:
            break
        if at(middle) == first:
            low = middle
        else:
            high = middle
    skipped = tuple(releases[place].version for place in range(low + 1, high))
    return FirstChange(releases[low].version, releases[high].version, first, at(high), skipped, len(known))


def _usable(low: int, high: int, at: Callable[[int], str]) -> int | None:
    """The place nearest to the middle between two that can be measured; None where there is none."""
    middle = (low + high) // 2
    for place in sorted(range(low + 1, high), key=lambda each: abs(each - middle)):
        if not at(place).startswith(UNMEASURED):
            return place
    return None
