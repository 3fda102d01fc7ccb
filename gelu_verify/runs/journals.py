"""The journals of runs that are not finished: beside the runs, until the same command continues them.

A journal is a folder `.journal-<what was asked for>-<n>` in the folder of the runs, with one file. It is used by a
command that asks for the same, of the same code, libraries and processor, and of implementations with the same files
and outputs; where anything differs, it stays for the command that it belongs to, and is removed after KEPT_DAYS, or as
one of too many.
"""

from __future__ import annotations

import ast
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from hashlib import sha256
from pathlib import Path

from ..atomic_files import claimed
from ..errors import GeluVerifyError, ResultsError
from ..inputs.plans import Plan
from ..measure.identity import identity, implementation
from ..measure.jobs import Job
from ..measure.kept import Kept, has_measured
from ..measure.request import Request
from ..work.journal import Facts, Journal, differing, facts_of
from ..work.pools import CONTINUES

PREFIX, FILE = ".journal-", "journal"
KEPT_DAYS, MOST = 30, 16  # of journals that nobody continues: how long, and how many in one folder
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
    _remove_old(root)
    key = os.fsencode(name) or repr([here[each] for each in NAMES]).encode()
    with ExitStack() as closing:
        journal = _opened(root, _prefix(key), here, jobs, warn, closing)
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
            folder.rename(keep)
            return
        shutil.rmtree(folder, ignore_errors=True)


def discard(out: Path) -> None:
    """Remove what is left of the journals of a run that stands in its place: it was killed when all was done."""
    for folder in out.parent.glob(f"{_prefix(os.fsencode(out.name))}*"):
        with suppress(OSError), claimed(folder) as is_ours:
            if is_ours:
                shutil.rmtree(folder, ignore_errors=True)


def _prefix(key: bytes) -> str:
    return f"{PREFIX}{sha256(key).hexdigest()[:12]}-"


def _opened(
    root: Path, prefix: str, here: Facts, jobs: Sequence[Job], warn: Callable[[str], object], closing: ExitStack
) -> Journal | None:
    """The first journal of that key that nobody uses, and that is of the same work, or a new one."""
    try:
        for count in range(1, MOST + 1):
            folder = root / f"{prefix}{count}"
            with ExitStack() as trying:
                if not trying.enter_context(claimed(folder)):
                    continue
                there = facts_of(folder / FILE)
                reason = differing(there, here) if there is not None else ""
                if not reason:
                    journal = _readable(folder / FILE, here, there is not None, warn)
                    if not (reason := _changed(journal, jobs, warn)):
                        closing.push(trying.pop_all())
                        return _continued(journal, warn)
                    journal.close()
                warn(f"the interrupted run in {folder} is not continued: {reason}")
    except (OSError, ResultsError) as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            with suppress(OSError):
                folder.rmdir()
            raise ResultsError(f"cannot write {error.filename}: {error.strerror}") from None
        warn(f"there is no journal, and an interrupted run will start again: {error}")
    return None


def _readable(file: Path, here: Facts, is_there: bool, warn: Callable[[str], object]) -> Journal:
    if not is_there and file.exists():
        warn(f"{file} is damaged, and what it is of is not known: all of it is measured again")
        file.unlink()
    return Journal(file, here, warn)


def _changed(journal: Journal, jobs: Sequence[Job], warn: Callable[[str], object]) -> str:
    """Why something in it is of another implementation than that of the job, in words; empty where nothing is."""
    for job in jobs:
        reason, uncertain = Kept(journal, job.key).changed(job.target)
        if reason:
            return reason
        if uncertain:
            warn(uncertain)
    return ""


def _continued(journal: Journal, warn: Callable[[str], object]) -> Journal:
    if has_measured(journal):
        warn(f"continues the interrupted run in {journal.path.parent}")
    for problem in journal.damaged:
        warn(f"{journal.path} is damaged: {problem} is measured again")
    return journal


def _remove_old(root: Path) -> None:
    """Journals that nobody uses, and that are old or too many."""
    found = sorted((age, folder) for folder in root.glob(f"{PREFIX}*") if (age := _age(folder)) is not None)
    for index, (age, folder) in enumerate(found):
        if age > KEPT_DAYS * 86400 or index >= MOST:
            with suppress(OSError), claimed(folder) as is_ours:
                if is_ours:
                    shutil.rmtree(folder, ignore_errors=True)


def _age(folder: Path) -> float | None:
    """Seconds since something was appended."""
    try:
        return time.time() - (folder / FILE).stat().st_mtime
    except OSError:
        return None
