"""The child: loads what it is told to, calls it in shared memory, and dies with its parent.

Started by `process.start` as a fresh interpreter, never forked from a process that has threads. Whatever happens in
here, the parent learns from a message, or from how this process ended.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import pickle
import resource
import select
import signal
import socket
import sys
import threading
from importlib import import_module
from typing import Any

import numpy as np

from .. import targets
from ..errors import GeluVerifyError, TargetFailure
from ..formats import Format, get_format
from ..targets._buffers import lending
from ..targets.base import Target, described, first_line
from . import _faults
from .channel import Channel, Closed
from .memory import GuardedRoom, Place, map_page

_F_SETSIG = 10
_libc = ctypes.CDLL(None)


def main() -> None:
    """Serve the connection that the arguments name until the other side is gone."""
    control, lifeline, fault = map(int, sys.argv[1:4])
    _die_with(lifeline)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # importing a framework makes a million objects that stay
    hosted = Hosted(map_page(fault))
    hosted.watch()
    Lane(Channel(socket.socket(fileno=control)), hosted).serve()
    os._exit(0)  # nobody waits for what frameworks do when they end


def _die_with(lifeline: int) -> None:
    """Have the kernel kill this process and all that it starts when the other end of the pipe closes.

    Not PR_SET_PDEATHSIG, which follows the thread of the parent, and reaches no grandchild.
    """
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(lifeline, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    if select.select([lifeline], [], [], 0)[0]:  # it closed before we listened
        os.kill(0, signal.SIGKILL)


class Hosted:
    """The targets that were loaded here, and what is said about each."""

    def __init__(self, fault: int) -> None:
        self._fault = fault
        self._loaded: dict[str, list[Target]] = {}

    def watch(self) -> None:
        """Describe fatal signals; again after every load, because frameworks install handlers of their own."""
        _faults.watch(self._fault)

    def target(self, key: str, index: int) -> Target:
        return self._loaded[key][index]

    def find(self, key: str, family: str) -> dict[str, Any]:
        found, absent = targets.find([family])
        return self._told(key, found) | {"absent": absent}

    def select(self, key: str, names: list[str], kwargs: str, **options: Any) -> dict[str, Any]:
        """`kwargs` pickled, because JSON knows no tuples."""
        found, absent = targets.select(names, kwargs=pickle.loads(bytes.fromhex(kwargs)), **options)
        return self._told(key, found) | {"absent": absent}

    def _told(self, key: str, found: list[Target]) -> dict[str, Any]:
        self._loaded[key] = found
        gc.freeze()
        self.watch()
        return {"targets": [described(target) for target in found]}


class Lane:
    """One connection and its room; several lanes, each in a thread of its own, when targets are safe in threads."""

    def __init__(self, channel: Channel, hosted: Hosted) -> None:
        self._channel, self._hosted = channel, hosted
        self._room: GuardedRoom | None = None

    def serve(self) -> None:
        """Answer until the parent is gone."""
        _faults.own_stack()
        try:
            while True:
                (name, arguments), files = self._channel.receive(1)
                self._channel.send(self._answer(name, arguments, files))
        except Closed:
            if self._room is not None:
                self._room.close()

    def _answer(self, name: str, arguments: dict[str, Any], files: list[int]) -> dict[str, Any]:
        try:
            answer = {"answer": getattr(self, f"do_{name}")(files, **arguments)}
        except TargetFailure as failure:
            answer = {"failure": str(failure), "kind": failure.kind}
        except GeluVerifyError as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        except (SystemExit, Exception) as error:  # noqa: BLE001 - a framework's: the parent says which target it was
            answer = {"failure": f"raised {type(error).__name__}: {first_line(error)}", "kind": "exception"}
        printed = _printed()
        return answer | {"printed": printed} if printed else answer

    # ---- what a parent may ask ----

    def do_find(self, files: list[int], **arguments: Any) -> dict[str, Any]:
        return self._hosted.find(**arguments)

    def do_select(self, files: list[int], **arguments: Any) -> dict[str, Any]:
        return self._hosted.select(**arguments)

    def do_lane(self, files: list[int]) -> None:
        lane = Lane(Channel(socket.socket(fileno=files[0])), self._hosted)
        threading.Thread(target=lane.serve, daemon=True).start()

    def do_room(self, files: list[int], capacity: int) -> int:
        if self._room is not None:
            self._room.close()
        self._room = GuardedRoom(files[0], capacity)
        os.close(files[0])  # the mapping stays, and nothing else reaches the inputs
        return self._room.base

    def do_apply(self, files: list[int], key: str, index: int, function: str, arguments: list, options: dict) -> Any:
        module, _, name = function.partition(":")
        return getattr(import_module(module), name)(self._hosted.target(key, index), *arguments, **options)

    def do_call(
        self, files: list[int], key: str, index: int, dtype: str, n: int, at_start: bool, twice: bool
    ) -> dict[str, Any]:
        assert self._room is not None
        fmt = get_format(dtype)
        place = Place(n, fmt.width // 8, self._room.capacity, at_start)
        return Call(self._hosted.target(key, index), fmt, self._room, place).checked(twice)


class Call:
    """One call: poisoned output, guarded margins, and again with another poison where that one is found."""

    def __init__(self, target: Target, fmt: Format, room: GuardedRoom, place: Place) -> None:
        self._target, self._fmt, self._room, self._place = target, fmt, room, place
        self._x, self._y = room.inputs(place, fmt.uint), room.outputs(place, fmt.uint)
        self._margin = room.output_bytes[place.margin]
        self._lent = False

    def checked(self, twice: bool) -> dict[str, Any]:
        """Seconds of the call, and which outputs (index of the first, how many) a second one did not repeat."""
        first, second = _poisons(self._fmt)
        seconds = self._once(first)
        answer: dict[str, Any] = {"seconds": seconds}
        if twice or (self._lent and (self._y == first).any()):
            got = self._y.copy()
            self._once(second)
            if self._lent:
                self._check_written((got == first) & (self._y == second))
            differ = np.flatnonzero(got != self._y)
            if len(differ):
                answer["differ"] = [int(differ[0]), len(differ)]
            self._y[:] = got
        return answer

    def _once(self, poison: np.integer) -> float:
        self._lent = False

        def lend(x_bits: np.ndarray) -> np.ndarray:
            if self._lent or x_bits.shape != self._y.shape or x_bits.dtype != self._y.dtype:
                return np.full_like(x_bits, poison)
            self._lent = True
            self._y.fill(poison)
            self._margin.fill(_MARK)
            return self._y

        with lending(lend):
            got, seconds = self._target.timed(self._fmt.name, self._x)
        if self._lent and (self._margin != _MARK).any():
            side = "beyond the end of" if self._place.at_start else "before"
            raise TargetFailure(f"{self._target.name} wrote {side} its output", "out of bounds")
        if _address(got) != _address(self._y) or not got.flags.c_contiguous:
            self._y[:] = got
            self._lent = False  # where it wrote is its own affair
        return seconds

    def _check_written(self, unwritten: np.ndarray) -> None:
        where = np.flatnonzero(unwritten)
        if len(where):
            many = "1 output" if len(where) == 1 else f"{len(where)} of {len(unwritten)} outputs"
            raise TargetFailure(
                f"{self._target.name} left {many} unwritten, the first at index {where[0]}", "partial write"
            )


_MARK = 0xA5


def _poisons(fmt: Format) -> tuple[np.integer, np.integer]:
    """Two NaNs that no arithmetic makes."""
    payload = (1 << (fmt.precision - 1)) - 1
    return (
        fmt.uint.type(fmt.infinity | (0x25A5A5A5A5A5A5 & payload) | 1),
        fmt.uint.type(fmt.sign_mask | fmt.infinity | (0x1A5A5A5A5A5A5A & payload) | 1),
    )


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _printed() -> str:
    """The beginning of what was written to stdout since the last time; stderr begins anew."""
    sys.stdout.flush()
    sys.stderr.flush()
    _libc.fflush(None)
    end = os.lseek(1, 0, os.SEEK_CUR)
    os.lseek(2, 0, os.SEEK_SET)
    if not end:
        return ""
    os.lseek(1, 0, os.SEEK_SET)
    return os.pread(1, min(end, 200), 0).decode(errors="replace") or "?"
