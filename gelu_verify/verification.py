"""`verify`: how accurate one implementation is, from Python; and what it returns, which a notebook shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from .calling import Calling
from .checks import Policy
from .errors import NotMeasured, UsageError, one_of
from .fenv import in_default_environment
from .formats import named_dtype
from .gate.project import hard_cases_here
from .interrupts import noting_interrupts
from .measure.request import SEED, Request
from .measure.run import measure_one
from .records.grades import HARMLESS
from .records.parts import (
    AbsoluteError,
    AccurateRange,
    Approximation,
    Beside,
    Bound,
    Coverage,
    Dispatch,
    Executions,
    FindingRecord,
    Flush,
    Grade,
    IntervalErrors,
    MeanBits,
    NonFinite,
    Point,
    RegionErrors,
    Root,
    SecondInput,
    Witness,
)
from .records.result import BoundKind, Record, Result, Status
from .speed.throughput import torch_on_one_thread
from .targets import Target

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class RecordField(Generic[T]):
    """A field of the record as an attribute of the result: what was judged, how, and what it did."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        field = Record.__dataclass_fields__.get(name)
        self.__doc__ = field.metadata["text"] if field is not None else None

    @overload
    def __get__(self, result: None, owner: type) -> RecordField[T]: ...
    @overload
    def __get__(self, result: Verification, owner: type) -> T: ...
    def __get__(self, result: Verification | None, owner: type) -> T | RecordField[T]:
        return self if result is None else self._value(result)

    def _value(self, result: Verification) -> T:
        return cast(T, getattr(result.record, self._name))


class MeasuredField(RecordField[T]):
    """One that a target that failed does not have: NotMeasured then, so that every assertion on it fails."""

    def _value(self, result: Verification) -> T:
        result.check_measured(self._name)
        return super()._value(result)


class ScoredField(MeasuredField[T]):
    """One that there is only where an output could be scored."""

    def _value(self, result: Verification) -> T:
        value = super()._value(result)
        if value is None:
            raise NotMeasured(f"{result.record.target}: no output could be scored, so there is no {self._name}")
        return value


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Verification(Result):
    """What `verify` found: every field of a RESULT (docs/json.md) as an attribute, buckets in `frame()`.

    Where the target failed, asking for a measure or a check raises NotMeasured, an AssertionError: nothing that a test
    asserts of it can hold. `failure`, `grade` and `record` (None for what was not measured) say what happened.
    """

    target = RecordField[str]()
    family = RecordField[str]()
    function = RecordField[str]()
    dtype = RecordField[str]()
    form = RecordField[str]()
    note = RecordField[str]()
    expression = RecordField[str | None]()
    version = RecordField[str]()
    executed = RecordField[str | None]()
    executions = RecordField[Executions | None]()
    second = RecordField[SecondInput | None]()
    dispatch = RecordField[Dispatch | None]()
    plan = RecordField[str]()
    seed = RecordField[int]()
    ranges = RecordField[tuple[str, ...] | None]()
    n = RecordField[int]()
    coverage = RecordField[Coverage | None]()
    inputs_sha256 = RecordField[str | None]()
    bound = RecordField[Bound]()
    bound_kind = RecordField[BoundKind]()
    repeat = RecordField[str]()
    grade = RecordField[Grade]()
    grade_bound = RecordField[Bound | None]()
    sentence = RecordField[str]()
    failure_kind = RecordField[str | None]()
    failure_range = RecordField[str | None]()
    failure_length = RecordField[int | None]()
    own_faults = RecordField[tuple[str, ...] | None]()

    beside = MeasuredField[tuple[Beside, ...] | None]()
    max_ulp = ScoredField[float]()
    witness = ScoredField[Witness]()
    mean_ulp = ScoredField[float]()
    p50_ulp = ScoredField[float]()
    p99_ulp = ScoredField[float]()
    max_rank = ScoredField[int]()
    max_abs_error = ScoredField[AbsoluteError]()
    correctly_rounded = MeasuredField[float]()
    faithful = MeasuredField[float]()
    nonfinite = MeasuredField[NonFinite]()
    zero_sign = MeasuredField[int | None]()
    zero_from = MeasuredField[Point | None]()
    zero_threshold = MeasuredField[Point | None]()
    regions = MeasuredField[tuple[RegionErrors, ...]]()
    intervals = MeasuredField[tuple[IntervalErrors, ...]]()
    bits_sha256 = MeasuredField[str]()
    approximation = MeasuredField[Approximation | None]()
    variant = MeasuredField[str | None]()
    checks = MeasuredField[Mapping[str, Status]]()
    findings = MeasuredField[Mapping[str, FindingRecord]]()
    failed_checks = MeasuredField[list[str]]()
    computes_in = MeasuredField[str | None]()
    rounding = MeasuredField[str | None]()
    rounding_mode = MeasuredField[str | None]()
    flush = MeasuredField[Flush | None]()
    root = MeasuredField[Root | None]()
    tolerances = MeasuredField[Mapping[str, bool] | None]()
    conventions = MeasuredField[tuple[str, ...]]()
    accurate_range = MeasuredField[AccurateRange | None]()
    mean_bits = MeasuredField[MeanBits | None]()

    def check_measured(self, name: str) -> None:
        """NotMeasured where the target failed, so that its `name` says nothing, or is not there."""
        record = self.record
        if self.table is None or (record.failure is not None and record.failure_kind not in HARMLESS):
            raise NotMeasured(f"{record.target} failed, so there is no {name}: {record.failure}")

    @in_default_environment
    def frame(self) -> pd.DataFrame:
        """The bucket table, one row per bucket that has inputs."""
        self.check_measured("frame")
        return super(Verification, self).frame()  # `slots` makes another class, which a bare super() does not know

    def __bool__(self) -> bool:
        raise UsageError(
            "whether a result is good is not one question: ask for grade, max_ulp, failed_checks, or use "
            "gelu_verify.testing.assert_gelu_accurate"
        )

    @in_default_environment
    def __repr__(self) -> str:
        from .report.notebook import five_lines

        return "\n".join(five_lines(self))

    @in_default_environment
    def _repr_html_(self) -> str:
        from .report.notebook import html

        return html(self)


