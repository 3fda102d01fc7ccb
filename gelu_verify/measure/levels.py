"""Targets at instruction-set levels: which are asked for, which can be had, and which of them are the same code.

A level has a result of its own where the library was seen to choose code of that level. Where it chose the same as at
another level, or code of another level than it was limited to, there is one line instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import MissingMeasurement, UsageError
from ..isa import LEVELS, at_level, check_level, level_of, runnable, split_level
from ..isolation.target import IsolatedTarget
from ..targets import Target, asked_for, device_of, has_level, no_switch, switches_of

ALL = "all"
Found = tuple[list[Target], dict[str, str]]
Select = Callable[[Sequence[str], str], Found]  # of names, at a level


def check_levels(levels: Sequence[str]) -> None:
    """UsageError for a level that is none, MissingMeasurement for one that this processor lacks."""
    if levels != (ALL,):
        for level in levels:
            check_level(level)


def at_levels(names: Sequence[str], levels: Sequence[str], everything: bool, select: Select) -> Found:
    """The targets of names, each at the level that it ends in, or else at each of `levels`; and what is absent.

    Raises
    ------
    UsageError : a name at a level for which there is no switch
    MissingMeasurement : a level that the processor lacks, or at which a library that was named did not run
    """
    search = _Search(select)
    split = [split_level(name) for name in names]
    plain = [name for name, level in split if not level]
    if plain or not names:
        if not levels or levels == (ALL,):
            search.add(select(plain, ""))
        if levels == (ALL,):
            search.every_level(plain or list(_by_unit(search.targets)))
        for level in () if levels == (ALL,) else levels:
            if plain:
                search.named(plain, level)
            else:
                search.families(asked_for(None, everything)[0], level)
    for level in dict.fromkeys(level for _, level in split if level):
        check_level(level)
        search.named([name for name, at in split if at == level], level)
    return search.targets, search.absent


@dataclass
class _Search:
    """What was found so far; `chosen`: what each target was seen to choose, by level."""

    select: Select
    targets: list[Target] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, dict[str, Mapping[str, str]]] = field(default_factory=dict)

    def every_level(self, names: Sequence[str]) -> None:
        """Those names at each level of the processor that they have a switch for."""
        for level in runnable():
            able = [name for name in names if has_level(name, level)]
            try:
                self.add(self.select(able, level) if able else ([], {}), level)
            except MissingMeasurement:  # which of them it is, and the others nevertheless
                for name in able:
                    self._one(name, level)
        self.absent |= {at_level(_unit(name), "*"): no_switch(name) for name in names if switches_of(name) is None}

    def _one(self, name: str, level: str) -> None:
        try:
            self.add(self.select([name], level), level)
        except MissingMeasurement as reason:
            self.absent[at_level(_unit(name), level)] = str(reason)

    def named(self, names: Sequence[str], level: str) -> None:
        """Names at a level that the user named, too."""
        for name in names:
            if not has_level(name, level):
                switches = switches_of(name)
                reason = f"accepted: {', '.join(switches.levels)}" if switches else no_switch(name)
                raise UsageError(f"{name} cannot be limited to {level} ({reason})")
        self.add(self.select(names, level), level, must_act=True)

    def families(self, names: Sequence[str], level: str) -> None:
        """All families that are here, at a level that the user named."""
        self.add(self.select([], level), level)
        here = [name for name in names if device_of(name) == "cpu" and not has_level(name, level)]
        self.absent |= {at_level(name, level): f"it cannot be limited to {level}" for name in here}

    def add(self, found: Found, level: str = "", must_act: bool = False) -> None:
        """Targets found at a level, but for those that run the code of another one."""
        targets, absent = found
        self.absent = {**absent, **self.absent}
        for unit, members in _by_unit(targets).items():
            reasons = [self._same(target) or _another(target) for target in members]
            kept = [target for target, reason in zip(members, reasons, strict=True) if not reason]
            if must_act and all(reasons) and not any(map(self._same, members)):
                raise MissingMeasurement(f"{at_level(unit, level)} runs {reasons[0]}")
            for target in kept:
                self.chosen.setdefault(split_level(target.name)[0], {})[level] = target.seen
            self.targets += kept
            if any(reasons):
                self.absent[at_level(unit, level)] = "; ".join(_counted(reasons))
            if not kept:
                _end(members)

    def _same(self, target: Target) -> str:
        """At which level that was measured already a target runs the same code; empty where at none."""
        path, _ = split_level(target.name)
        for level, seen in self.chosen.get(path, {}).items():
            if level != target.level and seen == target.seen and seen:
                return f"the same code as at {level}" if level else "the same code as without a switch"
        return ""


def _counted(reasons: Sequence[str]) -> Iterator[str]:
    """Each reason once, with how many implementations it is true of where it is not all."""
    for reason in filter(None, dict.fromkeys(reasons)):
        count = reasons.count(reason)
        yield f"runs {reason}" if count == len(reasons) else f"{count} of {len(reasons)} implementations run {reason}"


def _another(target: Target) -> str:
    """Which level a target runs instead of the one that its library was limited to; empty where it does not."""
    if not target.level or not target.seen:
        return ""
    ran = max((level_of(text) for text in target.seen.values()), key=list(LEVELS).index)
    words = ", ".join(f"{component} {text}" for component, text in target.seen.items())
    return "" if ran == target.level else f"{ran} code: the switch has no effect ({words})"


def levels_of(name: str) -> list[str]:
    """The levels of this processor that a family, or what a user named, has a switch for, the highest first."""
    return [level for level in runnable() if has_level(name, level)]


def _unit(name: str) -> str:
    """What shares a process: a family, or one file or command that was named."""
    return name if ":" in name else name.partition(".")[0]


def _by_unit(targets: Iterable[Target]) -> dict[str, list[Target]]:
    found: dict[str, list[Target]] = {}
    for target in targets:
        found.setdefault(_unit(split_level(target.name)[0]), []).append(target)
    return found


def _end(targets: Sequence[Target]) -> None:
    """End the process of targets that nobody will call."""
    for target in targets:
        if isinstance(target, IsolatedTarget):
            target.host.restart()
