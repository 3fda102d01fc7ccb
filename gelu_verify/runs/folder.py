"""The folder of stored runs: what is in it, how large it is, and which runs may be removed.

Only a run is ever removed: a folder with a whole manifest of ours, and nothing in it that `run` and `report` do not
write. Kept are what `latest` names, committed runs, what git knows, and what a process uses or still writes.
"""

from __future__ import annotations

import datetime
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..atomic_files import UNFINISHED, remove_unused
from ..commands import output_of
from ..errors import GeluVerifyError, ResultsError
from ..records.parts import Grade
from ..work.journals import PREFIX
from .references import latest
from .store import LATEST, MANIFEST, read_run

_BUCKETS = re.compile(r"\d{3,8}\.(parquet|npz)")


@dataclass(frozen=True)
class RunFolder:
    """A folder in the folder of runs."""

    path: Path
    size: int  # bytes of its files
    created: str = ""
    command: str = ""
    plan: str = ""
    seed: int = 0
    results: int = 0
    grades: Mapping[Grade | None, int] | None = None  # None: it is not a run that can be read
    problem: str = ""  # why not
    committed: bool = False
    is_latest: bool = False

    @property
    def is_run(self) -> bool:
        return self.grades is not None


def entries(root: Path) -> list[RunFolder]:
    """Every folder in `root`, the oldest run first; then what is not a run."""
    if not root.is_dir():
        return []
    newest = latest(root)
    folders = [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
    found = [_entry(path, newest is not None and path.samefile(newest)) for path in folders]
    return sorted(found, key=lambda each: (not each.is_run, each.created, len(each.path.name), each.path.name))


def _entry(path: Path, is_latest: bool) -> RunFolder:
    size = size_of(path)
    if path.name.startswith(UNFINISHED):
        return RunFolder(path, size, problem="is being written, or was interrupted")
    if path.name.startswith(PREFIX):
        return RunFolder(path, size, problem="is the journal of an interrupted run, which the same command continues")
    if not (path / MANIFEST).is_file():
        return RunFolder(path, size, problem=f"is not a stored run: it has no {MANIFEST}")
    try:
        run = read_run(path)
        _moment(str(run.manifest["created"]))
    except GeluVerifyError as error:
        return RunFolder(path, size, problem=str(error))
    facts = run.manifest
    return RunFolder(
        path, size, str(facts["created"]), str(facts.get("command", "")), str(facts["plan"]), int(facts["seed"]),
        len(run.results), Counter(record.grade for record in run.results), committed="recorded" in facts,
        is_latest=is_latest,
    )  # fmt: skip


def size_of(path: Path) -> int:
    """Bytes of all files below; what disappears meanwhile has none."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total


# ---- removing ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PruneLimits:
    """What is to be met after pruning, as far as runs may be removed; None: no limit."""

    keep: int | None = None  # so many runs, the newest
    older_than: datetime.timedelta | None = None
    max_size: int | None = None  # bytes of all of them


def surplus(
    found: Sequence[RunFolder], limits: PruneLimits, now: datetime.datetime, stay: Callable[[RunFolder], str]
) -> tuple[list[RunFolder], list[tuple[RunFolder, str]]]:
    """The runs to remove so that each limit is met, the oldest first; and those over a limit that stay, and why."""
    runs = [each for each in found if each.is_run]
    over = set[Path]()
    if limits.keep is not None:
        over |= {each.path for each in runs[: max(len(runs) - limits.keep, 0)]}
    if limits.older_than is not None:
        over |= {each.path for each in runs if _moment(each.created) < now - limits.older_than}
    total = sum(each.size for each in runs)
    removed, staying = [], []
    for each in runs:
        if each.path not in over and (limits.max_size is None or total <= limits.max_size):
            continue
        if reason := stay(each):
            staying.append((each, reason))
        else:
            removed.append(each)
            total -= each.size
    return removed, staying


def _moment(created: str) -> datetime.datetime:
    """When a run was stored; ResultsError of 2026-02-30, which has the form of a time and is none."""
    try:
        return datetime.datetime.strptime(created, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC)
    except ValueError:
        raise ResultsError(f"cannot be dated: created is {created!r}") from None


def protected(entry: RunFolder, report_files: Collection[str]) -> str:
    """Why a run must stay; empty where it may go. `report_files`: what a report writes into its folder."""
    if entry.is_latest:
        return f"{LATEST} names it"
    if entry.committed:
        return "it is a recorded run"
    if foreign := _foreign(entry.path, report_files):
        return f"it holds {foreign}, which is not part of a run"
    listed = output_of("git", "-C", str(entry.path.parent), "ls-files", "--", entry.path.name)
    return "git has it" if listed else ""


def _foreign(path: Path, report_files: Collection[str]) -> str:
    """The first thing in a run's folder that neither `run` nor `report` writes."""
    for each in sorted(path.iterdir()):
        if each.name == "buckets" and each.is_dir() and not each.is_symlink():
            others = [inner for inner in each.iterdir() if not _BUCKETS.fullmatch(inner.name) or inner.is_dir()]
            if others:
                return f"buckets/{others[0].name}"
        elif each.is_dir() or each.is_symlink() or each.name not in (MANIFEST, *report_files):
            return each.name
    return ""


def remove(entry: RunFolder) -> bool:
    """Remove a run; False where a process uses it. ResultsError where it cannot be removed."""
    try:
        return remove_unused(entry.path)
    except FileNotFoundError:  # somebody else did
        return True
    except OSError as error:
        raise ResultsError(f"cannot remove {entry.path}: {error.strerror or error}") from error
