"""What a result may cost beyond the inputs of its plan: seconds, or so many buckets, whatever these take."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..errors import UsageError
from ..records.parts import Grade

ALONE_S, EACH_S = 10.0, 1.0  # of one target that is named, of each of several results
ALL_S, LEAST_S = 4.0, 0.4  # of all results of a run, on the clock; of each where they are too many for that
UNNAMED = 0.5  # of that, where nothing is named: the answer comes first
MOST_S, MOST_BUCKETS = 1e6, 1 << 16
OF_ALL_INPUTS: tuple[Grade, ...] = ("correctly_rounded", "faithful")
"""Grades that one input more can take away, however good the others are."""
_TEXT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(s|buckets|)")
ACCEPTED = "accepted: seconds, such as 0, 2.5 or 60s; or a number of buckets, such as 812buckets"


@dataclass(frozen=True)
class Budget:
    """
    Parameters
    ----------
    seconds : after which no further bucket is begun
    buckets : how many are tried at most: the same number tries the same inputs again, if the outputs are the same
    demand : what is asked of all inputs: once an input shows that it does not hold, no more are tried
    all_s : where all of float32 would take no longer at the speed so far, in seconds, the other limits do not hold
    """

    seconds: float = math.inf
    buckets: int = MOST_BUCKETS
    demand: Grade | None = None
    all_s: float = 0.0

    def __bool__(self) -> bool:
        return (self.seconds > 0 and self.buckets > 0) or self.all_s > 0

    @classmethod
    def of(cls, given: float | str) -> Budget:
        """UsageError where it is neither seconds nor a number of buckets."""
        match = _TEXT.fullmatch(str(given)) if isinstance(given, int | float | str) else None
        if match is None or isinstance(given, bool):
            raise UsageError(f"{given!r} cannot be used ({ACCEPTED})")
        number = float(match[1])
        if number > MOST_S or (match[2] == "buckets" and (number > MOST_BUCKETS or "." in match[1])):
            raise UsageError(f"{given!r} is too much ({ACCEPTED}; up to {MOST_S:g} s, {MOST_BUCKETS} buckets)")
        return cls(buckets=int(number)) if match[2] == "buckets" else cls(seconds=number)


NOTHING = Budget(0.0, 0)
