"""The code that a budget is of, measured here: exact limits where conditions or inputs are not those of the budget.

The last bits of a result depend on compiler, libm, libraries and instruction set. So a row that was made under others
says little here to the last bit; the code that it is of does, measured on this machine, on these inputs. That is the
commit which brought the row into the file (its digest names it), or a revision that is named.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from ..compare.measuring import measured_at
from ..compare.revisions import Repository, Revision
from ..errors import GeluVerifyError, UsageError
from ..records.result import Record
from .budgets import digest_of, make_budgets
from .measurements import Measurements
from .project import Project
from .rows import Budgets, Row, differences_here, is_exact, on_gpu, row_for

SHALLOW = (
    "the history is shallow (`git fetch --unshallow`; `fetch-depth: 0` of actions/checkout, GIT_DEPTH: 0 of GitLab)"
)


@dataclass(frozen=True)
class Bases:
    """Rows made here, by target/function/dtype, the revisions that they are of, and why there is none of others."""

    rows: Mapping[str, Row] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)


NO_BASES = Bases()


@dataclass
class _Found:
    rows: dict[str, Row] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


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
    wanted = list(_wanted(found, budgets))
    bases = _Found()
    if not wanted:
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
            by_revision.setdefault(named or _revision_of(repository, project.budgets, record, row), []).append(record)
        except GeluVerifyError as error:
            bases.absent[record.key] = str(error)
    for each, records in by_revision.items():
        _measure(repository, each, records, project, bases, say)
    return Bases(bases.rows, bases.labels, bases.absent)


def _wanted(found: Measurements, budgets: Budgets) -> Iterator[tuple[Record, Row]]:
    """Results of code in files whose row is not exact here, with that."""
    for record in found.records:
        row = row_for(budgets, record, found.machine)
        if record.family != "callable" or on_gpu(record) or record.has_failed or row is None:
            continue
        if differences_here(row, record, found.machine) or not is_exact(row, record):
            yield record, row


def _revision_of(repository: Repository, budgets: Path, record: Record, row: Row) -> Revision:
    """The commit that brought the row; UsageError where that is not known."""
    commit = repository.commit_of(budgets, f'"{digest_of(record.key + row.scope, row)}"')
    if commit is None:
        raise UsageError("its row is not committed")
    if repository.begins_with(commit):
        raise UsageError(SHALLOW)
    return Revision("the code of its budget", commit)


def _measure(
    repository: Repository,
    revision: Revision,
    records: Iterable[Record],
    project: Project,
    bases: _Found,
    say: Callable[[str], object],
) -> None:
    """The same targets, inputs and options in the folder of the revision, with the hard cases of now."""
    with repository.checked_out(revision) as (place, variables), TemporaryDirectory() as scratch:
        for file in (project.file, project.hard_cases):
            if file.exists() and file.is_relative_to(project.folder):
                shutil.copy(file, place / file.relative_to(project.folder))
        for n, record in enumerate(records):
            say(f"measuring {record.key} at {revision.label}")
            words = [*shlex.split(record.repeat)[2:], "--throughput", "none"]
            try:
                if not repository.has(repository.relative(record.target), place):
                    raise UsageError(f"{revision.label} has no {record.target}")
                run = measured_at(place, variables, words, Path(scratch) / str(n), revision.label)
                same = [each for each in run.results if each.key == record.key]
                made = make_budgets(same, run.manifest["machine"], str(run.manifest["created"])[:10], _reason(revision))
            except GeluVerifyError as error:
                bases.absent[record.key] = str(error)
                continue
            bases.rows[record.key] = next(iter(made.rows.values()))
            bases.labels[record.key] = revision.label


def _reason(revision: Revision) -> Callable[[Record, str], str]:
    return lambda record, check: f"as at {revision.label}"
