"""What a call leaves behind in its process, looked at after calls: it would harm whoever calls it in theirs.

Some of it no implementation needs: it is reported the first time. Of threads, processes, descriptors and memory, many
frameworks keep some from their first calls on: what grows with the calls is reported.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EBADF
from pathlib import Path
from threading import Lock

from . import _faults

FIRST = 256  # calls after each of which all is looked at
EVERY = 16  # of later ones, one in so many: a look costs 0.1 ms, as much as a short call
OFTEN = 6  # calls that leave one more: fewer may be a framework that gets ready
PART = 4  # calls between two looks at the memory
PARTS = 3  # so many in a row that grew
GROWN = 1 << 19  # bytes that each of them must have grown by: 128 KiB a call
_CHANGED = (
    "changed a signal handler",
    "changed which signals are blocked",
    "left a timer running",
    "changed a resource limit",
    "changed the locale",
    "changed the priority of its process",
)
_COUNTED = ("a thread running", "a process", "a file descriptor open")
_STANDARD = {0: "stdin", 1: "stdout", 2: "stderr"}
_FOLDER = len(_CHANGED)  # place of the working directory in a state


@dataclass
class Growth:
    """What the calls of one target added to its process so far."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    before: dict[str, int] = field(default_factory=dict)  # what the process had when the count was last zero
    calls: int = 0
    part: int = 0  # bytes that the latest calls added
    parts: int = 0  # in a row that grew
    base: int = 0  # bytes that the process had before these
    collects: bool = False  # whether Python's garbage is collected before the memory is looked at


