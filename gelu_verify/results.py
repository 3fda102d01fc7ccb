"""The stored run: a directory of `manifest.json` and one Parquet file of buckets per result.

A run is written beside its final place, flushed to disk, and renamed when it is whole: whatever
goes wrong, no partial run stands under a final name and no earlier run is touched. Reading trusts
nothing: schema number, keys, and the sha256 of every bucket file that is opened.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import io
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .bucket_table import BITS, Table
from .errors import ResultsError
from .folders import remove_abandoned, unfinished_folder

if TYPE_CHECKING:
    import pandas as pd

    from .sweep import Record, Result

SCHEMA = 1
ROOT = Path("reports")
LATEST = "latest"
MANIFEST = "manifest.json"
MANIFEST_KEYS = (
    *("command", "created", "seed", "plan", "versions", "machine", "git", "copy_bytes_per_s", "absent", "results"),
)
RESULT_KEYS = (
    *("target", "family", "function", "dtype", "form", "note", "version", "plan", "seed", "n", "bound", "max_ulp"),
    *("witness", "mean_ulp", "p50_ulp", "p99_ulp", "correctly_rounded", "faithful", "max_rank", "nonfinite"),
    *("zero_from", "zero_threshold", "regions", "approximation", "variant", "checks", "findings", "throughput"),
    *("failure", "repeat", "buckets", "sha256"),
)


# ---- writing -------------------------------------------------------------------------------------


class RunWriter:
    """Writes one run; a context manager. Leaving it without `finish` leaves nothing behind.

    Parameters
    ----------
    out : folder of the run, new or empty; default a new folder `<UTC time>-<n>` in `root`
    root : folder of the runs, with a link `latest` to the last one

    Raises
    ------
    ResultsError : when the place is taken, cannot be written, or is full
    """

    def __init__(self, out: Path | None = None, root: Path = ROOT) -> None:
        self._out, self._root = out, root
        self._records: list[Record] = []
        parent = root if out is None else out.parent
        if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise ResultsError(f"{out} is already there: name a new folder")
        with _writing(parent):
            parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(parent)
            with contextlib.ExitStack() as opening:
                self._work = opening.enter_context(unfinished_folder(parent))
                (self._work / "buckets").mkdir()
                self._open = opening.pop_all()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, result: Result) -> None:
        """Store one result: its buckets now, its record with `finish`."""
        record = dict(result.record)
        if result.table is not None:
            name = f"buckets/{len(self._records):03d}.parquet"
            content = packed(result.table, record)
            with _writing(self._out or self._root):
                _write(self._work / name, content)
            record |= {"buckets": name, "sha256": hashlib.sha256(content).hexdigest()}
        self._records.append(record)

    def finish(
        self, *, command: str, seed: int, plan: str, absent: Mapping[str, str], facts: Mapping[str, Any]
    ) -> Path:
        """Put the run in its place and return it; `facts` are those of `machine.provenance`."""
        now = datetime.datetime.now(datetime.UTC)
        manifest = {
            "schema": SCHEMA,
            "command": command,
            "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seed": seed,
            "plan": plan,
            **facts,
            "absent": dict(absent),
            "results": self._records,
        }
        text = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
        with _writing(self._out or self._root):
            _write(self._work / MANIFEST, text.encode())
            for folder in (self._work / "buckets", self._work):
                _flush_folder(folder)
            place = _place(self._work, _names(self._out, self._root, now))
            _flush_folder(place.parent)
            if self._out is None:
                _point_latest(self._root, place.name)
        return place


def write_run(results: Sequence[Result], out: Path | None = None, root: Path = ROOT, **manifest: Any) -> Path:
    """Store a whole run at once; arguments as of RunWriter and its `finish`."""
    with RunWriter(out, root) as writer:
        for result in results:
            writer.add(result)
        return writer.finish(**manifest)


def write_folder(contents: Mapping[str, bytes], root: Path, name: str) -> Path:
    """Write files into a new folder `name` (or `name-2`, -3, ...) of `root`, whole or not at all; the folder."""
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        remove_abandoned(root)
        with unfinished_folder(root) as work:
            for file, content in contents.items():
                (work / file).parent.mkdir(exist_ok=True)
                _write(work / file, content)
            _flush_folder(work)
            more = (root / f"{name}-{count}" for count in itertools.count(2))
            return _place(work, itertools.chain([root / name], more))


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """An OSError as one line that names the place."""
    try:
        yield
    except OSError as error:
        raise ResultsError(f"cannot write the run in {place}: {error.strerror or error}") from error


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _names(out: Path | None, root: Path, now: datetime.datetime) -> Iterator[Path]:
    """Where the run may go: the folder that was asked for, or <UTC time>-1, -2, ..."""
    if out is not None:
        yield out
        return
    count = 0
    while True:
        count += 1
        yield root / f"{now:%Y%m%dT%H%M%SZ}-{count}"


def _place(work: Path, names: Iterator[Path]) -> Path:
    """Rename the finished run to the first name that is free (rename replaces no folder that holds something)."""
    for name in names:
        if name.is_dir() and any(name.iterdir()):
            continue
        try:
            work.rename(name)
        except OSError:
            if not name.exists():
                raise
        else:
            return name
    raise ResultsError("the place of the run was taken while it was measured: name a new folder")


def _point_latest(root: Path, name: str) -> None:
    """`latest` beside the runs: a link, or a text file with the name where links cannot be made."""
    with unfinished_folder(root) as work:  # where nobody else makes one of this name
        fresh = work / LATEST
        try:
            fresh.symlink_to(name)
        except (OSError, NotImplementedError):
            fresh.write_text(name + "\n", encoding="utf-8")
        fresh.replace(root / LATEST)


def packed(table: Table, record: Record) -> bytes:
    """The bucket table as a Parquet file: bits in the dtype's own unsigned type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {k: v.astype(table.fmt.uint) if k in BITS else v for k, v in table.flat.items()}
    facts = {"schema": SCHEMA, **{k: record[k] for k in ("target", "function", "dtype", "plan", "seed", "n", "bound")}}
    metadata = {"gelu_verify": json.dumps(facts)}
    packed = ("bucket", "error_sum", *BITS)
    encodings = {**dict.fromkeys(packed, "DELTA_BINARY_PACKED"), "max_error": "BYTE_STREAM_SPLIT"}
    buffer = io.BytesIO()
    pq.write_table(
        pa.table(columns, metadata=metadata),
        buffer,
        compression="lz4",  # twice as fast as zstd here, and hardly larger
        write_statistics=False,
        use_dictionary=[name for name in columns if name not in encodings],
        column_encoding=encodings,
    )
    return buffer.getvalue()


