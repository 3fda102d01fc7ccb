"""Prometheus metrics, and logs as one JSON object per line."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from .worker_pool import WorkerPool

LOG = logging.getLogger("gelu_verify.service")
_METHODS = ("GET", "HEAD", "POST", "DELETE", "OPTIONS")  # a label has few values, whatever clients send
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)


class Metrics:
    """The metrics of one application, in a registry of their own (docs/deploy.md lists them).

    If `PROMETHEUS_MULTIPROC_DIR` is set (`server.py` sets it for several workers), they are those of all workers.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "gelu_verify_requests", "Requests answered.", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gelu_verify_request_seconds", "From the request's head to the end of the response.", ["route"],
            buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self.values = Counter(
            "gelu_verify_reference_values", "Reference values sent, by source: url, json or raw.", ["source"],
            registry=self.registry,
        )  # fmt: skip
        self.verified = Counter(
            "gelu_verify_verifications", "Uploads verified, by grade.", ["grade"], registry=self.registry
        )
        self.libraries_running = Gauge(
            "gelu_verify_library_workers_running", "Libraries that have a running process.", registry=self.registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self.inflight = Gauge(
            "gelu_verify_worker_pool_inflight", "Calls running or queued, by queue.", ["queue"],
            registry=self.registry, multiprocess_mode="livesum",
        )  # fmt: skip
        self.spooled = Gauge(
            "gelu_verify_spooled_bytes", "Bytes of bodies and results that are kept.", registry=self.registry,
            multiprocess_mode="livesum",
        )  # fmt: skip
        self._of_request: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        key = route, method if method in _METHODS else "other", status
        found = self._of_request.get(key)
        if found is None:
            found = self._of_request[key] = self.requests.labels(*key), self.seconds.labels(route)
        found[0].inc()
        found[1].observe(seconds)

    def watch(self, pool: WorkerPool) -> None:
        """Report the calls of a pool."""
        pool.on_change = self.inflight.labels(pool.name).set
        pool.on_change(0)

    def text(self, *, ready: bool) -> bytes:
        """The metrics in the Prometheus text format, with those of the process that answers, which may be `ready`."""
        process = CollectorRegistry()
        process.register(_Readiness(ready))
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            multiprocess.MultiProcessCollector(process)  # type: ignore[no-untyped-call]
        ProcessCollector(registry=process)
        for collector in (PLATFORM_COLLECTOR, GC_COLLECTOR):
            process.register(collector)
        shared = b"" if "PROMETHEUS_MULTIPROC_DIR" in os.environ else generate_latest(self.registry)
        return shared + generate_latest(process)


class _Readiness(Collector):
    """Known when it is asked for, and of one process: no gauge, which several workers would add up."""

    def __init__(self, ready: bool) -> None:
        self._ready = ready

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("gelu_verify_ready", "Whether /readyz is 200.", value=self._ready)


def timestamp(seconds: float) -> str:
    """UTC with milliseconds, as RFC 3339 has it."""
    whole = int(seconds)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{int(1e3 * (seconds - whole)):03d}Z"


class JsonLines(logging.Formatter):
    """One JSON object per log record: time, level, event, and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": timestamp(record.created),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log(event: str, level: int = logging.INFO, exc: BaseException | None = None, **fields: Any) -> None:
    """Log an event with its fields."""
    if LOG.isEnabledFor(level):
        LOG.log(level, event, extra={"fields": fields}, exc_info=exc)