@in_default_environment
def verify(
    target: Target | Callable[..., Any] | str,
    function: str = "gelu",
    dtype: Any = "float32",
    plan: str = "default",
    *,
    policy: Policy = "limit",
    seed: int = SEED,
    ranges: Sequence[str | tuple[int, int]] = (),
    budget: float | str | None = None,
    workers: int | None = None,
    **calling: Any,
) -> Verification:
    """How accurate `target` is as `function` in `dtype`.

    Parameters
    ----------
    target : a callable on 1-D arrays of NumPy, torch, JAX, TensorFlow ... (tried, where `array` does not say), the
        name of one target ("torch.gelu", "module:function"), or a Target
    function, plan : names, see `gelu-verify list`
    dtype : a name, or what names it in a library: `np.float32`, `torch.bfloat16`, `jnp.float16`
    policy : "formula" accepts NaN at -inf
    seed : of the plan's inputs
    budget : seconds in which more inputs are tried than the default plan has, where they decide most: float32 buckets
        whole. "812buckets": in so many buckets; 0: none. Default 1
    ranges : only inputs in these: "-8:-5" (numbers), "0xc0800000:0xc0a00000" or pairs of bits
    workers : threads, up to 1024; default all cores
    calling : how the target is called, and within which limits, as `gelu-verify run` has it (docs/targets.md):
        `call="f(x, out=y)"`, `cflags="-O3"`, `time_limit=5` ... `isolate`: in a process of its own, so that a crash is
        a result. Default: where `target` is a name, or a limit is given. A callable can be isolated when a fresh
        process can import it by its module and name

    Returns
    -------
    Verification : grade, largest error with its witness, checks ...; it prints as five lines, a notebook shows a plot

    Raises
    ------
    UsageError : unknown name, or a name that stands for several targets
    MissingMeasurement : the framework that was named is not there

    Examples
    --------
    >>> import numpy as np
    >>> verify(lambda x: np.maximum(x, 0), "relu", "float16").max_ulp
    0.0
    """
    said = {"policy": policy, "seed": seed, "budget": budget, "ranges": ranges, "workers": workers, **calling}
    return verified(request_of(target, function, dtype, plan, said))


_ARGUMENTS = {**inspect.signature(verify).parameters, **inspect.signature(Calling).parameters}
del _ARGUMENTS["calling"]
verify.__signature__ = inspect.Signature(list(_ARGUMENTS.values()))  # type: ignore[attr-defined]


def request_of(
    target: Target | Callable[..., Any] | str,
    function: str,
    dtype: Any,
    plan: str,
    options: Mapping[str, Any],
    accepted: Collection[str] = (),
    **asked: Any,
) -> Request:
    """The request for one target in one function and dtype; arguments, and `options`, as of `verify`.

    `accepted`: what else the caller takes.
    """
    for name in options:
        if name not in _ARGUMENTS:
            raise one_of("argument", name, [*_ARGUMENTS, *accepted])
    if not (isinstance(target, str | Target) or callable(target)):
        raise UsageError(
            f"target is {_kind(target)} (accepted: a callable, a name, a Target; of an array y of results for x, "
            "gelu_verify.ulp_error(function, x, y) gives the errors)"
        )
    if not isinstance(function, str):
        raise UsageError(f"function is {_kind(function)} (accepted: a name, such as 'gelu')")
    return Request(
        targets=(target,), functions=(function,), dtypes=(named_dtype(dtype),), plan=plan,
        hard_cases=hard_cases_here(), **options, **asked,
    )  # fmt: skip


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"


def verified(request: Request) -> Verification:
    """What is found of the one target of a request."""
    with noting_interrupts(), torch_on_one_thread():
        result = measure_one(request)
    return Verification(result.record, result.table, result.time)
