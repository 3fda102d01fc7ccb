"""A module of PTX that can be executed: its variables in the device's memory, its kernels compiled when asked for."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .build import built
from .faults import Fault, LaunchFault
from .ir import PtxError, PtxModule, Variable
from .memory import ALLOCATED, BASE, CONSTANT, SIZE, AddressedMemory, OutOfMemory
from .parse import parse
from .translate import APPROXIMATIONS, FUSED, Translated, translate

MOST_THREADS, MOST_SHARED = 1024, 227 << 10  # of a block, on sm_90


class KernelFault(Exception):
    """What was found while a kernel ran."""


class LaunchError(Exception):
    """A launch that cannot start."""


class _Arguments(ctypes.Structure):
    """src/ptx/launch.h: struct launch_arguments"""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("data", "state")),
        *((name, ctypes.c_uint64) for name in ("base", "size")),
        *((name, ctypes.c_void_p) for name in ("symbols", "params")),
        *((name, ctypes.c_uint32) for name in ("param_size", "shared_static", "shared_dynamic", "shared_ranges")),
        ("shared_range", ctypes.c_void_p),
        *((name, ctypes.c_uint32 * 3) for name in ("grid", "block")),
        *((name, ctypes.c_uint32) for name in ("local_size", "entry_local")),
        *((name, ctypes.c_int32) for name in ("approximations", "fuses", "watches_races")),
    )


class LoadedKernel:
    """A kernel of a loaded module."""

    def __init__(self, module: LoadedModule, translated: Translated) -> None:
        self._module, self.translated = module, translated
        self.name = translated.name

    @cached_property
    def _launch(self) -> Any:
        library = ctypes.CDLL(str(built(self.translated.code)))
        library.gelu_verify_launch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        return library.gelu_verify_launch

    def compile(self) -> None:
        """Now, not in the first launch."""
        _ = self._launch

    @property
    def parameter_size(self) -> int:
        return max((offset + size for offset, size in self.translated.parameters), default=0)

    def packed(self, arguments: Sequence[bytes]) -> bytes:
        """The arguments as the kernel's parameters lie in memory."""
        places = self.translated.parameters
        if [len(each) for each in arguments] != [size for _, size in places]:
            given, wanted = [len(each) for each in arguments], [size for _, size in places]
            raise LaunchError(f"{self.name} has parameters of {wanted} bytes, and was given {given}")
        whole = bytearray(self.parameter_size)
        for (offset, size), value in zip(places, arguments, strict=True):
            whole[offset : offset + size] = value
        return bytes(whole)

    def launch(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        shared: int = 0,
        execution: str = "",
    ) -> None:
        """Run it to its end, in one of `EXECUTIONS` where PTX does not specify the bits of the results.

        Raises
        ------
        LaunchError : a grid, a block or shared memory that no device has
        KernelFault : what was found, with block, lane and line
        PtxError : PTX does not specify them, and `execution` does not say which are taken
        """
        t = self.translated
        self._check(grid, block, shared, parameters)
        if not execution and (reason := t.why_not_determined()):
            raise PtxError(reason)
        symbols = np.array([self._module.addresses[name] for name in t.symbols], np.uint64)
        ranges = np.array(t.shared_ranges, np.uint32).reshape(-1)
        memory, fault = self._module.memory, Fault()
        given = np.frombuffer(parameters or b"\0", np.uint8)
        arguments = _Arguments(
            *(memory.data, memory.state, BASE, SIZE, symbols.ctypes.data, given.ctypes.data, len(parameters)),
            *(t.shared_static, shared, len(ranges) // 2, ranges.ctypes.data),
            *((ctypes.c_uint32 * 3)(*grid), (ctypes.c_uint32 * 3)(*block), t.local_size, t.entry_local),
            *(
                APPROXIMATIONS[execution.removesuffix(FUSED) or "nearest"],
                execution.endswith(FUSED),
                not t.races_unseen,
            ),
        )
        status = self._launch(ctypes.byref(arguments), ctypes.byref(fault))
        if status == 2:
            raise OutOfMemory
        if status:
            raise KernelFault(LaunchFault(fault, self.name, block, t.sites).message(memory))

    def _check(self, grid: tuple[int, ...], block: tuple[int, ...], shared: int, parameters: bytes) -> None:
        threads, most = block[0] * block[1] * block[2], self.translated.most_threads or MOST_THREADS
        if min(*grid, *block) < 1 or max(grid[1:]) > 65535 or grid[0] >= 1 << 31 or threads > min(most, MOST_THREADS):
            raise LaunchError(f"grid {grid}, block {block}; the kernel takes up to {min(most, MOST_THREADS)} threads")
        if self.translated.shared_static + shared > MOST_SHARED:
            raise LaunchError(f"{self.translated.shared_static + shared} bytes of shared memory, of {MOST_SHARED}")
        if len(parameters) != self.parameter_size:
            raise LaunchError(f"{len(parameters)} bytes of parameters for {self.parameter_size}")


class LoadedModule:
    """A module in a device's memory."""

    def __init__(self, text: str, memory: AddressedMemory) -> None:
        self.module: PtxModule = parse(text)
        self.memory = memory
        self.addresses = {}
        self._kernels: dict[str, LoadedKernel] = {}
        stored = [v for v in self.module.variables.values() if v.space in ("global", "const")]
        for variable in stored:
            flags = ALLOCATED | (CONSTANT if variable.space == "const" else 0)
            self.addresses[variable.name] = memory.alloc(variable.nbytes, flags)
        for variable in stored:
            if not self._holds_functions(variable):
                self._initialize(variable)

    def _holds_functions(self, variable: Variable) -> bool:
        """Whether it is left unwritten, so that reading it is a fault: functions have no addresses here."""
        return any(isinstance(each, tuple) and each[0] in self.module.functions for each in variable.initial)

    def _initialize(self, variable: Variable) -> None:
        """What has no initial value is zero."""
        words = [self._word(each) for each in variable.initial]
        data = np.zeros(variable.nbytes, np.uint8)
        if words:
            mask = (1 << 8 * variable.width) - 1
            values = np.array([word & mask for word in words], f"<u{variable.width}").view(np.uint8)
            data[: values.size] = values
        self.memory.write(self.addresses[variable.name], data)

    def _word(self, entry: int | tuple[str, int]) -> int:
        if isinstance(entry, int):
            return entry
        name, offset = entry
        if name not in self.addresses:
            raise PtxError(f"the address of {name} in a variable is not supported")
        return self.addresses[name] + offset

    def variable(self, name: str) -> tuple[int, int]:
        """Address and bytes of a variable; KeyError where there is none."""
        return self.addresses[name], self.module.variables[name].nbytes

    def kernel(self, name: str) -> LoadedKernel:
        """KeyError where there is none; PtxError where it has an instruction that is not supported."""
        if name not in self._kernels:
            if name not in self.module.functions or not self.module.functions[name].is_kernel:
                raise KeyError(name)
            self._kernels[name] = LoadedKernel(self, translate(self.module, name))
        return self._kernels[name]
