"""Committed runs: results of another machine or day, small enough to be committed (`data/runs/`).

A committed run is a stored run (`store.py`) whose manifest says under `recorded` when, and on what, it was measured.
Its bucket tables are folded into the bins of the report: it is read beside live runs for families that cannot be
measured here. Or it is condensed: no buckets, and of each result the numbers of the published matrix (docs/matrix.md).
The `origin` of its records says so ("recorded 2026-11-21 on NVIDIA H100"), and why a result of our own code no longer
counts, because that code has changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..buckets.bins import FOLDED
from ..gpu.info import label
from ..paths import resource
from ..records.result import Origin, Record
from ..records.schema import condensed
from ..targets import families, module_of
from .bucket_files import folded_file, read_columns
from .integrity import verified
from .store import MANIFEST, Run, read_run, sealed, write_folder

if TYPE_CHECKING:
    import pandas as pd

MATRIX = "matrix"  # how the name of a condensed run begins


def default_root() -> Path:
    """data/runs, of the installed package or of the checkout."""
    return resource("data/runs")


# ---- writing -------------------------------------------------------------------------------------


def commit(run: Run, root: Path, *, matrix: bool = False) -> Path:
    """Keep a stored run in a new folder of `root`, named by its families and its day; that folder.

    `matrix`: condensed, and named so.

    Raises
    ------
    ResultsError : when the place cannot be written, or a bucket table of the run cannot be read
    """
    date, device = _day(run), _device(run)
    facts = {key: value for key, value in run.manifest.items() if key != "content_sha256"}
    contents: dict[str, bytes] = {}
    if matrix:
        name, results = MATRIX, [condensed(record) for record in run.results]
        facts["recorded"] = {"date": date, "device": device, "condensed": True}
    else:
        name = "-".join(sorted({record.family for record in run.results}))
        results = [_folded_result(run, index, contents) for index in range(len(run.results))]
        facts["recorded"] = {"date": date, "device": device}
    return write_folder({**contents, MANIFEST: sealed(facts, results)}, root, f"{name}-{date}")


def _day(run: Run) -> str:
    return str(run.manifest["created"])[:10]


def _device(run: Run) -> str:
    return label(run.manifest.get("device")) or run.manifest["machine"].get("cpu", "an unknown machine")


def _folded_result(run: Run, index: int, contents: dict[str, bytes]) -> Record:
    """A result with its folded buckets, which are put into `contents`."""
    record = run.results[index]
    if record.buckets is None:
        return record
    name = f"buckets/{index:03d}.parquet"
    contents[name] = folded_file(read_columns(run.buckets(index)), record)
    return replace(record, buckets=name, sha256=hashlib.sha256(contents[name]).hexdigest())


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CommittedRun:
    """Some results of a committed run; it is read like a stored run."""

    run: Run
    indices: tuple[int, ...]  # of the results in the whole run
    results: Sequence[Record]

    @property
    def path(self) -> Path:
        return self.run.path

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.run.manifest

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """As `Run.table`; of the columns in FOLDED."""
        found = None if columns is None else [name for name in columns if name in FOLDED]
        return self.run.table(self.indices[index], found)


def committed_runs(root: Path | None = None, without: Collection[str] = ()) -> list[CommittedRun]:
    """The committed runs with buckets in `root` (default: data/runs), the newest first.

    Each has the results that no newer one has; those of the families in `without` are left out: they were measured.
    """
    taken: set[str] = set()
    found = []
    for run in _newest_first(root, matrix=False):
        versions = current_versions({record.family for record in run.results})
        indices = [i for i, r in enumerate(run.results) if r.family not in without and r.key not in taken]
        taken |= {run.results[i].key for i in indices}
        if indices:
            records = [replace(run.results[i], origin=_origin(run, run.results[i], versions)) for i in indices]
            found.append(CommittedRun(run, tuple(indices), records))
    return found


def matrix_runs(root: Path | None = None) -> list[Run]:
    """The condensed runs in `root` (default: data/runs), the newest first."""
    return _newest_first(root, matrix=True)


def _newest_first(root: Path | None, matrix: bool) -> list[Run]:
    found = (default_root() if root is None else root).glob(f"*/{MANIFEST}")
    folders = [file.parent for file in sorted(found) if file.parent.name.startswith(f"{MATRIX}-") == matrix]
    runs = [verified(read_run(folder)) for folder in folders]
    # of one second the later folder, whose name has the larger number at its end
    return sorted(runs, key=lambda run: (str(run.manifest["created"]), len(run.path.name), run.path.name), reverse=True)


def committed_results(asked: Iterable[str], root: Path | None = None) -> list[Record]:
    """What is committed of those families."""
    known = set(asked).intersection(families())
    runs = committed_runs(root) if known else ()
    return [record for run in runs for record in run.results if record.family in known]


def current_versions(asked: Collection[str]) -> dict[str, Collection[str]]:
    """{family: hashes of its sources} of the families that are our own code, as the code is now.

    A family module says so with `versions()`, which needs no device.
    """
    found = {}
    for family in set(asked) & set(families()):
        versions = getattr(import_module(module_of(family)), "versions", None)
        if versions is not None:
            found[family] = versions()
    return found


def _origin(run: Run, record: Record, versions: Mapping[str, Collection[str]]) -> Origin:
    """Where a result comes from, and whether that still counts."""
    facts = run.manifest.get("recorded") or {"date": _day(run), "device": _device(run)}
    date, device = facts["date"], record.executed or facts["device"]
    return Origin(_day(run), device, f"recorded {date} on {device}", stale_reason(record, versions))


def stale_reason(record: Record, versions: Mapping[str, Collection[str]]) -> str:
    """Why a result of our own code no longer counts, by its `current_versions`; empty where it does."""
    ours = versions.get(record.family)
    if ours is None or record.version in ours:
        return ""
    return f"stale: the source was {record.version}, and is {' or '.join(sorted(ours)[:3]) or 'gone'} now"
