"""The legend: every grade and every check, from their registries, with what each asks and what a failure means."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..checks import CHECKS, Check
from ..measure.tolerances import TOLERANCES
from ..records.grades import GRADES


def grade_rows() -> list[dict[str, str]]:
    return [{"grade": grade, **vars(each)} for grade, each in GRADES.items()]


def check_rows() -> list[dict[str, str]]:
    """One row per check of the registry, plugins included."""
    return [
        {
            "name": name,
            "severity": severity_text(check),
            "asks": _asks(check),
            "reason": check.reason,
            "remedy": check.remedy,
        }
        for name, check in CHECKS.items()
    ]


def severity_text(check: Check) -> str:
    return "depends" if callable(check.severity) else check.severity


def _asks(check: Check) -> str:
    """The first paragraph of its module."""
    module = sys.modules.get(check.run.__module__)
    return " ".join(((module and module.__doc__) or "").partition("\n\n")[0].split())


def tolerance_rows() -> Sequence[Any]:
    return TOLERANCES
