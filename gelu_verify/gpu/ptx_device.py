"""The device `ptx`: nvcc's PTX executed on the CPU, behind the interface of a CUDA device; never taken for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ..ptx.build import compiler
from ..ptx.opcodes.approximate import bound_of
from ..ptx.translate import EXECUTIONS, FUSED
from . import nvcc
from .cuda import CudaKernel, CudaModule, Device
from .ptx_driver import EXECUTOR, Driver

ARCHITECTURE, ALL = "sm_90", "all"


class PtxDevice(Device):
    """`execution`: which values kernels have that PTX leaves open: one of `EXECUTIONS`; `ALL`, where a target asks for
    each of them (`taking`); or none: these kernels are refused.

    Raises TargetUnavailable when opened where a C++ compiler is missing, or nvcc, for one that `compiles`.
    """

    def __init__(self, architecture: str = ARCHITECTURE, execution: str = "", compiles: bool = True) -> None:
        self._nvcc = nvcc.release() if compiles else ""
        compiler()
        self._execution = execution
        self._executor = Driver(architecture, "nearest" if execution == ALL else execution)
        super().__init__(driver=self._executor)

    @contextmanager
    def taking(self, execution: str) -> Iterator[None]:
        """While kernels are executed so."""
        before, self._executor.execution = self._executor.execution, execution
        try:
            yield
        finally:
            self._executor.execution = before

    @contextmanager
    def attempting(self) -> Iterator[None]:
        """While a kernel may fail, of which no later call is told."""
        try:
            yield
        finally:
            self._executor.forget_errors()

    @property
    def executed(self) -> str:
        return self._executed_as(self.architecture)

    def _executed_as(self, architecture: str) -> str:
        return f"{EXECUTOR}, {architecture}" + (f", nvcc {self._nvcc}" if self._nvcc else "")

    def executions(self, kernels: Iterable[tuple[CudaModule, str]]) -> tuple[str, ...]:
        """Those that are asked for and may differ for one of the kernels; none where PTX leaves nothing open."""
        differing = {each for module, symbol in kernels for each in module.handle.translated(symbol).executions}
        if self._execution == ALL:
            return tuple(each for each in EXECUTIONS if each in differing)
        return (self._execution,) if differing and self._execution else ()

    def executed_by(self, kernels: Iterable[tuple[CudaModule, str]]) -> str:
        """The same, and what is taken where PTX leaves bits to the device."""
        kernels = list(kernels)
        used = [module.handle.translated(symbol) for module, symbol in kernels]
        executed = self._executed_as(" and ".join(dict.fromkeys(module.handle.architecture for module, _ in kernels)))
        if not (taken := self.executions(kernels)):
            return executed
        opcodes = dict.fromkeys(opcode for each in used for opcode, _ in each.approximations)
        bounds = ", ".join(f"{opcode}: {bound_of(opcode)}" for opcode in opcodes)
        ways = {FUSED: "fused", "": "rounded as they are written"}
        how = " and ".join(dict.fromkeys(ways[FUSED if each.endswith(FUSED) else ""] for each in taken))
        written = f", products and sums {how}" if any(each.contractible for each in used) else ""
        values = ", ".join(dict.fromkeys(each.removesuffix(FUSED) for each in taken))
        return f"{executed}{written}" + (
            f", approximations: {values} within their bounds ({bounds})" if opcodes else ""
        )

    def runs(self, module: CudaModule, kernel: CudaKernel) -> bool:
        """Whether PTX specifies what it computes, to the last bit, or something is taken for what it does not."""
        check = module.handle.is_supported if self._execution else module.handle.is_determined
        return bool(check(kernel.symbol))

    def loaded(self, path: Path) -> CudaModule:
        """A file of PTX."""
        return self._loaded(path, path)

    def binary(self, source: Path, flags: Sequence[str]) -> Path:
        return nvcc.ptx_of(source, flags, self.architecture)


@cache
def device(execution: str = "", compiles: bool = True) -> PtxDevice:
    """The device, opened once in a process."""
    return PtxDevice(execution=execution, compiles=compiles)
