"""A kernel or a function of the device of a CUDA source, compiled here: "kernel.cu:gelu"; a host function: ":host".

Its declaration says how it is called, as in C; a function of one value gets a kernel around it.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from ...errors import GeluVerifyError, MissingMeasurement, TargetFailure, UsageError, one_of
from ...gpu import nvcc
from ...gpu.faults import kind_of
from ...gpu.info import why_no_device
from ...gpu.ptx_device import ALL
from ...gpu.ptx_device import device as ptx_device
from ...paths import cache_folder, resource
from .. import incoming
from ..base import DeviceCall, Target
from ..contract import Contracted
from ..declarations.parameters import CUDA_TYPES
from ..declarations.prototype import target_fields
from ..declarations.roles import LAUNCH, OpenCall, prototype_for
from ..declarations.symbols import SourceText, included
from ..output_memory import output_like
from ._c_abi import Library, plain
from ._compiler import Compiler, words_of
from ._cuda_call import ENTRY, INSTANTIATING, KERNEL, NAMING, ON_THE_DEVICE, CudaCall, kernel_around
from ._launch import is_launched, launches_of
from ._names import exported, includable
from ._ptx_function import PtxFunction, answerable, in_a_launch, ptx_function
from ._stubs import CUDA_HEADERS, is_of_a_library, missing_of, opaque, with_empty, write_header
from .base import Asked, existing

T = TypeVar("T")
_READ = ("-I", "-D", "-U", "-include", "-isystem", "-iquote", "-idirafter")  # flags that a declaration depends on
_COMPILING = (
    "-D__CUDACC__",
    "-D__NVCC__",
    "-D__CUDA_ARCH__=900",
    "-D__CUDACC_VER_MAJOR__=13",
    "-D__CUDACC_VER_MINOR__=0",
)
_CONVENTIONS = ("kernel", "host")


@dataclass(frozen=True, kw_only=True)
class CudaFunction(Target):
    """A kernel on the first device, in memory that lies there before the clock starts."""

    library: Any
    beside: str = ""  # what it takes beside x and y: `Prototype.beside`

    def load(self, dtype: str, x_bits: np.ndarray) -> DeviceCall:
        memory = ctypes.c_void_p()
        beside = incoming.beside(self, self.beside, dtype, x_bits) if self.beside else x_bits[:0]
        given = ctypes.c_void_p(x_bits.ctypes.data), ctypes.c_void_p(beside.ctypes.data), ctypes.c_size_t(beside.size)
        self._ask("load", *given, ctypes.byref(memory), x_bits.size)
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
    file, symbol, convention = match["file"], match["symbol"], match["call"]
    source = includable(existing(file))
    if convention not in (None, *_CONVENTIONS):
        raise one_of(f"convention of {name.removesuffix(f':{convention}')}", convention, list(_CONVENTIONS))
    if not symbol:
        raise UsageError(f"{name!r} names no kernel (accepted: {file}:kernel, {file}:function:host)")
    if asked.approximations and asked.device != "ptx":
        raise UsageError("--approximations is for --device ptx")
    if asked.device == "ptx" and convention == "host":
        raise _no_kernel(name, source)

    def called_by(line: str | None) -> CudaCall:
        return as_called(name, source, file, symbol, convention, replace(asked, call=line))

    def on_ptx(called: CudaCall) -> PtxFunction:
        return _on_ptx(name, symbol, called, asked)

    try:
        called = called_by(asked.call)
    except OpenCall as question:
        if question.declared.space != "global":
            raise
        raise answerable(question, symbol, lambda line: on_ptx(called_by(line))) from None
    is_open = called.declared.space == "global" and not is_launched(asked.call)
    others = tuple(launches_of(called.prototype, symbol, called.declared)) if is_open else ()
    if asked.device == "ptx":
        target = in_a_launch(on_ptx(called), others)
    else:
        target = _on_device(name, file, symbol, called, asked)
        if others and (function := _unless_it_cannot(partial(on_ptx, called))):
            in_a_launch(function, others)
    contract = called.shown.contract
    return [Contracted.of(target, contract) if contract.demands else target]


def _no_kernel(name: str, source: Path) -> UsageError:
    return UsageError(
        f"{name}: --device ptx executes kernels, not functions of the host (accepted: {source.name}:kernel)"
    )


def as_called(name: str, source: Path, file: str, symbol: str, convention: str | None, asked: Asked) -> CudaCall:
    """How it is called, by its declaration and `--call`."""
    text = source_text(source, file, symbol, asked)
    declared = text.declared(symbol, asked)
    if declared is None:
        raise text.no_function(symbol)
    if (convention == "kernel") > (declared.space == "global") or (convention == "host") > (declared.space != "global"):
        what = "a kernel" if declared.space == "global" else "no kernel"
        raise UsageError(f"{name}: {symbol!r} in {file} is {what}: {declared.shown}")
    if convention == "host":
        declared = replace(declared, space="")
    said = prototype_for(declared, file, symbol, asked)
    if said.launch and declared.space != "global":
        raise UsageError(f"--call {said.text!r} launches {symbol!r}, which is no kernel: {declared.shown}")
    if declared.space == "global" and not said.launch:
        said = replace(
            said, launch=LAUNCH, text=f"{said.text.partition('(')[0]}<<<{LAUNCH}>>>({said.text.partition('(')[2]}"
        )
    if said.contract.oob_reads or said.contract.exactly:
        what = "oob_reads" if said.contract.oob_reads else "exactly"
        raise UsageError(f"--call {said.text!r}: {what} is for functions of C")
    if declared.space != "device" and not said.is_array:
        raise UsageError(f"--call {said.text!r} has no pointer to the input, which {symbol!r} needs: {declared.shown}")
    if said.is_array and declared.space == "device":
        raise UsageError(
            f"{symbol!r} in {file} is {declared.shown}: of the device, functions of one value and kernels are called"
        )
    dtype = said.dtype(name, plain(symbol), asked)
    if said.is_array:
        return CudaCall(source, declared, said, said, declared.callee, declared.before, dtype, opaque(text.text))
    prototype, around = kernel_around(said, declared.callee, dtype)
    return CudaCall(source, declared, said, prototype, KERNEL, declared.before + around, dtype, opaque(text.text))


def source_text(source: Path, file: str, symbol: str, asked: Asked) -> SourceText:
    """The file as a C++ compiler's preprocessor has it, with what CUDA declares."""
    compiler = Compiler.found("C++", "CXX", "c++", "g++", "clang++")
    flags = list(_flags_of_declarations(words_of(asked.cflags or "")))
    declarations = resource("src/cuda/declarations.h")
    standard = [each for each in words_of(asked.cflags or "") if each.startswith(("-std=", "--std="))]
    every = ["nvcc", "-ptx", file, *words_of(asked.cflags or ""), "-o", os.devnull]
    with TemporaryDirectory() as folder:
        words = [
            *_COMPILING,
            "-w",
            f"-I{folder}",
            *flags,
            "-idirafter",
            str(source.parent),
            "-include",
            str(declarations),
        ]
        words += [each.replace("--std", "-std") for each in standard] or ["-std=c++17"]
        name = f"around_{source.stem}.cpp"
        text = with_empty(
            Path(folder),
            partial(compiler.preprocessed, name, included(source, symbol), file, words, every),
            CUDA_HEADERS,
        )
    return SourceText.of(file, text, ["-std=c++17"], True, CUDA_TYPES, symbol)


