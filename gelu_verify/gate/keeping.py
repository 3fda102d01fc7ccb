"""Inputs that show a failure and that other runs may miss: the command by which every plan takes them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from ..formats import get_format
from ..inputs.found import HardCases
from ..inputs.plans import make_plan
from ..measure.request import SEED
from ..records.result import Record
from .project import hard_cases_file, hard_cases_here


def keep_command(record: Record, x_bits: Iterable[str], plan: str, seed: int, cases: HardCases) -> str:
    """`gelu-verify keep` with those of the inputs that this plan does not have by itself; empty where it has all."""
    key, fmt = f"{record.function}/{record.dtype}", get_format(record.dtype)
    tried = make_plan(plan, record.function, record.dtype, seed, also=cases.get(key, ()))
    new = [x for x in dict.fromkeys(x_bits) if tried.call_of(fmt.ordinal(int(x, 16))) is None]
    by = f"{record.target}, seed {record.seed}"
    return shlex.join(("gelu-verify", "keep", record.function, record.dtype, *new, "--by", by)) if new else ""


def keep_commands(records: Iterable[Record]) -> Iterator[str]:
    """Those of results that are over a limit, by their largest error and failed checks, where a project is here."""
    if hard_cases_file() is None:
        return
    cases = hard_cases_here()
    for record in records:
        shown = [record.witness, *(record.findings.get(name) for name in record.failed_checks)]
        inputs = [each.x_bits for each in shown if each is not None and each.x_bits is not None]
        if command := keep_command(record, [*inputs, *failing_input(record)], "default", SEED, cases):
            yield command


def failing_input(record: Record) -> tuple[str, ...]:
    """The input for which the target fails, where it is one."""
    low, _, high = (record.failure_range or "").partition(":")
    return (low,) if low and low == high else ()
