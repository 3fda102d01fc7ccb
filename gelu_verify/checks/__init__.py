"""The checks: yes-or-no properties of an implementation, one file each, found automatically."""

from __future__ import annotations

import importlib
import pkgutil

from ..errors import TargetFailure, Unanswered
from ._unrepeated import without_unrepeated
from .base import Check, Evidence, Finding, Policy

__all__ = ["CHECKS", "Check", "Evidence", "Finding", "Policy", "findings"]


def _discover() -> dict[str, Check]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "base" and not m.name.startswith("_"))
    found = [importlib.import_module(f"{__name__}.{name}").CHECK for name in names]
    return {check.name: check for check in found}


CHECKS: dict[str, Check] = _discover()


def findings(evidence: Evidence) -> tuple[dict[str, Finding], TargetFailure | None]:
    """What each check found, in the order of `CHECKS`, and the first failure in a call that one of them made: it is
    the target's, and says nothing of what that check asks."""
    found: dict[str, Finding] = {}
    first: TargetFailure | None = None
    for check in sorted(CHECKS.values(), key=lambda check: check.last):
        try:
            found[check.name] = check.asked(evidence)
        except TargetFailure as failure:
            found[check.name] = Finding("not applicable", f"a call of this check failed: {failure}")
            first = first or failure
    try:
        found = without_unrepeated(evidence, found)
    except Unanswered:
        pass
    except TargetFailure as failure:
        first = first or failure
    return {name: found[name] for name in CHECKS}, first
