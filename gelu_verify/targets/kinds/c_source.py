"""A function of a C or C++ source file, compiled here: "kernel.c:gelu", "kernel.cpp:gelu_f32".

The compiler says how the function is declared, so that the user need not, and nothing is called as what it is not.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import UsageError
from ..base import Target
from ..switches import LIBM
from ._c_abi import Library, LibraryFunction, abi_of, exported_by, plain
from ._calling import source_of
from ._compiler import DEFAULT_FLAGS, Built, Compiler, words_of
from ._loader import file_of
from ._names import includable
from ._order import EITHER, check_order, why_apart
from ._prototype import EXAMPLE, Prototype
from .base import Asked, Kind, claimed_by, dtype_of, existing, of_a_file

_SHARED, _LIBRARIES = ["-shared", "-fPIC"], ["-lm"]
_SILENT = "-w"  # of the file around the user's: what it must not stumble over are warnings made errors
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_CPP = (".cc", ".cpp", ".cxx", *_HEADERS[1:])
_C, _CPLUSPLUS = ("C", "CC", "cc", "gcc", "clang"), ("C++", "CXX", "c++", "g++", "clang++")
_CPP_FLAG = re.compile(r"-std=(c|gnu)\+\+.*")  # a .h is C, unless this is given
_DTYPES = {"float": ("float32",), "double": ("float64",), "unsigned short": ("float16", "bfloat16")}
_HALVES = {"_Float16": ("float16", "__FLT16_MAX__"), "__bf16": ("bfloat16", "__BFLT16_MAX__")}  # where they are types
_COUNTS = [f"{sign}{size}" for sign in ("", "unsigned ") for size in ("int", "long", "long long")]
_UNKNOWN = "another"

# A file around the user's, whose functions need not be exported then: what the function is, and where.
_AROUND_C = """#include "{source}"
#define GELU_VERIFY_EXPORTED __attribute__((visibility("default")))
GELU_VERIFY_EXPORTED void *const gelu_verify_function = (void *)&{symbol};
GELU_VERIFY_EXPORTED const char *const gelu_verify_type = _Generic(&{symbol},
{types}
    default: "another");
"""
_AROUND_CPP = """#include "{source}"
#define GELU_VERIFY_EXPORTED __attribute__((visibility("default")))
namespace gelu_verify {{
inline const char *type_of(...) {{ return "another"; }}
{types}
}}
extern "C" {{
GELU_VERIFY_EXPORTED extern void *const gelu_verify_function;
GELU_VERIFY_EXPORTED extern const char *const gelu_verify_type;
void *const gelu_verify_function = (void *)&{symbol};
const char *const gelu_verify_type = gelu_verify::type_of(&{symbol});
}}
"""
# The same where a prototype says what it is: the compiler compares.
_CALLED_C = """#include "{source}"
__attribute__((visibility("default"))) void *const gelu_verify_function =
    _Generic(&{symbol}, {cast}: (void *)&{symbol});
