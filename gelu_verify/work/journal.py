"""What long work has done so far, in one file: records that are appended, each with its checksum.

A record is bytes under a key and an index. Work that is killed, whenever that is, finds its records when it opens the
file again, in the order in which they were appended. The file begins with facts, by which it is told whether
the records are of the same work: of the same request, code, libraries and processor (`differing`).

A record is written at once, so that a killed process loses none, and flushed to the disk once in SYNC seconds, so that
a power cut loses no more than that. What a kill or a power cut left half written at the end is cut off. A record that
is damaged is not used, and is named in `damaged`.
"""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from ..errors import ResultsError

Facts = Mapping[str, str]
MARK = b"\n\x00gvj1"  # how a record begins; what follows a damaged header is found by it
HEAD = struct.Struct("<6sHIQqI")  # mark, length of the key, checksum of the content, its length, index; own checksum
FACTS, END = "facts", "end"  # keys of the first record, and of the last one of a sealed file
SYNC = 1.0  # seconds


@dataclass(frozen=True)
class JournalEntry:
    """Where a record is in the file."""

    key: str
    index: int
    offset: int
    length: int
    checksum: int


class Journal:
    """An open journal: a context manager, which one process writes, from any of its threads."""

    def __init__(self, path: Path, facts: Facts, warn: Callable[[str], object] = lambda message: None) -> None:
        """Open the journal at `path`, made with those facts where there is none; ResultsError where it is none.

        OSError where it cannot be written, which leaves nothing; `warn` is told where it cannot be written later.
        """
        self.path, self._warn = path, warn
        self.problem = ""
        """Why the last record could not be written: the disk is full."""
        self.missed = ""
        """The same, of the first such record."""
        is_new = not path.exists()
        self._lock, self._closed, self._is_flushed = threading.Lock(), threading.Event(), True
        self._file = path.open("w+b" if is_new else "r+b", buffering=0)
        try:
            size = os.fstat(self._file.fileno()).st_size
            self._entries, self.damaged, self._end = _scanned(os.pread(self._file.fileno(), size, 0))
            if self._entries and self._entries[0].key != FACTS:
                raise ResultsError(f"{path} is damaged: what it is of is not known")
            if not self._entries and os.pread(self._file.fileno(), len(MARK), 0) not in (b"", MARK):
                raise ResultsError(f"{path} is no journal of gelu-verify")
            self._file.truncate(self._end)
            if not self._entries:
                self._append(FACTS, 0, _content_of(facts))
            self.facts: Facts = _facts(path, self)
        except BaseException as error:
            self._file.close()
            if is_new:
                path.unlink(missing_ok=True)
            if isinstance(error, OSError):
                error.filename = str(path)
            raise
        self._flushing = threading.Thread(target=self._flush_often, daemon=True)
        self._flushing.start()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self, flush: bool = True) -> None:
        """Close it, and flush it to the disk unless nobody needs it any more."""
        with self._lock:
            self._is_flushed |= not flush
        self._closed.set()
        self._flushing.join()
        self._file.close()

    def _flush_often(self) -> None:
        """On a thread of its own: who appends does not wait for the disk."""
        while not self._closed.wait(SYNC):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            is_flushed, self._is_flushed = self._is_flushed, True
        if not is_flushed:
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                self._fail(error)

    def append(self, key: str, index: int, content: bytes) -> bool:
        """Add a record; False, with `problem` set, where it cannot be written: nothing is left of it then."""
        with self._lock:
            try:
                self._append(key, index, content)
            except OSError as error:
                with suppress(OSError):
                    self._file.truncate(self._end)
                self._fail(error)
                return False
            self.problem = ""
        return True

    def _append(self, key: str, index: int, content: bytes) -> None:
        record = _record(key, index, content)
        self._is_flushed = False
        _write(self._file.fileno(), record, self._end)
        self._end += len(record)
        self._entries.append(JournalEntry(key, index, self._end - len(content), len(content), crc32(content)))

    def _fail(self, error: OSError) -> None:
        """Said once."""
        self.problem = error.strerror or str(error)
        if not self.missed:
            self.missed = self.problem
            self._warn(f"cannot write {self.path}: {self.problem}; the work goes on, and is kept again when it can be")

    def records(self, key: str) -> Iterator[tuple[int, bytes]]:
        """(index, content) of all records of a key, as they were appended."""
        for entry in list(self._entries):
            if entry.key == key:
                yield entry.index, os.pread(self._file.fileno(), entry.length, entry.offset)

    @property
    def keys(self) -> set[str]:
        """Those of all records but the facts."""
        return {entry.key for entry in self._entries[1:]}

    def seal(self) -> None:
        """Say that nothing will be added: a file without that is not whole."""
        self.append(END, len(self._entries), b"")
        self._flush()
        self.check_written()

    def check_written(self) -> None:
        """ResultsError where a record could not be written."""
        if self.missed:
            raise ResultsError(f"cannot write {self.path}: {self.missed}")


