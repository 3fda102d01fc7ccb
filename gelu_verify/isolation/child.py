"""The child: loads what it is asked to, calls it in shared memory, and dies with its parent.

Started by `process.start` as a fresh interpreter, never forked from a process that has threads. Whatever happens in
here, the parent learns from a message, or from how this process ended.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import json
import os
import pickle
import resource
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import EBADF
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from .. import errors, targets
from ..errors import GeluVerifyError, TargetFailure, message_of
from ..fenv import in_default_environment
from ..formats import get_format
from ..gpu import faults as device_faults
from ..own_faults import fault_line, is_of_a_plugin, is_ours
from ..targets import detection as _detection
from ..targets import under_way
from ..targets.base import Target, described, first_line
from . import _faults
from .call import SharedCall
from .channel import Channel, Closed, text_of
from .memory import ArrayPlace, GuardedMemory, map_page
from .printed import Printed
from .process import LAST_WORDS, SINCE
from .state import StateWatch, identity

_F_SETSIG = 10
MOST_CALLS = 4096  # that are kept to be asked again


def main() -> None:
    """Serve the connection that the arguments name until the other side is gone."""
    control, lifeline, fault = map(int, sys.argv[1:4])
    _die_with(lifeline)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # importing a framework makes a million objects that stay
    hosted = Hosted(map_page(fault), (control, lifeline))
    hosted.watch()
    HostConnection(Channel(socket.socket(fileno=control)), hosted).serve()
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
    """The targets that were loaded here, and what each left behind before it was called."""

    def __init__(self, fault: int, own: tuple[int, ...]) -> None:
        self._fault = fault
        self.printed = Printed()
        self.state = StateWatch(own)
        self._loaded: dict[str, list[Target]] = {}
        self._left_by_first_calls: list[str] = []
        self._lengths: set[tuple[Any, int]] = set()
        self.on_main_thread = False  # whether what was loaded works on no other one
        self.left_early: dict[str, str] = {}  # by key: what the calls left that showed what a target takes
        _detection.watched = self._watched
        under_way.share(fault + SINCE)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        with self.connected():
            self.state.begin()
        self.state.enter()
        try:
            yield
        finally:
            with self.connected():
                found = self.state.look(None)
            if found:
                self._left_by_first_calls.append(found[0])

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Where a target closed what we are asked or look through, end this process and say so: whoever called us
        would take the OSError for the target's."""
        try:
            yield
        except OSError:
            self.end("closed a file descriptor that it did not open, through which it was called or watched")

    def is_new(self, call: tuple[Any, int]) -> bool:
        """Whether none of that length was made before of a target."""
        before = len(self._lengths)
        self._lengths.add(call)
        return len(self._lengths) > before

    def watch(self) -> None:
        """Describe fatal signals; again after every load, because frameworks install handlers of their own."""
        _faults.watch(self._fault)

    def end(self, words: str) -> NoReturn:
        """End this process, and have our parent read why."""
        text = words.encode()[:200] + b"\0"
        ctypes.memmove(self._fault + LAST_WORDS, text, len(text))
        os._exit(1)

    def target(self, key: str, index: int, second: tuple[str, list[int]]) -> Target:
        """`second`: the function and the values of its second input that it is called with, where it takes one."""
        found, (function, given) = self._loaded[key][index], second
        return found.with_second(function, tuple(given)) if function else found

    def find(self, key: str, family: str, **looked_for: Any) -> dict[str, Any]:
        self.state.patient = True
        found, absent = targets.find([family], **looked_for)
        return self._described(key, found) | {"absent": absent}

    def select(self, key: str, names: list[str], kwargs: str, **options: Any) -> dict[str, Any]:
        """`kwargs` pickled, because JSON knows no tuples."""
        options |= {"kwargs": pickle.loads(bytes.fromhex(kwargs)), "load": partial(targets.load, alone=True)}
        found, absent = targets.select(names, **options)
        if any(map(_detection.works_here_alone, found)):
            self.on_main_thread = True
            found = [replace(each, note=f"{each.note}, on the main thread of its process") for each in found]
        return self._described(key, found) | {"absent": absent}

    def make(self, key: str, function: str, arguments: list[Any]) -> dict[str, Any]:
        """Targets that a function of ours, "module:name", makes of what a user named."""
        return self._described(key, _named(function)(*arguments))

    def _described(self, key: str, found: list[Target]) -> dict[str, Any]:
        self._loaded[key] = found
        if left := self._left_by_first_calls:
            self.left_early[key] = " and ".join(dict.fromkeys(left))
            left.clear()
        gc.freeze()
        self.watch()
        return {"targets": [described(target) for target in found]}


