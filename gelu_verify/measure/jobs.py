"""From a request to its jobs: the targets that it names, each in the functions and dtypes that it asks for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any

from .. import targets
from ..errors import ArgumentError, UsageError, one_of
from ..formats import get_format
from ..inputs.plans import Plan
from ..isa import split_level
from ..isolation.hosts import Hosts, supported
from ..targets import Target
from ..targets.contract import contracted
from ..targets.kinds import kinds, misfit
from ..targets.kinds.python import KIND as PYTHON
from ..targets.python_callables import callable_target
from ..work.observer import SILENT, Observer
from ..work.pools import ON_THREADS
from .levels import at_levels
from .request import Request

OWN, CORRECTLY_ROUNDED = "kernels", "_cr"  # our kernels, and how the names of those end
BRIEF = "quick"  # the plan of what nobody asked for, where not all inputs are tried anyhow
Case = tuple[Target, str, str]  # judged as a function, in a dtype
Selector = Callable[..., tuple[list[Target], dict[str, str]]]
"""As `targets.select`."""


@dataclass(frozen=True)
class Job:
    """One measurement: a target, and the inputs on which it is judged, in their function and dtype."""

    target: Target
    plan: Plan

    @property
    def key(self) -> str:
        """The name of its budget row."""
        return _key(self.target, self.plan.function, self.plan.dtype)

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.target.name} {self.plan.function} {self.plan.dtype}"


@dataclass(frozen=True)
class FoundJobs:
    """The jobs of a request.

    `absent`: families that are not among them, and why; `left_out`: targets that nobody asked for 2^32 inputs.
    """

    jobs: list[Job]
    absent: dict[str, str]
    left_out: list[str] = field(default_factory=list)


@contextmanager
def selecting(request: Request, observer: Observer = SILENT) -> Iterator[Selector]:
    """What finds targets: in processes of their own, which end with the block, or in this one."""
    if request.isolates:
        with Hosts(request.limits) as hosts:
            yield hosts.select
        return
    if request.isolate is None and (request.names_only or request.needs_process) and not supported():
        observer.warn(
            "this system cannot isolate implementations: they are called in this process, and a crash ends the run"
        )
    yield targets.select


def find_jobs(
    request: Request, select: Selector = targets.select, keep: Callable[[Target, str], bool] = lambda target, key: True
) -> FoundJobs:
    """The jobs of a request, by target and dtype.

    Parameters
    ----------
    select : finds the targets, as `selecting` yields it
    keep : whether a target is measured, in the function and dtype of that key

    Raises
    ------
    UsageError : an unknown name, or nothing computes what was asked for
    MissingMeasurement : a family, a compiler or a device that was asked for is not here
    """
    cases: dict[str, Case] = {}
    absent: dict[str, str] = {}
    for function, dtype in product(request.functions or (None,), request.dtypes or (None,)):
        found, missing = _targets(request, function, dtype, select)
        absent |= missing
        for target in found:
            judged_as = function or target.function
            for each in (dtype,) if dtype else target.dtypes:
                key = _key(target, judged_as, each)
                if keep(target, key):
                    cases.setdefault(key, (target, judged_as, each))
    if request.own == "beside" and any(target.family != OWN for target, _, _ in cases.values()):
        cases = _with_own(cases)
    if request.own == "none" and not request.targets:
        cases = {key: case for key, case in cases.items() if case[0].family != OWN}
    cases = dict(sorted(cases.items(), key=lambda each: targets.is_shipped(each[1][0].family)))  # libraries first
    kept = {key: case for key, case in cases.items() if _is_affordable(case[0], case[2], request)} or cases
    brief = {
        key: (BRIEF, request.seed)
        for key, (target, _, dtype) in kept.items()
        if is_brief(target, request) and get_format(dtype).width > 16
    }
    request = replace(request, plan_of={**brief, **request.plan_of})
    jobs = [
        Job(target, request.inputs(key, function, dtype, target.takes_second(function)))
        for key, (target, function, dtype) in kept.items()
    ]
    return FoundJobs(jobs, absent, [target.name for key, (target, _, _) in cases.items() if key not in kept])


def one_job(request: Request, select: Selector = targets.select) -> Job:
    """The job of a request for one target in one function and dtype; UsageError where its name stands for several."""
    jobs = find_jobs(request, select).jobs
    _check_one([job.target for job in jobs], request)
    return jobs[0]


def one_target(request: Request, select: Selector = targets.select) -> Target:
    """The target of a request for one, in all dtypes that are asked for."""
    function, dtype = (next(iter(asked), None) for asked in (request.functions, request.dtypes))
    found, _ = _targets(request, function, dtype, select)
    _check_one(found, request)
    return found[0]


def narrowed_to(request: Request, target: Target, function: str, dtype: str) -> Request:
    """The request for that job alone, whoever carries it out."""
    return replace(
        request, targets=(target.name,), functions=(function,), dtypes=(dtype,),
        isa=(), own="none", throughput="none", workers=None, executor=ON_THREADS,
    )  # fmt: skip


def _check_one(found: list[Target], request: Request) -> None:
    if len(found) != 1:
        names = ", ".join(target.name for target in found)
        raise UsageError(f"{request.targets[0]!r} matches {len(found)} targets: {names} (accepted: one of them)")


def _key(target: Target, function: str, dtype: str) -> str:
    return f"{target.name}/{function}/{dtype}"


def _is_affordable(target: Target, dtype: str, request: Request) -> bool:
    """Whether 2^32 inputs are for it: the path that the users of a family call, or one that was named."""
    if not request.exhausts_float32 or dtype != "float32" or target.family == "callable":
        return True
    path = split_level(target.name)[0]
    return not {target.name, path}.isdisjoint((*request.targets, f"{target.family}.{target.function}"))


def _with_own(cases: Mapping[str, Case]) -> dict[str, Case]:
    """The cases, and our correctly rounded kernels of the same functions and dtypes."""
    found = dict(cases)
    ours = {target.function: target for target in targets.find([OWN])[0] if target.name.endswith(CORRECTLY_ROUNDED)}
    for function, dtype in dict.fromkeys((function, dtype) for _, function, dtype in cases.values()):
        if function in ours:
            found.setdefault(_key(ours[function], function, dtype), (ours[function], function, dtype))
    return found


def is_timed(job: Job, request: Request) -> bool:
    """Whether its throughput is measured: not of our textbook kernels, where nobody asked for them."""
    return not is_brief(job.target, request) or job.target.name.endswith(CORRECTLY_ROUNDED)


def is_brief(target: Target, request: Request) -> bool:
    """Whether it is a kernel of ours that nobody asked for, nor for its inputs, nor for a grade or limit of all."""
    is_asked = request.plan != "default" or request.demand or request.max_ulp is not None
    return request.own == "briefly" and target.family == OWN and not is_asked


def was_added(target: str, request: Request) -> bool:
    """Whether a target is among the results only to be compared with: others were named, and this one was not."""
    path, named = split_level(target)[0], {split_level(name)[0] for name in request.targets if isinstance(name, str)}
    is_ours = path.startswith(f"{OWN}.") and path.endswith(CORRECTLY_ROUNDED)
    return request.own == "beside" and is_ours and bool(request.targets) and named.isdisjoint((path, OWN))


# ---- targets ---------------------------------------------------------------------------------------


def _targets(
    request: Request, function: str | None, dtype: str | None, select: Selector
) -> tuple[list[Target], dict[str, str]]:
    """The targets of a request for one function and dtype, or for all."""
    named = [_name(each, request) if request.isolates else each for each in request.targets]
    names = [each for each in named if isinstance(each, str)]
    found: list[Target] = []
    absent: dict[str, str] = {}
    if names or not named:
        which = {"everything": request.everything, **request.call_options}

        def at(names: Sequence[str], level: str) -> tuple[list[Target], dict[str, str]]:
            return select(names, function=function, dtype=dtype, level=level, **which)

        found, absent = at_levels(names, request.isa, request.everything, at)
    found += [_of_object(each, function, dtype, request) for each in named if not isinstance(each, str)]
    return found, absent


def _of_object(
    target: Target | Callable[..., Any], function: str | None, dtype: str | None, request: Request
) -> Target:
    if not isinstance(target, Target):
        if reason := misfit(request, [PYTHON], kinds().values()):
            raise reason
        make = partial(callable_target, target, function or "gelu", dtype, **request.call_options)
        (made,) = contracted(request.contract, lambda: [make()])
        return replace(made, safe_in_threads=request.thread_safe)
    if request.call_options:
        name = next(iter(request.call_options))
        raise ArgumentError(name, "accepted for callables and for names, not for a Target")
    if dtype is not None and dtype not in target.dtypes:
        raise one_of(f"dtype of {target.name}", dtype, list(target.dtypes))
    return target


def _name(target: str | Target | Callable[..., Any], request: Request) -> str:
    """What another process knows a target by."""
    if isinstance(target, str):
        return target
    if isinstance(target, Target):
        return target.name
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", "")
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not target or module == "__main__":
        reason = f"{target!r} lives in this process only (accepted: what a module has by its name)"
        raise ArgumentError(request.needs_process or "isolate", reason)
    return f"{module}:{name}"
