"""The published runs: those of a folder and those of the store. A name from a client never becomes a path."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import ResultsError
from ..records.result import Record
from ..records.serialize import to_json
from ..report.verdicts import function_rank, headline, target_order
from ..runs.integrity import verified
from ..runs.store import LATEST, MANIFEST, Run, read_run
from .store import RUNS, Store

Row = dict[str, Any]
REFRESH_S = 2.0


class RunRepository:
    """Published runs by name, the newest first."""

    def __init__(self, store: Store | None, folder: Path | None) -> None:
        self._store, self._folder = store, folder
        self._lock, self._refreshed, self._folders = Lock(), -REFRESH_S, dict[str, Path]()

    def names(self) -> list[str]:
        """Names of all runs, the newest first."""
        return sorted(self._paths(), reverse=True)

    def run(self, name: str) -> Run | None:
        """The run of that name; None if there is none or it is damaged."""
        path = self._paths().get(name)
        return None if path is None or _damage(path) else _read(path)

    def damage(self, name: str) -> str:
        """What is wrong with the run of that name; empty if nothing is, or if there is no such run."""
        path = self._paths().get(name)
        return "" if path is None else _damage(path)

    def summaries(self, before: str | None = None, count: int | None = None) -> list[Row]:
        """One row for each run, or for at most `count` older than `before`; a damaged run's says what is wrong."""
        names = [name for name in self.names() if before is None or name < before]
        found = ((name, self.run(name)) for name in names[:count])
        return [damaged(name, self.damage(name)) if run is None else summary(name, run) for name, run in found]

    def matrix(self) -> list[Row]:
        """The newest result of each target, function and dtype."""
        newest: dict[str, Row] = {}
        stored = {} if self._store is None else dict(self._store.newest())
        done: set[tuple[str, str, str]] = set()
        for name in self.names():
            if stored.get(name) in done:  # the index knows that a newer run has this result: do not read this one
                continue
            run = self.run(name)
            if run is not None and name in stored:
                done.add(stored[name])
            for record in [] if run is None else run.results:
                newest.setdefault(record.key, _cell(name, record))
        return sorted(newest.values(), key=_rank)

    def _paths(self) -> dict[str, Path]:
        with self._lock:
            if time.monotonic() - self._refreshed > REFRESH_S:
                self._folders, self._refreshed = self._found(), time.monotonic()
            return self._folders

    def refresh(self) -> None:
        """List the folders again at the next request: a run was just stored."""
        self._refreshed = -REFRESH_S

    def _found(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        if self._folder is not None and self._folder.is_dir():
            paths = [self._folder, *self._folder.iterdir()]
            found = {p.name: p for p in paths if (p / MANIFEST).is_file() and p.name != LATEST and p.name[:1] != "."}
        if self._store is not None:
            found |= {name: self._store.folder / RUNS / name for name in self._store.names()}
        return found


def summary(name: str, run: Run) -> Row:
    """A run as an item of a list."""
    manifest = run.manifest
    return {
        "id": name,
        "created": manifest["created"],
        "plan": manifest["plan"],
        "seed": manifest["seed"],
        "command": manifest["command"],
        "results": len(run.results),
        "headline": headline(run.results),
        "links": links(name),
        "damaged": None,
    }


def damaged(name: str, wrong: str) -> Row:
    """A damaged run as an item of a list."""
    empty = {"created": "", "plan": "", "seed": 0, "command": "", "results": 0}
    return {"id": name, **empty, "headline": "damaged", "links": {}, "damaged": wrong or "it cannot be read"}


def links(name: str) -> dict[str, str]:
    base = f"/v1/runs/{name}"
    return {"self": base, "report": f"{base}/report.html", "summary_csv": f"{base}/summary.csv"}


def _cell(name: str, record: Record) -> Row:
    keys = ("target", "family", "function", "dtype", "form", "version", "bound", "max_ulp")
    witness = None if record.witness is None else to_json(record.witness)
    return {
        **{key: getattr(record, key) for key in keys},
        "witness": witness,
        "failure": record.failure,
        "grade": record.grade,
        "grade_bound": record.grade_bound,
        "sentence": record.sentence,
        "failed_checks": record.failed_checks,
        "run": name,
    }


def _rank(row: Row) -> tuple[Any, ...]:
    return (function_rank(row["function"]), *target_order(row["family"], row["target"]), row["dtype"])


def _read(path: Path) -> Run | None:
    try:
        return _read_version(path, _version(path))
    except (OSError, ResultsError):
        return None


def _damage(path: Path) -> str:
    try:
        return _damage_of_version(path, _version(path))
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def _version(path: Path) -> tuple[int, ...]:
    """The times at which its files were written."""
    files = [path / MANIFEST, *sorted((path / "buckets").glob("*"))]
    return tuple(file.stat().st_mtime_ns for file in files)


@lru_cache(maxsize=1 << 12)
def _damage_of_version(path: Path, version: tuple[int, ...]) -> str:
    """What is wrong with one version of a run, without its path; empty if nothing is."""
    try:
        verified(_read_version(path, version))
    except ResultsError as error:
        return str(error).replace(f"{path}/", "").replace(str(path), path.name)
    return ""


@lru_cache(maxsize=32)
def _read_version(path: Path, version: tuple[int, ...]) -> Run:
    """One version of a run."""
    return read_run(path)
