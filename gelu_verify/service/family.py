"""One family of implementations and its process: started with the first question, asked one at a time, ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from threading import Lock, Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format
from ..targets.extra_outputs import collecting
from ..truth.lookup import written
from ..truth.values import judge
from .observing import log
from .settings import DIGITS, Limits

if TYPE_CHECKING:
    from ..isolation.hosts import Hosts
    from ..targets import Target

NICENESS = 10
Question = tuple[str, str, int]


@dataclass(frozen=True)
class Findings:
    """What the targets of a family answer; or why there are none, in one line."""

    answers: tuple[dict[str, Any], ...] = ()
    absent: str = ""
    until: float = inf  # on the monotonic clock: what failed is asked again some time

    @property
    def failed(self) -> bool:
        return bool(self.absent) or any(each["failure"] for each in self.answers)


class Family:
    """Called by one thread at a time; `awake` while it has a process, `closed` when it gets none any more."""

    def __init__(self, name: str, limits: Limits) -> None:
        from ..targets import is_ours

        self.name, self.ours, self.asked_at = name, is_ours(name), 0.0
        self._limits, self._turn = limits, Lock()
        self._hosts: Hosts | None = None
        self._known: dict[Question, Findings] = {}
        self._absent = Findings(until=-inf)
        self._late = self.closed = False

    @property
    def awake(self) -> bool:
        return self._hosts is not None and not self.ours

    @property
    def absent(self) -> str:
        """Why nothing of it can be asked; empty where something can, or nobody has tried."""
        return self._absent.absent if self._absent.until > monotonic() else ""

    def known(self, function: str, fmt: Format, bits: int) -> Findings | None:
        """What was answered before."""
        if self.absent:
            return self._absent
        found = self._known.get((function, fmt.name, bits))
        return found if found is not None and found.until > monotonic() else None

    def ask(self, function: str, fmt: Format, bits: int) -> Findings:
        """What its targets answer, each in at most `family_call_s`, all in `family_s`."""
        with self._turn:
            self.asked_at = monotonic()
            found = self.known(function, fmt, bits)
            if found is None:
                with self._in_time():
                    found = self._found(function, fmt, bits)
                self._remember((function, fmt.name, bits), found)
            return found

    def _found(self, function: str, fmt: Format, bits: int) -> Findings:
        until = monotonic() + self._limits.family_again_s
        if self._hosts is None:
            try:
                self._hosts = self._started()
            except TargetFailure as failure:
                return Findings(absent=str(failure), until=until)
        targets, absent = self._hosts.find([self.name], function=function, dtype=fmt.name)
        answers = tuple(self._answers(targets, function, fmt, bits))
        reason = self._told(absent[self.name]) if self.name in absent else ""
        found = Findings(answers, reason)
        return Findings(answers, reason, until) if found.failed else found

    def _started(self) -> Hosts:
        from ..isolation.hosts import Hosts, supported
        from ..isolation.limits import Limits

        if not self.ours and not supported():
            raise TargetFailure("this system cannot run it in a process of its own")
        if self.closed:
            raise TargetFailure("the server is stopping")
        return Hosts(Limits(self._limits.family_call_s, self._limits.family_bytes, NICENESS))

    def _remember(self, question: Question, found: Findings) -> None:
        if found.absent:
            self._absent = found
            self._end()
            log("absent", family=self.name, reason=found.absent)
        while len(self._known) >= self._limits.family_answers:
            del self._known[next(iter(self._known))]
        self._known[question] = found

    # ---- its process -----------------------------------------------------------------------------

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """What is asked in here ends, with its process, after `family_s`."""
        self._late = False
        clock = Timer(self._limits.family_s, self._give_up)
        clock.daemon = True
        clock.start()
        try:
            yield
        finally:
            clock.cancel()
            if self._late:
                self._end()

    def _give_up(self) -> None:
        self._late = True
        if self._hosts is not None:
            self._hosts.close()

    def _told(self, failure: object) -> str:
        return f"{self.name} did not answer within {self._limits.family_s:g} s" if self._late else str(failure)

    def end_if_free(self) -> bool:
        """End its process, unless it is at work: whether it has none now."""
        if not self._turn.acquire(blocking=False):
            return False
        try:
            self._end()
        finally:
            self._turn.release()
        return True

    def _end(self) -> None:
        hosts, self._hosts = self._hosts, None
        if hosts is not None:
            hosts.close()

    def close(self) -> None:
        """End its process at once, also in the middle of a question; it has none any more."""
        self.closed = True
        self._end()

    # ---- its answers -----------------------------------------------------------------------------

    def _answers(self, targets: list[Target], function: str, fmt: Format, bits: int) -> Iterator[dict[str, Any]]:
        asked = [target for target in targets if target.function == function and fmt.name in target.dtypes]
        results = [self._asked(target, fmt, bits) for target in asked]
        got = np.array([bits if y is None else y for y, _ in results], fmt.uint)
        errors = judge(function, fmt.name, np.full(len(got), bits, fmt.uint), got).error.tolist() if asked else []
        for target, (y, failure), error in zip(asked, results, errors, strict=True):
            told = {"target": target.name, "form": target.form, "note": target.note, "version": target.version}
            yield {**told, **_written(fmt, bits, y, error), "failure": failure}

    def _asked(self, target: Target, fmt: Format, bits: int) -> tuple[int | None, str | None]:
        """Bits of the answer, and what went wrong: either, or both where a sound answer came with something else."""
        try:
            with collecting() as found:
                y = int(target.evaluate(fmt.name, np.array([bits], fmt.uint))[0])
        except TargetFailure as failure:
            return None, self._told(failure)
        if found:
            return y, f"{target.name} also gave {fmt.bits_text(int(found[0].second[0]))} in an equal call"
        noted = target.noted(fmt.name)
        return y, None if noted is None else str(noted)


def _written(fmt: Format, x_bits: int, y: int | None, error: float) -> dict[str, Any]:
    """An answer as text; its error is null where it is not finite though x is."""
    if y is None:
        return dict.fromkeys(("y_bits", "y_hex", "y", "error_ulp"))
    text = written(fmt, y, DIGITS)
    finite = error if np.isfinite(error) else 0.0 if not fmt.is_finite(x_bits) else None
    return {"y_bits": text["bits"], "y_hex": text["hex"], "y": text["decimal"], "error_ulp": finite}
