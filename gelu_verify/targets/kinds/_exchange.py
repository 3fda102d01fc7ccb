"""Frames of bits to a program and back, written and read at the same time: neither side can block the other for ever.

A frame is the number of its values as 8 bytes, then the values; little-endian. Its answer is a frame of as many.
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

FRAME = 1 << 16  # values in one frame at most: what a program must have room for
_LAST_WORDS = 4096  # bytes of stderr that are kept
_AT_ONCE = 16  # buffers in one system call
_PATIENCE = 2.0  # seconds to end in, once its input has ended
_SIGNALS = {signal.SIGSEGV: "segfault", signal.SIGBUS: "segfault", signal.SIGABRT: "abort", signal.SIGKILL: "killed"}


class Exchange:
    """A running program. `usable` says that it can be asked; after a failure it cannot, and is gone."""

    def __init__(self, name: str, arguments: Sequence[str], said: Mapping[str, str]) -> None:
        self._name = name
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={**os.environ, **said},
            )
        except OSError as error:
            raise TargetFailure(f"{name} cannot be started: {error.strerror}", "exit") from None
        self._end = weakref.finalize(self, _end, self._process)  # at exit too
        streams = self._process.stdin, self._process.stdout, self._process.stderr
        self._stdin, self._stdout, self._stderr = (stream.fileno() for stream in streams if stream is not None)
        for each in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(each, False)
        self._words = b""
        self.usable = True

    def ask(self, x_bits: np.ndarray, y_bits: np.ndarray) -> None:
        """Send all of `x_bits`, fill `y_bits`; TargetFailure when the program ends or answers something else."""
        self.usable = False  # until every answer is here: an interrupt leaves the program amid a frame
        little = x_bits.dtype.newbyteorder("<")
        questions, answers = _Frames(x_bits.astype(little, copy=False)), _Frames(y_bits)
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdin, selectors.EVENT_WRITE, partial(self._send, questions))
            ready.register(self._stdout, selectors.EVENT_READ, partial(self._receive, answers))
            ready.register(self._stderr, selectors.EVENT_READ, self._listen)
            while answers.buffers:
                for key, _ in ready.select():
                    if not key.data():
                        ready.unregister(key.fd)
        if not little.isnative:
            y_bits.byteswap(inplace=True)
        with suppress(BlockingIOError):  # silence is what is due now; an end is seen by the next question
            if unasked := os.read(self._stdout, 1 << 16):
                self._fail("shape", f"wrote {len(unasked)} bytes more than its answers")
        self.usable = True

    def _send(self, questions: _Frames) -> bool:
        """Write what fits; False when there is nothing more to write, or nobody who reads."""
        try:
            questions.advance(os.writev(self._stdin, questions.buffers[:_AT_ONCE]))
        except BrokenPipeError:  # what it has answered before is read first, then its end is seen
            return False
        return bool(questions.buffers)

    def _receive(self, answers: _Frames) -> bool:
        """Read what is there; always True: its end is a failure while answers are due."""
        size = os.readv(self._stdout, answers.buffers[:_AT_ONCE])
        if not size:
            kind, ending = self._ending()
            self._fail(kind, f"{ending} after {answers.done} of {answers.values} values")
        for sent, got in answers.advance(size):
            if got != sent:
                due = f"the frame of {sent} values was due, which begins with {sent}"
                self._fail("shape", f"answered {_shown(got)} where {due}")
        return True

    def _listen(self) -> bool:
        """Keep the end of what it says on stderr; False when it has closed that."""
        words = os.read(self._stderr, 1 << 16)
        self._words = (self._words + words)[-_LAST_WORDS:]
        return bool(words)

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
        with_words = self._last_words()
        self._end()
        raise TargetFailure(f"{self._name} {what}{with_words}", kind)

    def _last_words(self) -> str:
        with suppress(BlockingIOError):
            while self._listen():
                pass
        lines = self._words.decode(errors="replace").strip().splitlines()
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
