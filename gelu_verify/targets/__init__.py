"""Everything that can be tested, found at run time: one file per family, no list to edit.

A family is a module of this package with `discover() -> Iterator[Target]`, which raises
TargetUnavailable when its framework is absent or broken. Its name is the module's, less a trailing
underscore. One whose module says `ON_REQUEST = True` (slow to call, or nothing that runs here) is found when
it is named or everything is asked for; one that says `LOADS_FIRST = True` is imported before the others.
Importing this package imports no framework; finding one family imports that one only.
"""

from __future__ import annotations

import dataclasses
import difflib
import pkgutil
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ..errors import MissingMeasurement, TargetUnavailable, UsageError, one_of
from ..formats import DTYPES
from ..functions import get_function
from .base import Target, first_line
from .callables import is_callable_name, load_callable

__all__ = ["Target", "families", "find", "select"]

_NO_FAMILY = ("base", "callables")
ON_REQUEST = "only when it is named, or with --all"


def families() -> list[str]:
    """Names of the target families, present or absent, sorted."""
    return sorted(_modules())


def _modules() -> dict[str, str]:
    """Module name of each family."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    return {name.rstrip("_"): name for name in names if name not in _NO_FAMILY and not name.startswith("_")}


def find(families: Collection[str] | None = None, everything: bool = False) -> tuple[list[Target], dict[str, str]]:
    """All targets of the named families (default: those that are not on request), and why a family is absent.

    Parameters
    ----------
    families : names
    everything : where no families are named, those on request too

    Returns
    -------
    targets : list of Target, by family, in each family's own order
    absent : dict, family -> reason in one line
    """
    modules = _modules()
    for family in families or ():
        if family not in modules:
            raise one_of("target family", family, sorted(modules))
    targets: list[Target] = []
    absent: dict[str, str] = {}
    asked = sorted(modules if families is None else set(families))
    if families is None and not everything:
        absent |= {family: ON_REQUEST for family in asked if _says(modules[family], "ON_REQUEST")}
    asked = [modules[family] for family in asked if family not in absent]
    for module in sorted(asked, key=lambda module: not _says(module, "LOADS_FIRST")):
        _discovered(module)
    for module in asked:
        found, reason = _discovered(module)
        targets += found
        if reason:
            absent[module.rstrip("_")] = reason
    return targets, absent


def _says(module: str, what: str) -> bool:
    """Whether a family module says so of itself; importing it imports no framework."""
    return getattr(import_module(f"{__name__}.{module}"), what, False)


@cache
def _discovered(module: str) -> tuple[tuple[Target, ...], str]:
    """Targets of one family module, or why there are none; looked for once per process."""
    try:
        found = tuple(import_module(f"{__name__}.{module}").discover())
    except TargetUnavailable as reason:
        return (), str(reason)
    except Exception as error:  # noqa: BLE001 - a framework of a version that we have never met: named, not fatal
        return (), f"{type(error).__name__}: {first_line(error)}"
    return found, "" if found else "it is there, but none of its paths gives an answer"


def select(
    names: Sequence[str],
    *,
    function: str | None = None,
    dtype: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    everything: bool = False,
) -> tuple[list[Target], dict[str, str]]:
    """The targets that a user named, each once, in that order; what is found without asking when `names` is empty.

    Parameters
    ----------
    names : families ("torch"), targets ("torch.gelu"), "module:function" or "path/file.py:function"
    function : keep what computes this function; for a callable, what it claims to compute (default "gelu")
    dtype : keep what computes in this dtype, and that dtype only
    kwargs, array : keyword arguments and array kind for callables
    everything : where `names` is empty, families on request too

    Raises
    ------
    UsageError
        Unknown name, or nothing of what was named computes `function` in `dtype`.
    MissingMeasurement
        A family was asked for by name and is absent.
    """
    if function is not None:
        get_function(function)
    if dtype is not None and dtype not in DTYPES:
        raise one_of("dtype", dtype, list(DTYPES))
    if not names:
        targets, absent = find(everything=everything)
        return _kept(targets, function, dtype), absent
    ours = [name for name in names if not is_callable_name(name)]
    targets, absent = find({_family(name) for name in ours})
    for name in ours:
        if _family(name) in absent:
            raise MissingMeasurement(f"{name} was asked for, but {absent[_family(name)]}")
    chosen: dict[str, Target] = {}
    for name in names:
        if is_callable_name(name):
            chosen.setdefault(name, load_callable(name, function or "gelu", dtype, kwargs, array))
        else:
            chosen |= {target.name: target for target in _named(name, targets) if target.name not in chosen}
    return _kept(list(chosen.values()), function, dtype), {}


def _family(name: str) -> str:
    """Family of a target name; UsageError when there is none."""
    family, known = name.partition(".")[0], families()
    if family not in known:
        close = difflib.get_close_matches(family, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        accepted = f"{', '.join(known)}, FAMILY.PATH, module:function, path/file.py:function"
        raise UsageError(f"unknown target {name!r}{hint} (accepted: {accepted})")
    return family


def _named(name: str, targets: list[Target]) -> list[Target]:
    """The targets of that family, or the one of that full name."""
    found = [target for target in targets if name in (target.family, target.name)]
    if not found:
        raise one_of("target", name, [target.name for target in targets if target.family == _family(name)])
    return found


def _kept(targets: list[Target], function: str | None, dtype: str | None) -> list[Target]:
    """Those that compute `function` in `dtype`, narrowed to it; UsageError when none does."""
    kept = [target for target in targets if function in (None, target.function) and dtype in (None, *target.dtypes)]
    if not kept:
        asked = ", ".join(dict.fromkeys(target.family for target in targets)) if len(targets) != 1 else targets[0].name
        what = " in ".join(filter(None, (function, dtype)))
        raise UsageError(
            f"no target of {asked or 'any family'} computes {what} (gelu-verify list shows what each does)"
        )
    return kept if dtype is None else [dataclasses.replace(target, dtypes=(dtype,)) for target in kept]
