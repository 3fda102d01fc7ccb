"""A CUDA kernel of a source file, compiled here: "kernel.cu:gelu"; a host function that launches one: ":host"."""

from __future__ import annotations

import ctypes
import hashlib
import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MissingMeasurement, TargetFailure, UsageError, one_of
from ...gpu import nvcc
from ...gpu.cuda import LoadedFunction
from ...gpu.faults import kind_of
from ...gpu.info import why_no_device
from ...paths import cache_folder
from ..base import DeviceCall, Target
from ..output_memory import output_like
from ._c_abi import Library
from ._compiler import Compiler, words_of
from ._names import includable
from .base import Asked, Kind, dtype_of, existing, function_of, hash_of, of_a_file

if TYPE_CHECKING:
    from ...gpu.ptx_device import PtxDevice

THREADS = 256  # of a block
CUDA_TYPES = {"float16": "__half", "bfloat16": "__nv_bfloat16", "float32": "float", "float64": "double"}

# How a function is called on device memory; x and y are pointers to T, n is a size_t.
_CALLS = {
    "kernel": "{symbol}<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n)",
    "host": "{symbol}(x, y, n)",
}

# The user's file and three functions around its own, which return an error; what is timed is launch and end, no copies.
_AROUND = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include "{source}"

static const char *why(cudaError_t error) {{ return error == cudaSuccess ? NULL : cudaGetErrorString(error); }}

extern "C" const char *gelu_verify_load(const void *from, void **memory, size_t n)
{{
    cudaError_t error = cudaMalloc(memory, 2 * n * sizeof({T}));
    if (error == cudaSuccess)
        error = cudaMemset(*memory, 0xff, 2 * n * sizeof({T}));
    if (error == cudaSuccess)
        error = cudaMemcpy(*memory, from, n * sizeof({T}), cudaMemcpyHostToDevice);
    return why(error);
}}

