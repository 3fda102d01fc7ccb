"""Files and folders that are written completely or not at all, also beside other processes."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

UNFINISHED, PARTIAL = ".unfinished-", ".partial-"


@contextlib.contextmanager
def unfinished_folder(parent: Path) -> Iterator[Path]:
    """A new folder of `parent` to write in; at the end it is removed, unless it was renamed.

    It is locked until then, and a process that dies releases its lock: `remove_abandoned` removes what it can lock.
    """
    work, lock = _locked_folder(parent)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that holds it locked.

    Between making and locking it, another process may take it for abandoned and remove it: then it is made again.
    """
    while True:
        work = parent / f"{UNFINISHED}{secrets.token_hex(8)}"
        work.mkdir()
        try:
            lock = os.open(work, os.O_RDONLY)
        except FileNotFoundError:
            continue
        _lock(lock, wait=True)
        if _is_at(work, lock):
            return work, lock
        os.close(lock)


def remove_abandoned(parent: Path, older_than: float = 0.0) -> None:
    """Remove the unfinished folders of processes that were killed: their locks are free.

    Only those that have not changed for `older_than` seconds.
    """
    for folder in parent.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):  # another process was faster
            lock = os.open(folder, os.O_RDONLY)
            try:
                if time.time() - os.fstat(lock).st_mtime >= older_than and _lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


@contextlib.contextmanager
def in_use(*folders: Path) -> Iterator[None]:
    """Folders that nobody may remove meanwhile (`remove_unused`); several processes may use one."""
    with contextlib.ExitStack() as opened:
        for folder in folders:
            lock = os.open(folder, os.O_RDONLY)
            opened.callback(os.close, lock)
            _lock(lock, shared=True)
        yield


def remove_unused(folder: Path) -> bool:
    """Remove a folder and all that is in it, at once for whoever looks; False where somebody uses or writes it."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        if not _lock(lock) or not _is_at(folder, lock):
            return False
        with unfinished_folder(folder.parent) as work:  # what is left of it when we are killed is removed later
            folder.rename(work / folder.name)
    finally:
        os.close(lock)
    return True


def _lock(descriptor: int, wait: bool = False, shared: bool = False) -> bool:
    """Whether it is locked until it is closed: not where another process has the lock, or there are no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether the folder that is open still has this name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def is_free(folder: Path) -> bool:
    """Whether a new folder can have this name: nothing has it, or an empty folder."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def replace_file(path: Path, content: bytes, *, flush: bool = False) -> None:
    """Write a file, or replace it at once: a reader sees the old one or the new one, never a part.

    A link stays one, to a new file; a device or a pipe is written to (root could replace /dev/null).
    `flush`: also after a power cut; OSError names `path`.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        write_file(path, content, flush=False)
        return
    place = path.resolve()
    partial = place.with_name(f"{PARTIAL}{secrets.token_hex(8)}")  # not the process number: containers share folders
    try:
        write_file(partial, content, flush=flush)
        partial.replace(place)
        if flush:
            flush_folder(place.parent)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """`replace_file` of a text that people edit: lines end as they do there."""
    is_dos = path.exists() and b"\r\n" in path.read_bytes()
    replace_file(path, (text.replace("\n", "\r\n") if is_dos else text).encode())


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """A file that is always the same; where there is none, `make` writes it, while other processes may make it too."""
    if not path.exists():
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            made = Path(scratch) / path.name
            make(made)
            made.replace(path)
    return path


def remove_partial(folder: Path) -> None:
    """Remove what `replace_file` left in a folder of ours when the process was killed."""
    for path in folder.glob(f"{PARTIAL}*"):
        path.unlink(missing_ok=True)


def write_file(path: Path, content: bytes, *, flush: bool = True) -> None:
    """Write a new file, and flush it to the disk; OSError names it, also where the disk is full."""
    try:
        with path.open("wb") as file:
            file.write(content)
            if flush:
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(path)
        raise


def flush_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def claimed(folder: Path, wait: bool = False) -> Iterator[bool]:
    """Whether a folder, which is made where there is none, is ours alone until the end: not where another has it.

    It stays when it is left. `wait`: until others have left it.
    """
    folder.mkdir(exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        yield _lock(lock, wait) and _is_at(folder, lock)
    finally:
        os.close(lock)


@contextlib.contextmanager
def editing(file: Path) -> Iterator[None]:
    """Until the end nobody else edits the file: who reads and then replaces it waits for the others."""
    folder = file.absolute().parent
    with claimed(folder, wait=True) if folder.is_dir() else contextlib.nullcontext():
        yield
