"""All children of a run: one for each family and instruction-set level, one for each target that a user named."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .. import targets
from ..errors import TargetFailure, UsageError
from ..formats import DTYPES
from ..functions import FUNCTIONS
from ..isa import at_level
from ..own_faults import OwnFault
from ..targets import Asked, Target
from ..targets.names import claimed_by, symbol_of
from ..targets.switches import added_to
from .host import Host, Loading, LostInCall
from .limits import Limits
from .target import IsolatedTarget, LostTarget


def supported() -> bool:
    """Whether this system has what isolation is made of."""
    return sys.platform == "linux" and hasattr(os, "memfd_create")


class Hosts:
    """A context manager: leaving it ends every child."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._hosts: dict[str, Host] = {}
        self._families: dict[str, tuple[list[Target], dict[str, str]]] = {}

    def __enter__(self) -> Hosts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every child."""
        for host in self._hosts.values():
            host.close()

    def find(
        self,
        families: Collection[str] | None = None,
        everything: bool = False,
        function: str | None = None,
        dtype: str | None = None,
        level: str = "",
    ) -> tuple[list[Target], dict[str, str]]:
        """As `targets.find`; children of several families start side by side."""
        names, absent = targets.asked_for(families, everything)
        found: list[Target] = []
        with ThreadPoolExecutor(min(len(names), os.cpu_count() or 1) or 1) as pool:
            discovered = pool.map(lambda name: self._discovered(name, function, dtype, level), names)
        for members, missing in discovered:
            found += members
            absent |= missing
        return found, absent

    def select(self, names: Sequence[str], **options: Any) -> tuple[list[Target], dict[str, str]]:
        """As `targets.select`."""
        return targets.select(names, **options, find=self.find, load=self._load)

    def _load(self, name: str, asked: Asked, level: str) -> tuple[Sequence[Target], dict[str, str]]:
        """What a user named, in a child of its own; where that does not survive it, a target that fails so."""
        options = vars(asked) | {"kwargs": pickle.dumps(dict(asked.kwargs)).hex()}
        options["time_limit"] = self._limits.of_first_call
        host, key = self._host(name, level), f"{asked.function} {asked.dtype}"
        try:
            found = host.load(key, Loading("select", {"names": [name], "level": level, **options}))
        except LostInCall as failure:
            return self._around(failure, name, asked, level)
        except (TargetFailure, OwnFault) as failure:
            dtype = _claimed(name, asked)[1]
            return [_lost(failure, name, asked, level, (dtype,) if dtype else DTYPES)], {}
        return _proxies(host, key, found["targets"]), found["absent"]

    def _around(
        self, failure: LostInCall, name: str, asked: Asked, level: str
    ) -> tuple[Sequence[Target], dict[str, str]]:
        """What did not survive a first call in one dtype, and what it is in the others; of what hangs, each would cost
        a time limit."""
        found: list[Target] = [_lost(failure, name, asked, level, (failure.dtype,))]
        absent = dict[str, str]()
        if _claimed(name, asked)[1] is None and failure.kind != "hang":
            for dtype in (each for each in DTYPES if each != failure.dtype):
                with suppress(UsageError):  # it takes none of that
                    more, missing = self._load(name, replace(asked, dtype=dtype), level)
                    found += more
                    absent |= missing
        return found, absent

    def _discovered(
        self, family: str, function: str | None, dtype: str | None, level: str
    ) -> tuple[list[Target], dict[str, str]]:
        """Targets of one family, and what is absent: it may not survive its import."""
        looked_for = {"function": function, "dtype": dtype, "level": level}
        if targets.is_ours(family) and not level:
            return targets.find([family], function=function, dtype=dtype)
        if reason := targets.not_there(family):
            return [], {family: reason}
        key = f"{at_level(family, level)} {function} {dtype}"
        if key not in self._families:
            host = self._host(family, level)
            try:
                loaded = host.load(key, Loading("find", {"family": family, **looked_for}))
            except (TargetFailure, OwnFault) as failure:
                return [], {family: str(failure)}
            self._families[key] = _proxies(host, key, loaded["targets"]), loaded["absent"]
        return self._families[key]

    def _host(self, name: str, level: str) -> Host:
        """The process of a family, or of what a user named, with the variables that limit it to a level."""
        label = at_level(name, level)
        if label not in self._hosts:
            switches = targets.switches_of(name) if level else None
            variables = added_to(os.environ, switches.variables(level)) if switches else {}
            self._hosts[label] = Host(label, self._limits, variables)
        return self._hosts[label]


def _lost(
    failure: TargetFailure | OwnFault, name: str, asked: Asked, level: str, dtypes: tuple[str, ...]
) -> LostTarget:
    function = _claimed(name, asked)[0]
    return LostTarget(name=at_level(name, level), level=level, function=function, dtypes=dtypes, failure=failure)


def _claimed(name: str, asked: Asked) -> tuple[str, str | None]:
    """Function and dtype of what did not survive being called: those that were asked for, or that its name says."""
    function, dtype = claimed_by(symbol_of(name))
    return asked.function or (function if function and function in FUNCTIONS else "gelu"), asked.dtype or dtype


def _proxies(host: Host, key: str, described: list[dict[str, Any]]) -> list[Target]:
    proxies: list[Target] = []
    for index, fields_of in enumerate(described):
        family = fields_of.pop("family")
        fields_of |= {name: tuple(fields_of[name]) for name in ("dtypes", "executions", "given")}
        proxies.append(IsolatedTarget(host=host, key=key, index=index, family_name=family, **fields_of))
    return proxies
