"""The journals of runs that are not finished: beside the runs, until the same command continues them.

A journal is used by a command that asks for the same, of the same code, libraries and processor, and of implementations
with the same files and outputs; where anything differs, it is removed after KEPT_DAYS, or as one of too many.
"""

from __future__ import annotations

import ast
import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from pathlib import Path

from ..errors import GeluVerifyError, ResultsError
from ..inputs.plans import Plan
from ..measure.identity import identity, implementation
from ..measure.jobs import Job
from ..measure.kept import Kept, has_measured
from ..measure.request import Request
from ..work.journal import Facts, Journal
from ..work.journals import discard as discard_journals
from ..work.journals import open_journal, remove_old
from ..work.pools import CONTINUES

NAMES = ("targets", "functions", "dtypes")  # of a request: what a journal is named by; all else is compared
ALL = "all"  # chunks of a journal that is not that of a part
_ELSEWHERE = ("workers", "executor", "plan_of", "buckets_of", "repeat")  # changes no result of a command


def facts(request: Request, jobs: Sequence[Job], chunks: tuple[int, int] | None = None) -> Facts:
    """All that decides results: the request, what it runs on, and the implementations with their inputs."""
    return {
        **facts_of_request(request),
        "chunks": ALL if chunks is None else f"{chunks[0]}:{chunks[1]}",
        **identity({job.target.family for job in jobs}),
        **{name: text for job in jobs for name, text in implementation(job.target).items()},
        **{f"the inputs of {job.key}": _inputs(job.plan) for job in jobs},
    }


def facts_of_request(request: Request) -> Facts:
    """All of it that changes results."""
    asked = {each.name: repr(_plain(getattr(request, each.name))) for each in fields(Request)}
    return {name: text for name, text in asked.items() if name not in _ELSEWHERE}


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def _inputs(plan: Plan) -> str:
    return f"{len(plan.chunks)} chunks of plan {plan.name}, {plan.inputs_sha256[:16]}"


def request_of(found: Facts) -> Request:
    """The request that a journal was made for."""
    names = {each.name for each in fields(Request)} - set(_ELSEWHERE)
    return Request(**{name: ast.literal_eval(text) for name, text in found.items() if name in names})


@contextmanager
def journal_of_run(
    root: Path,
    name: str,
    here: Facts,
    warn: Callable[[str], object] = lambda message: None,
    keep: Path | None = None,
    jobs: Sequence[Job] = (),
) -> Iterator[Journal | None]:
    """The journal of a run named `name` (or of what is asked for) in `root`; it stays where it is left with an error.

    `warn` is told which journal is not used, and why; `keep` is the name that its folder gets at the end, where it is
    not to be removed. One in which something is kept of another implementation than that of `jobs` is not used. None
    where no journal can be written.
    """
    remove_old(root)
    key = os.fsencode(name) or repr([here[each] for each in NAMES]).encode()
    with ExitStack() as closing:
        journal = _opened(root, key, here, jobs, warn, closing)
        if journal is None:
            yield None
            return
        folder = journal.path.parent
        try:
            yield journal
        except BaseException as error:
            journal.close()
            if not has_measured(journal):
                shutil.rmtree(folder, ignore_errors=True)
            elif isinstance(error, GeluVerifyError):
                error.args = (f"{str(error).removesuffix(CONTINUES).rstrip('; ')}; {CONTINUES}",)
            else:
                warn(f"what was measured is kept in {folder}: {CONTINUES} from there")
            raise
        journal.close(flush=keep is not None)
        if keep is not None:
            try:
                folder.rename(keep)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                raise ResultsError(f"{keep} was made meanwhile; what was measured here is in {folder}") from None
            return
        shutil.rmtree(folder, ignore_errors=True)


def discard(out: Path) -> None:
    """Remove what is left of the journals of a run that stands in its place: it was killed when all was done."""
    discard_journals(out.parent, os.fsencode(out.name))


def _opened(
    root: Path, key: bytes, here: Facts, jobs: Sequence[Job], warn: Callable[[str], object], closing: ExitStack
) -> Journal | None:
    """The journal to continue, or a new one; None where none can be written."""
    try:
        journal = open_journal(root, key, here, lambda journal: _changed(journal, jobs, warn), closing, warn)
    except (OSError, ResultsError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResultsError(f"cannot write {error.filename}: {error.strerror}") from None
        warn(f"there is no journal, and an interrupted run will start again: {error}")
        return None
    if has_measured(journal):
        warn(f"continues the interrupted run in {journal.path.parent}")
    for problem in journal.damaged:
        warn(f"{journal.path} is damaged: {problem} is measured again")
    return journal


def _changed(journal: Journal, jobs: Sequence[Job], warn: Callable[[str], object]) -> str:
    """Why something in it is of another implementation than that of the job, in words; empty where nothing is."""
    for job in jobs:
        reason, uncertain = Kept(journal, job.key).changed(job.target)
        if reason:
            return reason
        if uncertain:
            warn(uncertain)
    return ""
