"""Frames of bits to a program and back, written and read at the same time: neither side can block the other for ever.

A frame is the number of its values as 8 bytes, then the values; little-endian. It returns a frame of as many, or of
half as many where a frame has values of x and then as many of a second input.
"""

from __future__ import annotations

import os
import subprocess
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf

import numpy as np

from ...errors import TargetFailure
from ...work.process import ChildProcess, died_of

FRAME = 1 << 16  # values in one frame at most: the most that a program must buffer
_AT_ONCE = 16  # buffers in one system call
_PATIENCE = 2.0  # seconds to end in, once its input has ended


class Exchange:
    """A running program. `second`: the second input that it takes; empty for none. `usable`: it can be called; after a
    failure it cannot, and has ended."""

    def __init__(self, name: str, arguments: Sequence[str], variables: Mapping[str, str], second: str = "") -> None:
        self._name, self._second = name, second
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            self._process = ChildProcess(arguments, variables=variables, stop=None, patience=_PATIENCE, **pipes)
        except OSError as error:
            raise TargetFailure(f"{name} cannot be started: {error.strerror}", "exit") from None
        self._process.widen_pipes()
        self._end = weakref.finalize(self, self._process.end)  # at exit too
        self.usable = True

    def ask(self, x_bits: np.ndarray, y_bits: np.ndarray, *beside: np.ndarray, seconds: float = inf) -> None:
        """Send all of `x_bits`, and of the second input `beside` them, fill `y_bits`; TargetFailure when the program
        ends, returns something else, or takes longer."""
        self.usable = False  # until every output is here: an interrupt leaves the program amid a frame
        little = x_bits.dtype.newbyteorder("<")
        most = FRAME // (1 + len(beside))
        parts = [part[at : at + most] for at in range(0, x_bits.size, most) for part in (x_bits, *beside)]
        sent = np.concatenate(parts) if beside and parts else x_bits
        inputs, outputs = _Frames(sent.astype(little, copy=False)), _Frames(y_bits, most)
        if outputs.buffers:
            self._talk(partial(self._send, inputs), partial(self._receive, outputs), seconds)
        if not little.isnative:
            y_bits.byteswap(inplace=True)
        if unasked := self._process.unread():  # an end is noticed by the next call
            self._fail("shape", f"wrote {len(unasked)} bytes more than its outputs")
        self.usable = True

    def _talk(self, send: Callable[[int], bool], receive: Callable[[int], bool], seconds: float) -> None:
        if not self._process.talk(send, receive, seconds):
            self._fail("hang", f"did not answer within {seconds:g} s")

    def _send(self, inputs: _Frames, file: int) -> bool:
        """Write what fits; False when there is nothing more to write."""
        inputs.advance(os.writev(file, inputs.buffers[:_AT_ONCE]))
        return bool(inputs.buffers)

    def _receive(self, outputs: _Frames, file: int) -> bool:
        """Read what is there; whether more is due. Its end is a failure while outputs are due."""
        size = os.readv(file, outputs.buffers[:_AT_ONCE])
        if not size:
            kind, ending = self._ending()
            self._fail(kind, f"{ending} after {outputs.done} of {outputs.values} values")
        for sent, got in outputs.advance(size):
            if got != sent:
                due = f"the frame of {sent} values was due, which begins with {sent}"
                due += f", as its request has {sent} values of x and as many of {self._second}" * bool(self._second)
                self._fail("shape", f"returned {_shown(got)} where {due}")
        return bool(outputs.buffers)

    def _ending(self) -> tuple[str, str]:
        """In a word and in a sentence, how it ended; what closes its output but stays is given a moment to end."""
        status = self._process.wait(_PATIENCE)
        if status is None:
            return "partial write", "closed its output"
        if status >= 0:
            return "exit", f"ended with status {status}"
        kind, name = died_of(status)
        return kind, f"died of {name}"

    def _fail(self, kind: str, what: str) -> None:
        quoted = self._process.last_words()
        self._end()
        raise TargetFailure(f"{self._name} {what}{quoted}", kind)


class _Frames:
    """The buffers of an array's frames: a count, its values, the next count ...; written from, or read into."""

    def __init__(self, bits: np.ndarray, most: int = FRAME) -> None:
        self.values, self._most = bits.size, most
        pieces = [bits[at : at + most] for at in range(0, bits.size, most)]
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
        return frame * (8 + self._most * self._item)

    @property
    def done(self) -> int:
        """Values that have passed."""
        frames, rest = divmod(self._passed, 8 + self._most * self._item)
        return frames * self._most + max(rest - 8, 0) // self._item


def _shown(count: int) -> str:
    """A count that is none, as the text that it may be."""
    head = count.to_bytes(8, "little")
    is_text = all(chr(byte).isprintable() or chr(byte).isspace() for byte in head) and head.isascii()
    return repr(head.decode()) if is_text else str(count)
