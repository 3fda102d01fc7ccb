"""What `run --strict` does not accept."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.result import Record


def rejected(records: Sequence[Record], max_ulp: float | None) -> list[str]:
    """One line for each result with a failure, a failed check, or an error above `max_ulp`."""
    reasons = ((r, _reason(r, max_ulp)) for r in records)
    return [f"{r.target} {r.function} {r.dtype}: {reason}" for r, reason in reasons if reason]


def _reason(record: Record, max_ulp: float | None) -> str:
    if record.failure is not None:
        return record.failure
    if record.failed_checks:
        name = record.failed_checks[0]
        return f"check {name}: {record.findings[name].detail}"
    if max_ulp is not None and (record.max_ulp is None or record.max_ulp > max_ulp):
        return f"{record.max_ulp} ULP, more than --max-ulp {max_ulp!r}"
    return ""
