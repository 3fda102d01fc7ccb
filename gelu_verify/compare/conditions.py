"""What two runs do not have in common beside their results: plan, seed, versions, machine, device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..gpu.info import label
from ..runs.store import Run
from .comparison import ComparedRun, Difference

_MACHINE = {
    "cpu": "processor",
    "architecture": "architecture",
    "os": "system",
    "python": "Python",
    "compiler": "compiler of Python",
    "libm": "C library",
    "cores": "cores",
}


def described(run: Run, name: str | None = None) -> ComparedRun:
    """The run as a comparison names it."""
    facts = run.manifest
    own = run.path.name if "recorded" in facts else str(run.path)
    command, plan, seed = str(facts.get("command", "")), str(facts["plan"]), int(facts["seed"])
    return ComparedRun(name or own, str(facts["created"]), command, plan, seed, len(run.results))


def differences(old: Run, new: Run) -> tuple[Difference, ...]:
    """Everything, in the order in which a reader asks."""
    a, b = old.manifest, new.manifest
    found = [*_of(("plan", "seed"), a, b)]
    found += _each("version of {}", a.get("versions") or {}, b.get("versions") or {})
    first, second = (facts.get("machine") or {} for facts in (a, b))
    found += [Difference(_MACHINE[each.what], each.old, each.new) for each in _of(_MACHINE, first, second)]
    found += _sets("instruction sets", first.get("isa") or (), second.get("isa") or ())
    found += _each("environment variable {}", first.get("switches") or {}, second.get("switches") or {})
    found += _different("device", *(label(facts.get("device")) or None for facts in (a, b)))
    found += _different("source of gelu-verify", *(_commit(facts.get("git")) for facts in (a, b)))
    found += _different("absent", *(", ".join(sorted(facts.get("absent") or {})) or None for facts in (a, b)))
    found += _different("kind of run", *(_kind(facts) for facts in (a, b)))
    return tuple(found)


def _of(names: Any, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    for name in names:
        yield from _different(name, *(None if each.get(name) is None else str(each[name]) for each in (a, b)))


def _each(title: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[Difference]:
    for name in sorted({*a, *b}):
        old, new = (None if each.get(name) is None else str(each[name]) for each in (a, b))
        yield from _different(title.format(name), old, new)


def _sets(title: str, a: Any, b: Any) -> Iterator[Difference]:
    """What only one of the sides has."""
    alone = [" ".join(name for name in one if name not in other) for one, other in ((a, b), (b, a))]
    if any(alone):
        yield Difference(title, f"also {alone[0]}" if alone[0] else None, f"also {alone[1]}" if alone[1] else None)


def _different(what: str, old: str | None, new: str | None) -> Iterator[Difference]:
    if old != new:
        yield Difference(what, old, new)


def _commit(state: Mapping[str, Any] | None) -> str | None:
    if not state:
        return None
    return f"{str(state.get('commit'))[:12]}{' with changes' if state.get('dirty') else ''}"


def _kind(facts: Mapping[str, Any]) -> str:
    recorded = facts.get("recorded")
    if recorded is None:
        return f"stored, schema {facts['schema']}"
    return "recorded, condensed" if recorded.get("condensed") else "recorded, buckets folded into bins"
