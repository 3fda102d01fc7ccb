"""What a request may use of what all clients share: decided here and nowhere else, by its estimated cost.

| class | estimated at | computed |
|---|---|---|
| look-up | the native core decides it | in the server, at once |
| small | up to `small_cost_s` | in processes that nothing else uses |
| batch | more | in processes of their own, in parts of `PART_S` |
| verification | an upload | in processes of their own |

In each class a client has at most half of the places, one of its calls runs at a time, and clients take turns. A
request that was estimated too low leaves the small ones when it has taken `small_s`, and goes on as a batch.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from ..functions.parameters import split_name
from ..paths import resource
from .clients import CLIENT, busy
from .process_pool import Answer, ForkPool, TookTooLong
from .settings import ServiceLimits
from .worker_pool import WorkerPool

T = TypeVar("T")
PART_S = 0.05
"""Seconds that a part of a batch is to take: so long a client waits for its turn."""
TEXT_S = 2e-6  # to read or to write a number as text
PLAN_S = 0.2
REPORT_S = 0.1
VERSIONS_S = 2.0
_FEW_DIGITS, _MANY_DIGITS = 40, 1000  # between which the time of a look-up is interpolated


class Admission:
    """The queues of a server, and the bytes that clients may hold.

    Batches yield to uploads and both to look-ups, by little: beside other programs of the machine none of them stops.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        most_bytes = limits.process_bytes
        self.small = ForkPool(
            "small", limits.small_processes, limits.small_queue, niceness=1, seconds=limits.small_s,
            most_bytes=most_bytes,
        )  # fmt: skip
        self.batch = ForkPool(
            "batches", limits.batch_processes, limits.batch_queue, niceness=7, seconds=limits.call_s,
            most_bytes=most_bytes,
        )  # fmt: skip
        self.verification = ForkPool(
            "verification", limits.verify_processes, limits.verify_queue, niceness=3, seconds=limits.verify_s,
            most_bytes=most_bytes,
        )  # fmt: skip
        self.work = WorkerPool("work", limits.work_threads, limits.work_queue)
        self.pools: tuple[WorkerPool, ...] = (self.small, self.batch, self.verification, self.work)
        self.bytes = ByteBudget(limits.spool_bytes, limits.spool_bytes_per_client)
        self._receiving: Counter[str] = Counter()

    async def in_class(self, seconds: float, work: Callable[[ForkPool, float], Awaitable[T]]) -> T:
        """What `work` does in the class of its cost: with these processes, in so many seconds.

        Where it raises TookTooLong as a small request, it is called again as a batch.
        """
        if seconds <= self._limits.small_cost_s:
            try:
                with self.small.place():
                    return await work(self.small, self._limits.small_s)
            except TookTooLong:
                pass
        with self.batch.place():
            return await work(self.batch, self._limits.batch_s)

    async def compute(self, seconds: float, task: str, *arguments: Any, content: bytes = b"") -> Answer:
        """One task (`worker_process`) in the class of its cost."""
        return await self.in_class(seconds, lambda pool, _: pool.compute(task, *arguments, content=content))

    async def look_up(self, function: str, dtype: str, x_bits: int, digits: int, text: str, others: Sequence[str],
                      rounding: str) -> bytes:  # fmt: skip
        """`encoding.look_up` of what the native core does not decide."""
        seconds = (1 + len(others)) * look_up_s(function, digits)
        _, body = await self.compute(seconds, "look_up", function, dtype, x_bits, digits, text, others, rounding)
        return body

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """While a body arrives; Problem 429 if the client sends too many at the same time."""
        client, most = CLIENT.get(), self._limits.bodies_per_client
        if self._receiving[client] >= most:
            raise busy(f"you are sending {most} bodies at the same time")
        self._receiving[client] += 1
        try:
            yield
        finally:
            self._receiving[client] -= 1
            if not self._receiving[client]:
                del self._receiving[client]

    def close(self) -> None:
        """Refuse new work, and end the processes."""
        for pool in self.pools:
            pool.close()


# ---- cost ----------------------------------------------------------------------------------------


def typical_s(function: str, dtype: str, count: int) -> float:
    """Seconds of a core that so many values take if their bits are random."""
    return count * 1e-9 * float(_rates_of(function)["ns"][dtype][0])


def slowest_s(function: str, dtype: str, count: int) -> float:
    """The same if all are among those that take longest."""
    return count * 1e-9 * float(_rates_of(function)["ns"][dtype][1])


def look_up_s(function: str, digits: int) -> float:
    """Seconds of a look-up in one dtype."""
    few, many = _rates_of(function)["look_up_ms"]
    share = max(0, digits - _FEW_DIGITS) / (_MANY_DIGITS - _FEW_DIGITS)
    return 1e-3 * float(few + share * (many - few))


def report_s(results: int) -> float:
    """Seconds of a report of so many results."""
    return REPORT_S * (1 + results)


def table_s(function: str, dtype: str, rows: int) -> float:
    """Seconds of a table of so many rows."""
    return slowest_s(function, dtype, rows) + rows * 2 * TEXT_S


def _rates_of(function: str) -> dict[str, Any]:
    """Those of the function; with parameters, or of a plugin, those of the slowest one that is not known better."""
    base, values = split_name(function)
    rates = rates_measured()["functions"]
    found: dict[str, Any] = rates.get(f"{base}[...]" if values else base) or rates[_slowest()]
    return found


@cache
def rates_measured() -> dict[str, Any]:
    """data/rates.json, which tools/measure_rates.py writes."""
    found: dict[str, Any] = json.loads(resource("data/rates.json").read_text(encoding="utf-8"))
    return found


@cache
def _slowest() -> str:
    rates: dict[str, Any] = rates_measured()["functions"]
    return max(rates, key=lambda name: float(rates[name]["ns"]["float64"][1]))


# ---- bytes ---------------------------------------------------------------------------------------


class ByteBudget:
    """Bytes that all requests together may hold, of which one client gets at most a share."""

    def __init__(self, total: int, per_client: int) -> None:
        self.total, self.per_client = total, min(per_client, total)
        self.used = 0
        self.on_change: Callable[[float], None] = lambda used: None
        self._clients: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, client: str, count: int) -> None:
        """Charge bytes that have arrived; Problem 429 if they are too many."""
        with self._lock:
            if self._clients[client] + count > self.per_client:
                raise busy(f"you are sending more than {self.per_client} bytes at the same time")
            if self.used + count > self.total:
                raise busy(f"all clients together are sending more than {self.total} bytes")
            self.used += count
            self._clients[client] += count
            self.on_change(self.used)

    def remove(self, client: str, count: int) -> None:
        """They are gone."""
        with self._lock:
            self.used -= count
            self._clients[client] -= count
            self.on_change(self.used)
            if not self._clients[client]:
                del self._clients[client]
