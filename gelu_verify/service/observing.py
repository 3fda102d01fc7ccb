"""What an operator sees: Prometheus metrics, and one line of JSON for everything worth a line."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .rooms import Room

LOG = logging.getLogger("gelu_verify.service")
_BUCKETS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)


class Metrics:
    """Counters of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "gelu_verify_requests", "Requests answered.", ["route", "method", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gelu_verify_request_seconds", "From the head of a request to the end of its answer.", ["route"],
            buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.values = Counter(
            "gelu_verify_reference_values", "Reference values answered, by source.", ["door"], registry=self.registry
        )
        self.verified = Counter(
            "gelu_verify_verifications", "Uploads judged, by verdict.", ["verdict"], registry=self.registry
        )
        self.awake = Gauge(
            "gelu_verify_families_awake", "Families of implementations that have a process.", registry=self.registry
        )
        self.room = Gauge("gelu_verify_room_inside", "Calls at work or waiting.", ["room"], registry=self.registry)

    def watch(self, room: Room) -> None:
        self.room.labels(room.name).set_function(lambda: room.inside)

    def text(self) -> bytes:
        """The exposition format."""
        return generate_latest(self.registry)


class JsonLines(logging.Formatter):
    """One line of JSON per record: time, level, event, and what came with it."""

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
    """One line, when somebody listens."""
    if LOG.isEnabledFor(level):
        LOG.log(level, event, extra={"fields": fields}, exc_info=exc)
