"""A function of the C ABI as a target: of a whole array, or of one value with a compiled loop around it."""

from __future__ import annotations

import ctypes
import difflib
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import UsageError, one_of
from .._buffers import output_like
from ..base import Target
from .base import Asked, function_of, hash_of

C_TYPES = {"float16": "uint16_t", "bfloat16": "uint16_t", "float32": "float", "float64": "double"}
_LOOPS = {"uint16_t": "each_bits16", "float": "each_float", "double": "each_double"}
_FLUSHES = "which flushes subnormals to zero since it was loaded (-ffast-math)"
_NAMED = 8  # symbols that a message lists at most

Compute = Callable[[int, int, int], Any]  # (address of x, address of y, number of values)


class Loaded(NamedTuple):
    """Input, output and what the call gets of them."""

    x_bits: np.ndarray
    y_bits: np.ndarray
    arguments: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class CFunction(Target):
    """A C function that reads and writes NumPy's memory."""

    compute: Compute
    environment: bytes | None = None  # floating-point environment that its library sets, where that is not ours

    def load(self, dtype: str, x_bits: np.ndarray) -> Loaded:
        y_bits = output_like(x_bits)
        return Loaded(x_bits, y_bits, (x_bits.ctypes.data, y_bits.ctypes.data, x_bits.size))

    def call(self, loaded: Loaded) -> None:
        if self.environment is None:
            self.compute(*loaded.arguments)
            return
        from .. import _trampoline

        ours = _trampoline.environment()
        _trampoline.set_environment(self.environment)
        try:
            self.compute(*loaded.arguments)
        finally:
            _trampoline.set_environment(ours)

    def store(self, dtype: str, loaded: Loaded, result: None) -> np.ndarray:
        return loaded.y_bits


_VECTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def _scalar(address: int, ctype: str) -> Compute:
    from .. import _trampoline

    return partial(getattr(_trampoline, _LOOPS[ctype]), address)


# How a function at an address is called, and how it is declared; T is its type.
ABIS: dict[str, tuple[Callable[[int, str], Compute], str]] = {
    "vector": (lambda address, ctype: _VECTOR(address), "void {symbol}(const {T} *x, {T} *y, size_t n)"),
    "scalar": (_scalar, "{T} {symbol}({T} x)"),
}


def abi_of(name: str, typed: str | None) -> str | None:
    """The calling convention after the second colon, if there is one; UsageError names the accepted ones."""
    if typed is not None and typed not in ABIS:
        raise one_of(f"convention of {name.removesuffix(f':{typed}')}", typed, list(ABIS))
    return typed


@dataclass(frozen=True)
class Library:
    """A shared library in this process, and the environment that its calls want where that is not ours."""

    shown: str
    handle: ctypes.CDLL
    environment: bytes | None

    @classmethod
    def loaded(cls, shown: str, library: Path | str) -> Library:
        """`library`, which the user calls `shown`; UsageError with what dlopen says."""
        try:
            return cls(shown, *_opened(str(library)))
        except OSError as error:
            raise UsageError(f"{shown} cannot be loaded: {error}") from None

    def address(self, symbol: str) -> int:
        """Of an exported function; UsageError names those that there are."""
        try:
            return ctypes.cast(self.handle[symbol], ctypes.c_void_p).value or 0
        except AttributeError:
            raise UsageError(_no_symbol(self.shown, self.handle._name, symbol)) from None

    def function(
        self,
        name: str,
        symbol: str,
        address: int,
        abi: str,
        dtype: str,
        asked: Asked,
        built: str = "",
        version: str = "",
    ) -> CFunction:
        """The function at `address` as a target; `built` is added to its note, `version` stands for the file's hash."""
        make, declaration = ABIS[abi]
        called = declaration.format(T=C_TYPES[dtype], symbol=symbol)
        as_bits, flushes = "values as bits" * ("uint16_t" in called), _FLUSHES * (self.environment is not None)
        return CFunction(
            name=name,
            function=function_of(symbol, asked),
            dtypes=(dtype,),
            note=", ".join(filter(None, (f"called as {called}", as_bits, flushes, built))),
            version=version or hash_of(_file_of(address)),
            compute=make(address, C_TYPES[dtype]),
            environment=self.environment,
        )


@cache  # dlopen runs a library's constructors once
def _opened(library: str) -> tuple[ctypes.CDLL, bytes | None]:
    """The library, and the environment that it leaves its loader in where that flushes subnormals: gcc before 13
    links that into every library made with -ffast-math. Ours stays as it was; the library's own calls have its own."""
    from .. import _trampoline

    ours = _trampoline.environment()
    try:
        loaded = ctypes.CDLL(library)
        return loaded, _trampoline.environment() if _trampoline.flushes() else None
    finally:
        _trampoline.set_environment(ours)


def _no_symbol(shown: str, library: Path | str, symbol: str) -> str:
    said = f"no symbol {symbol!r} in {shown}"
    exported = exported_by(library)
    if mangled := [name for name in exported if name.startswith("_Z") and symbol in name]:
        return f'{said}, but {mangled[0]}, which is a C++ name: declare it extern "C"'
    near = difflib.get_close_matches(symbol, exported, n=_NAMED, cutoff=0.3) or exported[:_NAMED]
    return f"{said} (it has {', '.join(near)})" if near else f"{said} (is it static, or hidden?)"


def exported_by(library: Path | str) -> list[str]:
    """Functions that a shared library exports; empty where it cannot be asked (no `nm`, no such file)."""
    nm = shutil.which("nm")
    if nm is None or not Path(library).is_file():
        return []
    listed = subprocess.run([nm, "-D", "--defined-only", str(library)], capture_output=True, text=True, check=False)
    rows = [line.split() for line in listed.stdout.splitlines()]
    names = [row[-1].partition("@")[0] for row in rows if len(row) >= 2 and row[-2] in "TWi"]
    return [name for name in names if name not in ("_init", "_fini")]


class _Found(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _file_of(address: int) -> Path:
    """The file that a function was loaded from: a name without a folder is looked up by the loader."""
    found = _Found()
    ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(found))
    return Path(found.file.decode())
