"""Our own kernels on the CPU: GELUs as deployed implementations compute them, and the correctly rounded ones.

The first are compiled from src/kernels/, and call the C library; the others are `gelu_verify.gelu` and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import TargetUnavailable
from ...formats import DTYPES, numpy_dtype
from ...functions import Function, base_name
from ..base import HostCall, HostTarget, Target
from ..expressions import python_program
from ..output_memory import empty_output_like
from ..switches import Switches

if TYPE_CHECKING:
    from ...kernels import Kernel

OURS = True  # nothing foreign: called in this process
SHIPPED = True
PROGRAM = python_program("import gelu_verify\nimport ml_dtypes\nimport numpy", 'numpy.full({n}, {value}, "{dtype}")')


def _chosen() -> dict[str, str]:
    """The level whose correctly rounded kernels are used; the others are compiled for one."""
    from ...truth._correctly_rounded import HAS_NEON
    from ...truth.correctly_rounded import LEVEL

    return {"gelu_verify": "portable" if LEVEL == 1 else "NEON" if HAS_NEON else f"x86-64-v{LEVEL}"}


SWITCHES = Switches({level: {"GELU_VERIFY_MAX_ISA": level} for level in ("neon", "sse4_2", "avx2", "avx512")}, _chosen)


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
        yield KernelTarget(
            **fields, name=f"kernels.{fields['kernel']}", run=run, safe_in_threads=True, components=("libm",)
        )
    yield from _correctly_rounded()


def computing(function: Function) -> Iterator[Target]:
    """The kernels of src/parameters for a function, with its parameters."""
    from ...kernels.parameterized import PARAMETERIZED, run

    for fields in by_name([kernel for kernel in PARAMETERIZED if kernel.function == base_name(function.name)]):
        fields["function"] = function.name
        compute = partial(run, function.values)
        yield KernelTarget(
            **fields, name=f"kernels.{fields['kernel']}", run=compute, safe_in_threads=True, components=("libm",)
        )


def _correctly_rounded() -> Iterator[Target]:
    """One target for each correctly rounded function."""
    from ...truth._correctly_rounded import VERSION
    from ...truth.correctly_rounded import FUNCTIONS

    for function in FUNCTIONS:
        yield KernelTarget(
            name=f"kernels.{function}_cr",
            function=function,
            dtypes=DTYPES,
            form="correctly rounded",
            note=f"gelu_verify.{function}, preallocated output",
            expression=f"gelu_verify.{function}(x)",
            version=VERSION,
            safe_in_threads=True,
            components=("gelu_verify",),
            kernel=function,
            run=_run_correctly_rounded,
        )


def _run_correctly_rounded(function: str, dtype: str, x_bits: np.ndarray, y_bits: np.ndarray) -> None:
    from ...truth import correctly_rounded

    floats = numpy_dtype(dtype)
    getattr(correctly_rounded, function)(x_bits.view(floats), y_bits.view(floats))


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
