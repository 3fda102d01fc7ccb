"""Everything that can be tested: one file per framework, found automatically.

A family is a module of `frameworks` with `discover() -> Iterator[Target]`, which raises
TargetUnavailable when its framework is not installed or broken. Its name is that of the module without a trailing
underscore. A module with `computing(function) -> Iterator[Target]` makes targets of a function that `discover` has none
of: with parameters, or of no interest to who does not name it. A module with `ON_REQUEST = True` (slow to call, or
nothing that runs here) is opt-in: it is used when it is named or everything is asked for; one with
`LOADS_FIRST = True` is imported before the others; one with `PROGRAM` says how a program of the library alone
evaluates the `expression` of its targets (`expressions`); one with `SHIPPED = True` has kernels of this package, which
lists show apart from libraries; one with `NEEDS` names the module without which it is absent, so that no process is
started to learn it.
Importing this package imports no framework; finding one family imports only that one.

What a user names by file or command (a Python function, a C library, a program) is in `kinds`, one file per kind. What
loads it stands there too, or in a file of that name with an underscore before it, imported when something is named.
"""

from __future__ import annotations

import dataclasses
import difflib
import pkgutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from .. import plugins
from ..errors import MissingMeasurement, TargetUnavailable, UsageError, one_of
from ..formats import DTYPES, get_format
from ..functions import FUNCTIONS, get_function
from ..gpu.info import no_gpu
from ..isa import at_level, split_level
from . import frameworks
from .base import Target, first_line
from .expressions import Program, value_text
from .importing import missing, unread_file
from .kinds import Asked, kind_of, kinds, misfit, of_plugins
from .kinds import load as load_named
from .kinds._names import usable
from .probing import looking_for
from .switches import Switches, of_all

__all__ = [
    "Asked",
    "Target",
    "device_of",
    "families",
    "find",
    "is_ours",
    "is_shipped",
    "load",
    "module_of",
    "program_of",
    "select",
    "switches_of",
]

Finder = Callable[..., tuple[list[Target], dict[str, str]]]
Loader = Callable[[str, Asked, str], tuple[Sequence[Target], dict[str, str]]]

OPT_IN = "opt-in (name it, or use --all)"


def families() -> list[str]:
    """Names of the target families, present or absent, sorted."""
    return sorted(_modules())


def module_of(family: str) -> str:
    """Full name of a family's module; importing it imports no framework."""
    return _modules()[family]


def _modules() -> dict[str, str]:
    """Full module name of each family; entry points of other distributions name modules with `discover`."""
    found = {name.rstrip("_"): f"{frameworks.__name__}.{name}" for name in _names_in(tuple(frameworks.__path__))}
    added: dict[str, str] = {}
    for plugin in of_plugins():
        if hasattr(plugin.value, "discover"):
            owner = {**dict.fromkeys(found, "gelu-verify"), **added}.get
            if plugins.add(plugin, plugin.name, "target family", owner):
                added[plugin.name] = plugin.distribution
                found[plugin.name] = plugin.module.__name__
    return found


