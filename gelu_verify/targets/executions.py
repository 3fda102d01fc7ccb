"""Code whose results a specification leaves open: executed in several ways, and judged by the worst of them.

PTX bounds some results and specifies no bits; none of the ways is known to be a device's. The output to each input is
the one that is farthest from the correct value: whatever looks at outputs judges no better than the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import Format, differ, get_format, is_finite, ordinals
from ..truth.values import judge
from . import incoming
from .base import Target
from .execution_errors import ExecutionErrors
from .wrapped import Wrapped

if TYPE_CHECKING:
    from ..gpu.cuda import CudaModule
    from ..gpu.ptx_device import PtxDevice

LARGEST = float(np.finfo(np.float64).max)  # of an error that is larger than any double


@dataclass(frozen=True)
class ExecutionCalls:
    """The same call, once for each execution."""

    inner: tuple[Any, ...]
    x_bits: np.ndarray


@dataclass(frozen=True, kw_only=True)
class WorstOfExecutions(Wrapped):
    """`inner`, executed on its device in each of `executions`."""

    device: PtxDevice

    def load(self, dtype: str, x_bits: np.ndarray) -> ExecutionCalls:
        return ExecutionCalls(tuple(self.inner.load(dtype, x_bits) for _ in self.executions), x_bits)

    def call(self, loaded: ExecutionCalls) -> list[Any]:
        return [self._called(*each) for each in zip(self.executions, loaded.inner, strict=True)]

    def _called(self, execution: str, loaded: Any) -> Any:
        with self.device.taking(execution):
            return self.inner.call(loaded)

    def store(self, dtype: str, loaded: ExecutionCalls, result: list[Any]) -> np.ndarray:
        """The worst outputs; with an incoming gradient that a check gives, which is not judged so, the nearest ones."""
        outputs = [self.inner.store(dtype, *each) for each in zip(loaded.inner, result, strict=True)]
        if incoming.is_given():
            return outputs[self.executions.index("nearest")]
        named = dict(zip(self.executions, outputs, strict=True))
        worst, self._errors[dtype] = worst_of(self.function, dtype, loaded.x_bits, named)
        return worst

    def execution_errors(self, dtype: str) -> ExecutionErrors | None:
        return self._errors.pop(dtype, None)

    @cached_property
    def _errors(self) -> dict[str, ExecutionErrors]:
        """Of the last call in each dtype."""
        return {}


def in_all_executions(target: Target, device: PtxDevice, kernels: Sequence[tuple[CudaModule, str]]) -> Target:
    """The worst of those that the device is asked for; the target itself where there is one."""
    names = device.executions(kernels)
    return WorstOfExecutions.around(target, device=device, executions=names) if len(names) > 1 else target


def worst_of(
    function: str, dtype: str, x: np.ndarray, outputs: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, ExecutionErrors]:
    """The output at each input (bits) that is farthest from the correct value, in the array of the first execution."""
    fmt = get_format(dtype)
    first, *others = outputs
    got = outputs[first]
    error, damage = _judged(function, fmt, x, got)
    worst, is_same, largest = got.copy(), np.ones(len(x), bool), {first: _largest(x, got, error)}
    low, high = ordinals(fmt, got), ordinals(fmt, got)  # a NaN lies beyond the infinities
    for name in others:
        places = np.flatnonzero(differ(fmt, outputs[name], got))
        other, here = outputs[name][places], error.copy()
        here[places], found = _judged(function, fmt, x[places], other)
        largest[name] = _largest(x, outputs[name], here)
        is_worse = found > damage[places]
        worst[places[is_worse]], damage[places[is_worse]] = other[is_worse], found[is_worse]
        is_same[places] = False
        low[places] = np.minimum(low[places], ordinals(fmt, other))
        high[places] = np.maximum(high[places], ordinals(fmt, other))
    got[:] = worst
    apart = high.view(np.uint64) - low.view(np.uint64)
    k = int(np.argmax(apart)) if len(x) else None
    return got, ExecutionErrors(
        len(x), int(is_same.sum()), (0, 0) if k is None else (int(apart[k]), int(x[k])), largest
    )


def _judged(function: str, fmt: Format, x: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Errors in ULP without their signs, NaN where there is none; and what orders the outputs to an input: the error,
    of equal ones a wrong output last, then a NaN or an infinity without cause, or a number in the place of one."""
    want, error, _ = judge(function, fmt.name, x, got, keep=False)  # else it is the kernel whose memory grows
    is_number = is_finite(fmt, got) & is_finite(fmt, want)
    error = np.where(np.isinf(error) & ~is_number, np.nan, np.minimum(np.abs(error), LARGEST))
    wrong = np.where(np.isnan(error), np.inf, np.nextafter(error, np.inf))
    return error, np.where(differ(fmt, got, want), wrong, np.nan_to_num(error))


def _largest(x: np.ndarray, got: np.ndarray, error: np.ndarray) -> tuple[float, int, int] | None:
    if np.isnan(error).all():
        return None
    k = int(np.nanargmax(error))
    return float(error[k]), int(x[k]), int(got[k])
