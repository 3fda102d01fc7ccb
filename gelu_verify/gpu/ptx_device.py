"""The device `ptx`: nvcc's PTX executed on the CPU, behind the interface of a CUDA device; never taken for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from ..ptx.build import compiler
from ..ptx.opcodes.approximate import bound_of
from . import nvcc
from .cuda import CudaKernel, CudaModule, Device
from .ptx_driver import EXECUTOR, Driver

ARCHITECTURE = "sm_90"


class PtxDevice(Device):
    """Raises TargetUnavailable when opened where a C++ compiler is missing, or nvcc, for one that `compiles`."""

    def __init__(self, architecture: str = ARCHITECTURE, approximations: str = "", compiles: bool = True) -> None:
        self._nvcc = nvcc.release() if compiles else ""
        compiler()
        self._approximations = approximations
        super().__init__(driver=Driver(architecture, approximations))

    @property
    def executed(self) -> str:
        return f"{EXECUTOR}, {self.architecture}" + (f", nvcc {self._nvcc}" if self._nvcc else "")

    def executed_by(self, kernels: Iterable[tuple[CudaModule, str]]) -> str:
        """The same, and what is taken where PTX leaves bits to the device."""
        used = [module.handle.translated(symbol) for module, symbol in kernels]
        if not self._approximations:
            return self.executed
        opcodes = dict.fromkeys(opcode for each in used for opcode, _ in each.approximations)
        bounds = ", ".join(f"{opcode}: {bound_of(opcode)}" for opcode in opcodes)
        written = ", products and sums rounded as they are written" if any(each.contractible for each in used) else ""
        taken = f", approximations: {self._approximations} within their bounds ({bounds})" if opcodes else ""
        return f"{self.executed}{written}{taken}"

    def runs(self, module: CudaModule, kernel: CudaKernel) -> bool:
        """Whether PTX specifies what it computes, to the last bit, or approximations are taken for what it does not."""
        check = module.handle.is_supported if self._approximations else module.handle.is_determined
        return bool(check(kernel.symbol))

    def loaded(self, path: Path) -> CudaModule:
        """A file of PTX."""
        return self._loaded(path, path)

    def binary(self, source: Path, flags: Sequence[str]) -> Path:
        return nvcc.ptx_of(source, flags, self.architecture)


@cache
def device(approximations: str = "", compiles: bool = True) -> PtxDevice:
    """The device, opened once in a process."""
    return PtxDevice(approximations=approximations, compiles=compiles)