class HostConnection:
    """One connection and the memory shared through it; several, each in a thread but where a target is bound to one."""

    def __init__(self, channel: Channel, hosted: Hosted) -> None:
        self._channel, self._hosted = channel, hosted
        self._own = identity(channel.socket.fileno())
        self._on_this_thread = [self]
        self._memory: GuardedMemory | None = None
        self._calls: dict[bytes, tuple[tuple[str, int, str], Callable[[], dict[str, Any]]]] = {}

    def served(self) -> None:
        """As `serve`, in a thread of its own."""
        self._hosted.state.serve(1)
        self.serve()
        self._hosted.state.serve(-1)

    def serve(self) -> None:
        """Reply to questions until the parent is gone."""
        _faults.own_stack()
        while self in self._on_this_thread:
            for each in self._asked():
                if not each._replied():
                    self._on_this_thread.remove(each)

    def _asked(self) -> list[HostConnection]:
        """Who of this thread's connections has a question, where there are several; else waited for as it is read."""
        if len(self._on_this_thread) == 1:
            return [self]
        waiting = {each._channel.socket.fileno(): each for each in self._on_this_thread}
        poll = select.poll()
        for number in waiting:
            poll.register(number, select.POLLIN)
        return [waiting[number] for number, _ in poll.poll()]

    def _replied(self) -> bool:
        """Whether there was another question."""
        try:
            question, files = self._channel.receive_text()
            reply = self._reply(question, files)
            if isinstance(reply, float):
                self._channel.send_seconds(reply)
            else:
                self._channel.send(text_of(reply))
        except Closed:
            with self._hosted.connected():
                self._check_connected()
            if self._memory is not None:
                self._memory.close()
            return False
        return True

    @in_default_environment
    def _reply(self, question: bytes, files: list[int]) -> dict[str, Any] | float:
        found: Any = None
        reply: dict[str, Any]
        who: tuple[str, int, str] | None = None
        try:
            if question in self._calls:
                who, call = self._calls[question]
                self._hosted.state.enter()
                found = call()
            else:
                name, arguments = json.loads(question)
                if name in ("find", "select", "make"):
                    found = getattr(self._hosted, name)(**arguments)
                else:
                    found = getattr(self, f"do_{name}")(files, **arguments)
                if name == "call":
                    who = arguments["key"], arguments["index"], arguments["dtype"]
                    self._calls[question] = who, found
                    self._hosted.state.enter(self._hosted.is_new((who, arguments["n"])))
                    found = found()
            reply = {"value": found}
        except TargetFailure as failure:
            reply = {"failure": str(failure), "kind": failure.kind}
        except GeluVerifyError as error:
            known = next(each.__name__ for each in type(error).__mro__ if hasattr(errors, each.__name__))
            reply = {"error": known, "message": str(error)}
        except BaseException as error:  # noqa: BLE001 - a framework's: the parent says which target it was
            kind = device_faults.kind_of(message_of(error)) or "exception"
            reply = {"failure": f"raised {type(error).__name__}: {first_line(error)}", "kind": kind}
            if is_ours(error):
                line = fault_line("work in the process of an implementation", error)
                reply = {"fault": line, "of_a_plugin": is_of_a_plugin(error)}
        left = self._left(who)
        printed = self._hosted.printed.taken()
        if left:
            reply["left"] = left
        if printed:
            reply["printed"] = printed
        elif left is None and isinstance(found, dict) and found.keys() == {"seconds"}:
            seconds: float = found["seconds"]
            return seconds
        return reply

    def _left(self, who: tuple[str, int, str] | None) -> tuple[str, bool] | None:
        """What a call of `who` left behind; None too after any other question."""
        state = self._hosted.state
        with self._hosted.connected():
            self._check_connected()
            if who is None:
                state.begin()
                return None
            found, early = state.look(who), self._hosted.left_early.pop(who[0], None)
            return found if early is None else (early, False)

    def _check_connected(self) -> None:
        """Raises OSError where it was closed at this end."""
        if not self._hosted.state.is_connected() or identity(self._channel.socket.fileno()) != self._own:
            raise OSError(EBADF, "the connection was closed")

    # ---- what a parent may ask, beside what `Hosted` loads ----

    def do_connect(self, files: list[int]) -> None:
        connection = HostConnection(Channel(socket.socket(fileno=_file(files))), self._hosted)
        if self._hosted.on_main_thread:
            self._on_this_thread.append(connection)
        else:
            threading.Thread(target=connection.served, daemon=True).start()

    def do_share(self, files: list[int], capacity: int) -> tuple[int, int]:
        self._calls.clear()
        if self._memory is not None:
            self._memory.close()
        self._memory = GuardedMemory(file := _file(files), capacity)
        os.close(file)  # the mapping stays, and nothing else reaches the inputs
        return self._memory.base, self._memory.guard

    def do_apply(
        self,
        files: list[int],
        key: str,
        index: int,
        second: tuple[str, list[int]],
        function: str,
        arguments: list[Any],
        options: dict[str, Any],
    ) -> Any:
        return _named(function)(self._hosted.target(key, index, second), *arguments, **options)

    def do_call(
        self,
        files: list[int],
        key: str,
        index: int,
        second: tuple[str, list[int]],
        dtype: str,
        n: int,
        at_start: bool,
        twice: bool,
    ) -> Callable[[], dict[str, Any]]:
        """What is called at once, and whenever the same is asked again."""
        assert self._memory is not None
        fmt = get_format(dtype)
        place = ArrayPlace(n, fmt.width // 8, self._memory.capacity, at_start)
        if len(self._calls) > MOST_CALLS:  # as with all values of a second input
            self._calls.clear()
        return partial(SharedCall(self._hosted.target(key, index, second), fmt, self._memory, place).checked, twice)


def _file(files: list[int]) -> int:
    """The one that came with a question: none does where an implementation left no place for it."""
    if not files:
        raise TargetFailure("cannot open another file", "files")
    return files[0]


def _named(function: str) -> Callable[..., Any]:
    """A function of ours by "module:name"."""
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found
