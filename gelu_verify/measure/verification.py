"""`verify`: how accurate one implementation is, from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..arrays import named_dtype
from ..checks import Policy
from ..fenv import in_default_environment
from ..interrupts import noting_interrupts
from ..records.result import Result
from ..speed.throughput import torch_on_one_thread
from ..targets import Target
from .request import SEED, Request
from .run import measure_one


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
    length: int | None = None,
    workers: int | None = None,
    isolate: bool | None = None,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    compile: str | None = None,
    call: str | None = None,
    shape: str | None = None,
) -> Result:
    """How accurate `target` is as `function` in `dtype`.

    Parameters
    ----------
    target : a callable on 1-D arrays of NumPy, torch, JAX, TensorFlow ... (tried, where `array` does not say), the
        name of one target ("torch.gelu", "module:function"), or a Target
    function, plan : names, see `gelu-verify list`
    dtype : a name, or what names it in a library: `np.float32`, `torch.bfloat16`, `jnp.float16`
    policy : "formula" accepts NaN at -inf
    seed : of the plan's inputs
    ranges : only inputs in these: "-8:-5" (numbers), "0xc0800000:0xc0a00000" or pairs of bits
    length : elements of every call; default those of the plan
    workers : threads, up to 1024; default all cores
    isolate : call it in a process of its own, so that a crash is a result. Default: where `target` is a name. A
        callable can be isolated when a fresh process can import it by its module and name
    kwargs, array, compile, call, shape : of a callable, as `gelu-verify run` has them: `call="f(x, out=y)"`

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
        targets=(target,), functions=(function,), dtypes=(named_dtype(dtype),), plan=plan, policy=policy, seed=seed,
        ranges=tuple(ranges), length=length, workers=workers, isolate=isolate, kwargs=kwargs or {}, array=array,
        compile=compile, call=call, shape=shape,
    )  # fmt: skip
    with noting_interrupts(), torch_on_one_thread():
        return measure_one(request)