extern "C" const char *gelu_verify_call(void *memory, size_t n)
{{
    const {T} *x = (const {T} *)memory;
    {T} *y = ({T} *)memory + n;
    {call};
    cudaError_t error = cudaGetLastError();
    return why(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}}

extern "C" const char *gelu_verify_store(void *memory, void *to, size_t n)
{{
    return why(cudaMemcpy(to, ({T} *)memory + n, n * sizeof({T}), cudaMemcpyDeviceToHost));
}}

extern "C" const char *gelu_verify_free(void *memory, size_t n)
{{
    (void)n;
    return why(cudaFree(memory));
}}
"""


_INSTANTIATING = """#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stddef.h>
#include "{source}"

void gelu_verify_launch(const {T} *x, {T} *y, size_t n) {{ {called}; }}
"""


@dataclass(frozen=True, kw_only=True)
class CudaFunction(Target):
    """A kernel on the first device, in memory that lies there before the clock starts."""

    library: Any

    def load(self, dtype: str, x_bits: np.ndarray) -> DeviceCall:
        memory = ctypes.c_void_p()  # for the input and the output
        self._ask("load", ctypes.c_void_p(x_bits.ctypes.data), ctypes.byref(memory), x_bits.size)
        loaded = DeviceCall(partial(self._ask, "call", memory, x_bits.size), memory, x_bits)
        weakref.finalize(loaded, self._ask, "free", memory, x_bits.size).atexit = False
        return loaded

    def call(self, loaded: DeviceCall) -> None:
        loaded.run()

    def store(self, dtype: str, loaded: DeviceCall, result: None) -> np.ndarray:
        y_bits = output_like(loaded.x_bits)
        self._ask("store", loaded.memory, ctypes.c_void_p(y_bits.ctypes.data), loaded.x_bits.size)
        return y_bits

    def _ask(self, what: str, *arguments: Any) -> None:
        function = self.library[f"gelu_verify_{what}"]
        function.restype = ctypes.c_char_p
        if error := function(*arguments[:-1], ctypes.c_size_t(arguments[-1])):
            message = error.decode()
            raise TargetFailure(f"{self.name}: CUDA says {message!r}", kind_of(message) or "cuda")


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol, call = match["file"], match["symbol"], match["call"] or "kernel"
    source = includable(existing(file))
    if call not in _CALLS:
        raise one_of(f"convention of {name.removesuffix(f':{call}')}", call, list(_CALLS))
    if not symbol:
        raise UsageError(f"{name!r} names no kernel (accepted: {file}:kernel, {file}:function:host)")
    dtype = dtype_of(name, symbol, asked)
    if asked.device == "ptx":
        return [_on_ptx(name, source, symbol, call, dtype, asked)]
    if asked.approximations:
        raise UsageError("--approximations is for --device ptx")
    compiler = Compiler.found("CUDA", "NVCC", *nvcc.places())
    called = _CALLS[call].format(symbol=symbol)
    text = _AROUND.format(source=source, T=CUDA_TYPES[dtype], call=called)
    flags = ["-shared", "-Xcompiler", "-fPIC"]
    try:
        built = compiler.library(f"around_{source.name}", text, file, asked.cflags, flags)
    except UsageError as error:
        if f'identifier "{symbol}" is undefined' in str(error):
            raise UsageError(f"no function {symbol!r} in {file}") from None
        raise
    if reason := why_no_device():
        raise MissingMeasurement(f"{name} compiles, but {reason}")
    library = Library.loaded(file, built.library, built)
    target = CudaFunction(
        name=name,
        function=function_of(symbol, asked),
        dtypes=(dtype,),
        note=f"{called}, {built.how}",
        version=built.version(library.content),
        library=library.handle,
    )
    return [target]


@dataclass(frozen=True, kw_only=True)
class PtxFunction(Target):
    """A kernel whose PTX is executed on the CPU."""

    device: PtxDevice
    kernel: LoadedFunction
    wide_count: bool  # whether the number of elements has 64 bits

    def load(self, dtype: str, x_bits: np.ndarray) -> DeviceCall:
        x, y = self.device.alloc(x_bits.nbytes), self.device.alloc(x_bits.nbytes)
        self.device.copy_in(x, x_bits)
        return DeviceCall(partial(self._launch, x, y, x_bits.size), (x, y), x_bits)

    def _launch(self, x: Any, y: Any, n: int) -> None:
        if n:
            count = np.uint64(n) if self.wide_count else np.uint32(n)
            self.device.launch(self.kernel, (n + THREADS - 1) // THREADS, THREADS, x, y, count)

    def call(self, loaded: DeviceCall) -> None:
        try:
            loaded.run()
            self.device.synchronize()
        except self.device.driver.Error as error:
            raise TargetFailure(f"{self.name}: {error}", kind_of(str(error)) or "ptx") from error

    def store(self, dtype: str, loaded: DeviceCall, result: None) -> np.ndarray:
        """What the kernel has not written is NaN."""
        return self.device.copy_out(loaded.memory[1], output_like(loaded.x_bits))


def _on_ptx(name: str, source: Path, symbol: str, call: str, dtype: str, asked: Asked) -> Target:
    """The kernel on the device `ptx`.

    Raises
    ------
    MissingMeasurement : it has an instruction that is not supported, or whose bits PTX does not specify
    """
    if call != "kernel":
        raise UsageError(
            f"{name}: --device ptx executes kernels, not functions of the host (accepted: {source.name}:kernel)"
        )
    from ...gpu.ptx_device import device as ptx_device  # here: every process of an implementation loads every kind

    device = ptx_device(asked.approximations or "")
    try:
        around, flags = _instantiating(source, symbol, dtype), words_of(asked.cflags or "")
        module = device.compile(around, flags)
        entry = exported(module.handle.kernels, symbol)
        kernel = module.function(entry)
    except KeyError:
        raise UsageError(f"no kernel {symbol!r} in {source.name}") from None
    except UsageError as error:
        if f'identifier "{symbol}" is undefined' in str(error):
            raise UsageError(f"no function {symbol!r} in {source.name}") from None
        raise
    except device.driver.Error as error:
        raise MissingMeasurement(f"{name}: {error}") from error
    sizes = [size for _, size in kernel.handle.kernel.translated.parameters]
    if sizes not in ([8, 8, 8], [8, 8, 4]):
        raise UsageError(f"{name} has parameters of {sizes} bytes (accepted: const T *x, T *y, size_t n)")
    if reason := kernel.handle.why_not_determined():
        more = " (--approximations lowest, nearest, highest)"
        raise MissingMeasurement(f"{name}: {reason}{more}")
    executed = device.executed_by([(module, entry)])
    return PtxFunction(
        name=name,
        function=function_of(symbol, asked),
        dtypes=(dtype,),
        note=f"{symbol}<<<(n + {THREADS - 1}) / {THREADS}, {THREADS}>>>(x, y, n)",
        version=f"{executed}, {asked.cflags or 'no flags'}, {hash_of(device.binary(around, flags))}",
        executed=executed,
        device=device,
        kernel=kernel,
        wide_count=sizes[2] == 8,
    )


def _instantiating(source: Path, symbol: str, dtype: str) -> Path:
    """A file that includes the source and launches the kernel: of a template it makes the one of this dtype."""
    text = _INSTANTIATING.format(source=source, T=CUDA_TYPES[dtype], called=_CALLS["kernel"].format(symbol=symbol))
    place = cache_folder() / f"around_{hashlib.sha256(text.encode()).hexdigest()[:16]}.cu"
    place.write_text(text, encoding="utf-8")
    return place


def exported(names: Sequence[str], symbol: str) -> str:
    """The kernel's name in the module, of which C++ makes one of its own: `_Z7my_geluPKfPfm`; KeyError."""
    parts = "".join(f"{len(part)}{part}" for part in symbol.split("::"))
    mangled = re.compile(rf"_Z(?:L|N(?:\d+_GLOBAL__N_\w*?)?)?{re.escape(parts)}(?!\d)\w*")
    found = [each for each in names if each == symbol or mangled.fullmatch(each)]
    if len(found) != 1:
        raise KeyError(symbol)
    return found[0]


KIND = Kind(
    name="CUDA source",
    syntax={
        "kernel.cu:symbol": "__global__ void symbol(const T *x, T *y, size_t n); --cflags, $NVCC",
        "kernel.cu:symbol --device ptx": "the same on a machine without a GPU: nvcc's PTX executed on the CPU",
        "kernel.cu:symbol:host": "a host function of device pointers that launches it",
    },
    pattern=of_a_file("cu", "symbol", "call"),
    load=load,
    options=frozenset({"cflags", "approximations"}),
    devices=("cuda", "ptx"),
)
