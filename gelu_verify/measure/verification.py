"""`verify`: how accurate one implementation is, from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..fenv import in_default_environment
from ..interrupts import noting_interrupts
from ..records.result import Result
from ..targets import Target
from .request import SEED, Request
from .run import measure_one


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
    request = Request(
        targets=(target,), functions=(function,), dtypes=(dtype,), plan=plan, seed=seed, workers=workers,
        isolate=isolate, kwargs=kwargs or {}, array=array, call=call, shape=shape,
    )  # fmt: skip
    with noting_interrupts():
        return measure_one(request)
