"""CUDA devices through PyCUDA: compile, load, launch, time; in the primary context, which other libraries share.

PyCUDA is imported when a device is opened, and its `autoinit`, which makes a context of its own, never.
Nothing here is managed memory.
"""

from __future__ import annotations

import importlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import TargetUnavailable
from . import nvcc
from .info import dotted

NEEDED = 13000  # CUDA version of a driver that runs what nvcc 13 makes, as the driver counts
THREADS_OF_MULTIPROCESSOR = 2048  # that can be resident
TABLE, PREPARE = "gv_kernels", "gv_prepare"
# src/cuda/kernel.h: struct gv_kernel_row
_TEXTS = {"symbol": 56, "name": 56, "function": 24, "form": 24, "dtype": 12, "note": 180}
ROW = np.dtype([*((name, f"S{size}") for name, size in _TEXTS.items()), ("threads", "<u4"), ("shared", "<u4")])


@dataclass(frozen=True)
class CudaKernel:
    """One row of the table of a module's kernels.

    `threads` of a block, at most; `shared`: bytes of dynamic shared memory that a launch needs.
    """

    symbol: str
    name: str
    function: str
    form: str
    dtype: str
    note: str
    threads: int
    shared: int


def kernel_rows(table: bytes) -> list[CudaKernel]:
    """The kernels in a module's table."""
    rows = np.frombuffer(table, ROW)
    rows = rows[rows["threads"] > 0]  # a library's table ends with zeros
    return [
        CudaKernel(
            **{name: row[name].decode() for name in _TEXTS}, threads=int(row["threads"]), shared=int(row["shared"])
        )
        for row in rows
    ]


@dataclass(frozen=True)
class LoadedFunction:
    """A kernel that can be launched."""

    handle: Any
    threads: int = 256
    shared: int = 0


@dataclass(frozen=True)
class CudaModule:
    """Compiled code in the device's context; `kernels` is empty where it has no table of them."""

    device: Device = field(repr=False)
    handle: Any = field(repr=False)
    source: Path

    @cached_property
    def kernels(self) -> tuple[CudaKernel, ...]:
        found = self.variable(TABLE)
        return () if found is None else tuple(kernel_rows(self.device.copy_out(*found).tobytes()))

    def variable(self, name: str) -> tuple[int, int] | None:
        """Address and bytes of a global variable; None where there is none of that name."""
        with self.device.current():
            try:
                address, nbytes = self.handle.get_global(name)
            except self.device.driver.LogicError:
                return None
        return int(address), int(nbytes)

    def function(self, symbol: str) -> LoadedFunction:
        """The kernel of that name, with the threads and shared memory of its row."""
        row = next((kernel for kernel in self.kernels if kernel.symbol == symbol), None)
        with self.device.current():
            handle = self.handle.get_function(symbol)
            if row and row.shared:
                most = self.device.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                handle.set_attribute(most, row.shared)
        return LoadedFunction(handle, row.threads, row.shared) if row else LoadedFunction(handle)


class DeviceMemory:
    """Plain device memory, freed with this object, whichever thread drops it.

    PyCUDA's own allocation is not given back by any thread but the one that opened the device.
    """

    def __init__(self, device: Device, nbytes: int) -> None:
        self._device = device
        self._allocation = device.driver.mem_alloc(nbytes)

    def __int__(self) -> int:
        return int(self._allocation)

    def __del__(self) -> None:
        if not hasattr(self, "_allocation"):  # there was none left
            return
        with suppress(self._device.driver.Error), self._device.current():  # a dead context ends with its process
            self._allocation.free()


