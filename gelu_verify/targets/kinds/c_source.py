"""A function of a C or C++ source file, compiled here: "kernel.c:gelu", "kernel.cpp:gelu:scalar"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...errors import UsageError
from ..base import Target
from ._c_abi import abi_of, c_function
from ._compiler import DEFAULT_FLAGS, Compiler
from .base import Asked, Kind, existing

_COMPILERS = {  # by suffix: language, variable of the environment, names that are tried
    ".c": ("C", "CC", "cc", "gcc", "clang"),
    **dict.fromkeys((".cc", ".cpp", ".cxx"), ("C++", "CXX", "c++", "g++", "clang++")),
}


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol, abi = match["file"], match["symbol"], abi_of(name, match["abi"])
    source = existing(file)
    if not symbol:
        raise UsageError(f"{name!r} names no function (accepted: {file}:function, {file}:function:scalar)")
    flags = DEFAULT_FLAGS if asked.cflags is None else asked.cflags
    compiler = Compiler.found(*_COMPILERS[source.suffix])
    built = compiler.library(source, file, flags, ["-shared", "-fPIC"], ["-lm"])
    how = f"compiled by {built.compiler} with {built.flags or 'no flags'}"
    return [c_function(name, file, built.library, symbol, abi, asked, how, built.version)]


KIND = Kind(
    name="C or C++ source",
    syntax={
        "kernel.c:symbol": "compiled, then as a shared library; --cflags, $CC",
        "kernel.cpp:symbol:scalar": 'an extern "C" function; --cflags, $CXX',
    },
    pattern=re.compile(r"(?P<file>[^:]+\.(?:c|cc|cpp|cxx))(?::(?P<symbol>[^:]*))?(?::(?P<abi>[^:]*))?"),
    load=load,
    options=frozenset({"cflags"}),
)
