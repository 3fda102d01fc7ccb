"""How long a call may take and how much memory a child may need: generous, so that nothing fails that is only slow."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..parsing import LONGEST_S, real, whole

GiB = 1 << 30
LOADING = 600.0  # seconds: importing a framework, compiling a source, timing a target
FIRST = 120.0  # seconds: a first call may compile
SHORT = 1.5  # seconds that a call may take of what hung before
SLACK = 30.0  # seconds that any call may take
TIMES = 30  # as often as slow as the slowest call so far
MEMORY = 4 * GiB
LEAST_MEMORY = 1 << 20
DATA_SLACK = GiB  # what a child may map in private beyond its limit before its allocations fail; see `process`


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
    def timing(self) -> float:
        """Seconds for all that measures a throughput: some forty calls."""
        return LOADING if self.seconds is None else 40 * self.seconds


@dataclass
class Patience:
    """How long the next call of one target may take, from how long others took."""

    limits: Limits
    rate: float = 0.0  # seconds per input of the slowest call
    longest: float | None = None
    hung: bool = False
    _sizes: set[int] = field(default_factory=set)

    def seconds(self, n: int) -> float:
        """Of a call with n inputs."""
        likely = 3 * (self.longest or 0.0) + TIMES * self.rate * n
        if self.hung:  # it failed already: what is left is to find the inputs
            return min(self.limits.seconds or FIRST, SHORT + likely if self.longest else 4 * SHORT)
        if self.limits.seconds is not None:
            return self.limits.seconds
        return FIRST if self.longest is None else SLACK + likely

    def of_calls(self, calls: int) -> float:
        """Of so many calls, none of which is larger than the largest so far."""
        return min(self.limits.timing, self.seconds(0) + calls * (self.longest or FIRST))

    def took(self, seconds: float, n: int) -> None:
        """A call did; the first with so many inputs may have compiled, and says nothing of the rate."""
        self.longest = max(seconds, self.longest or 0.0)
        if n in self._sizes:
            self.rate = max(self.rate, seconds / n)
        self._sizes.add(n)
