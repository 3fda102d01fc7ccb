"""What is to be measured, and how: the one request that `run`, `verify`, `gate` and an upload are made into."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from ..calling import OPTIONS, Calling, as_tuple
from ..checks import Policy
from ..errors import ArgumentError, UsageError, one_of
from ..formats import DTYPES
from ..functions import get_function
from ..inputs.found import HardCases
from ..inputs.plans import DEFAULT, FIXED, LONGEST, Plan, get_plan, make_plan
from ..isa import split_level
from ..isolation.hosts import supported
from ..isolation.limits import MEMORY, Limits
from ..parsing import LARGEST_SEED, MOST_WORKERS, whole
from ..records.parts import Grade
from ..targets import Target
from ..work.pools import ON_THREADS, Where
from .budget import OF_ALL_INPUTS, Budget
from .levels import check_levels

Throughput = Literal["none", "quick", "full"]
Own = Literal["found", "briefly", "beside", "none"]
SEED = 0  # of every request that is not given another one, so that two people see the same inputs


@dataclass(frozen=True, kw_only=True)
class Request(Calling):
    """What is measured, and how it is called. Checked when it is made: UsageError names the argument, what was wrong,
    and what is accepted.

    Parameters
    ----------
    targets : names as `targets.select` takes them, Target objects, callables; empty: everything that is found
    functions, dtypes : what is judged of them; empty: all
    own : kernels that come with this package, where they are not named: "found" as any other family, where nothing is
        named; "briefly", on few inputs of the wider dtypes, and only the correctly rounded ones timed; "beside" what
        is named, the correctly rounded ones of the same functions and dtypes, to compare with; or "none"
    everything : where nothing is named, families that are only found on request too
    plan, seed, ranges : which inputs, with `length`, as `make_plan` takes them; ranges need exactly one dtype
    plan_of : plan and seed of single jobs, by `Job.key`, where they are not those of the others
    hard_cases : bits of inputs that the plans take as well, by function/dtype: those of a project
    budget : what more inputs than the plan's own may cost each result, where the plan takes more: seconds, or
        "812buckets". Default: as `run.allotted` shares it out
    buckets_of : so many buckets instead, of single jobs, by `Job.key`
    demand : a grade that every result shall have. Where it speaks of all inputs, all float32 inputs are tried, unless
        there is a `budget`
    all_s : seconds within which all float32 inputs are tried, where that is enough for them, whatever the budget
    max_ulp : a limit of errors, near which more inputs are tried; nothing is judged by it
    policy : "formula" accepts NaN at -inf
    throughput : "quick": of one size; "full": from the first cache to memory, on one thread and on all
    workers : threads, or processes where they are started here; default all cores
    executor : where inputs are judged: on threads, or where other processes find the targets by their names
    repeat : how a result can be had again, where that is not a command line
    """

    targets: tuple[str | Target | Callable[..., Any], ...] = ()
    functions: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    own: Own = "found"
    everything: bool = False
    plan: str = "default"
    seed: int = SEED
    ranges: tuple[str | tuple[int, int], ...] = ()
    plan_of: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    hard_cases: HardCases = field(default_factory=dict)
    budget: float | str | None = None
    buckets_of: Mapping[str, int] = field(default_factory=dict)
    demand: Grade | None = None
    all_s: float = 0.0
    max_ulp: float | None = None
    policy: Policy = "limit"
    throughput: Throughput = "none"
    workers: int | None = None
    executor: Where = ON_THREADS
    repeat: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("ranges", as_tuple(self.ranges))
        object.__setattr__(self, "functions", tuple(get_function(function).name for function in self.functions))
        for dtype in self.dtypes:
            _check_among("dtype", dtype, DTYPES)
        get_plan(self.plan)
        whole("seed", self.seed, 0, LARGEST_SEED)
        for name, value, most in (("workers", self.workers, MOST_WORKERS), ("length", self.length, LONGEST)):
            if value is not None:
                whole(name, value, 1, most)
        if self.budget is not None:
            self._check_budget(self.budget)
        _check_among("own", self.own, get_args(Own))
        _check_among("policy", self.policy, get_args(Policy))
        _check_among("throughput", self.throughput, get_args(Throughput))
        _ = self.limits  # refuses what is not a limit
        if self.ranges:
            self._check_ranges()
        check_levels(self.isa)
        if not self.isolates and (self.isa or any(split_level(name)[1] for name in self.targets if type(name) is str)):
            raise ArgumentError("isa", "an instruction-set level needs a process of its own, where switches are set")
        if not self.executor.shares_memory and not self.names_only:
            raise ArgumentError("executor", "needs targets that other processes find by name (module:function)")
        if self.isolate and not supported():
            raise ArgumentError("isolate", "this system cannot isolate a target (Linux can); say isolate=False")

    def _check_budget(self, budget: float | str) -> None:
        try:
            adds = bool(Budget.of(budget))
        except UsageError as error:
            raise ArgumentError("budget", str(error)) from None
        without = {
            f"plan {self.plan}": self.plan not in (DEFAULT, FIXED),
            f"executor {self.executor.name}": not self.executor.shares_memory,
            "ranges": bool(self.ranges),
            "a length": self.length is not None,
        }
        if adds and any(without.values()):
            where = next(name for name, is_so in without.items() if is_so)
            raise ArgumentError("budget", f"no inputs are added with {where} (accepted: 0)")

    def _check_ranges(self) -> None:
        """Before anything is looked for, which takes seconds."""
        if len(self.dtypes) != 1:
            raise ArgumentError("ranges", f"need exactly one dtype, which says what bits mean, not {len(self.dtypes)}")
        try:
            make_plan(self.plan, "gelu", self.dtypes[0], self.seed, self.ranges)
        except UsageError as error:
            raise ArgumentError("ranges", str(error)) from None

    @cached_property
    def limits(self) -> Limits:
        """Of each process that targets are called in."""
        return Limits(self.time_limit, MEMORY if self.memory_limit is None else self.memory_limit)

    @property
    def names_only(self) -> bool:
        """Whether another process can find the targets, too."""
        return all(isinstance(target, str) for target in self.targets)

    @property
    def isolates(self) -> bool:
        """Whether targets are called in processes of their own."""
        if self.isolate is not None:
            return self.isolate
        return (self.names_only or self.needs_process is not None) and supported()

    @property
    def measures_throughput(self) -> bool:
        """Whether targets are timed, too."""
        return self.throughput != "none"

    @property
    def exhausts_float32(self) -> bool:
        """Whether it asks for 2^32 inputs."""
        return self.plan == "exhaustive" and not self.ranges

    @property
    def demands_all(self) -> bool:
        """Whether a grade is asked for that speaks of all inputs."""
        return self.demand in OF_ALL_INPUTS

    def inputs(self, key: str, function: str, dtype: str, second: bool = False) -> Plan:
        """The plan of one job; `second`: with values of a second input."""
        plan, seed = self.plan_of.get(key, (self.plan, self.seed))
        is_elsewhere = not self.executor.shares_memory  # where no plan takes more inputs than its own
        if is_elsewhere and self.demands_all and plan == "default" and dtype == "float32" and not self.ranges:
            plan = "exhaustive"
        also = self.hard_cases.get(f"{function}/{dtype}", ())
        return make_plan(plan, function, dtype, seed, self.ranges, self.length, also, second)

    def repeated(self, command: str, is_callable: bool = True) -> str:
        """How a result can be had again: `command`, which says target, function, dtype and inputs, and the rest.

        `is_callable`: whether the target is what the user wrote, which is called as the request says.
        """
        if self.repeat is not None:
            return self.repeat
        return command + (self.further_options if is_callable else _quoted(self._judging_words))

    @property
    def further_options(self) -> str:
        """What the command line says beside targets, functions, dtypes and inputs."""
        return _quoted([*self.words("code"), *self._judging_words])

    @property
    def _judging_words(self) -> list[str]:
        """What it says of all targets: how they are judged, and within which limits."""
        words = ["--policy", self.policy] if self.policy != "limit" else []
        return words + [word for word in self.words("process") if self.names_only or word != OPTIONS["isolate"].typed]


def _quoted(words: list[str]) -> str:
    return "".join(f" {shlex.quote(word)}" for word in words)


def _check_among(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise one_of(name, value, list(accepted))