class Device:
    """One CUDA device, through PyCUDA's driver or what stands in for it (`ptx_driver.py`).

    Raises TargetUnavailable when opened where PyCUDA, the driver or the device is missing.
    """

    def __init__(self, index: int = 0, driver: Any = None) -> None:
        self.driver = driver or _driver()
        self._device = self.driver.Device(index)
        self._context = self._device.retain_primary_context()
        self._lock = threading.Lock()
        self._modules: dict[tuple[Path, tuple[str, ...]], CudaModule] = {}

    @contextmanager
    def current(self) -> Iterator[None]:
        """While the primary context is this thread's."""
        self._context.push()
        try:
            yield
        finally:
            self.driver.Context.pop()

    @property
    def executed(self) -> str:
        """On what, for records, where this is no GPU; empty for one."""
        return ""

    def executed_by(self, kernels: Iterable[tuple[CudaModule, str]]) -> str:
        """The same of some kernels, named in their modules."""
        return self.executed

    @cached_property
    def name(self) -> str:
        return str(self._device.name())

    @cached_property
    def architecture(self) -> str:
        """`sm_90` of an H100."""
        major, minor = self._device.compute_capability()
        return f"sm_{major}{minor}"

    @cached_property
    def multiprocessors(self) -> int:
        return int(self._device.get_attribute(self.driver.device_attribute.MULTIPROCESSOR_COUNT))

    def compile(self, source: Path, flags: Sequence[str] = ()) -> CudaModule:
        """`source` for this device, loaded and prepared; compiled once for each content, loaded once.

        Raises TargetUnavailable (no nvcc) or UsageError (it does not compile for this device).
        """
        with self._lock:
            key = (source, tuple(flags))
            if key not in self._modules:
                self._modules[key] = self._loaded(source, self.binary(source, flags))
            return self._modules[key]

    def runs(self, module: CudaModule, kernel: CudaKernel) -> bool:
        """Whether a kernel of a module can be executed here."""
        return True

    def binary(self, source: Path, flags: Sequence[str]) -> Path:
        """What nvcc makes of a source for this device."""
        return nvcc.compiled(source, flags, [self.architecture])

    def _loaded(self, source: Path, binary: Path) -> CudaModule:
        with self.current():
            module = CudaModule(self, self.driver.module_from_file(str(binary)), source)
            try:
                prepare = LoadedFunction(module.handle.get_function(PREPARE))
            except self.driver.LogicError as error:  # most modules need none
                if "not found" not in str(error):
                    raise
                return module
        self.launch(prepare, 256, 256)
        self.synchronize()
        return module

    def alloc(self, nbytes: int) -> DeviceMemory:
        with self.current():
            return DeviceMemory(self, max(nbytes, 1))

    def at(self, memory: Any, offset: int) -> int:
        """The address so many bytes into device memory."""
        return int(memory) + offset

    def copy_in(self, memory: Any, array: np.ndarray) -> None:
        """A contiguous array to the device."""
        with self.current():
            if array.nbytes:
                self.driver.memcpy_htod(int(memory), array.reshape(-1).view(np.uint8))

    def copy_out(self, memory: Any, to: np.ndarray | int) -> np.ndarray:
        """From the device to an array, or as many bytes."""
        array = np.empty(to, np.uint8) if isinstance(to, int) else to
        with self.current():
            if array.nbytes:
                self.driver.memcpy_dtoh(array.reshape(-1).view(np.uint8), int(memory))
        return array

    def copy(self, to: Any, memory: Any, nbytes: int) -> None:
        """On the device; does not wait."""
        with self.current():
            self.driver.memcpy_dtod_async(int(to), int(memory), nbytes)

    def fill(self, memory: Any, byte: int, nbytes: int) -> None:
        with self.current():
            self.driver.memset_d8(int(memory), byte, nbytes)

    def launch(self, function: LoadedFunction, grid: int, block: int, *arguments: Any) -> None:
        """Start a kernel; does not wait. Whole numbers are 64 bits wide there, addresses too."""
        with self.current():
            words = [np.uint64(int(word)) if isinstance(word, int | DeviceMemory) else word for word in arguments]
            function.handle(*words, grid=(grid, 1, 1), block=(block, 1, 1), shared=function.shared)

    def blocks(self, function: LoadedFunction, n: int, nbytes: int) -> int:
        """Of a grid-stride launch over n elements of so many bytes: as many as can be resident, if all are busy."""
        resident = self.multiprocessors * max(1, THREADS_OF_MULTIPROCESSOR // function.threads)
        return max(1, min(resident, -(-n * nbytes // (16 * function.threads))))

    def synchronize(self) -> None:
        """Wait for all that was started; what went wrong there is raised here."""
        with self.current():
            self.driver.Context.synchronize()

    def seconds(self, work: Callable[[], object]) -> float:
        """What was started by `work` took, between two marks in the legacy default stream; waits for it."""
        with self.current():  # events are not given back outside either
            start, end = self.driver.Event(), self.driver.Event()
            start.record()
            work()
            end.record()
            end.synchronize()
            seconds = float(end.time_since(start)) / 1e3
            del start, end
        return seconds


def _driver() -> ModuleType:
    """`pycuda.driver`, initialized; TargetUnavailable says what is missing."""
    try:
        importlib.import_module("pycuda")
    except ModuleNotFoundError:
        raise TargetUnavailable("pycuda is not installed (pip install 'gelu-verify[gpu]')") from None
    try:
        with warnings.catch_warnings():  # its deprecation warnings are not ours
            warnings.simplefilter("ignore")
            driver = importlib.import_module("pycuda.driver")
    except ImportError as error:  # it is linked with libcuda.so.1
        raise TargetUnavailable(f"no CUDA driver: {error}") from error
    try:
        driver.init()
        count = driver.Device.count()
    except driver.Error as error:
        raise TargetUnavailable(f"no CUDA device: {error}") from error
    if not count:
        raise TargetUnavailable("no CUDA device")
    if (version := driver.get_driver_version()) < NEEDED:
        raise TargetUnavailable(f"driver too old: it knows CUDA {dotted(version)}, {dotted(NEEDED)} is needed")
    return driver


@cache
def device(index: int = 0) -> Device:
    """The device of that number, opened once in a process."""
    return Device(index)