def unpacked(content: bytes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of `packed`, all columns or those named."""
    import pyarrow.parquet as pq

    return pq.read_table(io.BytesIO(content), columns=None if columns is None else list(columns)).to_pandas()


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A stored run: `manifest` and `results` as in manifest.json, bucket tables when asked for."""

    path: Path
    manifest: dict[str, Any]

    @property
    def results(self) -> list[Record]:
        """The RESULT objects, in the order of the run."""
        return self.manifest["results"]

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Buckets of one result, all columns or those named; ResultsError when missing, damaged, or there are none."""
        record = self.results[index]
        name = f"{record['target']}/{record['function']}/{record['dtype']}"
        if record["buckets"] is None:
            raise ResultsError(f"{self.path} holds no buckets of {name}: {record['failure']}")
        path = self.path / record["buckets"]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ResultsError(f"cannot read {path}: {error.strerror}") from error
        if hashlib.sha256(content).hexdigest() != record["sha256"]:
            raise ResultsError(f"{path} is damaged: its sha256 is not the one in {MANIFEST}")
        import pyarrow as pa

        try:
            return unpacked(content, columns)
        except (pa.ArrowException, OSError) as error:
            raise ResultsError(f"{path} is no Parquet file: {str(error).splitlines()[0]}") from error


def read_run(path: Path | str) -> Run:
    """The run in a folder (or in the folder that a text file `latest` names).

    Raises
    ------
    ResultsError : nothing there, no run, truncated, or of a schema that this version does not know
    """
    place = Path(path)
    if place.is_file() and place.name == LATEST:
        place = place.parent / place.read_text(encoding="utf-8").strip()
    if not place.exists():
        raise ResultsError(f"no stored run at {place}")
    file = place / MANIFEST
    if not file.is_file():
        raise ResultsError(f"{place} is no stored run: it has no {MANIFEST}")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot read {file}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ResultsError(f"{file} is truncated or no JSON: {error}") from error
    _accept(file, manifest)
    return Run(place, manifest)


def _accept(file: Path, manifest: Any) -> None:
    if not isinstance(manifest, dict) or "schema" not in manifest:
        raise ResultsError(f"{file} is no manifest of gelu-verify: it has no schema number")
    if manifest["schema"] != SCHEMA:
        raise ResultsError(f"{file} has schema {manifest['schema']!r} (this version reads {SCHEMA})")
    _require(file, "the manifest", manifest, MANIFEST_KEYS)
    if not isinstance(manifest["results"], list):
        raise ResultsError(f"{file} is no manifest of gelu-verify: results is no list")
    for index, record in enumerate(manifest["results"]):
        _require(file, f"result {index}", record, RESULT_KEYS)


def _require(file: Path, what: str, found: Any, keys: Sequence[str]) -> None:
    missing = keys if not isinstance(found, dict) else [key for key in keys if key not in found]
    if missing:
        raise ResultsError(f"{file}: {what} lacks {', '.join(missing)}")