class StateWatch:
    """The state of this process as it was. `patient`: a framework that we found, which may get ready in its first
    call; what a user named is reported the first time, but where that call imported a module."""

    def __init__(self, own: Sequence[int]) -> None:
        self._lock = Lock()
        self._standard = {number: (os.dup(number), identity(number)) for number in _STANDARD}
        self._folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self._supervisor = os.open(f"/proc/{os.getppid()}/task/{os.getppid()}/children", os.O_RDONLY)
        self._own = {number: identity(number) for number in own}
        copies = [copy for copy, _ in self._standard.values()]
        self._watching = {number: identity(number) for number in (*copies, self._folder, self._statm, self._supervisor)}
        self._command = Path("/proc/self/cmdline").read_bytes()
        self.patient = False
        self._changes = dict.fromkeys(_CHANGED, 0)
        self._growth: dict[Hashable, Growth] = {}
        self._connections, self._inside, self._alone, self._calls = 0, 0, True, 0
        self._excused = False  # whether the next look may see what was made ready for a new length
        self.begin()

    def begin(self) -> None:
        """What is there now was not left by a call, unless one is at work; raises OSError as `look`."""
        self._check_watching()
        with self._lock:
            if not self._inside:
                self._state, self._processes = self._now(), self._others()
                self._counts, self._memory = self._counted(), self._private()
                self._modules = len(sys.modules)

    def serve(self, connections: int) -> None:
        """So many more threads, each with a descriptor, are ours."""
        with self._lock:
            self._connections += connections

    def enter(self, is_new: bool = False) -> None:
        """A call begins; where two run at once, nobody knows who of them added something. `is_new`: of a length of
        which there was none before."""
        with self._lock:
            self._inside += 1
            self._excused |= is_new
            self._alone &= self._inside == 1

    def is_connected(self) -> bool:
        """Whether the descriptors through which our parent is spoken to are still those that they were."""
        return _unchanged(self._own)

    def _check_watching(self) -> None:
        """Another file under one of our numbers would be read without an error."""
        if not _unchanged(self._watching):
            raise OSError(EBADF, "what this process is watched through was closed")

    def look(self, who: Hashable) -> tuple[str, bool] | None:
        """What the call that ends left, in words, and whether that call alone did; None where it left nothing.

        `who` was called: what grows is counted for each. Raises OSError where the call closed what we look through.
        """
        with self._lock:
            self._calls += 1
            if self._calls > FIRST and self._calls % EVERY:
                self._inside -= 1
                return None
            self._check_watching()
            found = [*self._redirected(), *self._changed(), *self._forked()]
            before, self._counts = self._counts, self._counted()
            memory, self._memory = self._memory, self._private()
            excused, self._excused = self._excused, False
            if self._alone:
                growth = self._growth.setdefault(who, Growth())
                grown = [*self._grown(growth, before), *self._held(growth, self._memory - memory, excused)]
            else:
                grown = []
            self._inside -= 1
            self._alone = not self._inside
            by_this_call = bool(found) and self._calls <= FIRST
            return (" and ".join(found + grown), by_this_call) if found or grown else None

    # ---- reported the first time ----

    def _now(self) -> tuple[object, ...]:
        place = os.stat(".")
        return *_faults.state(), (place.st_dev, place.st_ino)

    def _changed(self) -> Iterator[str]:
        before, self._state = self._state, self._now()
        modules, self._modules = self._modules, len(sys.modules)
        if before == self._state:
            return
        patience = self.patient or self._modules > modules  # what a library does once, when a call imports it
        for what, old, new in zip(_CHANGED, before, self._state, strict=False):
            self._changes[what] += old != new
            if old != new and self._changes[what] > patience:
                yield what
        if before[_FOLDER] != self._state[_FOLDER]:
            yield "changed the working directory"
            os.fchdir(self._folder)
        _libc.setlocale(_LC_ALL, str(before[4]).encode())
        self._state = self._now()

    def _redirected(self) -> Iterator[str]:
        for number, (copy, ours) in self._standard.items():
            if identity(number) != ours:
                with suppress(OSError):
                    os.dup2(copy, number)
                yield f"closed or redirected {_STANDARD[number]}"

    def _others(self) -> set[int]:
        """Processes that were started from here and did not become other programs, and orphans."""
        orphans = set(map(int, os.pread(self._supervisor, 1 << 12, 0).split())) - {os.getpid()}
        return orphans | {child for child in _children() if _command_of(child) == self._command}

    def _forked(self) -> Iterator[str]:
        before, self._processes = self._processes, self._others()
        if self._processes - before:
            yield "left a process that it forked running"

    # ---- reported when it grows with the calls ----

    def _counted(self) -> tuple[int, int, int]:
        threads = os.stat("/proc/self/task").st_nlink
        return threads - self._connections, len(_children()), _open_descriptors() - self._connections

    def _grown(self, growth: Growth, before: tuple[int, int, int]) -> Iterator[str]:
        for what, old, new in zip(_COUNTED, before, self._counts, strict=True):
            if growth.counts[what] == 0:
                growth.before[what] = old
            growth.counts[what] += (new > old) - (new < old)
            if growth.counts[what] >= OFTEN:
                growth.counts[what] = 0
                # else what another thread of ours had for a moment was seen here, and its end by somebody else
                if new - growth.before[what] >= OFTEN:
                    yield f"left {what} after each of several calls"

    def _held(self, growth: Growth, added: int, excused: bool) -> Iterator[str]:
        """Memory that is neither given back nor garbage, nor code that was compiled for a new length."""
        if growth.calls == 0:
            growth.base = self._memory - added
        if excused:
            growth.base += added
            return
        growth.calls, growth.part = growth.calls + 1, growth.part + added
        if growth.calls % PART:
            return
        if growth.collects:
            before = self._memory
            gc.collect()
            self._memory = self._private()
            growth.part += self._memory - before
        last, growth.part = growth.part, 0
        growth.parts = growth.parts + 1 if last >= GROWN else 0
        if growth.parts == PARTS:
            growth.parts = 0
            # else another thread of ours took memory while we looked, and gave it back while nobody did
            if growth.collects and self._memory - growth.base >= PARTS * GROWN:
                yield f"held on to memory: it needs {last >> 10} KiB more after every {PART} calls"
            growth.collects = True  # garbage is no leak: look again
            gc.collect()
            self._memory = self._private()
        if growth.parts == 0:
            growth.base = self._memory

    def _private(self) -> int:
        """Bytes of this process that are its own and in use: without what malloc keeps, for each thread, for later."""
        pages = os.pread(self._statm, 128, 0).split()
        return (int(pages[1]) - int(pages[2])) * _PAGE - (_mallinfo().fordblks if _mallinfo else 0)


def identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unchanged(descriptors: Mapping[int, tuple[int, int] | None]) -> bool:
    return all(identity(number) == before for number, before in descriptors.items())


def _children() -> list[int]:
    """Of any of our threads."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return []
    found: list[int] = []
    for task in os.listdir("/proc/self/task"):
        with suppress(OSError):
            found += map(int, Path(f"/proc/self/task/{task}/children").read_text().split())
    return found


def _command_of(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _open_descriptors() -> int:
    """How many; the size of the folder since Linux 6.2."""
    return os.stat("/proc/self/fd").st_size or len(os.listdir("/proc/self/fd"))


class _Mallinfo(ctypes.Structure):
    """`struct mallinfo2` of malloc.h; fordblks: bytes that are free."""

    _fields_ = (("others", ctypes.c_size_t * 8), ("fordblks", ctypes.c_size_t), ("keepcost", ctypes.c_size_t))


_libc = ctypes.CDLL(None)
_mallinfo = getattr(_libc, "mallinfo2", None)  # glibc has it since 2.33
if _mallinfo:
    _mallinfo.restype = _Mallinfo
_LC_ALL = 6
_PAGE = os.sysconf("SC_PAGE_SIZE")
