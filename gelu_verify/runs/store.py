"""The stored run: a directory of `manifest.json` and one file of buckets per result (`bucket_files.py`).

A run is written beside its final place, flushed to disk, and renamed when it is whole: whatever
goes wrong, no partial run stands under a final name and no earlier run is touched.

A manifest ends with the sha256 of all that stands before it, and holds those of the bucket files: a run is whole, or
it is not read. Reading also trusts no value (`records/schema.py`); `integrity.py` derives results from their buckets
again.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic_files import flush_folder, is_free, remove_abandoned, unfinished_folder, write_file
from ..errors import ResultsError, cannot
from ..records.result import Record, Result
from ..records.schema import SCHEMA, check_measured, parsed_results
from ..records.serialize import record_from_json, to_json
from .bucket_files import buckets_file, frame_of

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path("reports")
LATEST = "latest"
MANIFEST = "manifest.json"
_SEAL = ',\n "content_sha256": "{}"\n}}\n'  # how a manifest ends


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
        if out is not None and not is_free(out):
            raise ResultsError(f"{out} is already there: name a new folder")
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
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
        with contextlib.suppress(OSError):  # where there is a run
            for folder in self._made:
                folder.rmdir()

    def add(self, result: Result, *, fold: bool = False) -> None:
        """Store one result: its buckets now, its record with `finish`; ResultsError where it cannot be read again.

        `fold`: of its buckets what a report draws.
        """
        check_measured(result.record, result.table is not None)
        record = record_from_json(_as_text(to_json(result.record)))
        if result.table is not None:
            suffix, content = buckets_file(result.table, record, fold=fold)
            name = f"buckets/{len(self._records):03d}{suffix}"
            with _writing(self._out or self._root):
                write_file(self._work / name, content)
            record = replace(record, buckets=name, sha256=hashlib.sha256(content).hexdigest())
        self._records.append(record)

    def finish(self, *, command: str, seed: int, plan: str, absent: Mapping[str, str], facts: Mapping[str, Any]) -> Run:
        """Put the run in its place and return it; `facts` are those of `machine.provenance`."""
        now = datetime.datetime.now(datetime.UTC)
        manifest: dict[str, Any] = {
            "schema": SCHEMA,
            "command": command,
            "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seed": seed,
            "plan": plan,
            **facts,
            "absent": dict(absent),
        }
        with _writing(self._out or self._root):
            content = sealed(manifest, self._records)
            write_file(self._work / MANIFEST, content)
            for folder in (self._work / "buckets", self._work):
                flush_folder(folder)
            place = _place(self._work, _names(self._out, self._root, now))
            flush_folder(place.parent)
            if self._out is None:
                _point_latest(self._root, place.name)
        digest = content.rpartition(b'": "')[2][:64].decode()  # as reading the run finds it
        return Run(place, {**_as_text(manifest), "content_sha256": digest}, self._records)


def _as_text(document: dict[str, Any]) -> dict[str, Any]:
    """An object as it is read back: a path may have bytes that are not text, which a file cannot hold."""
    text = json.dumps(document, ensure_ascii=False)
    found: dict[str, Any] = document if text.isprintable() else json.loads(text.encode("utf-8", "replace"))
    return found


def write_run(results: Sequence[Result], out: Path | None = None, root: Path = ROOT, **manifest: Any) -> Path:
    """Store a whole run at once, and return its folder; arguments as of RunWriter and its `finish`."""
    with RunWriter(out, root) as writer:
        for result in results:
            writer.add(result)
        return writer.finish(**manifest).path


def sealed(facts: Mapping[str, Any], results: Sequence[Record]) -> bytes:
    """A manifest: JSON with one line for each result, so that a difference shows what changed, and its content hash."""
    head = json.dumps({**facts, "results": []}, indent=1, allow_nan=False, ensure_ascii=False).removesuffix("[]\n}")
    tight = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    lines = ",\n".join(tight.encode(to_json(each)) for each in results)
    body = f"{head}[\n{lines}\n]".encode("utf-8", "replace")  # a path may have bytes that are no text
    return body + _SEAL.format(hashlib.sha256(body).hexdigest()).encode()


def write_folder(contents: Mapping[str, bytes], root: Path, name: str) -> Path:
    """Write files into a new folder `name` (or `name-2`, -3, ...) of `root`, whole or not at all; the folder."""
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        remove_abandoned(root)
        with unfinished_folder(root) as work:
            for file, content in contents.items():
                (work / file).parent.mkdir(exist_ok=True)
                write_file(work / file, content)
            flush_folder(work)
            more = (root / f"{name}-{count}" for count in itertools.count(2))
            return _place(work, itertools.chain([root / name], more))


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """An OSError as one line that names the place."""
    try:
        yield
    except OSError as error:
        file = f"{Path(error.filename).name}: " if error.filename else ""
        raise ResultsError(f"cannot write the run in {place}: {file}{error.strerror or error}") from error


def _names(out: Path | None, root: Path, now: datetime.datetime) -> Iterator[Path]:
    """Where the run may go: the folder that was asked for, where another run took it meanwhile one with -2, -3, ...
    behind its name; or <UTC time>-1, -2, ..."""
    if out is not None:
        yield out
        yield from (out.with_name(f"{out.name}-{count}") for count in itertools.count(2))
    yield from (root / f"{now:%Y%m%dT%H%M%SZ}-{count}" for count in itertools.count(1))


def _place(work: Path, names: Iterator[Path]) -> Path:
    """Rename the finished run to the first name that is free (rename replaces no folder that holds something)."""
    for name in names:
        if not is_free(name):
            continue
        try:
            work.rename(name)
        except OSError:
            if not name.exists():
                raise
        else:
            return name
    raise AssertionError("names do not end")


def _point_latest(root: Path, name: str) -> None:
    """`latest` beside the runs: a link, or a text file with the name where links cannot be made."""
    with unfinished_folder(root) as work:  # where nobody else makes one of this name
        fresh = work / LATEST
        try:
            fresh.symlink_to(name)
        except (OSError, NotImplementedError):
            fresh.write_text(name + "\n", encoding="utf-8")
        fresh.replace(root / LATEST)


# ---- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run:
    """A stored run: what its manifest says beside the results, the results, and bucket tables when asked for."""

    path: Path
    manifest: Mapping[str, Any]
    results: Sequence[Record]

    def document(self) -> dict[str, Any]:
        """The manifest as an object of JSON, with its results."""
        last = {key: value for key, value in self.manifest.items() if key == "content_sha256"}
        results = [to_json(record) for record in self.results]
        return {**{key: value for key, value in self.manifest.items() if key not in last}, "results": results, **last}

    def table(self, index: int, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Buckets of one result, all columns or those named; ResultsError when missing, damaged, or there are none."""
        return frame_of(self.buckets(index), columns)

    def buckets(self, index: int) -> bytes:
        """The bucket file of one result; ResultsError when missing, or damaged."""
        record = self.results[index]
        if record.buckets is None:
            raise ResultsError(f"{self.path} holds no buckets of {record.key}: {record.failure}")
        path = self.path / record.buckets
        content = content_of(path)
        if hashlib.sha256(content).hexdigest() != record.sha256:
            raise ResultsError(f"{path} is damaged: its sha256 is not the one in {MANIFEST}")
        return content


