"""A function of a shared library: "./libfoo.so:symbol", "libm.so.6:erff:scalar"."""

from __future__ import annotations

from ..switches import LIBM
from .base import Kind, of_a_file, when_named

KIND = Kind(
    name="shared library",
    syntax={
        "./libfoo.so:symbol": "void symbol(const T *x, T *y, size_t n); T is float, double, or uint16_t bits",
        "./libfoo.so:symbol:scalar": "T symbol(T x)",
    },
    pattern=of_a_file(r"so(?:\.\d+)*|dylib", "symbol", "abi"),
    load=when_named("_shared_library"),
    options=frozenset({"call", "thread_safe"}),
    switches=LIBM,
)
