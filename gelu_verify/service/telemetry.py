"""Prometheus metrics, and logs as one JSON object per line."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .worker_pool import WorkerPool

LOG = logging.getLogger("gelu_verify.service")
_SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)


class Metrics:
    """The metrics of one application, in a registry of their own (docs/deploy.md lists them)."""

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
            "gelu_verify_library_workers_running", "Libraries that have a running process.", registry=self.registry
        )
        self.inflight = Gauge(
            "gelu_verify_worker_pool_inflight", "Calls running or queued, by queue.", ["queue"], registry=self.registry
        )

    def watch(self, pool: WorkerPool) -> None:
        """Report the calls of a pool."""
        self.inflight.labels(pool.name).set_function(lambda: pool.inflight)

    def text(self) -> bytes:
        """The metrics in the Prometheus text format."""
        return generate_latest(self.registry)


class JsonLines(logging.Formatter):
    """One JSON object per log record: time, level, event, and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
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
