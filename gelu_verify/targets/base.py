"""What every target is: bits in, bits out, and a timed middle without conversions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import inf
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from ..errors import TargetFailure, message_of
from ..fenv import in_default_environment, left
from ..formats import Format, get_format
from ..functions import get_function
from ..functions.parameters import split_name
from ..gpu import faults as device_faults
from ..interrupts import is_from_user
from ..own_faults import is_ours
from . import under_way
from .output_memory import safe_copy

if TYPE_CHECKING:
    from .execution_errors import ExecutionErrors

T = TypeVar("T")  # what is returned by a function that is applied
SHORT = 1 << 13  # values of a result that is looked at twice


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """An implementation under test.

    `name` is `family.path` (`torch.gelu`, `kernels.gelu_erfc`), or what the user typed for a
    callable. `function` is what it says it computes; `form` how; `note` how it is called; `expression`: what users of a
    library write for it, of an array x;
    `version` of the library or hash of the source; `files`: digests of those that it is made of, where they are known
    one by one, by name; `executed`: on what, where its code is for another device;
    `executions`: where its specification leaves results open, in what ways it is executed: the worst output at each
    input is returned;
    `safe_in_threads`: several threads may call it at once;
    `compiles_per_length`: the first call with a new number of inputs is slow; `judges_on_device`: it runs on a device
    that judges all inputs of float32 itself (`gpu_judge.swept`), and many of float64 (`gpu_judge.searched`);
    `probe_outputs`: by dtype, what it returned for `ordinary_numbers`, call after call, where it was called with them
    to see which dtypes it takes; `seals_inputs`: it cannot change its inputs, whose memory is read-only for it;
    `fresh_results`: `load` makes the memory of the result anew for each call; `level`: the instruction-set level that
    `switches`, environment variables of its process, limit it to; `seen`: what it has chosen, by component, as far as
    that can be seen, of the `components` that it calls (none: of all); `if_it_writes`: what is added where it writes to
    its input: how else it may have to be called;
    `second`: the parameter of its function that its calls take as data, beside x; `given`: bits of its values there, in
    a cycle (none: the value that the function has); `one_second`: each call takes one value of it.
    """

    name: str
    function: str
    dtypes: tuple[str, ...]
    form: str = ""
    note: str = ""
    expression: str = ""
    version: str = ""
    files: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    executed: str = ""
    executions: tuple[str, ...] = ()
    safe_in_threads: bool = False
    compiles_per_length: bool = False
    judges_on_device: bool = False
    components: tuple[str, ...] = ()
    level: str = ""
    switches: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    fresh_results: ClassVar[bool] = False
    probe_outputs: Mapping[str, Sequence[int]] = field(default_factory=dict, compare=False, repr=False)
    if_it_writes: str = ""
    second: str = ""
    one_second: bool = False
    given: tuple[int, ...] = ()
    seals_inputs: ClassVar[bool] = False

    @property
    def family(self) -> str:
        """`torch` of `torch.gelu`; `callable` for what the user named."""
        return "callable" if ":" in self.name else self.name.partition(".")[0]

    def takes_second(self, function: str) -> bool:
        """Whether values of its second input are still to be said, where it is judged as that function."""
        return bool(self.second) and self.second not in split_name(function)[1]

    def with_second(self, function: str, given: tuple[int, ...] = ()) -> Self:
        """The same, called with these values of its second input, or that of the function."""
        return replace(self, function=function, given=given, probe_outputs={})

    def second_bits(self, dtype: str, n: int) -> np.ndarray:
        """Bits of the second input of n values."""
        fmt = get_format(dtype)
        values = self.given or (fmt.round(get_function(self.function).values[self.second]),)
        if len(values) == 1:
            return np.full(n, values[0], fmt.uint)  # np.resize takes a hundred times as long
        return np.resize(np.array(values, fmt.uint), n)

    @abstractmethod
    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        """`x_bits` (1-D, contiguous, unsigned) as the library's own input, without copying where it can;
        a preallocated output belongs to what is returned."""

    @abstractmethod
    def call(self, loaded: Any) -> Any:
        """Run the implementation, nothing else: this is what is timed. May block, must not be lazy."""

    @abstractmethod
    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        """The library's output as bits; raises TargetFailure when its dtype is not `dtype`."""

    def evaluate(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        """Output bits for input bits; TargetFailure when the implementation raises or breaks its contract.

        Checked: it returns (no exception), with the input's shape, in the input's dtype, and leaves
        its input as it was.
        """
        private = x_bits.copy()
        try:
            y_bits, _ = self.timed(dtype, private)
            self.check_unchanged(get_format(dtype), x_bits, private)
        except TargetFailure as failure:
            failure.inputs = x_bits.copy()
            raise
        return y_bits

    def evaluate_in_calls(self, dtype: str, x_bits: np.ndarray, length: int | None) -> np.ndarray:
        """As `evaluate`, in calls with so many inputs, of which the last repeats others; None: in one call."""
        if length is None:
            return self.evaluate(dtype, x_bits)
        calls = np.resize(x_bits, (-(-len(x_bits) // length), length))
        return np.concatenate([self.evaluate(dtype, call).copy() for call in calls])[: len(x_bits)]

    @in_default_environment
    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        """As `evaluate`, with the seconds that `call` took; the caller checks that the inputs stay as they are.

        The output is a copy where the implementation may still write to what it returned. That of a target in another
        process lies in memory that the next call in the same thread writes to.
        The floating-point environment is the default one, and what a call leaves of it is noted.
        """
        under_way.began(dtype)
        try:
            loaded = self.load(dtype, x_bits)
            start = perf_counter()
            result = self.call(loaded)
            self._note_environment(dtype)  # before our first operation, which an unmasked exception would end
            seconds = perf_counter() - start
        except TargetFailure:
            under_way.ended()
            raise
        except BaseException as error:  # someone else's code: whatever it raises is a result
            under_way.ended()
            raise self._raised(error) from error
        try:
            y_bits = np.asarray(self.store(dtype, loaded, result))
        except TargetFailure as failure:
            failure.kind = failure.kind or "dtype"
            raise
        except BaseException as error:  # arrays are someone else's code as well
            raise self._raised(error) from error
        finally:
            under_way.ended()
        if y_bits.shape != x_bits.shape:
            message = f"{self.name} returned shape {y_bits.shape} for an input of shape {x_bits.shape}"
            raise TargetFailure(message, "shape")
        if y_bits.dtype != get_format(dtype).uint:
            raise TargetFailure(f"{self.name} returned {y_bits.dtype} where {dtype} was expected", "dtype")
        if self.fresh_results:
            return y_bits, seconds
        copied = safe_copy(y_bits)
        self.check_settled(y_bits, copied)
        return copied, seconds

    def _raised(self, error: BaseException) -> TargetFailure:
        """What it raised as its failure; Ctrl-C by the user is none, nor is a fault of ours."""
        left()  # it may have changed the floating-point environment before it raised
        if is_from_user(error) or is_ours(error):
            raise error
        kind = "memory" if isinstance(error, MemoryError) else device_faults.kind_of(message_of(error)) or "exception"
        return TargetFailure(f"{self.name} raised {type(error).__name__}: {first_line(error)}", kind)

    def input_memory(self, dtype: str, n: int) -> np.ndarray:
        """Memory for inputs that `timed` takes without copying, until this thread asks for other memory."""
        return np.empty(n, get_format(dtype).uint)

    def apply(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """`function(target, ...)`, called where the implementation lives.

        A function of a module; arguments and result as JSON has them.
        """
        return self.applied(None, function, *arguments, **options)

    def applied(self, calls: int | None, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """As `apply`, of a function that calls the target so many times: time for more is a hang."""
        return function(self, *arguments, **options)

    def applied_on_main_thread(self, function: Callable[..., T], *arguments: Any) -> T | None:
        """As `applied`, of a function that makes one call: on the main thread of its process. None where it has no
        process of its own."""
        return None

    def noted(self, dtype: str) -> TargetFailure | None:
        """What happened, since the last time, that breaks the contract but changes no result: output to stdout."""
        return self._noted.pop(dtype, None)

    def execution_errors(self, dtype: str) -> ExecutionErrors | None:
        """Of the last call: how the executions differed of which the worst outputs were returned; None where it was
        one."""
        return None

    @property
    def environment_words(self) -> list[str]:
        """What is different in the floating-point environment that its calls have because its import left it so."""
        return []

    @cached_property
    def _noted(self) -> dict[str, TargetFailure]:
        """By dtype; the first of each."""
        return {}

    def _note_environment(self, dtype: str) -> None:
        """Go back to the default environment, and keep what a call did to it."""
        found = left()
        if found is not None and found[1] != self.environment_words:
            what = " and ".join(found[1])
            text = f"{self.name} left the floating-point environment changed: it {what} after the call"
            self._noted.setdefault(dtype, TargetFailure(text, "environment"))

    def own_throughput(self, dtype: str, inputs: np.ndarray) -> dict[str, Any]:
        """What a target measures by a clock of its own, as `throughput.measure` has it; empty for most."""
        return {}

    def fresh(self) -> bool:
        """Start a new process, where the target has one of its own; whether the next call is the first in it."""
        return False

    @property
    def why_not_in_place(self) -> str:
        """Why its results cannot replace its inputs; empty where it writes them to memory that it is given."""
        return "it is given no memory for its results"

    def search_seconds(self, dtype: str) -> float:
        """How long may still be looked for what of a failing call matters."""
        return inf

    def alone(self) -> AbstractContextManager[Any]:
        """While it is not called from elsewhere in the process where it lives."""
        return nullcontext()

    def check_settled(self, returned: np.ndarray, copied: np.ndarray) -> None:
        """TargetFailure where a result is no longer what it was when it was copied: a thread still writes to it.

        Only short results are looked at, after another thread had the chance to run.
        """
        if copied is returned or len(copied) > SHORT:
            return
        sleep(0)
        if not np.array_equal(returned, copied):
            where = int(np.flatnonzero(returned != copied)[0])
            message = f"{self.name} changed its result at index {where} after it had returned it"
            raise TargetFailure(message, "nondeterministic")

    def check_unchanged(self, fmt: Format, asked: np.ndarray, passed: np.ndarray) -> None:
        """TargetFailure where the inputs that were passed are no longer those that were asked for."""
        if not np.array_equal(passed, asked):
            where = int(np.flatnonzero(passed != asked)[0])
            message = f"{self.name} changed its input at index {where} ({fmt.bits_text(int(asked[where]))})"
            message += self.if_it_writes
            failure = TargetFailure(message, "changed input")
            failure.inputs = asked.copy()
            raise failure


@dataclass(frozen=True)
class HostCall:
    """One call, ready to be timed: `run` reads its inputs from `x_bits` and writes its outputs to `y_bits`.

    `x_bits` are `asked`, the caller's inputs, or a copy of them with more values, or more memory, behind it.
    """

    run: Callable[[], object]
    x_bits: np.ndarray
    y_bits: np.ndarray
    asked: np.ndarray


@dataclass(frozen=True)
class DeviceCall:
    """One call on a device, ready to be timed; `memory` is what it has there: freed with this."""

    run: Callable[[], object]
    memory: Any
    x_bits: np.ndarray


class HostTarget(Target):
    """A target that reads and writes NumPy's memory: `load` makes a HostCall."""

    def call(self, loaded: HostCall) -> None:
        loaded.run()

    def store(self, dtype: str, loaded: HostCall, result: None) -> np.ndarray:
        return loaded.y_bits


def first_line(error: BaseException) -> str:
    """First line of an exception's message, of bounded length."""
    return (message_of(error).strip().splitlines() or ["(no message)"])[0][:300]


def described(target: Target) -> dict[str, Any]:
    """The fields of a target, as JSON has them."""
    return {field.name: getattr(target, field.name) for field in fields(Target)} | {"family": target.family}
