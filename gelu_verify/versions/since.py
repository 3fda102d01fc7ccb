"""Since when a call of a library gives what it gives, from the releases on record."""

from __future__ import annotations

from collections.abc import Sequence

from ..isa import level_of_machine, split_level
from ..machine import machine
from ..records.claims import claim_text
from ..records.result import Record
from .changes import failing_since, last_before, unchanged_since
from .libraries import LIBRARIES
from .recorded import history_of, level_of
from .store import History, MeasuredRelease, default_root, libraries_in


def since_when(record: Record) -> str:
    """In a sentence or two; empty where the release of the result is not on record, or gave something else there."""
    defects = [name for name, each in record.findings.items() if each.severity == "defect"]
    failed = [name for name in defects if name in record.failed_checks]
    return since(record.family, record.version, record.target, record.function, record.dtype, record.grade, failed)


def since(
    family: str, version: str, target: str, function: str, dtype: str, grade: str | None, defects: Sequence[str]
) -> str:
    """As `since_when`; `defects`: checks that failed, of the first of which is told since when it does."""
    if family not in LIBRARIES or family not in libraries_in(default_root()):
        return ""
    history = history_of(family)
    release = history.release(version.partition("+")[0])
    name, level = split_level(target)
    key = f"{name}/{function}/{dtype}"
    if release is None or release.failure or key not in release.results:
        return ""
    found = level or _level(history, release, key)
    output = history.output(release, key, found)
    if output is None or output.record.grade != grade:
        return ""
    first = unchanged_since(history, key, found, release)
    parts = [f"It gives these outputs {_from(history, key, found, first)}"]
    for check in [each for each in defects if each in output.record.checks][:1]:
        failing = failing_since(history, key, found, release, check)
        since_then = "since then, too." if failing == first else _from(history, key, found, failing)
        parts.append(f"Check {check} fails {since_then}")
    return " ".join(parts)


def _level(history: History, release: MeasuredRelease, key: str) -> str:
    """The level of this processor, or the highest below it on record."""
    here = level_of_machine(machine())
    return here if here in release.results[key] else level_of(history, [release], None)


def _from(history: History, key: str, level: str, first: MeasuredRelease | None) -> str:
    """ "since torch 2.1.2 (2023-12-14); ...": the end of a sentence."""
    assert first is not None
    before = last_before(history, key, level, first)
    name = f"{history.library} {first.version}{f' ({first.released})' if first.released else ''}"
    if before is None:
        return f"in every release on record that has it, from {name} on."
    output = history.output(before, key, level)
    assert output is not None
    return f"since {name}; {before.version}, the release before it on record, was {claim_text(output.record)}."
