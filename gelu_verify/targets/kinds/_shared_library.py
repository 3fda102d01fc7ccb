"""A function of a shared library: "./libfoo.so:symbol", "libm.so.6:erff:scalar"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import UsageError
from ..base import Target
from ..declarations.prototype import Prototype
from ._c_abi import C_TYPES, Library, LibraryFunction, abi_of, exported_by
from ._order import check_arrays, check_value
from .base import Asked, dtype_of, existing


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    file, symbol = match["file"], match["symbol"]
    by_the_loader = "/" not in file and not Path(file).exists()  # libm.so.6: dlopen knows where
    library = file if by_the_loader else existing(file)
    if not symbol:
        exported = ", ".join(exported_by(library)[:8]) or "unknown here"
        raise UsageError(f"{name!r} names no symbol (accepted: {file}:symbol; exported: {exported})")
    abi = abi_of(name, match["abi"], asked)
    prototype = Prototype.parsed(asked.call, symbol) if asked.call is not None else None
    loaded = Library.loaded(file, library)
    function = LibraryFunction(loaded, name, symbol, loaded.address(symbol), asked)
    if prototype is not None:
        return [function.by_prototype(prototype)]
    dtype = dtype_of(name, symbol, asked)
    if abi is None:
        check_arrays(name, function.address, dtype, C_TYPES[dtype])
    elif abi == "scalar":
        check_value(name, function.address, dtype)
    return [function.by_convention(abi or "vector", dtype)]
