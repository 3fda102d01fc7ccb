"""From what a user names to what is measured: the jobs of a run, and the library door `verify`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from .errors import UsageError, one_of
from .formats import DTYPES
from .functions import get_function
from .plans import make_plan
from .sweep import Result, sweep
from .targets import Target, select
from .targets.callables import callable_target

if TYPE_CHECKING:
    from .plans import Plan

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

    def plan(self, name: str, seed: int, ranges: Sequence[tuple[int, int] | str] | None = None) -> Plan:
        return make_plan(name, self.function, self.dtype, seed, ranges)


def jobs(
    names: Sequence[str],
    functions: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    *,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    everything: bool = False,
) -> tuple[list[Job], dict[str, str]]:
    """What `names` (all that is found, when empty) compute of `functions` in `dtypes`; empty means all.

    With `everything`, all that is found has the families that are only found on request.

    Returns the jobs by target and dtype, and why families are absent. Raises UsageError for an
    unknown name and when nothing computes what was asked for.
    """
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise one_of("dtype", dtype, list(DTYPES))
    for function in functions:
        get_function(function)
    found: dict[tuple[str, str, str], Job] = {}
    absent: dict[str, str] = {}
    for pair in product(functions or (None,), dtypes or (None,)):
        targets, missing = select(
            names, function=pair[0], dtype=pair[1], kwargs=kwargs, array=array, everything=everything
        )
        absent |= missing
        for target in targets:
            for each in target.dtypes:
                found.setdefault((target.name, target.function, each), Job(target, each))
    return list(found.values()), absent


def verify(
    target: Target | Callable[..., Any] | str,
    function: str = "gelu",
    dtype: str = "float32",
    plan: str = "default",
    *,
    seed: int = SEED,
    workers: int | None = None,
) -> Result:
    """How accurate `target` is as `function` in `dtype`.

    Parameters
    ----------
    target : a callable on 1-D arrays, the name of one target ("torch.gelu", "module:function"), or a Target
    function, dtype, plan : names, see `gelu-verify list`
    seed : of the plan's inputs
    workers : threads; default all cores

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
    return sweep(_one(target, function, dtype), make_plan(plan, function, dtype, seed), workers=workers)


def _one(target: Target | Callable[..., Any] | str, function: str, dtype: str) -> Target:
    if isinstance(target, Target):
        if dtype not in target.dtypes:
            raise one_of(f"dtype of {target.name}", dtype, list(target.dtypes))
        return target
    if dtype not in DTYPES:
        raise one_of("dtype", dtype, list(DTYPES))
    if isinstance(target, str):
        chosen, _ = select([target], function=function, dtype=dtype)
        if len(chosen) != 1:
            found = ", ".join(each.name for each in chosen)
            raise UsageError(f"{target!r} stands for {len(chosen)} targets: {found}; name one")
        return chosen[0]
    return callable_target(target, function, dtype)
