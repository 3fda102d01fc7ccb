"""One child process as its parent sees it: started, limited, asked, and how it ended."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import Any

from ..targets.under_way import UnderWay, dtype_of_call
from ..work.process import ChildProcess, died_of, last_line
from .channel import Channel, Closed
from .memory import PAGE, GuardLayout
from .printed import SIZE

POLL = 0.02  # seconds between two looks at the memory of a child that is at work
FILES = 512  # open at once: more than any family here has
ENDING = 10  # seconds for a supervisor to end all that the child started
_F_ADD_SEALS, _F_SEAL_GROW = 1033, 4
SINCE = 1024  # place in that page where `targets.under_way` writes
LAST_WORDS = 2048  # place of the text in that page that says why the child ended itself
_RUN = (
    "import sys; sys.path[:] = sys.argv.pop().split('\\n'); from gelu_verify.isolation.confinement import begin;"
    " begin(*map(int, sys.argv[2:4])); from gelu_verify.isolation.child import main; main()"
)


class _Fault(ctypes.Structure):
    """The record of src/isolation/faults.c."""

    _fields_ = (
        ("worker", ctypes.c_int32),
        ("signal", ctypes.c_int32),
        ("code", ctypes.c_int32),
        ("access", ctypes.c_int32),
        ("address", ctypes.c_uint64),
        ("statm_size", ctypes.c_int32),
        ("statm", ctypes.c_char * 240),
    )


@dataclass(frozen=True)
class Death:
    """How a child ended: `kind` as in docs/json.md, what is known in words, and the address of a fault."""

    kind: str
    detail: str
    address: int | None = None
    writing: bool = False
    waited: float = 0.0  # seconds for what did not return
    dtype: str = ""  # of the call that was under way: of one of several in a question; empty: it made none


class Died(Exception):
    """The child ended before it replied; `by_me` when it was ended because of this question."""

    def __init__(self, death: Death, by_me: bool) -> None:
        super().__init__(death.detail)
        self.death, self.by_me = death, by_me


class Child:
    """A fresh interpreter that runs `child.main`, under a supervisor: it dies with us, however we end, and all that it
    started with it."""

    def __init__(self, label: str, niceness: int = 0, variables: Mapping[str, str] | None = None) -> None:
        self.control, theirs = Channel.pair(POLL)
        held, lifeline = os.pipe()
        fault = _memory("fault", PAGE)
        self._fault_map = mmap.mmap(fault, PAGE)
        self._fault = _Fault.from_buffer(self._fault_map)
        self._under_way = UnderWay.from_buffer(self._fault_map, SINCE)
        printed, self._stderr = _sealed("stdout"), _sealed("stderr")
        inherited = (theirs.fileno(), held, fault)
        path = "\n".join(entry or os.getcwd() for entry in _path())
        self._process = ChildProcess(
            [sys.executable, "-u", "-c", _RUN, *map(str, inherited), label, path],
            variables=variables,
            stop=signal.SIGTERM,  # which its supervisor takes for: end everything
            patience=ENDING,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=self._stderr,
            pass_fds=inherited,
            start_new_session=True,
        )
        if niceness:
            os.setpriority(os.PRIO_PGRP, self.pid, niceness)
        for file in (held, fault, printed):
            os.close(file)
        self._held = [lifeline, self._stderr]
        theirs.close()
        self._limit = self._allowed = sys.maxsize
        self._looked = 0.0  # when
        self._ending = RLock()
        self._ended_for: Death | None = None
        self._death: Death | None = None
        self.channels: set[Channel] = {self.control}
        self.served: set[Any] = set()  # the targets that it called
        self.layouts: list[GuardLayout] = []  # of what it shares

    @property
    def pid(self) -> int:
        """Of the process that calls; until that has begun, of its supervisor."""
        return self._fault.worker or self._process.pid

    def limit_memory(self, nbytes: int) -> None:
        """So many resident bytes more than it has now. Address space that it only reserves is not memory that it needs:
        that has no limit. It is looked at while a question waits for its reply, and between questions."""
        self._allowed = nbytes
        self._limit = _resident_of(Path(f"/proc/{self.pid}/statm").read_text()) + nbytes

    def ask(
        self,
        channel: Channel,
        question: bytes,
        seconds: float,
        files: tuple[int, ...] = (),
        of_one_call: float = inf,
        of_import: float = inf,
    ) -> Any:
        """The reply to one question; raises Died when there is none in that time, when one of the calls that are made
        meanwhile takes longer than `of_one_call`, an import longer than `of_import`, or when the memory limit is
        passed."""
        try:
            channel.send(question, files)
            end = monotonic() + seconds
            while True:
                try:
                    reply = channel.receive()
                except BlockingIOError:
                    self._look(end, seconds, of_one_call, of_import)
                    continue
                if monotonic() >= self._looked + POLL:
                    self._look_at_memory()
                return reply
        except Closed:
            raise Died(self.death(), False) from None

    def give(self, channel: Channel, question: bytes, seconds: float, file: int) -> Any:
        """What the reply has to a question with which a file goes; raises Died also where it can take none."""
        reply = self.ask(channel, question, seconds, (file,))
        if "failure" in reply:
            raise Died(self._exhausted(reply["failure"]), True)
        return reply["value"]

    def _look(self, end: float, seconds: float, of_one_call: float, of_import: float) -> None:
        """After `POLL` seconds without a reply: does it need too much?"""
        self._look_at_memory()
        if monotonic() >= end:
            self._end_for(Death("hang", f"did not return within {seconds:.3g} s", waited=seconds))
        since = self._under_way.since
        one = of_import if since < 0 else of_one_call
        if since and monotonic() >= abs(since) + one:
            self._end_for(Death("hang", f"did not return within {one:.3g} s", waited=one))

    def _look_at_memory(self) -> None:
        self._looked = monotonic()
        if self._resident() > self._limit:
            self._end_for(Death("memory", self._too_much()))

    def _too_much(self) -> str:
        return f"needs more than the memory limit of {_size_text(self._allowed)} (--memory-limit)"

    def _end_for(self, death: Death) -> None:
        if self._ended_for is None:
            self._ended_for = death
            self.kill()
            raise Died(self.death(), True)

    def _resident(self) -> int:
        try:
            return _resident_of(Path(f"/proc/{self.pid}/statm").read_text())
        except (OSError, IndexError):  # it has just ended
            return 0

    def death(self) -> Death:
        """How it ended; it is made to, if it only stopped talking."""
        with self._ending:
            return self._death or self._observed()

    def _observed(self) -> Death:
        end = monotonic() + 5
        while self._process.returncode is None and monotonic() < end and not _has_ended(self._process.pid):
            sleep(1e-3)
        self.kill()
        assert self._process.returncode is not None
        found = self._ended_for or self._found(self._process.returncode)
        self._death = replace(found, dtype=dtype_of_call(self._under_way))
        return self._death

    def _found(self, code: int) -> Death:
        words = self._fault_map[LAST_WORDS:].partition(b"\0")[0].decode(errors="replace")
        if words:
            return Death("left behind", words)
        fault, words = self._fault, self._last_words()
        if code >= 0:
            return Death("exit", f"ended its process with exit code {code}{words}")
        kind, name = died_of(code)
        if fault.statm_size > 0 and _resident_of(fault.statm[: fault.statm_size].decode()) > self._limit:
            return Death("memory", f"{self._too_much()}, and died of {name}{words}")
        if "bad_alloc" in words or "MemoryError" in words:
            return Death("memory", f"ran out of memory, then died of {name}{words}")
        if kind == "interference":
            return Death(kind, f"tried to signal, trace or limit the process that verifies it, and was ended{words}")
        if kind == "segfault" and fault.signal == -code and fault.code > 0:
            at = f" at address {fault.address:#x}" if fault.code != _UNKNOWN_ADDRESS else ""
            return Death(kind, f"died of {name}{at}{words}", fault.address, fault.access == 2)
        return Death(kind, f"died of {name}{words}")

    def _last_words(self) -> str:
        """The last line on stderr."""
        end = os.lseek(self._stderr, 0, os.SEEK_CUR)
        start = max(0, end - 4096)
        text = os.pread(self._stderr, end - start, start)
        return last_line(text, 200)

    def _exhausted(self, message: str) -> Death:
        """Why it, still alive, can share no more memory with us."""
        files = len(os.listdir(f"/proc/{self.pid}/fd"))
        if files >= FILES:
            return Death("files", f"left {files} files open, and no more can be opened")
        return Death("memory", f"left no memory to share: {message}")

    def kill(self) -> None:
        """End it and everything that it started."""
        self._process.end()

    def close(self) -> None:
        """End it and give back what it held here, once: two threads may want to."""
        with self._ending:
            self.kill()
            self.death()  # said while its last words can be read: another thread may still ask
            while self.channels:
                self.channels.pop().close()
            while self._held:
                os.close(self._held.pop())


_UNKNOWN_ADDRESS = 128  # SI_KERNEL: a fault of alignment or of an address that no memory can have


def _path() -> list[str]:
    """Where the child looks for modules: where we do, and for this package where it was found."""
    ours = str(Path(__file__).parents[2])
    return sys.path if ours in sys.path else [*sys.path, ours]


def _has_ended(pid: int) -> bool:
    """Whether it has; it is not reaped, so that its number stays its own until its group is gone too."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _resident_of(statm: str) -> int:
    """Bytes."""
    return int(statm.split()[1]) * PAGE


def _memory(name: str, nbytes: int, flags: int = 0) -> int:
    file = os.memfd_create(f"gelu-verify-{name}", os.MFD_CLOEXEC | flags)
    os.ftruncate(file, nbytes)
    return file


def _sealed(name: str) -> int:
    """A file in memory that cannot grow: a loop that prints fills it, and not the machine."""
    file = _memory(name, SIZE, os.MFD_ALLOW_SEALING)
    fcntl.fcntl(file, _F_ADD_SEALS, _F_SEAL_GROW)
    return file


def _size_text(nbytes: int) -> str:
    return f"{nbytes / (1 << 30):.3g} GiB" if nbytes >= 1 << 30 else f"{nbytes / (1 << 20):.3g} MiB"
