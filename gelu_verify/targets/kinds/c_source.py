"""A function of a C or C++ source file, compiled here: "kernel.c:gelu", "kernel.cpp:gelu_f32"."""

from __future__ import annotations

from ..switches import LIBM
from .base import Kind, of_a_file, when_named

KIND = Kind(
    name="C or C++ source",
    syntax={
        "kernel.c:symbol": "either kind of function of a shared library, compiled by $CC with --cflags",
        "kernel.cpp:ns::symbol": "the same in C++, compiled by $CXX",
        "activations.h:symbol": "the same of a header; C++ if .hpp, or ns::symbol, or -std=c++17; CUDA with --device",
    },
    pattern=of_a_file("c|cc|cpp|cxx|h|hh|hpp|hxx", "symbol", "abi"),
    load=when_named("_c_source"),
    options=frozenset({"cflags", "call", "thread_safe"}),
    switches=LIBM,
)
