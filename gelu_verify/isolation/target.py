"""A target whose implementation lives in a child: the same interface, and a crash is a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import Format, get_format
from ..gpu.faults import is_broken
from ..own_faults import OwnFault
from ..targets.base import T, Target
from ..targets.execution_errors import ExecutionErrors
from ..targets.extra_outputs import differences, differences_from_json, report
from .channel import question
from .host import Host, TargetCase
from .memory import ArrayPlace
from .process import Child, Death, Died

SMALL = 1024  # inputs: a call with fewer is made at both ends of the memory and twice, because that costs little
PROBE = 257  # inputs of the call before the first large one, as many as a check's: some frameworks compile per shape
AGAIN = 64  # of so many larger calls, one is


@lru_cache(maxsize=1024)
def _call_text(
    key: str, index: int, second: tuple[str, tuple[int, ...]], dtype: str, n: int, at_start: bool, twice: bool
) -> bytes:
    """The question that is asked most."""
    return question("call", key=key, index=index, second=second, dtype=dtype, n=n, at_start=at_start, twice=twice)


@dataclass(frozen=True, kw_only=True)
class IsolatedTarget(Target):
    """What a child found, described; `key` and `index` say which it is there."""

    host: Host = field(repr=False, compare=False)
    key: str
    index: int
    family_name: str
    seals_inputs = True

    @property
    def family(self) -> str:
        return self.family_name

    @property
    def _second(self) -> tuple[str, tuple[int, ...]]:
        """What the target there is called with, where it takes a second input: as `with_second` has it."""
        return (self.function, self.given) if self.second else ("", ())

    def load(self, dtype: str, x_bits: np.ndarray) -> tuple[str, np.ndarray]:
        return dtype, x_bits

    def call(self, loaded: tuple[str, np.ndarray]) -> np.ndarray:
        return self.timed(*loaded)[0]

    def store(self, dtype: str, loaded: Any, result: np.ndarray) -> np.ndarray:
        return result

    def evaluate(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        """As of every target; the inputs cannot be changed there. Looked at closely: at both ends of memory, twice."""
        fmt, case = get_format(dtype), self.host.case(self.key, self.index, dtype)
        return self._guarded(fmt, case, x_bits, closely=True)[0].copy()

    def input_memory(self, dtype: str, n: int) -> np.ndarray:
        return self.host.connection().placed(get_format(dtype), n)[0]

    def noted(self, dtype: str) -> TargetFailure | None:
        notes = self.host.case(self.key, self.index, dtype).notes
        return notes.pop(min(notes)) if notes else None

    def execution_errors(self, dtype: str) -> ExecutionErrors | None:
        return self.host.case(self.key, self.index, dtype).execution_errors

    def search_seconds(self, dtype: str) -> float:
        return self.host.case(self.key, self.index, dtype).patience.left

    def fresh(self) -> bool:
        with self.alone():
            self.host.restart()
        return True

    def alone(self) -> AbstractContextManager[object]:
        return self.host.turns.alone()

    def applied(self, calls: int | None, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """In the child; the arguments, and what it returns, cross as JSON."""
        return self._applied(False, calls, function, arguments, options)

    def applied_on_main_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        try:
            return self._applied(True, 1, function, arguments, {})
        except TargetFailure as failure:
            failure.args = (f"{failure}, on the main thread of its process",)
            raise

    def _applied(
        self, on_main_thread: bool, calls: int | None, function: Callable[..., T], arguments: Sequence[Any],
        options: dict[str, Any],
    ) -> T:  # fmt: skip
        case = self.host.case(self.key, self.index, arguments[0])
        seconds = self.host.limits.timing if calls is None else case.patience.of_calls(calls)
        name = f"{function.__module__}:{function.__qualname__}"
        who: dict[str, Any] = {"key": self.key, "index": self.index, "second": self._second}
        asked = question("apply", **who, function=name, arguments=arguments, options=options)
        one = case.patience.of_one_call

        def call() -> Any:
            connection = self.host.connection()
            connection.child.served.add((self.key, self.index))
            return self._value(self.host.ask(connection, asked, seconds, one, on_main_thread), connection.child)

        value: T = self._survived(case, call, np.empty(0))
        return value

    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        """As of every target; the outputs lie in shared memory until this thread's next call."""
        fmt, case = get_format(dtype), self.host.case(self.key, self.index, dtype)
        if not case.compared and len(x_bits) > SMALL:
            case.compared = True
            asked = x_bits.copy()  # the probe may be placed over them
            probe = self._guarded(fmt, case, asked[:PROBE])[0].copy()
            got, seconds = self._guarded(fmt, case, asked)
            where = f"at index {{}} in a call of {len(asked)}", f"in a call of {PROBE} before"
            report(differences(fmt, asked[:PROBE], got[:PROBE], probe, where))
            return got, seconds
        return self._guarded(fmt, case, x_bits)

    def _guarded(
        self, fmt: Format, case: TargetCase, x_bits: np.ndarray, closely: bool = False
    ) -> tuple[np.ndarray, float]:
        """One call; every failure says with which inputs."""
        case.calls += 1
        closely |= len(x_bits) <= SMALL or case.calls % AGAIN == 2
        x_bits = x_bits.copy() if closely else x_bits  # those of a large call may lie where the next one is placed
        try:
            return self._survived(case, lambda: self._called(fmt, case, x_bits, closely), x_bits)
        except TargetFailure as failure:
            failure.inputs = x_bits.copy()
            raise

    def _survived(self, case: TargetCase, call: Callable[[], T], x_bits: np.ndarray) -> T:
        """One call, and once more in a fresh child, alone, where somebody else may have killed the first."""
        if not case.patience.left:
            raise TargetFailure(f"{self.name} did not return before, and is not called again", "hang")
        connection = self.host.connection()
        try:
            with self._turn():
                return call()
        except Died as died:
            self.host.discard(connection.child)
            served, death = connection.child.served, died.death
            case.patience.hung(death.waited)
            certain = served == {(self.key, self.index)} and not self.safe_in_threads and death.kind != "killed"
            if died.by_me or case.retried or certain:
                raise self._failure_of(death, connection.child, waited=case.patience.waited) from None
        case.retried = True
        with self.alone():
            connection = self.host.connection()
            try:
                value = call()
            except Died as died:
                self.host.discard(connection.child)
                case.patience.hung(died.death.waited)
                raise self._failure_of(died.death, connection.child, waited=case.patience.waited) from None
        if len(served) == 1 and death.kind != "killed":
            case.note(self._failure_of(death, connection.child, "; the same call in a fresh process did not"), x_bits)
        return value

    def _turn(self) -> AbstractContextManager[object]:
        return self.host.turns.shared() if self.safe_in_threads else self.host.turns.alone()

    def _called(self, fmt: Format, case: TargetCase, x_bits: np.ndarray, closely: bool) -> tuple[np.ndarray, float]:
        if not closely:
            return self._placed(fmt, case, x_bits, at_start=False, twice=False)
        before = self._placed(fmt, case, x_bits, at_start=True, twice=False)[0].copy()
        got, seconds = self._placed(fmt, case, x_bits, at_start=False, twice=True)
        where = f"at index {{}} in a call of {len(x_bits)}, arrays at the {{}} of a page"
        report(differences(fmt, x_bits, got, before, (where.format("{}", "end"), where.format("{}", "start"))))
        return got, seconds

    def _placed(
        self, fmt: Format, case: TargetCase, x_bits: np.ndarray, at_start: bool, twice: bool
    ) -> tuple[np.ndarray, float]:
        connection, n = self.host.connection(), len(x_bits)
        inputs, outputs = connection.placed(fmt, n, at_start)
        assert connection.memory is not None
        assert connection.layout is not None
        connection.layout.place = ArrayPlace(n, fmt.width // 8, connection.memory.capacity, at_start)
        if inputs is not x_bits:
            inputs[:] = x_bits
        connection.child.served.add((self.key, self.index))
        start = perf_counter()
        asked = _call_text(self.key, self.index, self._second, fmt.name, n, at_start, twice)
        reply = connection.child.ask(connection.channel, asked, case.patience.seconds(n))
        case.patience.took(perf_counter() - start, n)
        if "printed" in reply:
            case.note(TargetFailure(f"{self.name} printed to stdout: {reply['printed'][:80]!r}", "stdout"), x_bits)
        if "left" in reply:
            text, by_this_call = reply["left"]
            case.note(TargetFailure(f"{self.name} {text}", "left behind"), x_bits if by_this_call else None)
        found = self._value(reply, connection.child)
        if "noted" in found:
            case.note(TargetFailure(*found["noted"]), x_bits)
        if "differ" in found:
            first, many = found["differ"]
            x = fmt.bits_text(int(x_bits[first]))
            text = f"{self.name} gave different bits when it was called again: {many} of {n}, the first at {x}"
            case.note(TargetFailure(text, "nondeterministic"), x_bits)
        case.execution_errors = ExecutionErrors.of_json(found["executions"]) if "executions" in found else None
        report(differences_from_json(fmt, found.get("others", [])))
        return outputs, found["seconds"]

    def _value(self, reply: dict[str, Any], child: Child) -> Any:
        if "fault" in reply:
            raise OwnFault(reply["fault"], reply["of_a_plugin"])
        if "failure" in reply:
            if is_broken(reply["kind"], reply["failure"]):  # its CUDA context is of no use any more
                self.host.discard(child)
            raise TargetFailure(reply["failure"], reply["kind"])
        return reply["value"]

    def _failure_of(self, death: Death, child: Child, also: str = "", waited: float = 0.0) -> TargetFailure:
        """The death as a failure of this target: an address in what we share says more than the signal, and the time
        that was `waited` for the first call that hung more than that for this one."""
        if death.kind == "hang":
            return TargetFailure(f"{self.name} did not return within {waited:.3g} s{also}", death.kind)
        address = death.address
        places = () if address is None else (layout.region(address) for layout in child.layouts)
        where = next(filter(None, places), None)
        if where == "input":
            return TargetFailure(f"{self.name} wrote to its input{also}{self.if_it_writes}", "changed input")
        if where is not None and where != "output":
            verb = "wrote" if death.writing else "read"
            return TargetFailure(f"{self.name} {verb} {where}{also}", "out of bounds")
        return TargetFailure(f"{self.name} {death.detail}{also}", death.kind)


@dataclass(frozen=True, kw_only=True)
class LostTarget(Target):
    """What a user named, but a process does not survive loading it, or we fail there."""

    failure: TargetFailure | OwnFault

    def __post_init__(self) -> None:
        if isinstance(self.failure, TargetFailure):
            self.failure.inputs = np.empty(0)  # none of a run: no fewer are looked for

    def evaluate(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        raise self.failure

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        raise self.failure

    def call(self, loaded: Any) -> Any:
        raise self.failure

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        raise self.failure
