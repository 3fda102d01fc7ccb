"""Our own kernels, compiled from src/kernels/: GELUs as deployed implementations compute them, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import TargetUnavailable
from ..base import HostCall, HostTarget, Target
from ..output_memory import empty_output_like

if TYPE_CHECKING:
    from ...kernels import Kernel

OURS = True  # nothing foreign: called in this process
SHIPPED = True


@dataclass(frozen=True, kw_only=True)
class KernelTarget(HostTarget):
    """A compiled kernel in every dtype that it comes in; `run(kernel, dtype, x_bits, y_bits)` calls it."""

    kernel: str
    run: Callable[[str, str, np.ndarray, np.ndarray], None]
    fresh_results = True

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        y_bits = empty_output_like(x_bits)
        return HostCall(partial(self.run, self.kernel, dtype, x_bits, y_bits), x_bits, y_bits, x_bits)


def discover() -> Iterator[Target]:
    """One target for each kernel name; a name ending in -f32 computes 16-bit dtypes in float32 and rounds once."""
    try:
        from ...kernels import KERNELS, run
    except ImportError as error:
        raise TargetUnavailable(f"the compiled kernels cannot be imported ({error}): install with pip") from error
    for fields in by_name(KERNELS):
        yield KernelTarget(**fields, name=f"kernels.{fields['kernel']}", run=run, safe_in_threads=True)


def versions() -> frozenset[str]:
    """What results of today's code have as their version (recorded runs are compared with it)."""
    return frozenset(target.version for target in discover())


def by_name(kernels: Sequence[Kernel]) -> Iterator[dict[str, Any]]:
    """Fields of a target for each name, in all its dtypes; where they differ in form or note, all are joined."""
    for name in dict.fromkeys(kernel.name for kernel in kernels):
        same = [kernel for kernel in kernels if kernel.name == name]
        yield {
            "kernel": name,
            "function": same[0].function,
            "dtypes": tuple(kernel.dtype for kernel in same),
            "form": _all(kernel.form for kernel in same),
            "note": _all(kernel.note for kernel in same),
            "version": same[0].version,
        }


def _all(texts: Iterator[str]) -> str:
    return " | ".join(dict.fromkeys(texts))