"""
_CALLED_CPP = """#include "{source}"
static {pointer} = &{symbol};
extern "C" __attribute__((visibility("default"))) void *const gelu_verify_function;
void *const gelu_verify_function = (void *)gelu_verify_checked;
"""
_TYPE = re.compile(r"(?:selector|controlling expression) (?:of )?type '(.+?)'|from '(.+?)' to '")
_UNKNOWN_NAME = re.compile(
    r"undeclared|not declared|no member named|is not a member|does not name|no matches|has no member"
)


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol, typed = match["file"], match["symbol"], abi_of(name, match["abi"], asked)
    source = includable(existing(file))
    if not symbol:
        raise UsageError(f"{name!r} names no function (accepted: {file}:function)")
    if asked.call is not None:
        return [_called(name, source, file, symbol, Prototype.parsed(asked.call, symbol), asked)]
    function = _function(name, source, file, symbol, asked, _built(source, file, symbol, asked.cflags))
    declared = (ctypes.c_char_p.in_dll(function.library.handle, "gelu_verify_type").value or b"").decode()
    if declared.startswith(EITHER):
        check_order(source.read_text(encoding="utf-8", errors="replace"), file, symbol, declared.partition(" ")[2])
        declared = declared.replace(EITHER, "vector", 1)
    abi, dtype = _declared(name, file, symbol, declared, typed, asked)
    half = declared.partition(" ")[2]
    if abi == "scalar" and half in _HALVES:  # only a C compiler can call it
        return [_called(name, source, file, symbol, Prototype.parsed(f"{half} f({half} x)", symbol), asked)]
    return [function.by_convention(abi, dtype)]


def _called(name: str, source: Path, file: str, symbol: str, prototype: Prototype, asked: Asked) -> Target:
    """The function called as a prototype says."""
    around = source_of(prototype, prototype.dtype(name, plain(symbol), asked))
    built = _built(source, file, symbol, asked.cflags, prototype, around)
    return _function(name, source, file, symbol, asked, built).by_prototype(prototype)


def _function(name: str, source: Path, file: str, symbol: str, asked: Asked, built: Built) -> LibraryFunction:
    """The function in the library that was built; UsageError where another library has it."""
    library = Library.loaded(file, built.library, built)
    address = ctypes.c_void_p.in_dll(library.handle, "gelu_verify_function").value or 0
    where = "" if library.has(address) else str(file_of(address))
    if where and source.suffix not in _HEADERS:
        raise UsageError(f"{symbol!r} is declared in {file}, not defined: it is that of {where}")
    apart = why_apart(source.read_text(encoding="utf-8", errors="replace"), symbol)
    return LibraryFunction(library, name, symbol, address, asked, built, where and f"defined in {where}", apart)


def _built(
    source: Path, file: str, symbol: str, flags: str | None, prototype: Prototype | None = None, around: str = ""
) -> Built:
    """The library of the source with what says what `symbol` is, or with `around`, which calls it by a prototype."""
    words = words_of(DEFAULT_FLAGS if flags is None else flags)
    cpp = source.suffix in _CPP or (source.suffix in _HEADERS and any(map(_CPP_FLAG.fullmatch, words)))
    compiler = Compiler.found(*(_CPLUSPLUS if cpp else _C))
    if prototype is None:
        form, types = (_AROUND_CPP, _types_cpp()) if cpp else (_AROUND_C, _types_c())
        text = form.format(source=source, symbol=symbol, types="\n".join(types))
    else:
        checked, cast = prototype.pointer("const gelu_verify_checked"), prototype.pointer()
        text = (_CALLED_CPP if cpp else _CALLED_C).format(source=source, symbol=symbol, pointer=checked, cast=cast)
    name = f"around_{source.stem}{'.cpp' if cpp else '.c'}"
    try:
        return compiler.library(name, text + around, file, flags, [*_SHARED, _SILENT], _LIBRARIES)
    except UsageError as error:
        why = str(error)
    # raises what is wrong with the source alone
    alone = compiler.library(name, f'#include "{source}"\n', file, flags, _SHARED, _LIBRARIES)
    if prototype is not None and not _UNKNOWN_NAME.search(why):
        found = _TYPE.search(why)
        declared = f"{symbol!r} in {file} is declared {found[1] or found[2]}" if found else why.partition("; to see")[0]
        raise UsageError(f"{declared}, --call says {prototype.pointer()}")
    there = ", ".join([name for name in exported_by(Path(alone.library)) if not name.startswith("_Z")][:8])
    raise UsageError(f"no function {symbol!r} in {file}" + (f" (it has {there})" if there else ""))


def _signatures() -> Iterator[tuple[str, str, str, str]]:
    """Result, parameters, what that is called, and the macro that is defined where there is such a type."""
    for ctype, macro in [*dict.fromkeys(_DTYPES, "").items(), *((half, macro) for half, (_, macro) in _HALVES.items())]:
        yield ctype, ctype, f"scalar {ctype}", macro
        for count in _COUNTS:
            for const in ("const ", ""):
                called = f"vector {ctype}" if const else f"{EITHER} {ctype}"
                yield "void", f"{const}{ctype} *, {ctype} *, {count}", called, macro


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
            f"void {symbol}(const T *, T *, size_t), T float, double, or uint16_t for bits; "
            f"for any other --call says what its parameters are: --call {EXAMPLE!r}"
        )
    abi, _, ctype = declared.partition(" ")
    if typed not in (None, abi):
        raise UsageError(f"{name}: {symbol!r} in {file} is declared {abi}, not {typed}")
    dtypes = (_HALVES[ctype][0],) if ctype in _HALVES else _DTYPES[ctype]
    claimed = claimed_by(plain(symbol))[1]
    if claimed is not None and claimed not in dtypes:
        raise UsageError(f"{name} says {claimed} by its name, but is declared with {ctype}")
    return abi, dtypes[0] if len(dtypes) == 1 else _sixteen(name, symbol, dtypes, asked)


def _sixteen(name: str, symbol: str, dtypes: tuple[str, ...], asked: Asked) -> str:
    """Which of the formats whose bits a uint16_t may be."""
    dtype = dtype_of(name, plain(symbol), asked)
    if dtype not in dtypes:
        raise UsageError(f"{name} is declared with uint16_t, which is not {dtype} (accepted: {', '.join(dtypes)})")
    return dtype


KIND = Kind(
    name="C or C++ source",
    syntax={
        "kernel.c:symbol": "either kind of function of a shared library, compiled by $CC with --cflags",
        "kernel.cpp:ns::symbol": "the same in C++, compiled by $CXX",
        "activations.h:symbol": "the same of a header; C++ where it is .hpp, or --cflags has -std=c++17",
    },
    pattern=of_a_file("c|cc|cpp|cxx|h|hh|hpp|hxx", "symbol", "abi"),
    load=load,
    options=frozenset({"cflags", "call", "thread_safe"}),
    switches=LIBM,
)
