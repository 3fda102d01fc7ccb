"""The checks: yes-or-no properties of an implementation, one file each, found automatically.

A module with `CHECK` is a check, here or in another distribution; a module without is shared by several.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import get_args

from .. import plugins
from ..errors import TargetFailure, Unanswered, UsageError
from ..own_faults import guarded
from ..records.result import Status
from .base import Check, Evidence, Finding, Policy
from .unrepeated import without_unrepeated

__all__ = ["CHECKS", "Check", "Evidence", "Finding", "Policy", "Status", "findings", "own_checks"]

OWNER = "gelu-verify"


def own_checks() -> dict[str, Check]:
    """The checks of this package, by name, in the order of their files."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    found: dict[str, Check] = {}
    for check in (module.CHECK for module in modules if hasattr(module, "CHECK")):
        if check.name in found:
            raise UsageError(f"two files define a check {check.name}")
        found[check.name] = check
    return found


def _of_plugins(own: dict[str, Check]) -> dict[str, plugins.Plugin]:
    """Adds the checks of other distributions to `own`; whose each of them is."""
    owners: dict[str, plugins.Plugin] = {}

    def owner(name: str) -> str | None:
        return owners[name].distribution if name in owners else OWNER if name in own else None

    for plugin in plugins.load(plugins.CHECKS):
        check = getattr(plugin.value, "CHECK", plugin.value)
        if not isinstance(check, Check):
            plugins.refuse(plugin, f"it names no Check (accepted: a Check, a module with CHECK): {plugin.value!r}")
        elif plugins.add(plugin, check.name, "check", owner):
            own[check.name], owners[check.name] = check, plugin
    return owners


CHECKS: dict[str, Check] = own_checks()
_PLUGINS = _of_plugins(CHECKS)


def findings(evidence: Evidence) -> tuple[dict[str, Finding], TargetFailure | None]:
    """What each check found, in the order of `CHECKS`, and the first failure in a call that one of them made: it is
    the target's, and says nothing of what that check asks. Nor does a check that fails by a fault of its own."""
    found: dict[str, Finding] = {}
    first: TargetFailure | None = None
    for check in sorted(CHECKS.values(), key=lambda check: check.last):
        found[check.name] = Finding("not applicable", "the check itself failed")
        try:
            with guarded(f"check {check.name}", evidence.own_faults):
                found[check.name] = _finding(check, evidence)
        except TargetFailure as failure:
            found[check.name] = Finding("not applicable", f"a call of this check failed: {failure}")
            first = first or failure
    try:
        with guarded("second look at what the checks found", evidence.own_faults):
            found = without_unrepeated(evidence, found)
    except Unanswered:
        pass
    except TargetFailure as failure:
        first = first or failure
    return {name: found[name] for name in CHECKS}, first


def _finding(check: Check, evidence: Evidence) -> Finding:
    """What `check` finds; a plugin that raises something else, or returns it, is named, and finds nothing."""
    plugin = _PLUGINS.get(check.name)
    if plugin is None:
        return check.finding(evidence)
    try:
        found = check.finding(evidence)
        if isinstance(found, Finding) and found.status in get_args(Status):
            return found
        reason = f"returned no Finding: {found!r:.60}"
    except TargetFailure:
        raise
    except Exception as error:  # noqa: BLE001 - somebody else's code: named, not fatal
        reason = plugins.reason_of(error)
    return Finding("not applicable", f"{check.name} of {plugin.distribution} {plugins.tell(plugin, reason)}")
