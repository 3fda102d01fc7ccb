"""What `run --strict` does not accept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def rejected(records: Sequence[Mapping[str, Any]], max_ulp: float | None) -> list[str]:
    """One line for each result with a failure, a failed check, or an error above `max_ulp`."""
    reasons = ((r, _reason(r, max_ulp)) for r in records)
    return [f"{r['target']} {r['function']} {r['dtype']}: {reason}" for r, reason in reasons if reason]


def _reason(record: Mapping[str, Any], max_ulp: float | None) -> str:
    failed = [name for name, verdict in record["checks"].items() if verdict == "fail"]
    if record["failure"] is not None:
        return str(record["failure"])
    if failed:
        return f"check {failed[0]}: {record['findings'][failed[0]]['detail']}"
    if max_ulp is not None and (record["max_ulp"] is None or record["max_ulp"] > max_ulp):
        return f"{record['max_ulp']} ULP, more than --max-ulp {max_ulp!r}"
    return ""
