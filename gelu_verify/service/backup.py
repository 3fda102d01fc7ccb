"""A copy of what a server keeps, made while it runs, and a server's folders made of it: stored runs, jobs, tokens.

A stored run is whole when it has its name and never changes, so runs can be copied one by one; the index of the store
follows from them. The table of jobs is copied by SQLite.
"""

from __future__ import annotations

import io
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ..atomic_files import is_free, replace_file, unfinished_folder
from ..errors import ResultsError, UsageError, cannot
from ..runs.integrity import verified
from ..runs.store import read_run
from .jobs import NAME as JOBS
from .store import RUNS, Store
from .tokens import parse_tokens

TOKENS = "tokens"


def back_up(archive: Path, store: Path, jobs: Path | None = None, tokens: Path | None = None) -> int:
    """Write a tar file of a store, the folder of the jobs and the file of the tokens; the number of runs in it.

    Raises
    ------
    ResultsError : the archive is there, something cannot be read or written, or a run is damaged
    """
    if archive.exists():
        raise ResultsError(f"{archive} is already there: name a new file")
    if not (store / RUNS).is_dir():
        raise ResultsError(f"{store} is not a store: it has no folder {RUNS}")
    count = 0
    with cannot(f"write {archive}"), unfinished_folder(archive.absolute().parent) as work:
        made = work / archive.name
        made.touch(0o600)
        with tarfile.open(made, "w") as written:
            for run in _runs(store / RUNS):
                count += 1
                for name, content in run.items():
                    _add(written, name, content)
            if jobs is not None:
                _add(written, JOBS, _table(jobs / JOBS))
            if tokens is not None:
                _add(written, TOKENS, tokens.read_bytes())
        made.rename(archive)
    return count


def restore(archive: Path, store: Path, jobs: Path | None = None, tokens: Path | None = None) -> int:
    """Make a store, a folder of jobs and a file of tokens of such a file; the number of runs.

    Raises
    ------
    UsageError : the archive has no jobs, or no tokens, and they were asked for
    ResultsError : it is none, or damaged; something is already there, or cannot be written
    """
    for place in filter(None, (store, jobs)):
        if not is_free(place):
            raise ResultsError(f"{place} is not empty: name a new folder")
    if tokens is not None and tokens.exists():
        raise ResultsError(f"{tokens} is already there: name a new file")
    with cannot(f"restore {archive}"):
        store.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(store) as work:  # in the store, which may be a file system of its own
            runs = _unpacked(archive, work)
            for name, wanted in ((JOBS, jobs), (TOKENS, tokens)):
                if wanted is not None and not (work / name).is_file():
                    raise UsageError(f"{archive} has no {name}")
            if jobs is not None:
                jobs.mkdir(parents=True, exist_ok=True)
                replace_file(jobs / JOBS, (work / JOBS).read_bytes())
            if tokens is not None:
                tokens.touch(0o600)
                tokens.write_bytes((work / TOKENS).read_bytes())
            (work / RUNS).rename(store / RUNS)
    Store(store).close()
    return runs


def _unpacked(archive: Path, work: Path) -> int:
    """Write the files of a backup below `work`, and check them; the number of runs."""
    try:
        with tarfile.open(archive) as read:
            read.extractall(work, filter="data")
    except tarfile.TarError as error:
        raise ResultsError(f"{archive} is not a backup: {error}") from None
    if not (work / RUNS).is_dir():
        raise ResultsError(f"{archive} is not a backup: it has no folder {RUNS}")
    runs = list((work / RUNS).iterdir())
    for run in runs:
        verified(read_run(run))
    if (work / TOKENS).is_file():
        parse_tokens((work / TOKENS).read_text(encoding="utf-8"))
    return len(runs)


def _runs(folder: Path) -> Iterator[dict[str, bytes]]:
    """The files of each run; not of one that is deleted meanwhile."""
    for run in sorted(folder.iterdir()):
        if run.name.startswith("."):
            continue
        try:
            files = sorted(file for file in run.rglob("*") if file.is_file())
            found = {f"{RUNS}/{file.relative_to(folder)}": file.read_bytes() for file in files}
        except FileNotFoundError:
            found = {}
        if run.exists():
            read_run(run)
            yield found


def _table(path: Path) -> bytes:
    """A table of jobs as it is at this moment."""
    with tempfile.NamedTemporaryFile() as copy:
        try:
            source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
            with closing(source) as table, closing(sqlite3.connect(copy.name)) as target:
                table.backup(target)
        except sqlite3.Error as error:
            raise ResultsError(f"the table of jobs {path} cannot be read: {error}") from error
        return Path(copy.name).read_bytes()


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o600
    archive.addfile(member, io.BytesIO(content))
