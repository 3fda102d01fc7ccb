"""The store of uploads: one folder with an SQLite index (WAL) and a stored run for each upload.

A run is complete before it gets its name (`runs.store.write_run`), and has its name before it is in the index. If the
process is killed between the two, the next start adds the run to the index: no run is lost, and none is incomplete.
Several processes may share a store.
"""

from __future__ import annotations

import datetime
import secrets
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from ..atomic_files import UNFINISHED, remove_abandoned
from ..errors import ResultsError
from ..records.result import Result
from ..runs.store import MANIFEST, read_run, write_run
from .telemetry import log

INDEX = "index.sqlite"
RUNS = "runs"
BUSY_S = 10.0
ABANDONED_S = 3600.0  # an unfinished run of this age belongs to a process that was killed
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, created TEXT NOT NULL, target TEXT NOT NULL, function TEXT NOT NULL, dtype TEXT NOT NULL,
        plan TEXT NOT NULL, seed INTEGER NOT NULL, bound TEXT NOT NULL, max_ulp REAL, failure TEXT
    ) WITHOUT ROWID;
    CREATE INDEX runs_by_time ON runs (created);
    """,
    "ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0",
)
"""SQL from each version of the index to the next; `user_version` in the index counts those applied."""
_COLUMNS = ("id", "created", "target", "function", "dtype", "plan", "seed", "bound", "max_ulp", "failure", "bytes")
LEAST_FREE = 64 << 20  # bytes that the disk must have for the server to be ready


class Store:
    """A store of uploads.

    Parameters
    ----------
    most_bytes : size of all runs together beyond which none is added; None: no limit
    retain_days : older runs are deleted by `expire`; None: none is

    Raises
    ------
    ResultsError : the folder cannot be read, or was written by a later version
    """

    def __init__(self, folder: Path, most_bytes: int | None = None, retain_days: float | None = None) -> None:
        self.folder, self.most_bytes, self.retain_days = folder, most_bytes, retain_days
        self.writable = True
        self._lock = Lock()
        try:
            (folder / RUNS).mkdir(parents=True, exist_ok=True)
            with self._index() as index:
                self._migrate(index)
            self._reader = self._opened()
            self._reconcile()
        except (ResultsError, OSError) as error:
            if isinstance(error, _NewerVersion) or not (folder / INDEX).is_file():
                raise ResultsError(f"cannot open the store {folder}: {error}") from error
            self.writable = False
            self._reader = self._opened()
            if not self.is_readable():
                raise ResultsError(f"cannot open the store {folder}: {error}") from error

    def add(self, result: Result, *, command: str, facts: dict[str, Any], owner: str = "") -> str:
        """Store one result and return its id, which has the name of its owner, if it has one.

        ResultsError if that failed, and then nothing of it is stored.
        """
        if not self.writable:
            raise ResultsError(f"the store {self.folder} is read-only")
        if self.most_bytes is not None and self.size() >= self.most_bytes:
            raise ResultsError(f"the store {self.folder} holds {self.size()} bytes (accepted: {self.most_bytes})")
        parts = (f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}", owner, secrets.token_hex(4))
        name = "-".join(filter(None, parts))
        record, out = result.record, self.folder / RUNS / name
        write_run([result], out, command=command, seed=record.seed, plan=record.plan, absent={}, facts=facts)
        try:
            self._enter([out])
        except ResultsError:
            shutil.rmtree(out, ignore_errors=True)
            raise
        return name

    def names(self) -> list[str]:
        """Ids of the runs, the newest first."""
        return [row[0] for row in self._select("SELECT id FROM runs ORDER BY created DESC, id DESC")]

    def newest(self) -> list[tuple[str, tuple[str, str, str]]]:
        """Ids of the runs, the newest first, with the target, function and dtype of each."""
        rows = self._select("SELECT id, target, function, dtype FROM runs ORDER BY created DESC, id DESC")
        return [(row[0], row[1:]) for row in rows]

    def size(self) -> int:
        """Bytes of all runs."""
        return int(self._select("SELECT total(bytes) FROM runs")[0][0])

    def remove(self, name: str) -> bool:
        """Delete a run; whether there was one."""
        path = self.path(name)
        if path is None:
            return False
        with self._index() as index:
            index.execute("DELETE FROM runs WHERE id = ?", (name,))
        gone = path.with_name(f"{UNFINISHED}{secrets.token_hex(8)}")  # removed at the next start if we end here
        with suppress(OSError):
            path.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)
        return True

    def expire(self) -> list[str]:
        """Delete the runs that are too old; their ids."""
        if self.retain_days is None or not self.writable:
            return []
        oldest = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=self.retain_days)
        rows = self._select("SELECT id FROM runs WHERE created < ?", f"{oldest:%Y-%m-%dT%H:%M:%SZ}")
        return [row[0] for row in rows if self.remove(row[0])]

    def problem(self) -> str:
        """Why no run could be stored now; empty if one could."""
        if not self.is_readable():
            return "the store cannot be read"
        if not self.writable:
            return "the store is read-only"
        if self.most_bytes is not None and self.size() >= self.most_bytes:
            return "the store has reached its limit of bytes"
        try:
            with tempfile.TemporaryFile(dir=self.folder / RUNS) as file:
                file.write(b"x")
                file.flush()
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            return f"the store cannot be written: {error.strerror}"
        return f"the disk of the store has {free} bytes free" if free < LEAST_FREE else ""

    def path(self, name: str) -> Path | None:
        """Folder of a run; None if the index does not have it."""
        found = self._select("SELECT id FROM runs WHERE id = ?", name)
        return self.folder / RUNS / found[0][0] if found else None

    def is_readable(self) -> bool:
        try:
            self._select("SELECT count(*) FROM runs")
        except ResultsError:
            return False
        return True

    def close(self) -> None:
        """Close the index."""
        self._reader.close()

    def _select(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Rows, from the connection that stays open, so that reading works on a full disk."""
        try:
            with self._lock:
                return self._reader.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise ResultsError(f"the index of {self.folder} cannot be read: {error}") from error

    # ---- the index -------------------------------------------------------------------------------

    @contextmanager
    def _index(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed at the end, or rolled back."""
        try:
            with closing(self._opened()) as index, index:
                yield index
        except sqlite3.Error as error:
            raise ResultsError(f"the index of {self.folder} failed: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        path = (self.folder / INDEX).resolve().as_uri()
        mode = "rwc" if self.writable else "ro&immutable=1"
        try:
            index = sqlite3.connect(f"{path}?mode={mode}", uri=True, timeout=BUSY_S, check_same_thread=False)
            if self.writable:
                _set_write_ahead(index)
                index.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise ResultsError(f"the index of {self.folder} cannot be opened: {error}") from error
        return index

    def _migrate(self, index: sqlite3.Connection) -> None:
        """Bring an index of an earlier version up to date; two processes may try at the same time."""
        index.execute("BEGIN IMMEDIATE")
        version = index.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise _NewerVersion(f"it has version {version}, this program knows up to {len(MIGRATIONS)}")
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            for statement in filter(str.strip, script.split(";")):
                index.execute(statement)
            index.execute(f"PRAGMA user_version = {number}")

    def _reconcile(self) -> None:
        """Make index and folders agree: finish or remove what a killed process left."""
        remove_abandoned(self.folder / RUNS, ABANDONED_S)
        indexed = set(self.names())  # before the folders are listed: a run in the index has its folder by now
        folders = {path.name: path for path in (self.folder / RUNS).iterdir()}
        present = {name for name, path in folders.items() if (path / MANIFEST).is_file() and not name.startswith(".")}
        self._enter([folders[name] for name in sorted(present - indexed)])
        with self._index() as index:
            index.executemany("DELETE FROM runs WHERE id = ?", [(name,) for name in indexed - present])

    def _enter(self, paths: Sequence[Path]) -> None:
        rows = [row for path in paths if (row := _row(path)) is not None]
        marks = ", ".join("?" * len(_COLUMNS))
        with self._index() as index:
            index.executemany(f"INSERT OR IGNORE INTO runs ({', '.join(_COLUMNS)}) VALUES ({marks})", rows)


def _set_write_ahead(index: sqlite3.Connection) -> None:
    """Switch to WAL; retry while another process does the same, for which SQLite does not wait."""
    end = time.monotonic() + BUSY_S
    while True:
        try:
            index.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


class _NewerVersion(ResultsError):
    """An index of a later version."""


def _row(path: Path) -> tuple[Any, ...] | None:
    """The row of a run in the index; None if the run is damaged: that is logged, and the run left in its place."""
    try:
        run = read_run(path)
        if not run.results:
            raise ResultsError(f"{path} has no result")
    except ResultsError as error:
        log("damaged run", run=path.name, problem=str(error))
        return None
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.name, run.manifest["created"], *(getattr(run.results[0], name) for name in _COLUMNS[2:-1]), size
