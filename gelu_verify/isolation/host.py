"""A child and its successors: loads the same targets again when one has died, and says whose fault that was."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import errors
from ..errors import TargetFailure
from ..formats import Format, get_format, value_text
from ..own_faults import OwnFault
from ..targets.execution_errors import ExecutionErrors
from ..targets.kinds import BUILDS
from ..targets.probing import ordinary_numbers
from .channel import Channel, question
from .limits import FIRST, LOADING, Limits, Patience
from .memory import ArrayPlace, GuardLayout, SharedMemory
from .process import POLL, Child, Death, Died

_Code = tuple[str, dict[str, str]]


class LostInCall(TargetFailure):
    """Its process did not survive a first call, which shows what it takes; in that `dtype`."""

    def __init__(self, message: str, kind: str, *, dtype: str, first_bits: int, last_bits: int) -> None:
        super().__init__(message, kind, first_bits=first_bits, last_bits=last_bits)
        self.dtype = dtype


class Turns:
    """Many share, or one has it alone; who has it alone may take it again."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._sharing, self._owner, self._depth = 0, 0, 0

    @contextmanager
    def shared(self) -> Iterator[int]:
        """Yields how many share, with us."""
        me = threading.get_ident()
        with self._condition:
            self._condition.wait_for(lambda: self._owner in (0, me))
            self._sharing += 1
        try:
            yield self._sharing
        finally:
            with self._condition:
                self._sharing -= 1
                self._condition.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        me = threading.get_ident()
        with self._condition:
            self._condition.wait_for(lambda: self._owner == me or (not self._owner and not self._sharing))
            self._owner = me
            self._depth += 1
        try:
            yield
        finally:
            with self._condition:
                self._depth -= 1
                if not self._depth:
                    self._owner = 0
                    self._condition.notify_all()


