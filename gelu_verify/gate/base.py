"""The code that a budget is of, measured here: exact limits where conditions or inputs are not those of the budget.

The last bits of a result depend on compiler, libm, libraries and instruction set. So a row that was made under others
says little here to the last bit; the code that it is of does, measured on this machine, on these inputs. That is the
first commit with the row (its digest names it), or a revision that is named.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from ..calling import OPTIONS
from ..compare.measuring import measured_at
from ..compare.revisions import Repository, Revision
from ..errors import GeluVerifyError, UsageError
from ..records.result import Record
from .budgets import budgets_in, digest_of, make_budgets
from .measurements import Measurements
from .project import NAMES, Project, project_at
from .rows import SCHEMA, Budgets, Row, differences_here, is_exact, on_gpu, row_for

SHALLOW = (
    "the history is shallow (`git fetch --unshallow`; `fetch-depth: 0` of actions/checkout, GIT_DEPTH: 0 of GitLab)"
)


@dataclass(frozen=True)
class Bases:
    """Rows made here, by target/function/dtype, what they are of, and why there is none of others."""

    rows: Mapping[str, Row] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


NO_BASES = Bases()


def measure_bases(
    found: Measurements,
    budgets: Budgets,
    project: Project,
    revision: str | None,
    say: Callable[[str], object],
) -> Bases:
    """Of each result whose budget was made otherwise: the row that its code gets on this machine.

    Raises
    ------
    UsageError : `revision` is none of the repository
    """
    wanted, today = list(_wanted(found, budgets)), f"{datetime.now(UTC):%Y-%m-%d}"
    rows, labels, absent = dict[str, Row](), dict[str, str](), dict[str, str]()
    if not wanted and revision is None:
        return NO_BASES
    try:
        repository = Repository.around(project.folder)
    except GeluVerifyError as error:
        if revision is not None:
            raise
        return Bases(absent=dict.fromkeys((record.key for record, _ in wanted), str(error)))
    named = repository.revision(revision) if revision is not None else None
    by_revision: dict[Revision, list[Record]] = {}
    for record, row in wanted:
        try:
            revision_of = named or _revision_of(repository, project.budgets, budgets.schema, record, row)
            by_revision.setdefault(revision_of, []).append(record)
        except GeluVerifyError as error:
            absent[record.key] = str(error)
    for each, records in by_revision.items():
        with repository.checked_out(each) as (place, variables), TemporaryDirectory() as scratch:
            then = project_at(place)
            _bring(project, place)
            old = _OldCode(repository, each, then, place, variables, Path(scratch), say)
            for record in records:
                try:
                    there = old.record(record)
                    made = make_budgets([there], found.machine, today, lambda *_: "as it was")
                except GeluVerifyError as error:
                    absent[record.key] = str(error)
                    continue
                (rows[record.key],) = made.rows.values()
                is_same = "the same code as at" if _are_same(there, record) else "held against"
                labels[record.key] = f"{is_same} {each.label}{old.called(record)}"
    return Bases(rows, labels, absent)


def _wanted(found: Measurements, budgets: Budgets) -> Iterator[tuple[Record, Row]]:
    """Results of code in files whose row is not exact here, with that."""
    for record in found.records:
        row = row_for(budgets, record, found.machine)
        if record.family != "callable" or on_gpu(record) or record.has_failed or row is None:
            continue
        if differences_here(row, record, found.machine) or not is_exact(row, record):
            yield record, row


def _revision_of(repository: Repository, budgets: Path, schema: int, record: Record, row: Row) -> Revision:
    """The first commit with the row; UsageError where that is not known."""
    if schema < SCHEMA:
        raise UsageError("rows of an earlier version do not name their commit (`gelu-verify budget` makes them anew)")
    text = f'"{digest_of(record.key + row.scope, row)}"'
    revision = repository.first_with(text, budgets, "the commit of its budget", _is_of_budgets, NAMES)
    if revision is None or revision.commit is None:
        raise UsageError("its row is not committed")
    if repository.begins_with(revision.commit):
        raise UsageError(SHALLOW)
    return revision


def _is_of_budgets(text: str) -> bool:
    """Whether that is what a file of budgets contains."""
    try:
        return bool(budgets_in(text, "it"))
    except UsageError:
        return False


def _bring(project: Project, place: Path) -> None:
    """The configuration and the hard cases of now, to the folder of a revision."""
    for file in (project.file, project.hard_cases):
        if file.exists() and file.is_relative_to(project.folder):
            there = place / file.relative_to(project.folder)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, there)


@dataclass(frozen=True)
class _OldCode:
    """A revision in the folder where it is checked out, and the environment variables of that."""

    repository: Repository
    revision: Revision
    project: Project | None
    place: Path
    variables: Mapping[str, str]
    scratch: Path
    say: Callable[[str], object]

    def record(self, now: Record) -> Record:
        """What it gives for the target and inputs of a result, called as its own project says; also where its version
        is the same, as code may read files that are no part of that."""
        if not self.repository.has(self._target(now), self.place):
            raise UsageError(f"{self.revision.label} has no {now.target}")
        self.say(f"measuring {now.key} at {self.revision.label}")
        words = [self._target(now), *_options(now)[0], *self._options(now), "--throughput", "none", "--no-report"]
        with TemporaryDirectory(dir=self.scratch) as folder:
            run = measured_at(self.place, self.variables, words, Path(folder) / "run", self.revision.label)
        (found,) = run.results
        return found

    def called(self, now: Record) -> str:
        """How, where that was in another way."""
        then = self._options(now)
        return "" if _options(now)[1] == then else f", called with {shlex.join(then) or 'no options'} as there"

    def _options(self, now: Record) -> list[str]:
        entry = self.project.entry(now) if self.project else None
        return entry.request.words("code") if entry else []

    def _target(self, now: Record) -> str:
        """By which the folder of the revision has it: an absolute path would be that of the working tree."""
        return self.repository.relative(now.target)


def _are_same(one: Record, other: Record) -> bool:
    """Whether they are of the same code, which is called in the same way and gives the same."""
    facts = ((each.version, _options(each)[1], each.inputs_sha256, each.bits_sha256) for each in (one, other))
    return next(facts) == next(facts)


def _options(record: Record) -> tuple[list[str], list[str]]:
    """The options of the command that repeats a result: the others, and those that say how the code is called."""
    others, code, words = list[str](), list[str](), iter(shlex.split(record.repeat)[3:])
    for word in words:
        name, has_value, _ = word.partition("=")
        option = next((each for each in OPTIONS.values() if each.of == "code" and each.typed == name), None)
        (code if option else others).append(word)
        if option and not has_value and option.reading != "yes":
            code.append(next(words))
    return others, code
