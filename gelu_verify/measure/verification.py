"""From what a user names to what is measured: the jobs of a run, and the library door `verify`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ..errors import UsageError, one_of
from ..fenv import in_default_environment
from ..formats import DTYPES
from ..functions import get_function
from ..inputs.plans import make_plan
from ..interrupts import noting_interrupts
from ..isolation.hosts import Hosts, supported
from ..parsing import MOST_WORKERS, whole
from ..targets import Target, select
from ..targets.python_callables import callable_target
from .sweep import Result, sweep

if TYPE_CHECKING:
    from ..inputs.plans import Plan

Selector = Callable[..., tuple[list[Target], dict[str, str]]]
SEED = 0  # of every run that is not given another one, so that two people see the same inputs


@dataclasses.dataclass(frozen=True)
class Job:
    """One measurement: a target, in one dtype."""

    target: Target
    dtype: str

    @property
    def function(self) -> str:
        return self.target.function

    @property
    def key(self) -> str:
        """The name of its budget row."""
        return f"{self.target.name}/{self.function}/{self.dtype}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.target.name} {self.function} {self.dtype}"

    def plan(
        self,
        name: str,
        seed: int,
        ranges: Sequence[tuple[int, int] | str] | None = None,
        length: int | None = None,
    ) -> Plan:
        return make_plan(name, self.function, self.dtype, seed, ranges, length)


@in_default_environment
def jobs(
    names: Sequence[str],
    functions: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    *,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    compile: str | None = None,
    cflags: str | None = None,
    call: str | None = None,
    shape: str | None = None,
    everything: bool = False,
    device: str | None = None,
    select: Selector = select,
) -> tuple[list[Job], dict[str, str]]:
    """What `names` (all that is found, when empty) compute of `functions` in `dtypes`; empty means all.

    `kwargs`, `array`, `compile`, `cflags`, `call`, `shape` and `device` as `targets.select` takes them; with
    `everything`, all that is found has the families that are only found on request. `select` finds the targets: here
    (default), or, as
    `Hosts.select`, in processes of their own. Returns the jobs by target and dtype, and why families are absent.
    Raises UsageError for an unknown name and when nothing computes what was asked for.
    """
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise one_of("dtype", dtype, list(DTYPES))
    for function in functions:
        get_function(function)
    found: dict[tuple[str, str, str], Job] = {}
    absent: dict[str, str] = {}
    options: dict[str, Any] = {"kwargs": kwargs, "array": array, "compile": compile, "cflags": cflags}
    options |= {"call": call, "shape": shape, "everything": everything, "device": device}
    for pair in product(functions or (None,), dtypes or (None,)):
        targets, missing = select(names, function=pair[0], dtype=pair[1], **options)
        absent |= missing
        for target in targets:
            for each in target.dtypes:
                found.setdefault((target.name, target.function, each), Job(target, each))
    return list(found.values()), absent


@in_default_environment
def verify(
    target: Target | Callable[..., Any] | str,
    function: str = "gelu",
    dtype: str = "float32",
    plan: str = "default",
    *,
    seed: int = SEED,
    workers: int | None = None,
    isolate: bool | None = None,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    call: str | None = None,
    shape: str | None = None,
) -> Result:
    """How accurate `target` is as `function` in `dtype`.

    Parameters
    ----------
    target : a callable on 1-D arrays, the name of one target ("torch.gelu", "module:function"), or a Target
    function, dtype, plan : names, see `gelu-verify list`
    seed : of the plan's inputs
    workers : threads, up to 1024; default all cores
    isolate : call it in a process of its own, so that a crash is a result. Default: where `target` is a name. A
        callable can be isolated when a fresh process can import it by its module and name
    kwargs, array, call, shape : of a callable, as `gelu-verify run` has them: `call="f(x, out=y)"`

    Returns
    -------
    Result : largest error with its witness, checks, findings

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
    chosen = make_plan(plan, function, dtype, seed)
    workers = None if workers is None else whole("workers", workers, 1, MOST_WORKERS)
    given = {"kwargs": kwargs, "array": array, "call": call, "shape": shape}
    options = {name: value for name, value in given.items() if value}
    isolated = isinstance(target, str) and supported() if isolate is None else isolate
    if isolated and not supported():
        raise UsageError("isolate: this system cannot isolate a target (Linux can); say isolate=False")
    if not isolated:
        with noting_interrupts():
            return sweep(_one(target, function, dtype, select, options), chosen, workers=workers)
    with noting_interrupts(), Hosts() as hosts:
        return sweep(_one(_name(target), function, dtype, hosts.select, options), chosen, workers=workers)


def _name(target: Target | Callable[..., Any] | str) -> str:
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
        raise UsageError(f"isolate: {target!r} lives in this process only (accepted: what a module has by its name)")
    return f"{module}:{name}"


def _one(
    target: Target | Callable[..., Any] | str, function: str, dtype: str, select: Selector, options: dict[str, Any]
) -> Target:
    if isinstance(target, Target):
        if options:
            raise UsageError(f"{next(iter(options))}: accepted for callables and for names, not for a Target")
        if dtype not in target.dtypes:
            raise one_of(f"dtype of {target.name}", dtype, list(target.dtypes))
        return target
    if dtype not in DTYPES:
        raise one_of("dtype", dtype, list(DTYPES))
    if isinstance(target, str):
        chosen, _ = select([target], function=function, dtype=dtype, **options)
        if len(chosen) != 1:
            found = ", ".join(each.name for each in chosen)
            raise UsageError(f"{target!r} stands for {len(chosen)} targets: {found}; name one")
        return chosen[0]
    return callable_target(target, function, dtype, **options)
