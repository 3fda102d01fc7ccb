"""Our CUDA kernels, compiled from src/cuda/ for the first device: `cuda.gelu_erf`, `cuda.gelu_cr`.

A name ends in `-f32` where a 16-bit format is computed in float32 and rounded once, in `-fast` with --use_fast_math.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import TargetFailure
from ...formats import get_format
from ...functions import Function, base_name
from ...gpu import cuda, nvcc
from ...gpu.faults import kind_of
from ...gpu.timing import device_throughput
from ...kernels.parameterized import PARAMETERIZED as FORMS
from ...kernels.parameterized import arguments
from ...truth.correctly_rounded import exactly
from ..base import DeviceCall, Target
from ..output_memory import output_like

DEVICE = "cuda"
NEEDS = "pycuda"
SHIPPED = True
PARAMETERIZED = "src/cuda/parameters"
UNDECIDED = "gv_undecided"  # of a module: how many results its bounds left open, and their places
TIMED_BYTES = 1 << 28  # of the input: beyond every cache


@dataclass(frozen=True, kw_only=True)
class CudaTarget(Target):
    """A kernel in every dtype that it comes in: dtype -> module and symbol."""

    device: cuda.Device
    kernels: dict[str, tuple[cuda.CudaModule, str]]
    parameters: dict[str, tuple[float, float]] = field(default_factory=dict)  # by dtype, of a kernel that takes them

    def load(self, dtype: str, x_bits: np.ndarray) -> DeviceCall:
        module, launch = self.kernels[dtype][0], self.launcher(dtype)
        x, y = self.device.alloc(x_bits.nbytes), self.device.alloc(x_bits.nbytes)
        self.device.copy_in(x, x_bits)
        self.device.fill(y, 0xFF, max(x_bits.nbytes, 1))
        if found := module.variable(UNDECIDED):
            self.device.fill(found[0], 0, 8)
        return DeviceCall(partial(launch, x, y, x_bits.size), (x, y), x_bits)

    def call(self, loaded: DeviceCall) -> None:
        try:
            loaded.run()
            self.device.synchronize()
        except self.device.driver.Error as error:
            raise TargetFailure(f"{self.name}: CUDA says {str(error)!r}", kind_of(str(error)) or "cuda") from error

    def _launch(self, function: cuda.LoadedFunction, dtype: str, x: Any, y: Any, n: int) -> None:
        if n:
            blocks = self.device.blocks(function, n, get_format(dtype).width // 8)
            parameters = map(np.float64, self.parameters.get(dtype, ()))
            self.device.launch(function, blocks, function.threads, x, y, n, *parameters)

    def store(self, dtype: str, loaded: DeviceCall, result: None) -> np.ndarray:
        y_bits = self.device.copy_out(loaded.memory[1], output_like(loaded.x_bits))
        for place in self._undecided(dtype):
            y_bits[place] = exactly(self.function, int(loaded.x_bits[place]))
        return y_bits

    def _undecided(self, dtype: str) -> np.ndarray:
        """Places that the module's bounds left open, for the oracle."""
        found = self.kernels[dtype][0].variable(UNDECIDED)
        if found is None:
            return np.empty(0, np.uint64)
        count = int(self.device.copy_out(found[0], np.empty(1, np.uint64))[0])
        if count >= found[1] // 8:
            raise TargetFailure(f"{self.name} left {count} results of one call undecided: call it with fewer inputs")
        return self.device.copy_out(found[0], np.empty(1 + count, np.uint64))[1:]

    def launcher(self, dtype: str) -> Callable[[Any, Any, int], None]:
        """What starts the kernel on input, output and number, for who judges on the device."""
        module, symbol = self.kernels[dtype]
        function = module.function(symbol)
        return lambda x, y, n: self._launch(function, dtype, x, y, n)

    def own_throughput(self, dtype: str, inputs: np.ndarray) -> dict[str, Any]:
        """By device events, on 256 MiB of inputs, in turns with a copy on the device; not where that is no GPU."""
        if self.executed:
            return {}
        x_bits = np.resize(inputs, TIMED_BYTES // inputs.itemsize)
        loaded = self.load(dtype, x_bits)
        x, y = loaded.memory
        copy = partial(self.device.copy, y, x, x_bits.nbytes)
        return device_throughput(self.device, loaded.run, copy, x_bits.size, x_bits.itemsize)


def discover() -> Iterator[Target]:
    """One target for each kernel name; the modules are compiled for the device where they were not before."""
    yield from targets_of(cuda.device(), nvcc.builds(), "cuda")


def computing(function: Function) -> Iterator[Target]:
    """The kernels of src/cuda/parameters for a function, with its parameters."""
    yield from parameterized(cuda.device(), function, "cuda")


def parameterized(device: cuda.Device, function: Function, family: str) -> Iterator[CudaTarget]:
    """The same on any device, as a family of that name; nothing is compiled for a function that has none."""
    base, version = base_name(function.name), nvcc.sources_hash(PARAMETERIZED)
    if not any(kernel.function == base for kernel in FORMS):
        return
    for target in targets_of(device, nvcc.builds(PARAMETERIZED), family):
        if target.function == base:
            taken = {dtype: arguments(target.name, dtype, function.values) for dtype in target.dtypes}
            yield replace(target, function=function.name, parameters=taken, version=version, judges_on_device=False)


def targets_of(device: cuda.Device, every: Sequence[nvcc.Build], family: str) -> Iterator[CudaTarget]:
    """The targets of these builds on a device, as a family of that name."""
    with ThreadPoolExecutor() as pool:  # nvcc, in processes of its own
        list(pool.map(lambda build: device.binary(build.source, build.options), every))
    modules = [device.compile(build.source, build.options) for build in every]
    found = [(kernel, module) for module in modules for kernel in module.kernels if device.runs(module, kernel)]
    for name in dict.fromkeys(kernel.name for kernel, _ in found):
        same = {kernel.dtype: (kernel, module) for kernel, module in found if kernel.name == name}
        first = next(iter(same.values()))[0]
        yield CudaTarget(
            name=f"{family}.{name}",
            function=first.function,
            dtypes=tuple(same),
            form=first.form,
            note=f"{first.note}; {device.name}, {device.architecture}",
            version=nvcc.sources_hash(),
            executed=device.executed_by((module, kernel.symbol) for kernel, module in same.values()),
            judges_on_device=not device.executed,  # billions of inputs are for a GPU
            device=device,
            kernels={dtype: (module, kernel.symbol) for dtype, (kernel, module) in same.items()},
        )


def versions() -> frozenset[str]:
    """What results of today's code have as their version; needs no device (recorded runs are compared with it)."""
    return frozenset({nvcc.sources_hash()})
