"""What `pycuda.driver` is to a GPU, for the executor of PTX: allocations, contexts, modules, launches, events.

It keeps PyCUDA's rules, so that the code above runs the same: a context is current in the thread that has pushed it; an
error of a kernel is told by the next call that waits, and by every call after it. What it executes is never a GPU's
result: `EXECUTOR` says so.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from ..ptx.executor import MOST_SHARED, KernelFault, LaunchError, LoadedKernel, LoadedModule
from ..ptx.ir import PtxError
from ..ptx.memory import AddressedMemory, OutOfMemory
from ..ptx.parse import text_of
from ..ptx.translate import Translated

EXECUTOR = "ptx on CPU"
VERSION = 13000  # of CUDA, as a driver counts
MULTIPROCESSORS = 1  # blocks run one after the other: more would only prepare shared memory more often
SHARED_BY_DEFAULT = 48 << 10  # dynamic shared memory of a launch that asks for no more

device_attribute = SimpleNamespace(MULTIPROCESSOR_COUNT="MULTIPROCESSOR_COUNT")
function_attribute = SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES="MAX_DYNAMIC_SHARED_SIZE_BYTES")


class Error(Exception):
    """Any error of the driver."""


class LogicError(Error):
    """A call that cannot be made so, and an error that an earlier kernel left."""


class LaunchErrorOfDriver(Error):
    """A launch that cannot start."""


class MemoryErrorOfDriver(Error, MemoryError):
    """There is no memory left."""


class Driver:
    """The module, as an object: one of them has one device."""

    Error, LogicError = Error, LogicError
    LaunchError, MemoryError = LaunchErrorOfDriver, MemoryErrorOfDriver
    device_attribute, function_attribute = device_attribute, function_attribute
    EXECUTOR = EXECUTOR

    def __init__(self, architecture: str = "sm_90", execution: str = "") -> None:
        """`execution`: of kernels whose bits PTX does not specify (`translate.EXECUTIONS`); else they are refused."""
        self.architecture, self.execution = architecture, execution
        self._stacks = threading.local()
        self._primary = PrimaryContext(self)
        driver = self

        class Context:
            @staticmethod
            def pop() -> None:
                if not driver.stack:
                    raise LogicError("cuCtxPopCurrent failed: invalid device context")
                driver.stack.pop()

            @staticmethod
            def synchronize() -> None:
                driver.context("cuCtxSynchronize").told("cuCtxSynchronize")

        self.Context = Context

    @property
    def stack(self) -> list[PrimaryContext]:
        """The contexts of this thread, the current one last."""
        stack: list[PrimaryContext] = self._stacks.__dict__.setdefault("contexts", [])
        return stack

    def context(self, asked: str) -> PrimaryContext:
        """The current context; LogicError where there is none."""
        if not self.stack:
            raise LogicError(f"{asked} failed: invalid device context")
        return self.stack[-1]

    def forget_errors(self) -> None:
        """As if the device had been reset, and kept its memory: a driver cannot."""
        self._primary.broken = ""

    def init(self) -> None:
        pass

    def get_driver_version(self) -> int:
        return VERSION

    def Device(self, index: int) -> DeviceOfDriver:
        if index:
            raise LogicError("cuDeviceGet failed: invalid device ordinal")
        return DeviceOfDriver(self)

    def module_from_file(self, path: str) -> TranslatedModule:
        context = self.context("cuModuleLoad")
        context.told("cuModuleLoad")
        try:
            return TranslatedModule(context, LoadedModule(text_of(Path(path)), context.memory))
        except PtxError as error:
            raise LogicError(f"cuModuleLoad failed: PTX JIT compilation failed: {error}") from error
        except OutOfMemory:
            raise MemoryErrorOfDriver("cuModuleLoad failed: out of memory") from None

    def mem_alloc(self, nbytes: int) -> DeviceAllocation:
        context = self.context("cuMemAlloc")
        context.told("cuMemAlloc")
        if nbytes <= 0:
            raise LogicError("cuMemAlloc failed: invalid argument")
        try:
            return DeviceAllocation(context, context.memory.alloc(nbytes))
        except OutOfMemory:
            raise MemoryErrorOfDriver("cuMemAlloc failed: out of memory") from None

    def _checked(self, asked: str, address: int, nbytes: int) -> AddressedMemory:
        context = self.context(asked)
        context.told(asked)
        if not context.memory.is_allocated(address, nbytes):
            raise LogicError(
                f"{asked} failed: invalid argument: {nbytes} bytes at {address:#x} are not one allocation's"
            )
        return context.memory

    def memcpy_htod(self, to: int, array: np.ndarray) -> None:
        self._checked("cuMemcpyHtoD", int(to), array.nbytes).write(int(to), np.ascontiguousarray(array))

    def memcpy_dtoh(self, array: np.ndarray, address: int) -> None:
        self._checked("cuMemcpyDtoH", int(address), array.nbytes).read(int(address), array)

    def memcpy_dtod_async(self, to: int, address: int, nbytes: int) -> None:
        self._checked("cuMemcpyDtoDAsync", int(address), nbytes)
        self._checked("cuMemcpyDtoDAsync", int(to), nbytes).copy(int(to), int(address), nbytes)

    def memset_d8(self, address: int, byte: int, nbytes: int) -> None:
        self._checked("cuMemsetD8", int(address), nbytes).fill(int(address), byte, nbytes)

    def Event(self) -> Event:
        return Event(self)


class PrimaryContext:
    """The device's memory, and the first error of its kernels, which every later call tells again."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.memory = driver, AddressedMemory()
        self.broken = ""
        self.running = threading.Lock()

    def push(self) -> None:
        self.driver.stack.append(self)

    def told(self, asked: str) -> None:
        if self.broken:
            raise LogicError(f"{asked} failed: {self.broken}")


