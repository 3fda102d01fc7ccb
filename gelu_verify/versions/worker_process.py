"""The process that calls one release of a library, and a path through that as a target."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..targets.base import HostCall, HostTarget
from ..targets.kinds._exchange import FRAME, Exchange
from ..targets.output_memory import output_like

WORKER = Path(__file__).with_name("worker.py")
MESSAGE = 1 << 63  # of the 8 bytes before a frame: what follows is no frame
PATIENCE = 900.0  # seconds for an answer
_ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    **dict.fromkeys(("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"), "1"),
    **{"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
}
Opening = Mapping[str, Any]  # what `open` of the worker takes


class _Conversation(Exchange):
    """An exchange of frames, with messages in between."""

    def ask_message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a message; TargetFailure where there is none, or it says that it failed."""
        self.usable = False
        content = json.dumps(message).encode()
        out = memoryview((len(content) | MESSAGE).to_bytes(8, "little") + content)
        got = bytearray()

        def send(file: int) -> bool:
            nonlocal out
            out = out[os.write(file, out) :]
            return bool(out)

        def receive(file: int) -> bool:
            due = 8 if len(got) < 8 else 8 + (int.from_bytes(got[:8], "little") ^ MESSAGE)
            part = os.read(file, due - len(got))
            if not part:
                kind, ending = self._ending()
                self._fail(kind, ending)
            got.extend(part)
            return len(got) < 8 or len(got) < 8 + (int.from_bytes(got[:8], "little") ^ MESSAGE)

        self._talk(send, receive, PATIENCE)
        self.usable = True
        answer: dict[str, Any] = json.loads(bytes(got[8:]))
        if "error" in answer:
            raise TargetFailure(answer["error"], "exception")
        return answer


@dataclass
class WorkerProcess:
    """The process of one release, at one instruction-set level; started when it is first asked, and anew after it
    ended.

    Parameters
    ----------
    python : that of the environment of the release
    library : name of the worker's adapter
    variables : environment variables, beside those that leave one thread to each library
    """

    python: Path
    library: str
    variables: Mapping[str, str] = field(default_factory=dict)
    _running: list[_Conversation] = field(default_factory=list)
    _opened: Opening = field(default_factory=dict)

    def start(self) -> None:
        """Start it, where it does not run; TargetFailure where it cannot be, or the library cannot be imported."""
        if not (self._running and self._running[0].usable):
            words = [str(self.python), "-I", str(WORKER), self.library]
            self._running[:] = [_Conversation(self.library, words, {**_ONE_THREAD, **self.variables})]
            self._opened = {}
            self._running[0].ask_message({"start": True})

    def open(self, opening: Opening, n: int) -> None:
        """What the next frames are for, tried on n numbers; TargetFailure where the release has no such thing."""
        self.start()
        if self._opened != opening:
            self._opened = {}
            self._running[0].ask_message({"open": {**opening, "n": n}})
            self._opened = opening

    def ask(self, opening: Opening, x_bits: np.ndarray, y_bits: np.ndarray) -> None:
        """Fill the outputs for these inputs."""
        self.open(opening, len(x_bits))
        self._running[0].ask(x_bits, y_bits, seconds=PATIENCE)

    def digests(self, opening: Opening, spans: Sequence[tuple[int, int]]) -> list[str]:
        """sha256 of the outputs for all inputs of each span of ordinals."""
        self.open(opening, FRAME)
        return [str(each) for each in self._running[0].ask_message({"digest": spans})["digests"]]

    def end(self) -> None:
        """End the process."""
        for each in self._running:
            each._end()
        self._running.clear()


@dataclass(frozen=True, kw_only=True)
class ReleaseTarget(HostTarget):
    """A path through a release; `opening` is its expression, or its model."""

    opening: Opening
    process: WorkerProcess

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        y_bits = output_like(x_bits)
        ask = partial(self.process.ask, {**self.opening, "dtype": dtype}, x_bits, y_bits)
        return HostCall(ask, x_bits, y_bits, x_bits)
