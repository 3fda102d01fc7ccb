"""A function of a C or C++ source file, compiled here: "kernel.c:gelu", "kernel.cpp:gelu_f32".

Its declaration says how it is called, so that the user need not, and nothing is called as what it is not.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ..base import Target
from ..declarations.parameters import Declared
from ..declarations.prototype import Prototype
from ..declarations.roles import BITS, prototype_for
from ..declarations.symbols import SourceText, included
from ._c_abi import Library, LibraryFunction, abi_of, exported_by, plain
from ._calling import source_of
from ._compiler import DEFAULT_FLAGS, Built, Compiler, words_of
from ._containers import as_arrays
from ._loader import file_of
from ._names import includable
from .base import Asked, existing

_SHARED, _LIBRARIES = ["-shared", "-fPIC"], ["-lm"]
_SILENT = "-w"  # of the file around the user's: what it must not stumble over are warnings made errors
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_CPP = (".cc", ".cpp", ".cxx", *_HEADERS[1:])
_C, _CPLUSPLUS = ("C", "CC", "cc", "gcc", "clang"), ("C++", "CXX", "c++", "g++", "clang++")
_CPP_FLAG = re.compile(r"-std=(c|gnu)\+\+.*")  # a .h is C, unless this is given, or the name is one of C++ alone
# A file around the user's, whose functions need not be exported then: the compiler compares declaration and prototype.
_CALLED_C = """#include "{source}"
{before}__attribute__((visibility("default"))) void *const gelu_verify_function =
    _Generic(&{symbol}, {cast}: (void *)&{symbol});
"""
_CALLED_CPP = """#include "{source}"
{before}static {pointer} = &{symbol};
extern "C" __attribute__((visibility("default"))) void *const gelu_verify_function;
void *const gelu_verify_function = (void *)gelu_verify_checked;
"""
_TYPE = re.compile(r"(?:selector|controlling expression) (?:of )?type '(.+?)'|from '(.+?)' to '")
TYPES = {"float16": "_Float16", "bfloat16": "__bf16", "float32": "float", "float64": "double"}

_NO_STATUS = re.compile(  # by gcc and clang, of C++ and C
    "invalid cast from type|cannot convert '.*' to 'long long'|aggregate value used|arithmetic or pointer type"
)


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol, typed = match["file"], match["symbol"], abi_of(name, match["abi"], asked)
    source = includable(existing(file))
    if not symbol:
        raise UsageError(f"{name!r} names no function (accepted: {file}:function)")
    language = _Language.of(source, symbol, asked.cflags)
    declared = language.declared(source, file, symbol, asked)
    prototype = prototype_for(declared, file, symbol, asked)
    if typed not in (None, abi := "vector" if prototype.is_array else "scalar"):
        raise UsageError(f"{name}: {symbol!r} in {file} is declared {abi}, not {typed}: {declared.shown}")
    dtype = _dtype(name, symbol, prototype, asked)
    built = language.built(source, file, declared, asked.cflags, prototype, source_of(prototype, dtype))
    around = declared.around and f"around {declared.around}: status 1 is a result of another size"
    return [_function(name, source, file, symbol, asked, built, around).by_prototype(prototype)]


def _dtype(name: str, symbol: str, prototype: Prototype, asked: Asked) -> str:
    """What it computes in; UsageError where a uint16_t would have to be more than it is."""
    dtype = prototype.dtype(name, plain(symbol), asked)
    if prototype.data.element in BITS and dtype not in ("float16", "bfloat16"):
        raise UsageError(f"{name} is declared with uint16_t, which is not {dtype} (accepted: float16, bfloat16)")
    return dtype


def _function(
    name: str, source: Path, file: str, symbol: str, asked: Asked, built: Built, around: str
) -> LibraryFunction:
    """The function in the library that was built; UsageError where another library has it."""
    library = Library.loaded(file, built.library, built)
    address = ctypes.c_void_p.in_dll(library.handle, "gelu_verify_function").value or 0
    where = "" if library.has(address) else str(file_of(address))
    if where and source.suffix not in _HEADERS:
        raise UsageError(f"{symbol!r} is declared in {file}, not defined: it is that of {where}")
    also = ", ".join(filter(None, (around, where and f"defined in {where}")))
    return LibraryFunction(library, name, symbol, address, asked, built, also)


@dataclass(frozen=True)
class _Language:
    """C or C++, and its compiler."""

    cpp: bool
    compiler: Compiler

    @classmethod
    def of(cls, source: Path, symbol: str, flags: str | None) -> _Language:
        said = "::" in symbol or "<" in symbol or any(map(_CPP_FLAG.fullmatch, words_of(flags or "")))
        cpp = source.suffix in _CPP or (source.suffix in _HEADERS and said)
        return cls(cpp, Compiler.found(*(_CPLUSPLUS if cpp else _C)))

    def _file(self, source: Path) -> str:
        return f"around_{source.stem}{'.cpp' if self.cpp else '.c'}"

    def declared(self, source: Path, file: str, symbol: str, asked: Asked) -> Declared:
        """How the function is declared; UsageError where there is none, or several, or a type is open."""
        flags = words_of(DEFAULT_FLAGS if asked.cflags is None else asked.cflags)
        text = self.compiler.preprocessed(self._file(source), included(source, symbol), file, flags)
        read = SourceText.of(file, text, flags, self.cpp, TYPES, symbol)
        if found := read.declared(symbol, asked):
            return as_arrays(found) if self.cpp else found
        # raises what is wrong with the source
        alone = self.compiler.library(
            self._file(source), f'#include "{source}"\n', file, asked.cflags, _SHARED, _LIBRARIES
        )
        raise read.no_function(symbol, exported_by(Path(alone.library)))

    def built(
        self, source: Path, file: str, declared: Declared, flags: str | None, prototype: Prototype, around: str
    ) -> Built:
        """The library of the source with the function that calls it: `around`."""
        checked, cast = prototype.pointer("const gelu_verify_checked"), prototype.pointer()
        form = _CALLED_CPP if self.cpp else _CALLED_C
        text = form.format(source=source, before=declared.before, symbol=declared.callee, pointer=checked, cast=cast)
        try:
            return self.compiler.library(
                self._file(source), text + around, file, flags, [*_SHARED, _SILENT], _LIBRARIES
            )
        except UsageError as error:
            why = str(error)
        # raises what is wrong with the source alone
        self.compiler.library(self._file(source), f'#include "{source}"\n', file, flags, _SHARED, _LIBRARIES)
        what = f"{declared.symbol!r} in {file} is declared {declared.shown}"
        if _NO_STATUS.search(why):
            raise UsageError(f"{what}, and its result is no status (accepted: void, a number, a pointer)")
        types = [[each.type for each in of.parameters] + [of.result] for of in (declared, prototype)]
        if types[0] == types[1] and "ms_abi" in why:
            raise UsageError(f"{what}, and cannot be called so: another calling convention (ms_abi) is not supported")
        if types[0] == types[1] or not _TYPE.search(why):
            raise UsageError(why.partition("; to see")[0])
        raise UsageError(f"{what}, --call says {prototype.pointer()}")