def _flags_of_declarations(words: Sequence[str]) -> Iterator[str]:
    """Those that a preprocessor of C++ takes."""
    remaining = iter(words)
    for word in remaining:
        if word in _READ:
            yield from (word, next(remaining, ""))
        elif word.startswith(_READ):
            yield word


def _target_fields(symbol: str, called: CudaCall, asked: Asked) -> dict[str, Any]:
    return {"dtypes": (called.dtype,), **target_fields(called.shown, plain(symbol), asked)}


def _on_device(name: str, file: str, symbol: str, called: CudaCall, asked: Asked) -> Target:
    """Compiled for the first device.

    Raises
    ------
    MissingMeasurement : there is none, or no compiler
    """
    compiler = Compiler.found("CUDA", "NVCC", *nvcc.places())
    name_of_file, text, fixed = (
        f"around_{called.source.name}",
        called.text(ON_THE_DEVICE),
        ["-shared", "-Xcompiler", "-fPIC"],
    )
    built = _with_stubs(called, lambda more: compiler.library(name_of_file, text, file, asked.cflags, [*fixed, *more]))
    if reason := why_no_device():
        instead = " (--device ptx executes its PTX on the CPU)" if called.prototype.launch else ""
        raise MissingMeasurement(f"{name} compiles, but {reason}{instead}")
    library = Library.loaded(file, built.library, built)
    return CudaFunction(
        **_target_fields(symbol, called, asked),
        name=name,
        note=f"{called.shown.called}, {built.how}",
        version=built.version(library.content),
        library=library.handle,
    )


def _unless_it_cannot(on_ptx: Callable[[], PtxFunction]) -> PtxFunction | None:
    """The kernel of a device, for a trial on the CPU."""
    with suppress(GeluVerifyError):
        return on_ptx()
    return None


def _on_ptx(name: str, symbol: str, called: CudaCall, asked: Asked) -> PtxFunction:
    """The kernel on the device `ptx`.

    Raises
    ------
    MissingMeasurement : it has an instruction that is not supported
    """
    if not called.prototype.launch:
        raise _no_kernel(name, called.source)
    device = ptx_device(asked.approximations or ALL)

    def made_of(form: str) -> Path:
        around, flags = _written(called.text(form)), words_of(asked.cflags or "")
        return _with_stubs(called, lambda more: device.binary(around, [*flags, *more]))

    try:
        binary = made_of(INSTANTIATING)
        module = device.loaded(binary)
        if (entry := exported(module.handle.kernels, called.callee)) is None:
            binary = made_of(NAMING)
            module = device.loaded(binary)
            entry = module.handle.function_in(ENTRY)
        kernel = module.function(entry)
    except device.driver.Error as error:
        raise MissingMeasurement(f"{name}: {error}") from error
    version = f"{asked.cflags or 'no flags'}, {nvcc.content_of(binary)}"
    fields = _target_fields(symbol, called, asked)
    return ptx_function(
        name, called.prototype, device, (module, entry), kernel, version, **fields, note=called.shown.called
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _written(text: str) -> Path:
    """A file of that text, whose name is its hash."""
    place = cache_folder() / f"around_{_digest(text)}.cu"
    place.write_text(text, encoding="utf-8")
    return place


def _with_stubs(called: CudaCall, make: Callable[[list[str]], T]) -> T:
    """What `make` makes with further flags, by which headers of libraries are found that are not here."""
    folder, flags = cache_folder() / f"absent_{_digest(called.absent)}", list[str]()
    while True:
        try:
            return make(flags)
        except UsageError as error:
            header = missing_of(str(error))
            if not is_of_a_library(header) or (flags and (folder / header).exists()):
                raise
            write_header(folder, header, called.absent)
            flags = [f"-I{folder}"]
