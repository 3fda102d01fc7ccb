"""The verdict of a result, its failed checks, and the headline of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ..formats import DTYPES
from ..functions import FUNCTIONS
from ..isa import split_level
from ..records.result import Record
from .text import ulp_text

Verdict = Literal["pass", "inaccurate", "fail", "raised"]

ANY_CALL = {"lane", "repeatable"}  # checks that look at other calls than those of the plan
FINE = 4.0  # ULP: the most that vendors state for these functions in their best modes (CUDA erfc 4, ARM vector 3.5)
OWN_FAMILY = "kernels"  # the implementations that ship with this package: listed after everybody else's


def verdict(record: Record) -> Verdict:
    """The outcome in one word.

    "raised": the target crashed, and nothing was measured; "fail": at least one check failed; "inaccurate": every
    check passes, but an error is above `FINE`; else "pass".
    """
    if record.failure is not None:
        return "raised"
    if record.failed_checks:
        return "fail"
    return "inaccurate" if (record.max_ulp or 0.0) > FINE else "pass"


def is_correctly_rounded(record: Record) -> bool:
    """Whether every output, in every call, is the correctly rounded value."""
    return record.failure is None and record.correctly_rounded == 1 and not {*record.failed_checks} & ANY_CALL


def severity(record: Record) -> tuple[float, bool, int]:
    """Sort key: the largest error as it is printed; among equals, a framework's shortest name wins."""
    if record.max_ulp is None:
        return -1.0, False, 0
    printed = float(ulp_text(record.max_ulp, record.bound))
    return printed, record.family != OWN_FAMILY, -len(record.target)


def target_order(family: str, target: str) -> tuple[bool, str, tuple[str, str]]:
    """Frameworks by name, then our own kernels; a target beside itself at instruction-set levels."""
    return (family == OWN_FAMILY, family, split_level(target))


def function_rank(name: str) -> int:
    """Place of a function in every list: as registered, unknown ones (of foreign runs) last."""
    return list(FUNCTIONS).index(name) if name in FUNCTIONS else len(FUNCTIONS)


def dtype_rank(name: str) -> int:
    """Place of a dtype in every list."""
    return DTYPES.index(name) if name in DTYPES else len(DTYPES)


def headline(records: Sequence[Record]) -> str:
    """One sentence for the top of a report."""
    if not records:
        return "Nothing was measured."
    measured = [record for record in records if record.failure is None]
    raised = len(records) - len(measured)
    broke = f"{_count(raised, 'target')} crashed" if raised else ""
    if not measured:
        return f"Nothing could be measured: {broke}."
    failing, inaccurate = (sum(verdict(r) == kind for r in measured) for kind in ("fail", "inaccurate"))
    rounded = sum(map(is_correctly_rounded, measured))
    worst = max(measured, key=severity)
    everything = "The one measurement passes" if len(measured) == 1 else f"All {len(measured)} measurements pass"
    parts = [
        f"{failing} of {_count(len(measured), 'measurement')} fail{'s' if failing == 1 else ''} at least one check"
        if failing
        else f"{everything} every check",
        f"{inaccurate} {'passes' if inaccurate == 1 else 'pass'} every check but "
        f"{'is' if inaccurate == 1 else 'are'} inaccurate (> {FINE:g} ULP)"
        if inaccurate
        else "",
        f"{rounded} {'is' if rounded == 1 else 'are'} correctly rounded on every input tried" if rounded else "",
        f"the largest error is {_worst(worst)}",
        broke,
    ]
    return "; ".join(p for p in parts if p) + "."


def absences(manifests: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """{family: reason} of what could not be used in any of the runs."""
    found: dict[str, str] = {}
    for manifest in manifests:
        for family, reason in (manifest.get("absent") or {}).items():
            found.setdefault(family, reason)
    return found


def _worst(record: Record) -> str:
    where = f"{record.target}, {record.function}, {record.dtype}"
    if record.max_ulp is None or math.isnan(record.max_ulp):
        return f"unknown ({where})"
    sign = "at least " if record.bound == ">=" else ""
    return f"{sign}{ulp_text(record.max_ulp, record.bound)} ULP ({where})"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
