"""The mathematical functions: one file each here, or in another distribution, found automatically."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from fractions import Fraction
from threading import RLock

from .. import plugins
from ..errors import UsageError, one_of
from .base import GROUPS, OWNER, Function
from .names import NAMES
from .parameters import base_name, canonical_name, checked_values, named, split_name, stated

__all__ = ["FUNCTIONS", "OWNER", "Function", "base_name", "compared_with", "get_function", "named", "second_of"]

MOST_KEPT = 256  # functions with parameters: anybody may ask a server for any number of them


class Functions(MutableMapping[str, Function]):
    """Name -> function, in the order of lists and reports: by group, functions before gradients, by name.

    Those of this package are there at once; the entry points of others are looked up when a name is asked for that is
    not among them, or all are. A name with parameters, gelu[mu=0.5], is made when it is asked for, and is not listed.
    """

    def __init__(self, own: Iterable[Function]) -> None:
        self._functions: dict[str, Function] = {}
        for function in sorted(own, key=_place):
            if function.name in self._functions:
                raise UsageError(f"two files define a function {function.name}")
            self._functions[function.name] = function
        self._with_values: dict[str, Function] = {}  # by canonical name, at most MOST_KEPT
        self._complete, self._lock = False, RLock()

    def __getitem__(self, name: str) -> Function:
        if "[" in name:
            try:
                return self.with_parameters(name)
            except UsageError as error:
                raise KeyError(str(error)) from None
        if name not in self._functions:
            self._complete_by_plugins()
        return self._functions[name]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str) and "[" in name:
            return self.get(name) is not None
        if name not in self._functions:
            self._complete_by_plugins()
        return name in self._functions

    def __iter__(self) -> Iterator[str]:
        self._complete_by_plugins()
        return iter(self._functions)

    def __len__(self) -> int:
        self._complete_by_plugins()
        return len(self._functions)

    def __setitem__(self, name: str, function: Function) -> None:
        self._functions[name] = function

    def __delitem__(self, name: str) -> None:
        del self._functions[name]

    def owner(self, name: str) -> str | None:
        """The distribution that a function is of; None where there is no such function."""
        function = self._functions.get(base_name(name))
        return function.owner if function else None

    def with_parameters(self, name: str) -> Function:
        """The function of a name with parameters; UsageError says what is wrong with it."""
        base, texts = split_name(name)
        function = get_function(base)
        values = checked_values(base, function.parameters, texts)
        canonical = canonical_name(base, function.parameters, values)
        if canonical == base or function.with_values is None:
            return function
        with self._lock:
            return self._made(canonical, function, values)

    def _made(self, canonical: str, function: Function, values: Mapping[str, Fraction]) -> Function:
        """The function of these values: the same object, as long as few others are asked for."""
        if canonical not in self._with_values and function.with_values is not None:
            if len(self._with_values) >= MOST_KEPT:
                del self._with_values[next(iter(self._with_values))]
            self._with_values[canonical] = replace(
                function.with_values(values),
                name=canonical,
                formula=stated(function.general or function.formula, function.parameters, values),
                **{field: getattr(function, field) for field in ("owner", "general", "parameters", "with_values")},
            )
        return self._with_values[canonical]

    def _complete_by_plugins(self) -> None:
        with self._lock:
            if self._complete:
                return
            self._complete = True
            for plugin in plugins.load(plugins.FUNCTIONS):
                try:
                    found = tuple(_entries(plugin.value))
                except UsageError as error:
                    plugins.refuse(plugin, str(error))
                    continue
                self._add(plugin, found)
            self._functions = {f.name: f for f in sorted(self._functions.values(), key=_place)}

    def _add(self, plugin: plugins.Plugin, found: tuple[Function, ...]) -> None:
        names = {function.name for function in found}
        for function in found:
            others = [name for name in (function.gradient_of, function.approximates) if name is not None]
            if unknown := [name for name in others if name not in names and name not in self._functions]:
                plugins.refuse(plugin, f"{function.name} refers to an unknown function {unknown[0]}")
            elif plugins.add(plugin, function.name, "function", self.owner):
                self._functions[function.name] = replace(function, owner=plugin.distribution)


def _place(function: Function) -> tuple[int, bool, str]:
    return GROUPS.index(function.group), function.gradient_of is not None, function.gradient_of or function.name


def _entries(value: object) -> Iterable[Function]:
    """The functions that an entry point names: one, several, or a module with ENTRIES."""
    value = getattr(value, "ENTRIES", value)
    found = (value,) if isinstance(value, Function) else value
    if not isinstance(found, tuple | list) or not all(isinstance(each, Function) for each in found):
        raise UsageError(
            f"it names no Function (accepted: a Function, a tuple of them, a module with ENTRIES): {value!r}"
        )
    return found


def _own() -> Iterator[Function]:
    """The entries of the modules here."""
    for info in pkgutil.iter_modules(__path__):
        yield from getattr(importlib.import_module(f"{__name__}.{info.name}"), "ENTRIES", ())


FUNCTIONS = Functions(_own())


def get_function(name: str) -> Function:
    """The entry named `name`; UsageError lists the accepted names."""
    if isinstance(name, str) and "[" in name:
        return FUNCTIONS.with_parameters(name)
    if not isinstance(name, str) or name not in FUNCTIONS:
        raise one_of("function", name, list(FUNCTIONS), _usual_name(str(name).lower()))
    return FUNCTIONS[name]


def _usual_name(other: str) -> str:
    """That of a function, or a gradient, which a project calls so; empty where none does."""
    base = other.removesuffix("_grad")
    return NAMES[base][0] + other.removeprefix(base) if base in NAMES else ""


def second_of(name: str) -> str:
    """The parameter of a function that implementations take as data, beside x; empty where there is none."""
    return next((each.name for each in get_function(name).parameters if each.is_input), "")


def compared_with(function: Function) -> list[Function]:
    """The functions that results are compared with to say what they are: ours and those of its own distribution, so
    that what is installed beside it changes no result, and costs none where it raises."""
    owners = (OWNER, FUNCTIONS.owner(function.name), None)
    found = [each for each in FUNCTIONS.values() if FUNCTIONS.owner(each.name) in owners]
    return found if "[" not in function.name else [*found, function]