def differing(there: Facts, here: Facts, *, apart_from: tuple[str, ...] = ()) -> str:
    """The first fact that is not the same, in words; empty where all are."""
    for name in [*here, *(name for name in there if name not in here)]:
        if name not in apart_from and there.get(name) != here.get(name):
            return f"{name} is {_short(there.get(name))} there and {_short(here.get(name))} here"
    return ""


def _short(value: str | None) -> str:
    return "nothing" if not value else value if len(value) <= 80 else f"{value[:77]}..."


@dataclass(frozen=True)
class Contents:
    """What a journal in a folder holds, by key; `is_whole`: it ends as `seal` left it, with as many records as then."""

    folder: Path
    facts: Facts
    records: Mapping[str, Sequence[tuple[int, bytes]]]
    damaged: Sequence[str]
    is_whole: bool


def contents(path: Path) -> Contents | None:
    """What is in a journal, which is not changed; None where it is none."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    entries, damaged, end = _scanned(content)
    records: dict[str, list[tuple[int, bytes]]] = {}
    for entry in entries:
        records.setdefault(entry.key, []).append((entry.index, content[entry.offset : entry.offset + entry.length]))
    if FACTS not in records:
        return None
    last = entries[-1]
    is_whole = last.key == END and last.index == len(entries) - 1 and end == len(content)
    return Contents(path.parent, json.loads(records.pop(FACTS)[0][1]), records, damaged, is_whole)


def facts_of(path: Path) -> Facts | None:
    """The facts of a journal that may be of other work, which is not changed; None where it is none."""
    found = contents(path)
    return None if found is None else found.facts


def sealed(facts: Facts, records: Sequence[tuple[str, int, bytes]]) -> bytes:
    """A whole journal of (key, index, content), for a file that is replaced at once; `contents` reads it."""
    every = [(FACTS, 0, _content_of(facts)), *records, (END, len(records) + 1, b"")]
    return b"".join(_record(*each) for each in every)


# ---- the file ------------------------------------------------------------------------------------


def _record(key: str, index: int, content: bytes) -> bytes:
    name = key.encode()
    head = HEAD.pack(MARK, len(name), crc32(content), len(content), index, 0)[:-4]
    return b"".join((head, crc32(head + name).to_bytes(4, "little"), name, content))


def _content_of(facts: Facts) -> bytes:
    return json.dumps(dict(facts), ensure_ascii=False).encode()


def _write(file: int, content: bytes, offset: int) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(file, content[done:], offset + done)


def _facts(path: Path, journal: Journal) -> Facts:
    """The facts that a journal begins with."""
    found = next(journal.records(FACTS), None)
    if found is None:
        raise ResultsError(f"{path} is no journal of gelu-verify, or its first record is damaged")
    return dict(json.loads(found[1]))


def _scanned(content: bytes) -> tuple[list[JournalEntry], list[str], int]:
    """The records of a file that are whole, in words what is damaged, and where the last one ends."""
    entries, damaged = _parsed(content)
    end = entries[-1].offset + entries[-1].length if entries else 0
    bad = [each for each in entries if crc32(content[each.offset : each.offset + each.length]) != each.checksum]
    damaged += (f"record {each.index} of {each.key}" for each in bad)
    return [each for each in entries if each not in bad], damaged, end


def _parsed(content: bytes) -> tuple[list[JournalEntry], list[str]]:
    """All records whose headers are whole, and what between them is not."""
    entries: list[JournalEntry] = []
    damaged: list[str] = []
    at = 0
    while at < len(content):
        entry = _entry_at(content, at)
        if entry is None:
            found = _next_entry(content, at + 1)
            if found < 0:  # nothing whole follows: what a kill left at the end
                break
            damaged.append(f"bytes {at} to {found}")
            at = found
        else:
            entries.append(entry)
            at = entry.offset + entry.length
    return entries, damaged


def _entry_at(content: bytes, at: int) -> JournalEntry | None:
    """The record whose header is there, if it is whole; None where it is not, or its content is cut off."""
    if not content.startswith(MARK, at) or at + HEAD.size > len(content):
        return None
    _, name_length, checksum, length, index, own = HEAD.unpack_from(content, at)
    start = at + HEAD.size
    name = content[start : start + name_length]
    if crc32(content[at : start - 4] + name) != own or start + name_length + length > len(content):
        return None
    return JournalEntry(name.decode(), index, start + name_length, length, checksum)


def _next_entry(content: bytes, at: int) -> int:
    """Where the next whole record begins; -1 where there is none."""
    while (at := content.find(MARK, at)) >= 0:
        if _entry_at(content, at) is not None:
            return at
        at += 1
    return -1