class DeviceOfDriver:
    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def retain_primary_context(self) -> PrimaryContext:
        return self._driver._primary

    def name(self) -> str:
        return EXECUTOR

    def compute_capability(self) -> tuple[int, int]:
        number = int("".join(filter(str.isdigit, self._driver.architecture)))
        return divmod(number, 10)

    def get_attribute(self, name: str) -> int:
        return {"MULTIPROCESSOR_COUNT": MULTIPROCESSORS}[name]


class DeviceAllocation:
    def __init__(self, context: PrimaryContext, address: int) -> None:
        self._context, self._address, self._freed = context, address, False

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        if self._context.driver.stack[-1:] != [self._context]:
            raise LogicError("cuMemFree failed: cannot activate out-of-thread context")
        if self._freed:
            raise LogicError("cuMemFree failed: invalid argument: it was freed before")
        self._freed = True
        self._context.told("cuMemFree")
        self._context.memory.free(self._address)


class TranslatedModule:
    def __init__(self, context: PrimaryContext, loaded: LoadedModule) -> None:
        self._context, self.loaded = context, loaded

    @property
    def kernels(self) -> list[str]:
        return [name for name, function in self.loaded.module.functions.items() if function.is_kernel]

    @property
    def architecture(self) -> str:
        """For which it was compiled: `sm_90`."""
        return self.loaded.module.target

    def function_in(self, variable: str) -> str:
        """The name of the function of which a variable of the module holds the address."""
        (initial,) = self.loaded.module.variables[variable].initial
        assert isinstance(initial, tuple)
        return initial[0]

    def get_global(self, name: str) -> tuple[int, int]:
        self._context.driver.context("cuModuleGetGlobal")
        try:
            return self.loaded.variable(name)
        except KeyError:
            raise LogicError("cuModuleGetGlobal failed: named symbol not found") from None

    def is_determined(self, name: str) -> bool:
        """Whether a kernel has only instructions that are supported, and whose bits PTX specifies."""
        text = self.loaded.module.functions[name].text or ""
        if ".approx." in text or ".full." in text:  # most kernels are told by that, which need not be translated then
            return False
        try:
            return not self.loaded.kernel(name).translated.why_not_determined()
        except PtxError:
            return False

    def is_supported(self, name: str) -> bool:
        """Whether a kernel has only instructions that are supported."""
        try:
            return self.loaded.kernel(name).translated is not None
        except PtxError:
            return False

    def translated(self, name: str) -> Translated:
        """A kernel as it is executed."""
        return self.loaded.kernel(name).translated

    def get_function(self, name: str) -> FunctionOfDriver:
        """Compiled. LogicError where there is none, and where it has an instruction that is not supported, by name."""
        self._context.driver.context("cuModuleGetFunction")
        try:
            kernel = self.loaded.kernel(name)
            if self._context.driver.execution or not kernel.translated.why_not_determined():
                kernel.compile()
            return FunctionOfDriver(self._context, kernel)
        except KeyError:
            raise LogicError("cuModuleGetFunction failed: named symbol not found") from None
        except PtxError as error:
            raise LogicError(f"cuModuleGetFunction failed: PTX JIT compilation failed: {error}") from error


class FunctionOfDriver:
    def __init__(self, context: PrimaryContext, kernel: LoadedKernel) -> None:
        self._context, self.kernel, self._shared = context, kernel, SHARED_BY_DEFAULT

    def set_attribute(self, name: str, value: int) -> None:
        assert name == function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        if value > MOST_SHARED:
            raise LogicError("cuFuncSetAttribute failed: invalid argument")
        self._shared = max(self._shared, value)

    def __call__(
        self, *words: np.generic, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int = 0
    ) -> None:
        """Runs to its end; a fault is told by what waits next. NumPy scalars are as wide as the parameters are."""
        context = self._context
        context.driver.context("cuLaunchKernel")
        context.told("cuLaunchKernel")
        if shared > self._shared:
            raise LogicError(f"cuLaunchKernel failed: invalid argument: {shared} bytes of shared memory")
        try:
            with context.running:
                packed = self.kernel.packed([word.tobytes() for word in words])
                self.kernel.launch(grid, block, packed, shared, context.driver.execution)
        except KernelFault as fault:
            context.broken = str(fault)
        except LaunchError as error:
            raise LaunchErrorOfDriver(f"cuLaunchKernel failed: invalid configuration argument: {error}") from error
        except PtxError as error:
            raise LogicError(f"cuLaunchKernel failed: not determined: {error}") from error
        except OutOfMemory:
            raise MemoryErrorOfDriver("cuLaunchKernel failed: out of memory") from None


class Event:
    """A mark in time: everything that was started before it has ended."""

    def __init__(self, driver: Driver) -> None:
        driver.context("cuEventCreate")
        self._driver, self._clock = driver, time.perf_counter
        self._time: float | None = None

    def record(self) -> Event:
        self._driver.context("cuEventRecord").told("cuEventRecord")
        self._time = self._clock()
        return self

    def synchronize(self) -> Event:
        self._driver.context("cuEventSynchronize").told("cuEventSynchronize")
        return self

    def time_since(self, start: Event) -> float:
        """Milliseconds"""
        if self._time is None or start._time is None:
            raise LogicError("cuEventElapsedTime failed: invalid resource handle")
        return (self._time - start._time) * 1e3
