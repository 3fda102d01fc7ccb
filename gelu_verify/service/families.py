"""What implementations answer: a family of them is asked in a process of its own, which ends when it is idle.

A library may crash, hang, grow or raise; that is its answer. One question at a time per family, `family_slots` families
at once, `families_awake` processes: whatever clients ask, the machine has no more to do. Processes are niced, so that
look-ups come first.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from threading import Lock, Semaphore

from ..formats import Format
from .family import Family, Findings
from .observing import Metrics
from .problems import Problem, not_found
from .rooms import Room
from .settings import Limits

_LOOK_S = 0.25  # how often somebody who waits is looked at: gone, or too late?


def by_default() -> tuple[str, ...]:
    """What `run` finds unasked on a CPU, and the re-implementations."""
    from ..targets import asked_for, device_of

    names = [name for name in asked_for(None, False)[0] if device_of(name) == "cpu"]
    return (*names, "published")


class Families:
    """All families that this server asks; none is started before its first question."""

    def __init__(self, names: Sequence[str] | None, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._named, self._metrics = limits, names, metrics
        self._at_work = Semaphore(limits.family_slots)
        self._lock = Lock()
        self._members: dict[str, Family] | None = None
        self._rooms: dict[str, Room] = {}
        self._dozing: dict[str, TimerHandle] = {}
        metrics.awake.set_function(self._count_awake)

    def members(self) -> dict[str, Family]:
        """By name, ours first: they answer at once."""
        if self._members is not None:
            return self._members
        with self._lock:
            if self._members is None:
                names = by_default() if self._named is None else self._named
                made = [Family(name, self._limits) for name in dict.fromkeys(names)]
                self._members = {each.name: each for each in sorted(made, key=lambda each: not each.ours)}
                for name in self._members:
                    self._rooms[name] = Room(f"family {name}", 1, self._limits.family_waiting)
                    self._metrics.watch(self._rooms[name])
            return self._members

    async def ask(
        self, name: str, function: str, fmt: Format, bits: int, gone: Callable[[], Awaitable[bool]]
    ) -> Findings:
        """What the targets of one family that compute `function` answer.

        Problem 404: it is not asked here; 429: too many ask it; 503: its turn did not come in time. A question that
        nobody waits for any more is not asked.
        """
        members = await asyncio.to_thread(self.members)
        if name not in members:
            raise not_found(f"this server does not ask {name[:40]!r} (accepted: {', '.join(members) or 'none'})")
        family = members[name]
        known = family.known(function, fmt, bits)
        if known is not None:
            return known
        answer = asyncio.wrap_future(self._rooms[name].submit(self._asked, family, function, fmt, bits))
        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.family_wait_s
        while not answer.done():
            await asyncio.wait([answer], timeout=_LOOK_S)
            late = loop.time() > end
            if not answer.done() and (late or await gone()):
                answer.cancel()
                detail = f"{name} did not get round to this within {self._limits.family_wait_s:g} s: try again"
                raise Problem(503, "busy", detail, {"Retry-After": "10"})
        self._doze_later(loop, family)
        return answer.result()

    def _asked(self, family: Family, function: str, fmt: Format, bits: int) -> Findings:
        if family.ours:
            return family.ask(function, fmt, bits)
        with self._at_work:
            self._make_room(family)
            found = family.ask(function, fmt, bits)
        if family.closed:
            raise Problem(503, "shutting-down", "the server is shutting down", {"Retry-After": "5"})
        return found

    def _count_awake(self) -> int:
        return sum(each.awake for each in (self._members or {}).values())

    def _make_room(self, newcomer: Family) -> None:
        """End the processes that were asked longest ago, where there would be too many."""
        with self._lock:
            others = [each for each in (self._members or {}).values() if each.awake and each is not newcomer]
            surplus = len(others) + 1 - self._limits.families_awake
            for each in sorted(others, key=lambda each: each.asked_at):
                if surplus > 0 and each.end_if_free():
                    surplus -= 1

    def _doze_later(self, loop: asyncio.AbstractEventLoop, family: Family) -> None:
        """End its process when nobody asked it for a while."""
        if family.name in self._dozing:
            self._dozing[family.name].cancel()
        self._dozing[family.name] = loop.call_later(self._limits.family_idle_s, self._doze, family)

    def _doze(self, family: Family) -> None:
        """In its thread: ending a large process takes longer than a look-up may wait."""
        with suppress(Problem):  # so many ask it that it does not doze
            self._rooms[family.name].submit(family.end_if_free)

    def close(self) -> None:
        """End every process; who waits for one is told so."""
        for room in self._rooms.values():
            room.close()
        for each in (self._members or {}).values():
            each.close()
