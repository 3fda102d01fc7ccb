"""One target family and its process: started by the first request, one request at a time, stopped when idle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from .settings import DIGITS, ServiceLimits
from .telemetry import log

if TYPE_CHECKING:
    from ..isolation.hosts import Hosts
    from ..targets import Target

NICENESS = 10
Question = tuple[str, str, int]  # function, dtype, bits of x


@dataclass(frozen=True)
class FamilyOutputs:
    """What the targets of a family returned; or, in one line, why the family is absent."""

    rows: tuple[dict[str, Any], ...] = ()
    absent: str = ""
    expires: float = inf  # on the monotonic clock: failures are tried again

    @property
    def failed(self) -> bool:
        return bool(self.absent) or any(row["failure"] for row in self.rows)


class LibraryWorker:
    """Computes in one thread at a time; `running` while it has a process, `closed` when it may not start one again.

    Our own targets are computed `in_process`: in a thread of the server.
    """

    def __init__(self, name: str, limits: ServiceLimits) -> None:
        from ..targets import is_ours

        self.name, self.in_process, self.used_at = name, is_ours(name), 0.0
        self._limits, self._busy = limits, Lock()
        self._hosts: Hosts | None = None
        self._cache: dict[Question, FamilyOutputs] = {}
        self._absence = FamilyOutputs(expires=-inf)
        self._timed_out = self.closed = False

    @property
    def running(self) -> bool:
        return self._hosts is not None and not self.in_process

    @property
    def absent(self) -> str:
        """Why nothing of it can be called; empty if something can, or if nobody has tried."""
        return self._absence.absent if self._absence.expires > monotonic() else ""

    def cached(self, function: str, fmt: Format, x_bits: int) -> FamilyOutputs | None:
        """The outputs of an earlier request."""
        if self.absent:
            return self._absence
        found = self._cache.get((function, fmt.name, x_bits))
        return found if found is not None and found.expires > monotonic() else None

    def compute(self, function: str, fmt: Format, x_bits: int) -> FamilyOutputs:
        """What its targets return: at most `library_call_s` for each, `library_s` for all."""
        with self._busy:
            self.used_at = monotonic()
            found = self.cached(function, fmt, x_bits)
            if found is None:
                with self._time_limit():
                    found = self._found(function, fmt, lambda targets: self._rows(targets, function, fmt, x_bits))
                self._remember((function, fmt.name, x_bits), found)
            return found

    def compute_many(self, function: str, fmt: Format, x_bits: np.ndarray) -> FamilyOutputs:
        """What its targets return for several inputs, in `y_bits` of a row a list; nothing of it is remembered."""
        with self._busy:
            self.used_at = monotonic()
            if self.absent:
                return self._absence
            with self._time_limit():
                return self._found(function, fmt, lambda targets: (self._list(each, fmt, x_bits) for each in targets))

    def _list(self, target: Target, fmt: Format, x_bits: np.ndarray) -> dict[str, Any]:
        """The outputs of a target."""
        row: dict[str, Any] = {"target": target.name, "y_bits": None, "error_ulp": None, "failure": None}
        try:
            with collecting():
                y = target.evaluate(fmt.name, x_bits)
        except TargetFailure as failure:
            return {**row, "failure": self._message(failure)}
        error = judge(target.function, fmt.name, x_bits, y).error.tolist()
        errors = [each if np.isfinite(each) else None for each in error]
        return {**row, "y_bits": [fmt.bits_text(bits) for bits in y.tolist()], "error_ulp": errors}

    def _found(
        self, function: str, fmt: Format, rows_of: Callable[[list[Target]], Iterable[dict[str, Any]]]
    ) -> FamilyOutputs:
        """The rows of the targets of a function and dtype."""
        retry = monotonic() + self._limits.library_retry_s
        if self._hosts is None:
            try:
                self._hosts = self._started()
            except TargetFailure as failure:
                return FamilyOutputs(absent=str(failure), expires=retry)
        targets, absent = self._hosts.find([self.name], function=function, dtype=fmt.name)
        chosen = [target for target in targets if target.function == function and fmt.name in target.dtypes]
        rows = tuple(rows_of(chosen))
        reason = self._message(absent[self.name]) if self.name in absent else ""
        found = FamilyOutputs(rows, reason)
        return FamilyOutputs(rows, reason, retry) if found.failed else found

    def _started(self) -> Hosts:
        from ..isolation.hosts import Hosts, supported
        from ..isolation.limits import Limits

        if not self.in_process and not supported():
            raise TargetFailure("this system cannot run it in a process of its own")
        if self.closed:
            raise TargetFailure("the server is stopping")
        return Hosts(Limits(self._limits.library_call_s, self._limits.library_bytes, NICENESS))

    def _remember(self, question: Question, found: FamilyOutputs) -> None:
        if found.absent:
            self._absence = found
            self._stop()
            log("absent", family=self.name, reason=found.absent)
        while len(self._cache) >= self._limits.library_cache:
            del self._cache[next(iter(self._cache))]
        self._cache[question] = found

    # ---- the process -----------------------------------------------------------------------------

    @contextmanager
    def _time_limit(self) -> Iterator[None]:
        """End the process, and with it what it computes, after `library_s`."""
        self._timed_out = False
        timer = Timer(self._limits.library_s, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if self._timed_out:
                self._stop()

    def _give_up(self) -> None:
        self._timed_out = True
        if self._hosts is not None:
            self._hosts.close()

    def _message(self, failure: object) -> str:
        if self._timed_out:
            return f"{self.name} did not answer within {self._limits.library_s:g} s"
        return str(failure)

    def stop_if_idle(self) -> bool:
        """Stop the process unless it is computing; whether there is none now."""
        if not self._busy.acquire(blocking=False):
            return False
        try:
            self._stop()
        finally:
            self._busy.release()
        return True

    def _stop(self) -> None:
        hosts, self._hosts = self._hosts, None
        if hosts is not None:
            hosts.close()

    def close(self) -> None:
        """Stop the process at once, also in the middle of a call, and start none again."""
        self.closed = True
        self._stop()

    # ---- outputs ---------------------------------------------------------------------------------

    def _rows(self, targets: list[Target], function: str, fmt: Format, x_bits: int) -> Iterator[dict[str, Any]]:
        """One row of /v1/answers for each target."""
        outputs = [self._call(target, fmt, x_bits) for target in targets]
        got = np.array([x_bits if y is None else y for y, _ in outputs], fmt.uint)
        errors = judge(function, fmt.name, np.full(len(got), x_bits, fmt.uint), got).error.tolist() if targets else []
        for target, (y, failure), error in zip(targets, outputs, errors, strict=True):
            names = {"target": target.name, "form": target.form, "note": target.note, "version": target.version}
            yield {**names, **_as_text(fmt, x_bits, y, error), "failure": failure}

    def _call(self, target: Target, fmt: Format, x_bits: int) -> tuple[int | None, str | None]:
        """The output's bits, and what went wrong: one of them, or both if an output came with something unexpected."""
        try:
            with collecting() as extra:
                y = int(target.evaluate(fmt.name, np.array([x_bits], fmt.uint))[0])
        except TargetFailure as failure:
            return None, self._message(failure)
        if extra:
            return y, f"{target.name} also returned {fmt.bits_text(int(extra[0].second[0]))} in a second, equal call"
        noted = target.noted(fmt.name)
        return y, None if noted is None else str(noted)


def _as_text(fmt: Format, x_bits: int, y: int | None, error: float) -> dict[str, Any]:
    """An output as text; its error is null if the output is not finite though x is."""
    if y is None:
        return dict.fromkeys(("y_bits", "y_hex", "y", "error_ulp"))
    text = written(fmt, y, DIGITS)
    finite = error if np.isfinite(error) else 0.0 if not fmt.is_finite(x_bits) else None
    return {"y_bits": text["bits"], "y_hex": text["hex"], "y": text["decimal"], "error_ulp": finite}