@cache
def _names_in(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Of the modules of families there: a report asks for them with every result."""
    return tuple(info.name for info in pkgutil.iter_modules(folders) if not info.name.startswith("_"))


def find(
    families: Collection[str] | None = None,
    everything: bool = False,
    function: str | None = None,
    dtype: str | None = None,
    level: str = "",
) -> tuple[list[Target], dict[str, str]]:
    """All targets of the named families (default: those that are not on request), and why a family is absent.

    Parameters
    ----------
    families : names
    everything : where no families are named, those on request too
    function, dtype : what is looked for: other paths are not tried, and may be left out
    level : the instruction-set level that this process was started for, which the names of the targets end in

    Returns
    -------
    targets : list of Target, by family, in each family's own order
    absent : dict, family -> reason in one line; "path dtype" -> reason, of a path that returns another dtype
    """
    names, absent = asked_for(families, everything)
    targets: list[Target] = []
    modules = _modules()
    for family in sorted(names, key=lambda family: not _setting(modules[family], "LOADS_FIRST")):
        _discovered(family, modules[family], function, dtype)
    for family in names:
        found, missing = _discovered(family, modules[family], function, dtype)
        targets += _observed(found, _switches_of_module(modules[family]), level)
        absent |= missing
    return targets, absent


def load(name: str, asked: Asked, level: str = "", alone: bool = False) -> tuple[Sequence[Target], dict[str, str]]:
    """The targets that a name which some kind accepts stands for, in a process that was started for that level; and
    what is left out of them, with the reason.

    `alone`: nothing else is loaded in this process, so that what its libraries choose is what the target calls.
    """
    with looking_for(None, None) as left_out:
        found = load_named(name, asked)
    return _observed(found, switches_of(name, limits=bool(level)), level) if alone else found, left_out


def _observed(targets: Sequence[Target], switches: Switches | None, level: str) -> list[Target]:
    """The same targets with the level that their process has, and what was seen to be chosen in it."""
    if switches is None or not targets:
        return list(targets)
    variables, observed = switches.variables(level), switches.observed.items()
    found = []
    for each in targets:
        name = at_level(each.name, level)
        seen = {part: words for part, words in observed if part in each.components or not each.components}
        found.append(dataclasses.replace(each, name=name, level=level, switches=variables, seen=seen))
    return found


def switches_of(name: str, limits: bool = True) -> Switches | None:
    """What limits a family, or what a user named, to an instruction-set level; None where nothing does.

    `limits`: False where it is not limited, and only what is loaded can be seen to have chosen.
    """
    kind = kind_of(usable(name))
    if kind is None:
        return _switches_of_module(_modules()[_family(name)])
    if not kind.calls_libraries:
        return kind.switches
    modules = {family: module for family, module in _modules().items() if limits or family in sys.modules}
    every = {family: _switches_of_module(module) for family, module in modules.items()}
    return of_all({family: switches for family, switches in every.items() if switches is not None})


def no_switch(name: str) -> str:
    """Why nothing limits a family, or what a user named, to an instruction-set level."""
    reason = "" if kind_of(usable(name)) else _setting(_modules()[_family(name)], "NO_SWITCH")
    return f"there is no switch for instruction-set levels{f' ({reason})' if reason else ''}"


def _switches_of_module(module: str) -> Switches | None:
    return _setting(module, "SWITCHES") or None


def asked_for(families: Collection[str] | None, everything: bool) -> tuple[list[str], dict[str, str]]:
    """Families to look for, sorted, and those that are only found on request; UsageError for an unknown one."""
    modules = _modules()
    if families is not None:
        for family in families:
            if family not in modules:
                raise one_of("target family", family, sorted(modules))
        return sorted(set(families)), {}
    left = {family: OPT_IN for family in modules if not everything and _setting(modules[family], "ON_REQUEST")}
    return sorted(modules.keys() - left), dict(sorted(left.items()))


def not_there(family: str) -> str | None:
    """Why a family is absent, where that is seen without importing its framework: not installed, or no GPU."""
    needs = _setting(_modules()[family], "NEEDS")
    return (missing(needs) if needs else None) or (no_gpu() or None if device_of(family) == "cuda" else None)


def is_ours(family: str) -> bool:
    """Whether its code is this package's, or what this package runs on."""
    module = _modules()[family]
    return module.startswith(f"{frameworks.__name__}.") and bool(_setting(module, "OURS"))


@cache
def is_shipped(family: str) -> bool:
    """Whether its kernels come with this package: textbook formulas, and correctly rounded ones of our own."""
    modules = _modules()
    return family in modules and _setting(modules[family], "SHIPPED")


def device_of(family: str) -> str:
    """Where it runs: "cpu", or what its module says as `DEVICE`."""
    return str(_setting(_modules()[family], "DEVICE") or "cpu")


def program_of(family: str, expression: str | None, dtype: str, x_bits: int, n: int = 1) -> str | None:
    """The program, of the library alone, that prints what an expression gives for x, or for n of it in one call;
    None where there is none."""
    modules = _modules()
    program: Program | None = _setting(modules[family], "PROGRAM") if expression and family in modules else None
    return program(expression, dtype, value_text(get_format(dtype), x_bits), n) if program and expression else None


def _families_on(device: str, names: Sequence[str], everything: bool) -> list[str] | None:
    """The families of that device where nothing is named; UsageError for a name of a family that runs elsewhere."""
    where = {family: device_of(family) for family in families()}
    for name in names:
        kind = kind_of(name, device)
        at = where[_family(name)] if kind is None else device if device in kind.devices else kind.devices[0]
        if at != device:
            same = f"{_family(name)}_{device}" if kind is None else ""
            there = [same] if same in where else [family for family, on in where.items() if on == device]
            raise UsageError(f"{name} runs on {at}, not on {device} (accepted: {', '.join(there)})")
    asked = set(asked_for(None, everything)[0])
    return [family for family, at in where.items() if at == device and family in asked]


def _setting(module: str, what: str) -> Any:
    """What a family module sets for itself, False where it does not; importing it imports no framework."""
    return getattr(import_module(module), what, False)


@cache
def _discovered(
    family: str, module: str, function: str | None, dtype: str | None
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """Targets of one family module, and what is absent, as of `find`; looked for once per process."""
    try:
        with looking_for(function, dtype) as left_out:
            found = _computing(import_module(module), function)
    except TargetUnavailable as reason:
        return (), {family: str(reason)}
    except Exception as error:  # noqa: BLE001 - a framework of an unknown version: named, not fatal
        return (), {family: f"{type(error).__name__}: {first_line(error)}"}
    none = (
        {} if found or function or dtype else {family: "it is installed, but none of its implementations can be called"}
    )
    return found, none | left_out


def _computing(module: Any, function: str | None) -> tuple[Target, ...]:
    """What it finds by itself; or, of a function that this does not compute, what it makes for it."""
    computing = getattr(module, "computing", None)
    makes_it = bool(function and "[" in function and computing)
    found = () if makes_it else tuple(module.discover())
    if function and computing and not any(target.function == function for target in found):
        return tuple(computing(get_function(function)))
    return found


def select(
    names: Sequence[str],
    *,
    function: str | None = None,
    dtype: str | None = None,
    everything: bool = False,
    level: str = "",
    find: Finder = find,
    load: Loader = load,
    **calling: Any,
) -> tuple[list[Target], dict[str, str]]:
    """The targets that a user named, each once, in that order; what is found without asking when `names` is empty.

    Parameters
    ----------
    names : families ("torch"), targets ("torch.gelu"), and what the kinds accept: "module:function",
        "./libfoo.so:symbol", "model.onnx", "pipe:./program --flag", "kernel.c:symbol" (`kinds` says all)
    function : keep what computes this function; for what is named by file or command, what it claims to compute
        (default: what its name says, "gelu_tanh" of ./libfoo.so:gelu_tanh, else "gelu")
    dtype : keep what computes in this dtype, and that dtype only
    everything : where `names` is empty, families on request too
    level : instruction-set level that all are limited to; where `names` is empty, only families that have it
    find, load : what finds families and loads what a user named; here, or in processes of their own
    calling : fields of `Calling`: how what is named by file or command is called; `device`: where `names` is empty,
        only families that run there, else each name's family must, and the arrays of a Python callable are there

    Raises
    ------
    UsageError
        Unknown name, a name that cannot be loaded, an option that nothing named takes, or nothing of what was named
        computes `function` in `dtype`.
    MissingMeasurement
        A family was asked for by name and is absent; a compiler, a runtime or a device that a name needs is; nothing
        here runs on `device`.
    """
    if function is not None:
        get_function(function)
    if dtype is not None and dtype not in DTYPES:
        raise one_of("dtype", dtype, list(DTYPES))
    asked = Asked(function=function, dtype=dtype, **calling)
    device = asked.device
    kind = {name: kind_of(usable(name), device) for name in names}
    if reason := misfit(asked, kind.values(), kinds().values()):
        raise reason
    on_it = None if device is None else _families_on(device, names, everything)
    if not names:
        if level:
            on_it = [family for family in on_it or asked_for(None, everything)[0] if has_level(family, level)]
        targets, absent = find(on_it, everything=everything, function=function, dtype=dtype, level=level)
        if device is not None and not targets:
            reasons = "; ".join(f"{family}: {reason}" for family, reason in absent.items())
            raise MissingMeasurement(f"nothing here runs on {device} ({reasons or 'no family does'})")
        return _narrowed(targets, function, dtype), absent
    ours = [name for name in names if kind[name] is None]
    of = {_family(name) for name in ours}
    targets, absent = find(of, function=function, dtype=dtype, level=level)
    without = {_family(name) for name in ours if not any(_is_named(target.name, [name]) for target in targets)}
    if without:
        others, missing = find(without, level=level)  # what they compute, for the error
        targets, absent = [*targets, *others], absent | missing
    for name in ours if function is None else ():  # what a family makes on request is asked for by its path's name
        path = name.partition(".")[2].partition("-")[0]
        if path in FUNCTIONS and not any(_is_named(target.name, [name]) for target in targets):
            targets += find({_family(name)}, function=path, dtype=dtype, level=level)[0]
    for name in ours:
        if _family(name) in absent:
            raise MissingMeasurement(f"{name} was asked for, but {absent[_family(name)]}")
    chosen: dict[tuple[str, tuple[str, ...]], Target] = {}  # one may differ between dtypes
    left_out = {path: reason for path, reason in absent.items() if _is_named(path.partition(" ")[0], ours)}
    for name in names:
        found, missing = load(name, asked, level) if kind[name] else (_named(name, targets), {})
        for target in found:
            chosen.setdefault((target.name, target.dtypes), target)
        left_out |= missing
    return _narrowed(list(chosen.values()), function, dtype, left_out), left_out


def _family(name: str) -> str:
    """Family of a target name; UsageError when there is none."""
    family, accepted = name.partition(".")[0], families()
    if family not in accepted:
        if reason := unread_file(name):
            raise reason
        close = difflib.get_close_matches(family, accepted, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        syntax = ", ".join(text for kind in kinds().values() for text in kind.syntax)
        raise UsageError(f"unknown target {name!r}{hint} (accepted: {', '.join(accepted)}, FAMILY.PATH, {syntax})")
    return family


def has_level(name: str, level: str) -> bool:
    """Whether a family, or what a user named, has a switch for that instruction-set level."""
    switches = switches_of(name)
    return switches is not None and level in switches.levels


def _is_named(path: str, names: Sequence[str]) -> bool:
    """Whether one of the names is that of a path, at any level, or of its family."""
    path = split_level(path)[0]
    return path in names or path.partition(".")[0] in names


def _named(name: str, targets: list[Target]) -> list[Target]:
    """The targets of that family, or the one of that full name."""
    found = [target for target in targets if _is_named(target.name, [name])]
    if not found:
        raise one_of("target", name, [split_level(t.name)[0] for t in targets if t.family == _family(name)])
    return found


def _narrowed(
    targets: list[Target], function: str | None, dtype: str | None, left_out: Mapping[str, str] | None = None
) -> list[Target]:
    """Those that compute `function` in `dtype`, narrowed to it; UsageError when none does, with what was left out."""
    found = [target for target in targets if function in (None, target.function) and dtype in (None, *target.dtypes)]
    if not found:
        asked = ", ".join(dict.fromkeys(target.family for target in targets)) if len(targets) != 1 else targets[0].name
        what = " in ".join(filter(None, (function, dtype)))
        reasons = [why for path, why in (left_out or {}).items() if dtype in (None, path.rpartition(" ")[2])]
        why = "; ".join(reasons) or "gelu-verify list shows what each does"
        raise UsageError(f"no target of {asked or 'any family'} computes {what} ({why})")
    return found if dtype is None else [dataclasses.replace(target, dtypes=(dtype,)) for target in found]
