"""The yes/no properties: one file per check here, found by looking."""

from __future__ import annotations

import importlib
import pkgutil

from .base import Check, Evidence, Finding, Policy

__all__ = ["CHECKS", "Check", "Evidence", "Finding", "Policy", "findings"]


def _discover() -> dict[str, Check]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "base" and not m.name.startswith("_"))
    found = [importlib.import_module(f"{__name__}.{name}").CHECK for name in names]
    return {check.name: check for check in found}


CHECKS: dict[str, Check] = _discover()


def findings(evidence: Evidence) -> dict[str, Finding]:
    """What each check found, in the order of `CHECKS`."""
    found = {check.name: check.asked(evidence) for check in sorted(CHECKS.values(), key=lambda check: check.last)}
    return {name: found[name] for name in CHECKS}