def content_of(path: Path) -> bytes:
    """A file of a run, which is no link to something elsewhere; ResultsError when it cannot be read."""
    with cannot(f"read {path}"):
        if path.is_symlink() or not path.is_file():
            raise ResultsError(f"cannot read {path}: {'it is not a file' if path.exists() else 'No such file'}")
        return path.read_bytes()


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
        raise ResultsError(f"{place} is not a stored run: it has no {MANIFEST}")
    content = content_of(file)
    manifest = _parsed(file, content)
    try:
        results = parsed_results(manifest)
    except ResultsError as error:
        raise ResultsError(f"{file} {error}") from error
    _check_seal(file, manifest, content)
    del manifest["results"]
    return Run(place, manifest, results)


def _parsed(file: Path, content: bytes) -> Any:
    """Strict JSON: no NaN, no key twice, no half of a character."""
    try:
        manifest = json.loads(content.decode(), object_pairs_hook=_once, parse_constant=_refuse_constant)
        json.dumps(manifest, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ResultsError(f"{file} is truncated or not JSON: it is nested too deeply") from error
    except ValueError as error:  # of JSON, of UTF-8, of an integer with thousands of digits
        raise ResultsError(f"{file} is truncated or not JSON: {str(error).splitlines()[0]:.200}") from error
    return manifest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"a key stands there twice: {next(n for n in names if names.count(n) > 1)!r:.60}")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number of JSON")


def _check_seal(file: Path, manifest: Mapping[str, Any], content: bytes) -> None:
    """The manifest ends with the hash of its content; schema 1 had none."""
    written = manifest.get("content_sha256")
    if manifest["schema"] == 1:
        if written is not None:
            raise ResultsError(f"{file} cannot be trusted: schema 1 has no content_sha256")
        return
    seal = _SEAL.format(written).encode()
    if not content.endswith(seal):
        raise ResultsError(f"{file} is not as it was written: it does not end with its content_sha256")
    if hashlib.sha256(content.removesuffix(seal)).hexdigest() != written:
        raise ResultsError(f"{file} is not as it was written: its content_sha256 is that of something else")
