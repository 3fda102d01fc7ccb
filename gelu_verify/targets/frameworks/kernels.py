"""Our own kernels, compiled from src/kernels/: GELUs as the world codes them, on the CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import TargetUnavailable
from ..base import Target
from ..buffers import room_like

if TYPE_CHECKING:
    from ...kernels import Kernel

OURS = True  # nothing foreign: called in this process


class Loaded(NamedTuple):
    """One call: a kernel in one dtype, its input and its preallocated output."""

    dtype: str
    x_bits: np.ndarray
    y_bits: np.ndarray


@dataclass(frozen=True, kw_only=True)
class KernelTarget(Target):
    """A compiled kernel in every dtype that it comes in."""

    kernel: str
    fresh_results = True

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        return Loaded(dtype, x_bits, room_like(x_bits))

    def call(self, loaded: Loaded) -> Any:
        from ...kernels import run

        run(self.kernel, *loaded)

    def store(self, dtype: str, loaded: Loaded, result: Any) -> np.ndarray:
        return loaded.y_bits


def discover() -> Iterator[Target]:
    """One target for each kernel name; a name ending in -f32 computes 16-bit dtypes in float32 and rounds once."""
    try:
        from ...kernels import KERNELS
    except ImportError as error:
        raise TargetUnavailable(f"the compiled kernels cannot be imported ({error}): install with pip") from error
    for told in by_name(KERNELS):
        yield KernelTarget(**told, name=f"kernels.{told['kernel']}", safe_in_threads=True)


def versions() -> frozenset[str]:
    """What results of today's code have as their version (recorded runs are held against it)."""
    return frozenset(target.version for target in discover())


def by_name(kernels: Sequence[Kernel]) -> Iterator[dict[str, Any]]:
    """What a target of each name is, in all its dtypes; where they differ in form or source, all are said."""
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
