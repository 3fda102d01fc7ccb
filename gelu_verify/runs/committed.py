"""Recorded runs: results of another machine, small enough to be committed (`data/runs/`), used where it is missing.

A recorded run is a stored run (`results.py`) whose bucket tables are folded into the bins of the report, and whose
manifest says under `recorded` when, and on what, it was measured. It is read beside live runs for families that cannot
be measured here. Its results carry `recorded`, who says so ("recorded 2026-11-21 on NVIDIA H100"), and `stale`: why a
result of our own code no longer says anything, because that code has changed since; empty where it has not.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.bins import layout
from ..fenv import in_default_environment
from ..gpu.info import label
from ..paths import resource
from ..targets import families, module_of
from .integrity import rounded_up, verified
from .store import MANIFEST, Run, metadata_of, read_run, sealed, write_folder

if TYPE_CHECKING:
    import pandas as pd

    from ..measure.sweep import Record

PER_BINADE = 32  # the finest bins that a report draws
COLUMNS = ("bucket", "n", "nonfinite", "max_error")


def default_root() -> Path:
    """data/runs, of the installed package or of the checkout."""
    return resource("data/runs")


# ---- writing -------------------------------------------------------------------------------------


@in_default_environment
def record(run: Run, root: Path) -> Path:
    """Keep a stored run in a new folder of `root`, by its families and its day; that folder.

    Raises
    ------
    ResultsError : when the place cannot be written, or a bucket table of the run cannot be read
    """
    day = run.manifest["created"][:10]
    names = sorted({result["family"] for result in run.results})
    told = {
        "date": day,
        "device": label(run.manifest.get("device")) or run.manifest["machine"].get("cpu", "an unknown machine"),
    }
    contents: dict[str, bytes] = {}
    results = []
    for index, result in enumerate(run.results):
        kept = {key: value for key, value in result.items() if key not in ("recorded", "stale")}
        if result["buckets"] is not None:
            name = f"buckets/{index:03d}.parquet"
            contents[name] = _parquet(folded(run.table(index), result["dtype"]), result)
            kept |= {"buckets": name, "sha256": _hash(contents[name])}
        results.append(kept)
    facts = {key: value for key, value in run.manifest.items() if key not in ("results", "content_sha256")}
    contents[MANIFEST] = sealed({**facts, "recorded": told}, results)
    return write_folder(contents, root, f"{'-'.join(names)}-{day}")


@in_default_environment
def folded(table: pd.DataFrame, dtype: str) -> pd.DataFrame:
    """A bucket table in the finest bins of the report: `bucket` is a bin's first, errors are rounded up to float32."""
    edges = layout(dtype, PER_BINADE).edges
    place = np.searchsorted(edges, table["bucket"].to_numpy(np.int64), side="right") - 1
    inside = (place >= 0) & (place < len(edges) - 1)
    bins = table.loc[inside, list(COLUMNS)].groupby(place[inside])
    rows = bins.agg({"n": "sum", "nonfinite": "sum", "max_error": "max"})
    rows.insert(0, "bucket", edges[rows.index].astype(np.uint16))
    return rows.assign(max_error=rounded_up(rows["max_error"].to_numpy())).reset_index(drop=True)


def _parquet(table: pd.DataFrame, result: Record) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    bare = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(metadata_of(result))
    coded = {"bucket": "DELTA_BINARY_PACKED", "max_error": "BYTE_STREAM_SPLIT"}
    plain = [name for name in table if name not in coded]
    pq.write_table(
        bare, buffer, compression="zstd", write_statistics=False, use_dictionary=plain, column_encoding=coded,
    )  # fmt: skip
    return buffer.getvalue()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecordedRun:
    """Some results of a recorded run; the same door as a stored run."""

    run: Run
    kept: tuple[int, ...]
    results: list[Record]

    @property
    def path(self) -> Path:
        return self.run.path

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.run.manifest

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """As `Run.table`; of the columns in COLUMNS."""
        return self.run.table(self.kept[index], columns)


@in_default_environment
def recorded_runs(root: Path | None = None, without: Collection[str] = ()) -> list[RecordedRun]:
    """The recorded runs in `root` (default: data/runs), the newest first, each with what no newer one holds.

    Results of the families in `without` are left out: those were measured.
    """
    place = default_root() if root is None else root
    runs = [verified(read_run(manifest.parent)) for manifest in sorted(place.glob(f"*/{MANIFEST}"))]
    runs.sort(key=lambda run: run.manifest["created"], reverse=True)
    met: set[tuple[str, str, str]] = set()
    found = []
    for run in runs:
        versions = current_versions({result["family"] for result in run.results})
        kept = [i for i, r in enumerate(run.results) if r["family"] not in without and _key(r) not in met]
        met |= {_key(run.results[i]) for i in kept}
        if kept:
            told = [run.results[i] | _said(run, run.results[i], versions) for i in kept]
            found.append(RecordedRun(run, tuple(kept), told))
    return found


@in_default_environment
def recorded_results(families: Iterable[str], root: Path | None = None) -> list[Record]:
    """What is recorded of those families."""
    asked = set(families)
    return [result for run in recorded_runs(root) for result in run.results if result["family"] in asked]


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


def _key(result: Record) -> tuple[str, str, str]:
    return result["target"], result["function"], result["dtype"]


def _said(run: Run, result: Record, versions: Mapping[str, Collection[str]]) -> dict[str, str]:
    """What is added to a result: where it comes from, and whether that still counts."""
    told = run.manifest.get("recorded") or {
        "date": run.manifest["created"][:10],
        "device": run.manifest["machine"].get("cpu", "an unknown machine"),
    }
    recorded = f"recorded {told['date']} on {told['device']}"
    return {"recorded": recorded, "stale": _stale(result, versions), "device": told["device"]}


def _stale(result: Record, versions: Mapping[str, Collection[str]]) -> str:
    ours = versions.get(result["family"])
    if ours is None or result["version"] in ours:
        return ""
    return f"stale: the source was {result['version']}, and is {' or '.join(sorted(ours)[:3]) or 'gone'} now"
