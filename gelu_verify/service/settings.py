"""What a server is started with: where things are, and how much of everything one client may have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

DIGITS = 20
"""Digits of decimals that are answered when none are asked for: what the native core settles."""


@dataclass(frozen=True)
class Limits:
    """Bytes, values, seconds and places; every one has its test."""

    body_bytes: int = 64 << 20
    json_bytes: int = 4 << 20
    json_values: int = 1 << 16
    head_bytes: int = 32 << 10
    digits: int = 1000
    number_text: int = 1100  # the longest float64 has 767 digits
    plan_inputs: int = 1 << 24
    connections: int = 512
    head_s: float = 10.0
    body_idle_s: float = 10.0
    body_s: float = 120.0
    send_s: float = 30.0
    batch_s: float = 20.0
    wait_s: float = 2.0  # a job that is not done by then is answered with 202
    job_kept_s: float = 900.0
    jobs_kept: int = 32
    oracle_slots: int = 2
    oracle_waiting: int = 32
    batch_slots: int = 2
    batch_waiting: int = 6
    work_slots: int = 2
    work_waiting: int = 8
    family_slots: int = 2  # families at work at once; each answers one question at a time
    family_waiting: int = 8  # questions to one family
    families_awake: int = 8
    family_bytes: int = 1 << 30  # beyond what loading it took
    family_call_s: float = 15.0
    family_s: float = 45.0  # for all calls of one question; then its process is ended
    family_wait_s: float = 60.0
    family_idle_s: float = 300.0
    family_again_s: float = 60.0  # what failed is asked again after so long
    family_answers: int = 1024


@dataclass(frozen=True)
class Settings:
    """`token` permits writing to `store`; `runs` is a folder of stored runs to publish."""

    store: Path | None = None
    token: str | None = field(default=None, repr=False)
    runs: Path | None = None
    families: tuple[str, ...] | None = None  # whose implementations are asked; None: `families.by_default`
    limits: Limits = Limits()
