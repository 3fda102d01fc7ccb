"""Dask's executor: workers of this machine, or those of a scheduler elsewhere (extra `distributed`).

Dask does the work: it gives items to workers, gives those of a worker that is lost, paused or out of memory to others,
and takes workers that come later.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

from ..errors import RemoteError, UsageError
from .pools import CONTINUES, DASK, Item, Misfit, Pool, R, Where

ANSWER = 30  # seconds in which a scheduler must answer
STARTS = 3  # times that a cluster is started here
FRESH = 1.0  # seconds for which the list of workers counts
ENVIRON = "distributed.nanny.pre-spawn-environ"
# Dask has free memory given back at once: every call would then get its 4 MiB page by page, and take twice as long
QUIET = {  # workers look at themselves less often, which takes processors from the work
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.scheduler.work-stealing-interval": "1s",
}
MALLOC = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_THRESHOLD_")


class DaskPool(Pool):
    """A client's executor, without the workers that were refused."""

    attempts = 1  # Dask itself has tried as often as its configuration says

    def __init__(self, client: Any, warn: Callable[[str], object], refill: Callable[[int], object]) -> None:
        self._client, self._warn, self._refill = client, warn, refill
        self._lock, self._refused = threading.Lock(), dict[str, str]()
        self._looked, self._threads = 0.0, dict[str, int]()

    @property
    def width(self) -> int:
        return sum(self._usable().values())

    def _usable(self) -> dict[str, int]:
        """Threads of each worker that is not refused."""
        with self._lock:
            if monotonic() - self._looked > FRESH:
                try:
                    self._threads, self._looked = self._client.nthreads(), monotonic()
                except (OSError, TimeoutError) as error:
                    raise RemoteError(f"the scheduler is lost ({error}); {CONTINUES}") from None
                self._refill(len(self._threads))
            return {worker: threads for worker, threads in self._threads.items() if worker not in self._refused}

    def submit(self, function: Callable[[Item], R], item: Item) -> Future[R]:
        which = {"workers": list(self._usable())} if self._refused else {}
        future: Future[R] = self._client.get_executor(pure=False, **which).submit(_on_worker, function, item)
        return future

    def refuse(self, error: Misfit) -> None:
        if error.worker not in self._refused:
            self._refused[error.worker] = str(error)
            self._warn(f"worker {error.worker} is not used: {error}")
        if not self._usable():
            raise RemoteError(f"no worker can be used: {'; '.join(dict.fromkeys(self._refused.values()))}")

    def is_lost(self, error: BaseException) -> bool:
        from distributed import KilledWorker

        return isinstance(error, KilledWorker)


def _nothing(there: int) -> None:
    """Workers elsewhere come by themselves."""


def _on_worker(function: Callable[[Item], R], item: Item) -> R:
    """`function(item)`; who cannot do it says where it is."""
    try:
        return function(item)
    except Misfit as error:
        from distributed import get_worker

        error.worker = get_worker().address
        raise


@contextmanager
def on_dask(where: Where, workers: int, warn: Callable[[str], object]) -> Iterator[Pool]:
    """A cluster of so many processes here, or the scheduler of that address.

    Raises
    ------
    UsageError : Dask is not installed, or no scheduler answers
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UsageError(f"executor {where.name} needs Dask: pip install 'gelu-verify[distributed]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is said by us, in one line
    with ExitStack() as closing:
        if where.name == DASK:
            address: Any = closing.enter_context(_local_cluster(distributed, workers, where.dashboard))

            def refill(there: int) -> None:
                """Start those again whose nannies were lost as well, which Dask does only when it is asked."""
                if there < workers:
                    address.scale(workers)
        else:
            address, refill = where.name, _nothing
        try:
            client = distributed.Client(
                address, timeout=ANSWER, security=_security(distributed, where), set_as_default=False,
                direct_to_workers=where.name == DASK or None,  # results need not go through the scheduler
            )  # fmt: skip
        except (OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise UsageError(f"no scheduler answers at {where.name}: {reason}") from None
        closing.enter_context(client)
        if where.dashboard:
            warn(f"dashboard: {client.dashboard_link}")
        yield DaskPool(client, warn, refill)


def _local_cluster(distributed: Any, workers: int, dashboard: bool) -> Any:
    """Processes of this machine, whose nannies are ours, and read the configuration as they start."""
    environment = {**import_module("dask").config.get(ENVIRON), **dict.fromkeys(MALLOC, str(1 << 26))}
    for left in reversed(range(STARTS)):
        try:
            with import_module("dask").config.set({ENVIRON: environment, **({} if dashboard else QUIET)}):
                return distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=f"127.0.0.1:{8787 if dashboard else 0}",  # never on all addresses
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:  # a process died while it started
            if not left:
                raise RemoteError(
                    f"no Dask cluster can be started on this machine: {error.__cause__ or error}"
                ) from None


def _security(distributed: Any, where: Where) -> Any:
    """Who the scheduler and we are; None: as Dask's own configuration says."""
    if where.tls_ca is None:
        return None
    return distributed.security.Security(
        tls_ca_file=where.tls_ca,
        tls_client_cert=where.tls_cert,
        tls_client_key=where.tls_key,
        require_encryption=True,
    )
