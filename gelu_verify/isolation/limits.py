"""How long a call may take and how much memory a child may need: generous, so that nothing fails that is only slow."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import inf

from ..parsing import LONGEST_S, real, whole

GiB = 1 << 30
LOADING = 600.0  # seconds: compiling a source, all imports and first calls, timing a target
FIRST = 120.0  # seconds: a first call may compile
LEAST_IMPORT = 60.0  # seconds: importing a framework from a cold disk
SHORT = 1.5  # seconds that a call may take of what hung before, beside what such calls take; 6 where none returned
LEAST = 0.25  # an eighth of the time limit where that is less, but not less than this
SEARCH = 3.0  # seconds to look for the inputs of what hung, where the time limit is shorter
SLACK = 30.0  # seconds that any call may take
TIMES = 30  # as often as slow as the slowest call so far
MEMORY = 4 * GiB
LEAST_MEMORY = 1 << 20


def memory_of_machine() -> int:
    """Bytes of physical memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Limits:
    """What was asked for; `seconds` None: decided from what the calls so far took."""

    seconds: float | None = None
    nbytes: int = MEMORY
    niceness: int = 0

    def __post_init__(self) -> None:
        if self.seconds is not None:
            real("the time limit", self.seconds, 0.0, LONGEST_S, above=True)
        whole("the memory limit", self.nbytes, LEAST_MEMORY, max(MEMORY, memory_of_machine()))

    @property
    def of_first_call(self) -> float:
        """Seconds for a call of which nothing is known; it may compile."""
        return FIRST if self.seconds is None else self.seconds

    @property
    def of_import(self) -> float:
        """Seconds for one import, or until a library is open: two time limits, but no framework is too slow."""
        return max(LEAST_IMPORT, 2 * self.of_first_call)

    @property
    def timing(self) -> float:
        """Seconds for all that measures a throughput: some forty calls."""
        return LOADING if self.seconds is None else 40 * self.seconds


@dataclass
class Patience:
    """How long the next call of one target may take, from how long others took."""

    limits: Limits
    rate: float = 0.0  # seconds per input of the slowest call
    best: float = inf  # and of the fastest
    longest: float | None = None
    waited: float = 0.0  # seconds for the first call that hung; 0: none did
    lost: float = 0.0  # seconds for those that hung later
    _sizes: set[int] = field(default_factory=set)

    def seconds(self, n: int) -> float:
        """Of a call with n inputs."""
        likely = 3 * (self.longest or 0.0) + TIMES * self.rate * n
        if self.waited:  # it failed already: what is left is to find the inputs
            longer = 3 * self.best * n if self._sizes and n > max(self._sizes) else 0.0
            likely = 3 * (self.longest or 0.0) + min(longer, self.waited / 4)
            short = min(SHORT if self.longest else 4 * SHORT, max(self.waited / 8, LEAST))
            return min(self.limits.seconds or FIRST, short + likely)
        if self.limits.seconds is not None:
            return self.limits.seconds
        return FIRST if self.longest is None else SLACK + likely

    @property
    def left(self) -> float:
        """Seconds for all further calls that hang: as long as for the first, so that what hangs is named in time."""
        return max(0.0, max(SEARCH, self.waited) - self.lost) if self.waited else inf

    @property
    def of_one_call(self) -> float:
        """Of each of many calls that are made in one question."""
        return self.seconds(0) if self.waited else self.limits.of_first_call

    def hung(self, seconds: float) -> None:
        """A call did not return in that time; 0: it ended otherwise."""
        if self.waited:
            self.lost += seconds
        else:
            self.waited = seconds

    def of_calls(self, calls: int) -> float:
        """Of so many calls, none of which is larger than the largest so far."""
        return min(self.limits.timing, self.seconds(0) + calls * (self.longest or FIRST))

    def took(self, seconds: float, n: int) -> None:
        """A call did; the first with so many inputs may have compiled, and says nothing of the rate."""
        self.longest, self.best = max(seconds, self.longest or 0.0), min(seconds / n, self.best)
        if n in self._sizes:
            self.rate = max(self.rate, seconds / n)
        self._sizes.add(n)
