"""A child process: started, written to and read from within a time limit, and ended."""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from threading import RLock
from time import monotonic
from typing import Any

KINDS: dict[int, str] = {
    signal.SIGSEGV: "segfault",
    signal.SIGBUS: "segfault",
    signal.SIGABRT: "abort",
    signal.SIGFPE: "arithmetic",
    signal.SIGILL: "instruction",
    signal.SIGKILL: "killed",
    signal.SIGSYS: "interference",
}  # of ends, as docs/json.md has them; others are named by their signal
_STDERR_TAIL = 4096  # bytes of stderr that are kept
_NOTICING = 5.0  # seconds for a thread that talks to notice the end; its pipes are closed after that


class ChildProcess:
    """A process of ours, with pipes as `options` of Popen say; OSError where it cannot be started.

    To end it, it gets the signal `stop`, or the end of its input where that is None; what has not ended `patience`
    seconds later is killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        variables: Mapping[str, str] | None = None,
        stop: signal.Signals | None = signal.SIGKILL,
        patience: float = 0.0,
        **options: Any,
    ) -> None:
        self._stop, self.patience = stop, patience
        self._process = subprocess.Popen(command, bufsize=0, env={**os.environ, **(variables or {})}, **options)
        self.pid = self._process.pid
        self._pipes = [each for each in (self._process.stdin, self._process.stdout, self._process.stderr) if each]
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._ending, self._talking = RLock(), RLock()
        self._stderr_tail = b""

    def widen_pipes(self) -> None:
        """As much as one may: megabytes pass with fewer turns then."""
        for pipe in self._pipes:
            with suppress(OSError):
                fcntl.fcntl(pipe.fileno(), getattr(fcntl, "F_SETPIPE_SZ", 1031), 1 << 20)

    @property
    def returncode(self) -> int | None:
        """As of Popen; None until it was reaped."""
        return self._process.returncode

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> int | None:
        """How it ended, None where it has not within that time."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def talk(self, write: Callable[[int], bool], read: Callable[[int], bool], seconds: float = inf) -> bool:
        """Write and read at the same time, until all was read; False where that takes longer.

        `write` and `read` pass to or from that file what it takes or has, and say whether more is due. What it writes
        to stderr is read, too. ValueError where the process was ended.
        """
        end, process, is_due = monotonic() + seconds, self._process, True
        with self._talking, selectors.DefaultSelector() as ready:
            ready.register(process.stdin, selectors.EVENT_WRITE, write)  # type: ignore[arg-type]
            ready.register(process.stdout, selectors.EVENT_READ, read)  # type: ignore[arg-type]
            if process.stderr:
                ready.register(process.stderr, selectors.EVENT_READ, self._read_stderr)
            while is_due:
                events = ready.select(None if seconds == inf else end - monotonic())
                if not events and monotonic() >= end:
                    return False
                for key, _ in events:
                    try:
                        is_more = key.data(key.fd)
                    except BrokenPipeError:  # what it wrote so far is read first, then its end is noticed
                        is_more = False
                    if not is_more:
                        ready.unregister(key.fileobj)
                        is_due &= key.data is not read
        return True

    def unread(self) -> bytes:
        """What it has written beyond what was read."""
        assert self._process.stdout
        return self._process.stdout.read(1 << 16) or b""

    def _read_stderr(self, file: int) -> bool:
        text = os.read(file, 1 << 16)
        self._stderr_tail = (self._stderr_tail + text)[-_STDERR_TAIL:]
        return bool(text)

    def last_words(self) -> str:
        """The last line that it wrote to stderr, as the end of a sentence."""
        with suppress(BlockingIOError):
            while self._process.stderr and self._read_stderr(self._process.stderr.fileno()):
                pass
        return last_line(self._stderr_tail, 300)

    def end(self) -> None:
        """End it, whatever it does; from any thread, and more than once."""
        with self._ending:
            if self.returncode is None:  # not yet reaped: the number is still its own
                if self._stop is None:
                    self._close()
                else:
                    self._process.send_signal(self._stop)
                if self.wait(self.patience) is None:
                    self._process.kill()
                    self._process.wait()
            self._close()

    def _close(self) -> None:
        if self._talking.acquire(timeout=_NOTICING):
            for pipe in self._pipes:
                pipe.close()
            self._talking.release()


def died_of(status: int) -> tuple[str, str]:
    """The kind of end and the name of the signal, of a negative status."""
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    return KINDS.get(-status, name), name


def last_line(text: bytes, most: int) -> str:
    """The last line of what a process printed, after a colon; empty where it printed nothing."""
    lines = text.decode(errors="replace").strip().splitlines()
    return f": {lines[-1][:most]}" if lines else ""
