"""Stored runs as one archive file, .zip or .tar.zst, and back: the same runs give the same bytes.

An archive holds what a run is, manifest.json and buckets/, and not the report, which can be made again. What is read
from one is trusted no more than any stored run: names and sizes are checked before anything is written, and a run is
put in its place only when it is whole and follows from its buckets.
"""

from __future__ import annotations

import contextlib
import io
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from ..atomic_files import replace_file, unfinished_folder
from ..errors import ResultsError, UsageError, cannot
from .integrity import verified
from .store import LATEST, MANIFEST, ROOT, Run, content_of, read_run

SUFFIXES = (".zip", ".tar.zst")
LARGEST, LARGEST_FILE = 1 << 32, 1 << 28  # bytes of all files in an archive, and of one
_LEVEL = 9  # of zstd: Parquet files are compressed already, manifests are not
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error)
_MEMBER = re.compile(
    rf"(?!{LATEST}/)(?P<run>[A-Za-z0-9][\w.-]{{0,200}})/(?P<file>manifest\.json|buckets/\d{{3,8}}\.(?:parquet|npz))"
)


def suffix_of(path: Path) -> str:
    """Which kind of archive a name asks for."""
    found = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), None)
    if found is None:
        raise UsageError(f"{path} is not the name of an archive (accepted: {', '.join('NAME' + s for s in SUFFIXES)})")
    return found


# ---- writing -------------------------------------------------------------------------------------


def export_runs(runs: Iterable[Run], out: Path) -> int:
    """Write runs, which are `verified`, into one file; its size. Each lies in a folder of its own name."""
    suffix = suffix_of(out)
    files: dict[str, Path] = {}
    for run in runs:
        name = run.path.resolve().name
        if f"{name}/{MANIFEST}" in files:
            raise UsageError(f"two of the runs are called {name} (accepted: runs of different names)")
        if not _MEMBER.fullmatch(f"{name}/{MANIFEST}"):
            raise UsageError(
                f"a run called {name!r} cannot be exported (accepted: letters, digits and .-_, but not {LATEST})"
            )
        parts = [MANIFEST, *(record.buckets for record in run.results if record.buckets)]
        files |= {f"{name}/{part}": run.path / part for part in parts}
    content = (_zip if suffix == ".zip" else _tar_zst)(sorted(files.items()))
    with cannot(f"write {out}"):
        replace_file(out, content)
    return len(content)


def _zip(files: Iterable[tuple[str, Path]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, path in files:
            member = zipfile.ZipInfo(name, _EPOCH)
            member.external_attr = 0o644 << 16
            member.create_system = 3  # whatever the system is
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content_of(path), compresslevel=9)
    return buffer.getvalue()


def _tar_zst(files: Iterable[tuple[str, Path]]) -> bytes:
    import pyarrow as pa

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, path in files:
            content, member = content_of(path), tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return pa.Codec("zstd", compression_level=_LEVEL).compress(buffer.getvalue(), asbytes=True)  # type: ignore[no-any-return]


# ---- reading -------------------------------------------------------------------------------------


def import_runs(archive: Path, root: Path = ROOT) -> tuple[list[Path], list[Path]]:
    """Put the runs of an archive into `root`, each under its name; those that were added, and those that were there.

    All of them, or none: nothing is added where one cannot be trusted, or another run has its name.

    Raises
    ------
    ResultsError : it is not such an archive, or a run in it is not whole
    """
    suffix_of(archive)
    with cannot(f"import {archive} into {root}"):
        root.mkdir(parents=True, exist_ok=True)
        with unfinished_folder(root) as work:
            names = _unpacked(archive, work)
            runs = [verified(_read(work / name, archive)) for name in names]
            there = [root / run.path.name for run in runs if (root / run.path.name).exists()]
            for place in there:
                if _manifest(place) != _manifest(work / place.name):
                    raise ResultsError(f"{place} is there, and is another run than that of {archive}: rename it")
            added = [root / name for name in names if root / name not in there]
            for place in added:
                (work / place.name).rename(place)
    return added, there


def _read(place: Path, archive: Path) -> Run:
    """The run, all of whose bucket files are there, and no others."""
    try:
        run = read_run(place)
        listed = {record.buckets for record in run.results if record.buckets}
        extra = {f"buckets/{path.name}" for path in place.glob("buckets/*")} - listed
        if extra:
            raise ResultsError(f"{place} has {min(extra)}, which belongs to no result")
    except ResultsError as error:
        raise ResultsError(str(error).replace(str(place), f"{archive}: {place.name}")) from error
    return run


def _manifest(place: Path) -> bytes:
    return (place / MANIFEST).read_bytes() if (place / MANIFEST).is_file() else b""


def _unpacked(archive: Path, work: Path) -> list[str]:
    """Write the members of an archive below `work`; the names of its runs."""
    names: set[str] = set()
    total = 0
    with _members(archive) as members:
        for name, size, stream in members:
            match = _MEMBER.fullmatch(name)
            if match is None:
                raise ResultsError(f"{archive} is not an archive of stored runs: it has {name!r:.80}")
            total += size
            if total > LARGEST or size > LARGEST_FILE:
                raise ResultsError(
                    f"{archive} is too large: {name} would have {size:,} bytes, and all {total:,} or more"
                )
            place = work / name
            if place.exists():
                raise ResultsError(f"{archive} has {name} twice")
            content = stream.read(size)
            with cannot(f"import {archive} into {work.parent}"):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
            names.add(match["run"])
    if not names:
        raise ResultsError(f"{archive} holds no stored run")
    return sorted(names)


@contextlib.contextmanager
def _members(archive: Path) -> Iterator[Iterator[tuple[str, int, IO[bytes]]]]:
    """Name, size and content of each member, which is a plain file."""
    try:
        if suffix_of(archive) == ".zip":
            with zipfile.ZipFile(archive) as file:
                yield _of_zip(file)
        else:
            import pyarrow as pa

            stream = pa.CompressedInputStream(pa.OSFile(str(archive)), "zstd")
            with stream, tarfile.open(fileobj=stream, mode="r|") as opened:
                yield _of_tar(opened)
    except FileNotFoundError:
        raise ResultsError(f"no such file: {archive}") from None
    except (OSError, EOFError, ValueError, RuntimeError, *_DAMAGED) as error:  # pyarrow raises a ValueError
        why = getattr(error, "strerror", None) or (str(error).splitlines() or [type(error).__name__])[0]
        raise ResultsError(f"{archive} is damaged, or not an archive: {why}") from error


def _of_zip(file: zipfile.ZipFile) -> Iterator[tuple[str, int, IO[bytes]]]:
    for member in file.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ResultsError(
                f"{file.filename}: {member.filename!r:.80} is compressed by a method that is not accepted"
            )
        with file.open(member) as stream:
            yield member.filename, member.file_size, stream


def _of_tar(file: tarfile.TarFile) -> Iterator[tuple[str, int, IO[bytes]]]:
    for member in file:
        stream = file.extractfile(member) if member.isreg() else None
        if stream is None:
            raise ResultsError(f"the archive has a member that is not a plain file: {member.name!r:.80}")
        yield member.name, member.size, stream
