"""The results of many inputs, computed in parts, so that clients take turns and finished parts are kept."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from starlette.types import Scope

from ..formats import Format, Mode
from .admission import PART_S, Admission, slowest_s, typical_s
from .bodies import Body, SlicedResponse
from .disconnection import has_left
from .problems import CAUSE, Problem
from .process_pool import ForkPool, TookTooLong
from .settings import ServiceLimits

LARGEST_PART = 1 << 20  # bytes


class Wanted(NamedTuple):
    """Which results."""

    function: str
    fmt: Format
    mode: Mode


class Batch:
    """Raw inputs, each of which is replaced by its result.

    Parameters
    ----------
    body : of raw inputs

    Raises
    ------
    Problem : 413 they would take longer than `batch_s`
    """

    def __init__(self, admission: Admission, limits: ServiceLimits, wanted: Wanted, body: Body) -> None:
        self._admission, self._wanted, self.body = admission, wanted, body
        self._width = wanted.fmt.uint.itemsize
        self.done, self.total = 0, body.size // self._width
        self._spent = 0.0
        self._advanced = asyncio.Event()
        function, dtype = wanted.function, wanted.fmt.name
        seconds = typical_s(function, dtype, self.total)
        if seconds > limits.batch_s:
            fitting = int(self.total * limits.batch_s / seconds)
            raise _too_long(f"{self.total} values of {function} in {dtype} take about {seconds:.0f} s (accepted: "
                            f"{limits.batch_s:g} s, about {fitting} values)")  # fmt: skip
        self._part = max(1, int(PART_S / slowest_s(function, dtype, 1)))
        self.cost_s = slowest_s(function, dtype, self.total) + body.size / LARGEST_PART * 1e-3

    async def compute(self, pool: ForkPool, most_s: float) -> None:
        """Go on where it stopped; TookTooLong with `done` where it takes more than `most_s` of a core in all."""
        function, fmt, mode = self._wanted
        while self.done < self.total:
            if self._spent > most_s:
                raise TookTooLong(most_s)
            start, size = self.done * self._width, min(self._part, LARGEST_PART // self._width) * self._width
            inputs = self.body.read(start, size)
            seconds, results = await pool.compute("values", function, fmt.name, mode, content=inputs)
            self.body.replace(start, results)
            self.done += len(results) // self._width
            self._spent += seconds
            ratio = PART_S / max(seconds, 1e-3 * PART_S)
            self._part = max(1, int(len(results) // self._width * min(max(ratio, 0.1), 4.0)))
            self._advanced.set()

    async def in_class(self) -> None:
        """Compute all of it in the class of its cost; Problem 413 where it takes longer than a batch may."""
        try:
            await self._admission.in_class(self.cost_s, self.compute)
        except TookTooLong as error:
            raise self.incomplete(error) from None

    def incomplete(self, error: TookTooLong) -> Problem:
        """Not all of it was computed."""
        return _too_long(f"{self.done} of {self.total} values are done: {error.detail}")

    async def started(self, computing: asyncio.Future[None]) -> None:
        """Wait for the first results; the error if there are none."""
        if not await self.has(min(1, self.total), computing):
            await computing

    async def has(self, count: int, computing: asyncio.Future[None]) -> bool:
        """Wait for the first `count` results; False if they will not come."""
        while self.done < count and not computing.done():
            self._advanced.clear()
            waiting: asyncio.Future[Any] = asyncio.ensure_future(self._advanced.wait())
            await asyncio.wait((waiting, computing), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
        return self.done >= count


def _too_long(detail: str) -> Problem:
    return Problem(413, "too-long", detail)


class StreamedResults(SlicedResponse):
    """The results of a batch, sent as they are computed; where the rest does not come, the response is cut off."""

    def __init__(
        self, batch: Batch, computing: asyncio.Task[None], headers: dict[str, str], limits: ServiceLimits
    ) -> None:
        super().__init__(batch.body, headers, limits)
        self._batch, self._computing = batch, computing

    async def end_of_ready(self, sent: int, scope: Scope) -> int:
        if has_left(scope):
            return 0
        width = self._content.size // self._batch.total
        if not await self._batch.has(sent // width + 1, self._computing):
            error = None if self._computing.cancelled() else self._computing.exception()
            scope[CAUSE] = f"{self._batch.done} of {self._batch.total} results: {error}"
        return self._batch.done * width

    async def end(self) -> None:
        self._computing.cancel()
        await asyncio.wait({self._computing})
