"""Whether a revision is slower, from both timed in turns on one machine.

A round starts a process of each revision, which times every result once; every other round begins with the other
revision. What slows the machine for a while slows both; where code and arrays lie in memory differs in each process. So
rounds are independent, and the ratios of their times need no assumption about the distribution of times: where the
median ratio is at most r, k of N ratios or fewer lie at or below r by chance with the probability that a fair coin
shows k heads or fewer in N throws (the sign test). So the (k + 1)-th smallest ratio is a lower bound of the median, and
a result is slower only where it is above the limit. FALSE_ALARMS is shared among all results and lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, comb, log2
from statistics import median

from .comparison import Comparison, ResultComparison, TimesInTurns

ROUNDS = 15
FALSE_ALARMS = 0.01  # of comparisons in which no result is slower by more than the limit, at most

Times = Mapping[str, Mapping[int, float | None]]
"""Seconds an element of each result, by the length of the call; None where it failed."""


def timed_in_turns(found: Comparison, times: Sequence[Callable[[], Times]], limit: float) -> Comparison:
    """The comparison, in which every result of both revisions has its times.

    Parameters
    ----------
    times : starts a process of the old revision and times it, and of the new one
    limit : share by which the new one may take longer
    """
    rounds: list[tuple[Times, Times]] = []
    needed = ROUNDS
    while len(rounds) < needed:
        if len(rounds) % 2:
            new, old = times[1](), times[0]()
        else:
            old, new = times[0](), times[1]()
        rounds.append((old, new))
        cases = _ratios(rounds)
        needed = max(ROUNDS, ceil(log2(len(cases) / FALSE_ALARMS))) if cases else 0
    of_key: dict[str, list[TimesInTurns]] = {}
    for (key, n), ratios in cases.items():
        of_key.setdefault(key, []).append(judged(n, ratios, limit, FALSE_ALARMS / len(cases)))
    return replace(found, results=tuple(_with_times(each, of_key) for each in found.results))


def judged(n: int, ratios: Sequence[float], limit: float, false_alarms: float) -> TimesInTurns:
    """The median of the new time over the old one, and the lower bound of it with that error probability."""
    least = sorted(ratios)[rank(len(ratios), false_alarms)]
    return TimesInTurns(n, len(ratios), median(ratios), least, limit)


def rank(rounds: int, false_alarms: float) -> int:
    """The largest k with at most that chance of k heads or fewer in so many throws: from 0, the place of the bound."""
    chance, k = 0.0, -1
    while (chance := chance + comb(rounds, k + 1) / 2.0**rounds) <= false_alarms:
        k += 1
    return k


def _ratios(rounds: Sequence[tuple[Times, Times]]) -> dict[tuple[str, int], list[float]]:
    """Of each result and length that every process timed."""
    found = {}
    for key, of_lengths in rounds[0][0].items():
        for n in of_lengths:
            pairs = [[side.get(key, {}).get(n) for side in each] for each in rounds]
            ratios = [new / old for old, new in pairs if old and new]
            if len(ratios) == len(rounds):
                found[key, n] = ratios
    return found


def _with_times(result: ResultComparison, of_key: Mapping[str, Sequence[TimesInTurns]]) -> ResultComparison:
    if result.verdict in ("vanished", "appeared"):
        return result
    return replace(result, in_turns=tuple(of_key.get(result.key, ())))
