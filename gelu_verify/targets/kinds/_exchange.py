"""Frames of bits to a program and back, written and read at the same time: neither side can block the other for ever.

A frame is the number of its values as 8 bytes, then the values; little-endian. It returns a frame of as many.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from ...errors import TargetFailure

FRAME = 1 << 16  # values in one frame at most: the most that a program must buffer
_STDERR_TAIL = 4096  # bytes of stderr that are quoted
_AT_ONCE = 16  # buffers in one system call
_PATIENCE = 2.0  # seconds to end in, once its input has ended
_SIGNALS = {signal.SIGSEGV: "segfault", signal.SIGBUS: "segfault", signal.SIGABRT: "abort", signal.SIGKILL: "killed"}


class Exchange:
    """A running program. `usable`: it can be called; after a failure it cannot, and has ended."""

    def __init__(self, name: str, arguments: Sequence[str], variables: Mapping[str, str]) -> None:
        self._name = name
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **variables},
            )
        except OSError as error:
            raise TargetFailure(f"{name} cannot be started: {error.strerror}", "exit") from None
        self._end = weakref.finalize(self, _end, self._process)  # at exit too
        streams = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (stream.fileno() for stream in streams if stream is not None)
        for each in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(each, False)
        self._stderr_tail = b""
        self.usable = True

    def ask(self, x_bits: np.ndarray, y_bits: np.ndarray) -> None:
        """Send all of `x_bits`, fill `y_bits`; TargetFailure when the program ends or returns something else."""
        self.usable = False  # until every output is here: an interrupt leaves the program amid a frame
        little = x_bits.dtype.newbyteorder("<")
        inputs, outputs = _Frames(x_bits.astype(little, copy=False)), _Frames(y_bits)
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdin, selectors.EVENT_WRITE, partial(self._send, inputs))
            ready.register(self._stdout, selectors.EVENT_READ, partial(self._receive, outputs))
            ready.register(self._stderr, selectors.EVENT_READ, self._read_stderr)
            while outputs.buffers:
                for key, _ in ready.select():
                    if not key.data():
                        ready.unregister(key.fd)
        if not little.isnative:
            y_bits.byteswap(inplace=True)
        with suppress(BlockingIOError):  # nothing more is due; an end is noticed by the next call
            if unasked := os.read(self._stdout, 1 << 16):
                self._fail("shape", f"wrote {len(unasked)} bytes more than its outputs")
        self.usable = True

    def _send(self, inputs: _Frames) -> bool:
        """Write what fits; False when there is nothing more to write, or no reader."""
        try:
            inputs.advance(os.writev(self._stdin, inputs.buffers[:_AT_ONCE]))
        except BrokenPipeError:  # its outputs so far are read first, then its end is noticed
            return False
        return bool(inputs.buffers)

    def _receive(self, outputs: _Frames) -> bool:
        """Read what is there; always True: its end is a failure while outputs are due."""
        size = os.readv(self._stdout, outputs.buffers[:_AT_ONCE])
        if not size:
            kind, ending = self._ending()
            self._fail(kind, f"{ending} after {outputs.done} of {outputs.values} values")
        for sent, got in outputs.advance(size):
            if got != sent:
                due = f"the frame of {sent} values was due, which begins with {sent}"
                self._fail("shape", f"returned {_shown(got)} where {due}")
        return True

    def _read_stderr(self) -> bool:
        """Store the end of what it writes to stderr; False when it has closed that."""
        text = os.read(self._stderr, 1 << 16)
        self._stderr_tail = (self._stderr_tail + text)[-_STDERR_TAIL:]
        return bool(text)

    def _ending(self) -> tuple[str, str]:
        """In a word and in a sentence, how it ended; what closes its output but stays is given a moment to end."""
        try:
            status = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            return "partial write", "closed its output"
        if status >= 0:
            return "exit", f"ended with status {status}"
        number = signal.Signals(-status)
        return _SIGNALS.get(number, number.name), f"died of {number.name}"

    def _fail(self, kind: str, what: str) -> None:
        quoted = self._quoted_stderr()
        self._end()
        raise TargetFailure(f"{self._name} {what}{quoted}", kind)

    def _quoted_stderr(self) -> str:
        with suppress(BlockingIOError):
            while self._read_stderr():
                pass
        lines = self._stderr_tail.decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""


class _Frames:
    """The buffers of an array's frames: a count, its values, the next count ...; written from, or read into."""

    def __init__(self, bits: np.ndarray) -> None:
        self.values = bits.size
        pieces = [bits[at : at + FRAME] for at in range(0, bits.size, FRAME)]
        self._sizes = np.array([piece.size for piece in pieces], "<u8")
        self._counts = self._sizes.copy()
        self._item = bits.itemsize
        self._checked = 0
        self._passed = 0  # bytes
        self.buffers = [
            part.view(np.uint8).data for i, piece in enumerate(pieces) for part in (self._counts[i : i + 1], piece)
        ]

    def advance(self, size: int) -> list[tuple[int, int]]:
        """`size` more bytes have passed; the frames whose count is now complete, as (due, there)."""
        self._passed += size
        while self.buffers and size >= len(self.buffers[0]):
            size -= len(self.buffers.pop(0))
        if size:
            self.buffers[0] = self.buffers[0][size:]
        complete = []
        while self._checked < self._sizes.size and self._passed >= self._start(self._checked) + 8:
            complete.append((int(self._sizes[self._checked]), int(self._counts[self._checked])))
            self._checked += 1
        return complete

    def _start(self, frame: int) -> int:
        """Bytes before a frame."""
        return frame * (8 + FRAME * self._item)

    @property
    def done(self) -> int:
        """Values that have passed."""
        frames, rest = divmod(self._passed, 8 + FRAME * self._item)
        return frames * FRAME + max(rest - 8, 0) // self._item


def _shown(count: int) -> str:
    """A count that is none, as the text that it may be."""
    head = count.to_bytes(8, "little")
    is_text = all(chr(byte).isprintable() or chr(byte).isspace() for byte in head) and head.isascii()
    return repr(head.decode()) if is_text else str(count)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, which asks it to end, then see that it does."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
