"""Journals of work that was interrupted: beside its results, until the same work continues them.

A journal is a folder `.journal-<key>-<n>` with one file. It is used by work with the same facts; where anything
differs, it stays for the work that it belongs to.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path

from ..atomic_files import claimed
from ..errors import ResultsError
from .journal import Facts, Journal, differing, facts_of

PREFIX, FILE = ".journal-", "journal"
KEPT_DAYS, MOST = 30, 16  # of journals that nobody continues: how long, and how many in one folder


def open_journal(
    root: Path,
    key: bytes,
    here: Facts,
    changed: Callable[[Journal], str],
    closing: ExitStack,
    warn: Callable[[str], object],
    what: str = "the interrupted run",
) -> Journal:
    """The first journal of that key that nobody uses, and that is of the same work, or a new one; ours until `closing`.

    `changed` says, in words, why a journal with the same facts is of other work; `warn` is told which journal is not
    used, and why. OSError or ResultsError where none can be written.
    """
    for count in range(1, MOST + 1):
        folder = root / f"{_prefix(key)}{count}"
        try:
            with ExitStack() as trying:
                if not trying.enter_context(claimed(folder)):
                    continue
                there = facts_of(folder / FILE)
                reason = differing(there, here) if there is not None else ""
                if not reason:
                    journal = trying.enter_context(_readable(folder / FILE, here, there is not None, warn))
                    if not (reason := changed(journal)):
                        closing.push(trying.pop_all())
                        return journal
                warn(f"{what} in {folder} is not continued: {reason}")
        except OSError:
            with suppress(OSError):
                folder.rmdir()
            raise
    raise ResultsError(f"{root} has {MOST} journals of other work (remove some)")


def _readable(file: Path, here: Facts, is_there: bool, warn: Callable[[str], object]) -> Journal:
    if not is_there and file.exists():
        warn(f"{file} is damaged, and what it is of is not known: all of it is measured again")
        file.unlink()
    return Journal(file, here, warn)


def discard(root: Path, key: bytes) -> None:
    """Remove the journals of that key that nobody uses."""
    for folder in root.glob(f"{_prefix(key)}*"):
        _remove(folder)


def remove_old(root: Path) -> None:
    """Remove journals that nobody uses, and that are old or too many."""
    found = sorted((age, folder) for folder in root.glob(f"{PREFIX}*") if (age := _age(folder)) is not None)
    for index, (age, folder) in enumerate(found):
        if age > KEPT_DAYS * 86400 or index >= MOST:
            _remove(folder)


def _remove(folder: Path) -> None:
    with suppress(OSError), claimed(folder) as is_ours:
        if is_ours:
            shutil.rmtree(folder, ignore_errors=True)


def _age(folder: Path) -> float | None:
    """Seconds since something was appended."""
    try:
        return time.time() - (folder / FILE).stat().st_mtime
    except OSError:
        return None


def _prefix(key: bytes) -> str:
    return f"{PREFIX}{sha256(key).hexdigest()[:12]}-"
