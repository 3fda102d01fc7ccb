"""Our CUDA kernels, nvcc's PTX of them executed on the CPU: `ptx.gelu_cr`. Those whose bits PTX specifies.

They compute what a GPU is told to compute. They are no GPU's results: `executed` says so in every record.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...functions import Function
from ...gpu import nvcc
from ..base import Target
from ..executions import in_all_executions
from .cuda_ import parameterized, targets_of, versions

__all__ = ["discover", "versions"]

DEVICE = "ptx"
SHIPPED = True
ON_REQUEST = True


def discover() -> Iterator[Target]:
    """Kernels in which no opcode is an approximation; no build with --use_fast_math has one."""
    from ...gpu.ptx_device import device  # every process of a target imports this module

    yield from targets_of(device(), [build for build in nvcc.builds() if not build.suffix], "ptx")


def computing(function: Function) -> Iterator[Target]:
    """The kernels of src/cuda/parameters for a function, with its parameters.

    Where PTX does not specify the bits of one in some dtype, as of expf, the worst of all executions, and `executed`
    says so: no formula here would be left otherwise.
    """
    from ...gpu.ptx_device import ALL, device

    for target in parameterized(device(ALL), function, "ptx"):
        yield in_all_executions(target, device(ALL), list(target.kernels.values()))