@dataclass
class ChildConnection:
    """A thread's connection to one child, and the memory that they share."""

    child: Child
    channel: Channel
    memory: SharedMemory | None = None
    layout: GuardLayout | None = None
    places: dict[tuple[str, int, bool], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def __del__(self) -> None:
        """Its thread is gone: the child's ends, and gives back that memory."""
        self.child.channels.discard(self.channel)
        self.channel.close()

    def placed(self, fmt: Format, n: int, at_start: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Memory of n inputs and of their outputs, bits, for the next call; it grows when they do not fit."""
        found = self.places.get((fmt.name, n, at_start))
        if found is None:
            memory, itemsize = self.memory, fmt.width // 8
            if memory is None or n * itemsize > memory.capacity:
                memory = self._grown(n * itemsize)
            place = ArrayPlace(n, itemsize, memory.capacity, at_start)
            found = memory.inputs(place, fmt.uint), memory.outputs(place, fmt.uint)
            self.places[fmt.name, n, at_start] = found
        return found

    def _grown(self, nbytes: int) -> SharedMemory:
        memory = SharedMemory(nbytes)
        given = self.child.give(self.channel, question("share", capacity=memory.capacity), LOADING, memory.file)
        memory.close_file()
        self.memory = memory
        self.places.clear()
        if self.layout is not None:
            self.child.layouts.remove(self.layout)
        base, guard = given
        self.layout = GuardLayout(base, guard, memory.capacity)
        self.child.layouts.append(self.layout)
        return memory


@dataclass(frozen=True)
class Loading:
    """What a child is asked to load: the question, and its arguments."""

    question: str
    arguments: dict[str, Any]


@dataclass
class TargetCase:
    """State of one target in one dtype: how patient to be, what it did beside returning outputs."""

    patience: Patience
    calls: int = 0
    compared: bool = False  # a large call with a short one
    retried: bool = False
    notes: dict[str, TargetFailure] = field(default_factory=dict)
    execution_errors: ExecutionErrors | None = None  # of the last call

    def note(self, failure: TargetFailure, x_bits: np.ndarray | None) -> None:
        """Keep the first of its kind, with the inputs of the call where it was that call."""
        if failure.kind not in self.notes:
            failure.inputs = None if x_bits is None else x_bits.copy()
            self.notes[failure.kind] = failure


class Host:
    """One family, or one target that a user named; `variables`: of the environment of its processes."""

    def __init__(self, label: str, limits: Limits, variables: Mapping[str, str] | None = None) -> None:
        self.label, self.limits, self._variables = label, limits, variables or {}
        self.turns = Turns()
        self._lock = threading.RLock()
        self._child: Child | None = None
        self._connections = threading.local()
        self._loaded: dict[str, tuple[Loading, list[_Code]]] = {}
        self._cases: dict[tuple[str, int, str], TargetCase] = {}
        self._closed = False
        # What its children compile: one that replaces another runs the same code. The first that does makes the folder.
        self._builds = os.path.join(tempfile.gettempdir(), f"gelu-verify-builds-{secrets.token_hex(8)}")
        self._remove_builds = weakref.finalize(self, shutil.rmtree, self._builds, ignore_errors=True)

    # ---- loading ----

    def load(self, key: str, loading: Loading) -> dict[str, Any]:
        """What the child found; the errors that it raised; TargetFailure when it died of it."""
        with self._lock:
            child = self._living()
            reply = self._load(child, key, loading)
            self._loaded[key] = loading, _code(reply)
            return reply

    def _living(self) -> Child:
        """The child, with all that was loaded before."""
        with self._lock:
            self._check_open()
            if self._child is None:
                self._child = Child(self.label, self.limits.niceness, {**self._variables, BUILDS: self._builds})
                self._check_open()  # closed meanwhile, by who does not wait for our lock
                for key, (loading, code) in self._loaded.items():
                    if changed := _changed(code, _code(self._load(self._child, key, loading))):
                        self.discard(self._child)
                        raise TargetFailure(f"{self.label}: {changed} changed while it was tested", "changed code")
            return self._child

    def _check_open(self) -> None:
        if self._closed:
            self.close()
            raise TargetFailure("the run was ended", "killed")

    def _load(self, child: Child, key: str, loading: Loading) -> dict[str, Any]:
        try:
            one = self.limits.of_first_call if loading.question == "select" else max(FIRST, self.limits.of_first_call)
            asked = question(loading.question, key=key, **loading.arguments)
            reply = child.ask(child.control, asked, LOADING, of_one_call=one, of_import=self.limits.of_import)
        except Died as died:
            self.discard(child)
            raise _lost_while_loading(self.label, died.death) from None
        if "error" in reply:
            raise getattr(errors, reply["error"])(reply["message"])
        if "fault" in reply:
            raise OwnFault(reply["fault"], reply["of_a_plugin"])
        if "failure" in reply:
            raise TargetFailure(f"{self.label} {reply['failure']}", reply["kind"])
        with suppress(FileNotFoundError):  # closed meanwhile: the next question says so
            child.limit_memory(self.limits.nbytes)
        value: dict[str, Any] = reply["value"]
        return value

    def discard(self, child: Child) -> None:
        """The next question goes to a fresh child."""
        with self._lock:
            if self._child is child:
                self._child = None
            child.close()

    def restart(self) -> None:
        """End the child while nobody has it called: the next question goes to a fresh one."""
        if self._child is not None:
            self.discard(self._child)

    def close(self) -> None:
        """End the child; threads that wait for a reply, or for it to load, get an error: no lock."""
        self._closed = True
        child, self._child = self._child, None
        if child is not None:
            child.close()
        self._remove_builds()

    # ---- asking ----

    def case(self, key: str, index: int, dtype: str) -> TargetCase:
        return self._cases.setdefault((key, index, dtype), TargetCase(Patience(self.limits)))

    def connection(self) -> ChildConnection:
        """This thread's connection to the living child."""
        child = self._child or self._living()
        found: ChildConnection | None = getattr(self._connections, "connection", None)
        while found is None or found.child is not child:
            try:
                found = self._connections.connection = self._connected(child)
            except Died:  # while nothing was asked of it: nobody's fault here
                self.discard(child)
                child = self._living()
        return found

    def ask(
        self, connection: ChildConnection, asked: bytes, seconds: float, of_one_call: float, on_main_thread: bool
    ) -> dict[str, Any]:
        """The reply to one question, of this thread's connection, or of the main thread, which else loads and connects;
        raises Died."""
        child = connection.child
        with self._lock if on_main_thread else nullcontext():
            channel = child.control if on_main_thread else connection.channel
            reply: dict[str, Any] = child.ask(channel, asked, seconds, of_one_call=of_one_call)
        return reply

    def _connected(self, child: Child) -> ChildConnection:
        channel, theirs = Channel.pair(POLL)
        child.channels.add(channel)
        with self._lock, theirs:
            child.give(child.control, question("connect"), LOADING, theirs.fileno())
        return ChildConnection(child, channel)


def _lost_while_loading(label: str, death: Death) -> TargetFailure:
    """Of its import, or of a first call, which shows what it takes."""
    if not death.dtype:
        return TargetFailure(f"{label}, while it was loaded, {death.detail}", death.kind)
    fmt = get_format(death.dtype)
    ordinary = ordinary_numbers(fmt.name)
    called = ", ".join(value_text(fmt, bits) for bits in ordinary.tolist())
    told = f"{label} {death.detail} when it was first called, in {fmt.name}, with {called}"
    return LostInCall(told, death.kind, dtype=fmt.name, first_bits=int(ordinary[0]), last_bits=int(ordinary[-1]))


def _code(reply: dict[str, Any]) -> list[_Code]:
    """Of what was loaded: versions (hashes of the code, or releases of a framework), and digests of files by name."""
    return [(fields["version"], fields["files"]) for fields in reply["targets"]]


def _changed(before: list[_Code], now: list[_Code]) -> str:
    """What is not as it was; files that it wrote itself meanwhile, and reads now, are no change."""
    if len(before) != len(now):
        return "its files"
    for (version, files), (other, others) in zip(before, now, strict=True):
        if changed := [name for name, digest in files.items() if others.get(name, digest) != digest]:
            return changed[0]
        if version != other and not files:
            return "its files"
    return ""
