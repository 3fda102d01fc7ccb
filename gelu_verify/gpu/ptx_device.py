"""The device `ptx`: nvcc's PTX executed on the CPU, behind the interface of a CUDA device; never taken for one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..ptx.build import compiler
from . import nvcc
from .cuda import CudaKernel, Device, Module
from .ptx_driver import EXECUTOR, Driver

ARCHITECTURE = "sm_90"
APPROXIMATIONS = ("lowest", "nearest", "highest")  # of the values that the bound of an approximation allows


class PtxDevice(Device):
    """Raises TargetUnavailable when opened where nvcc or a C++ compiler is missing."""

    def __init__(self, architecture: str = ARCHITECTURE, approximations: str = "") -> None:
        self._nvcc = nvcc.release()
        compiler()
        self._approximations = approximations
        super().__init__(driver=Driver(architecture, approximations))

    @property
    def executed(self) -> str:
        """What a record says of results from here."""
        taken = f", approximations: {self._approximations} within their bounds" if self._approximations else ""
        return f"{EXECUTOR}, {self.architecture}, nvcc {self._nvcc}{taken}"

    def runs(self, module: Module, kernel: CudaKernel) -> bool:
        """Whether PTX specifies what it computes, to the last bit, or approximations are taken for what it does not."""
        check = module.handle.is_supported if self._approximations else module.handle.is_determined
        return bool(check(kernel.symbol))

    def binary(self, source: Path, flags: Sequence[str]) -> Path:
        return nvcc.ptx_of(source, flags, self.architecture)


@cache
def device(approximations: str = "") -> PtxDevice:
    """The device, opened once in a process."""
    return PtxDevice(approximations=approximations)
