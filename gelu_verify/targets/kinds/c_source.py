"""A function of a C or C++ source file, compiled here: "kernel.c:gelu", "kernel.cpp:gelu_f32".

The compiler says how the function is declared, so that nobody has to, and nothing is called as what it is not.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import UsageError
from ..base import Target
from ._c_abi import Library, abi_of, exported_by
from ._compiler import Built, Compiler
from ._usable import includable
from .base import Asked, Kind, dtype_of, existing, of_a_file, said_by

_SHARED, _LIBRARIES = ["-shared", "-fPIC"], ["-lm"]
_CPP = (".cc", ".cpp", ".cxx")
_COMPILERS = {  # by suffix: language, variable of the environment, names that are tried
    ".c": ("C", "CC", "cc", "gcc", "clang"),
    **dict.fromkeys(_CPP, ("C++", "CXX", "c++", "g++", "clang++")),
}
_DTYPES = {"float": ("float32",), "double": ("float64",), "unsigned short": ("float16", "bfloat16")}
_HALVES = {"_Float16": ("float16", "__FLT16_MAX__"), "__bf16": ("bfloat16", "__BFLT16_MAX__")}  # where they are types
_COUNTS = [f"{sign}{size}" for sign in ("", "unsigned ") for size in ("int", "long", "long long")]
_UNKNOWN = "another"

# A file around the user's, whose functions need not be exported then: what the function is, and where.
_AROUND_C = """#include "{source}"
#define EXPORTED __attribute__((visibility("default")))
EXPORTED void *const gelu_verify_function = (void *)&{symbol};
EXPORTED const char *const gelu_verify_type = _Generic(&{symbol},
{types}
    default: "another");
"""
_AROUND_CPP = """#include "{source}"
#define EXPORTED __attribute__((visibility("default")))
namespace gelu_verify {{
inline const char *type_of(...) {{ return "another"; }}
{types}
}}
extern "C" {{
EXPORTED extern void *const gelu_verify_function;
EXPORTED extern const char *const gelu_verify_type;
void *const gelu_verify_function = (void *)&{symbol};
const char *const gelu_verify_type = gelu_verify::type_of(&{symbol});
}}
"""


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol, typed = match["file"], match["symbol"], abi_of(name, match["abi"])
    source = existing(file)
    if not symbol:
        raise UsageError(f"{name!r} names no function (accepted: {file}:function)")
    built = _built(source, file, symbol, asked.cflags)
    library = Library.loaded(file, built.library)
    declared = (ctypes.c_char_p.in_dll(library.handle, "gelu_verify_type").value or b"").decode()
    address = ctypes.c_void_p.in_dll(library.handle, "gelu_verify_function").value or 0
    abi, dtype = _declared(name, file, symbol, declared, typed, asked)
    return [library.function(name, symbol, address, abi, dtype, asked, built.how, built.version)]


def _built(source: Path, file: str, symbol: str, flags: str | None) -> Built:
    """The library of the source with what says of which type `symbol` is."""
    compiler = Compiler.found(*_COMPILERS[source.suffix])
    around, types = (_AROUND_CPP, _types_cpp()) if source.suffix in _CPP else (_AROUND_C, _types_c())
    text = around.format(source=includable(source), symbol=symbol, types="\n".join(types))
    try:
        return compiler.library_around(source, text, file, flags, _SHARED, _LIBRARIES)
    except UsageError:
        alone = compiler.library(source, file, flags, _SHARED, _LIBRARIES)  # raises what is wrong with the source
    there = ", ".join([name for name in exported_by(alone.library) if not name.startswith("_Z")][:8])
    raise UsageError(f"no function {symbol!r} in {file}" + (f" (it has {there})" if there else ""))


def _signatures() -> Iterator[tuple[str, str, str, str]]:
    """Result, parameters, what that is called, and the macro that says that there is such a type."""
    for ctype in _DTYPES:
        yield ctype, ctype, f"scalar {ctype}", ""
    for ctype, macro in [*dict.fromkeys(_DTYPES, "").items(), *((half, told[1]) for half, told in _HALVES.items())]:
        for count in _COUNTS:
            for const in ("const ", ""):
                yield "void", f"{const}{ctype} *, {ctype} *, {count}", f"vector {ctype}", macro


def _types_c() -> Iterator[str]:
    for result, parameters, called, macro in _signatures():
        line = f'    {result} (*)({parameters}): "{called}",'
        yield f"#ifdef {macro}\n{line}\n#endif" if macro else line


def _types_cpp() -> Iterator[str]:
    for result, parameters, called, macro in _signatures():
        line = f'inline const char *type_of({result} (*)({parameters})) {{ return "{called}"; }}'
        yield f"#ifdef {macro}\n{line}\n#endif" if macro else line


def _declared(name: str, file: str, symbol: str, declared: str, typed: str | None, asked: Asked) -> tuple[str, str]:
    """Convention and dtype by the declaration; UsageError where it is another one, or the name says something else."""
    if declared == _UNKNOWN:
        raise UsageError(
            f"{symbol!r} in {file} is declared otherwise; accepted are T {symbol}(T) and "
            f"void {symbol}(const T *, T *, size_t), T float, double, or uint16_t for bits"
        )
    abi, _, ctype = declared.partition(" ")
    if typed not in (None, abi):
        raise UsageError(f"{name}: {symbol!r} in {file} is declared {abi}, not {typed}")
    dtypes = (_HALVES[ctype][0],) if ctype in _HALVES else _DTYPES[ctype]
    said = said_by(symbol)[1]
    if said is not None and said not in dtypes:
        raise UsageError(f"{name} says {said} by its name, but is declared with {ctype}")
    return abi, dtypes[0] if len(dtypes) == 1 else _sixteen(name, symbol, dtypes, asked)


def _sixteen(name: str, symbol: str, dtypes: tuple[str, ...], asked: Asked) -> str:
    """Which of the formats whose bits a uint16_t may be."""
    dtype = dtype_of(name, symbol, asked)
    if dtype not in dtypes:
        raise UsageError(f"{name} is declared with uint16_t, which is no {dtype} (accepted: {', '.join(dtypes)})")
    return dtype


KIND = Kind(
    name="C or C++ source",
    syntax={
        "kernel.c:symbol": "either kind of function of a shared library, compiled by $CC with --cflags",
        "kernel.cpp:symbol": "the same in C++, compiled by $CXX",
    },
    pattern=of_a_file("c|cc|cpp|cxx", "symbol", "abi"),
    load=load,
    options=frozenset({"cflags"}),
)
