"""A function of the C ABI as a target: of a whole array, or of one value with a compiled loop around it."""

from __future__ import annotations

import ctypes
import difflib
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time

import numpy as np

from ...errors import TargetFailure, UsageError, one_of
from ...formats import get_format
from .. import incoming
from ..base import HostCall, HostTarget
from ..contract import NOTHING, Contract
from ..declarations.prototype import OF_VALUES, Prototype, target_fields
from ..files_read import digest_of, digests, mapped_by
from ..fixed_shapes import without_padding
from ..output_memory import output_like
from ..padded_memory import padded
from ._calling import CALL, compiled
from ._compiler import Built
from ._containers import OTHER_SIZE
from ._elf import FUNCTIONS, elf_or_none
from ._loader import address_of, check_linked, check_loaded, content_of, file_of, files_of, opened
from ._order import reversed_line
from .base import Asked, function_of

C_TYPES = {"float16": "uint16_t", "bfloat16": "uint16_t", "float32": "float", "float64": "double"}
_LOOPS = {"uint16_t": "each_bits16", "float": "each_float", "double": "each_double"}
_FLUSHES = "which flushes subnormals to zero since it was loaded (-ffast-math)"
_NAMED = 8  # symbols that a message lists at most

Compute = Callable[..., int | None]  # (address of x, address of y, number of values), and of what it takes beside them


@dataclass(frozen=True)
class ContractCall(HostCall):
    """A call with more values than were asked for, in memory of its own: `y_bits` become the first of
    `outputs`; the bytes `beyond` these stay as they are in `kept`."""

    outputs: np.ndarray
    beyond: np.ndarray
    kept: bytes


@dataclass(frozen=True, kw_only=True)
class CFunction(HostTarget):
    """A C function that reads and writes NumPy's memory, called as its contract demands, whatever is asked for."""

    compute: Compute
    environment: bytes | None = None  # floating-point environment that its library sets, where that is not ours
    contract: Contract = NOTHING
    apart: str = ""  # why input and output cannot be the same memory
    beside: str = ""  # what it takes beside x and y: `Prototype.beside`

    @property
    def why_not_in_place(self) -> str:
        return self.apart or ("the arrays that it demands are copies" if self.contract.demands else "")

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        y_bits, agreed = output_like(x_bits), self.contract
        if agreed.demands:
            return self._as_demanded(dtype, x_bits, y_bits)
        read = padded(x_bits, agreed.oob_reads)[0] if agreed.oob_reads else x_bits
        run = partial(self._run, read.ctypes.data, y_bits.ctypes.data, read.size, *self._beside(dtype, read))
        return HostCall(run, read, y_bits, x_bits)

    def _beside(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, ...]:
        """What it takes beside x and y."""
        if not self.beside:
            return ()
        bits = incoming.beside(self, self.beside, dtype, x_bits)
        agreed = self.contract
        return (padded(bits, agreed.oob_reads, agreed.aligned)[0] if agreed.demands or agreed.oob_reads else bits,)

    def _as_demanded(self, dtype: str, x_bits: np.ndarray, y_bits: np.ndarray) -> ContractCall:
        """With the first inputs again up to a length that is allowed, and with what the outputs were before it."""
        agreed, n = self.contract, self.contract.length(x_bits.size)
        read, _ = padded(np.resize(x_bits, n), agreed.oob_reads, agreed.aligned)
        written, beyond = padded(np.resize(y_bits, n), 0, agreed.aligned)
        run = partial(self._run, read.ctypes.data, written.ctypes.data, n, *self._beside(dtype, read))
        return ContractCall(run, read, y_bits, x_bits, written, beyond, beyond.tobytes())

    def _run(self, x: int, y: int, n: int, *more: np.ndarray) -> None:
        if status := self._status(x, y, n, *(each.ctypes.data for each in more)):
            what = "a container of another size" if status == OTHER_SIZE else f"status {status}"
            raise TargetFailure(f"{self.name} returned {what}", "status")

    def _status(self, *arguments: int) -> int | None:
        if self.environment is None:
            return self.compute(*arguments)
        from .. import _trampoline

        ours = _trampoline.environment()
        _trampoline.set_environment(self.environment)
        try:
            return self.compute(*arguments)
        finally:
            _trampoline.set_environment(ours)

    def store(self, dtype: str, loaded: HostCall, result: None) -> np.ndarray:
        fmt = get_format(dtype)
        if loaded.x_bits is not loaded.asked:
            self.check_unchanged(fmt, np.resize(loaded.asked, loaded.x_bits.size), loaded.x_bits)
        if isinstance(loaded, ContractCall):
            if loaded.beyond.tobytes() != loaded.kept:
                raise TargetFailure(f"{self.name} wrote beyond the end of its output", "out of bounds")
            loaded.y_bits[:] = without_padding(fmt, loaded.x_bits, loaded.outputs, loaded.asked.size)
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


def abi_of(name: str, typed: str | None, asked: Asked) -> str | None:
    """The calling convention after the second colon, if there is one; UsageError names the accepted ones."""
    if typed is not None and asked.call is not None:
        raise UsageError(f"{name} says {typed} and --call says how it is called: give one of them")
    if typed is not None and typed not in ABIS:
        raise one_of(f"convention of {name.removesuffix(f':{typed}')}", typed, list(ABIS))
    return typed


@dataclass(frozen=True)
class Library:
    """A shared library in this process, and the environment that its calls want where that is not ours.

    `path` is the file that was loaded, `content` a hash of it and of all that was loaded because it needs it, or that
    it loaded itself.
    """

    shown: str
    handle: ctypes.CDLL
    environment: bytes | None
    path: Path
    content: str

    @classmethod
    def loaded(cls, shown: str, library: Path | str, built: Built | None = None) -> Library:
        """`library`, which the user calls `shown`, or which was `built` of that.

        UsageError where it cannot be loaded, or where what was loaded is not what is in the files now.
        """
        folder = Path(library).resolve().parent
        try:
            (handle, environment), mapped = mapped_by(lambda: _opened(str(library)), folder, time())
        except OSError as error:
            missing = re.search(r"undefined symbol: \w+", str(error))
            hint = (
                f"{missing[0]} (--cflags with the file or the library that has it adds it)"
                if missing and built
                else error
            )
            raise UsageError(f"{shown} cannot be loaded: {hint}") from None
        files = files_of(handle)
        also = _also.setdefault(handle._handle, mapped - {file.elf.path.resolve() for file in files})
        check_linked(shown, files, [Path(path) for path in built.linked] if built else [])
        check_loaded(shown, handle, files)
        content = content_of(files, compiled=built is not None)
        content = digest_of({"": content, **digests(also, folder)}) if also else content
        return cls(shown, handle, environment, files[0].elf.path, content)

    def has(self, address: int) -> bool:
        """Whether it lies in this file, and not in one that this needs."""
        where = file_of(address)
        return where is not None and where.samefile(self.path)

    def address(self, symbol: str) -> int:
        """Of an exported function; UsageError names those that there are."""
        address = address_of(self.handle, symbol)
        if address is None:
            raise UsageError(_no_symbol(self.shown, self.path, symbol))
        elf = elf_or_none(self.path)
        found = elf.symbols.get(symbol) if elf else None
        if found is not None and found.type not in (*FUNCTIONS, ""):
            raise UsageError(f"{symbol!r} in {self.shown} is a {found.type}, not a function")
        if not self.has(address):
            raise UsageError(f"no symbol {symbol!r} in {self.shown}: it needs {file_of(address)}, which has one")
        return address


@dataclass(frozen=True)
class LibraryFunction:
    """A function of a library, as it was named; `also` is added to its note."""

    library: Library
    name: str
    symbol: str
    address: int
    asked: Asked
    built: Built | None = None
    also: str = ""

    def by_convention(self, abi: str, dtype: str) -> CFunction:
        """As a target that is called as one of `ABIS` says."""
        make, declaration = ABIS[abi]
        called = declaration.format(T=C_TYPES[dtype], symbol=self.symbol)
        note = f"called as {called}" + ", values as bits" * ("uint16_t" in called)
        either = abi == "vector" and self.built is None  # no compiler has seen a declaration
        hint = f" (if the output comes first, --call {reversed_line(C_TYPES[dtype])!r} says so)" if either else ""
        apart = OF_VALUES if abi == "scalar" else ""
        return self._target(dtype, note, make(self.address, C_TYPES[dtype]), apart=apart, if_it_writes=hint)

    def by_prototype(self, prototype: Prototype) -> CFunction:
        """As a target that is called as a prototype says, by what was compiled with it, or else is now."""
        dtype = prototype.dtype(self.name, plain(self.symbol), self.asked)
        caller = (self.library.handle if self.built else compiled(prototype, dtype))[CALL]
        beside = (ctypes.c_void_p,) * bool(prototype.beside)
        caller.argtypes = (*(ctypes.c_void_p,) * 3, ctypes.c_size_t, *beside)
        caller.restype = ctypes.c_longlong
        note = ", ".join(filter(None, (prototype.note, prototype.at_once(get_format(dtype).width // 8))))
        return self._target(dtype, note, partial(caller, self.address), prototype)

    def _target(
        self,
        dtype: str,
        note: str,
        compute: Compute,
        prototype: Prototype | None = None,
        apart: str = "",
        if_it_writes: str = "",
    ) -> CFunction:
        symbol = plain(self.symbol)
        said = (
            target_fields(prototype, symbol, self.asked) if prototype else {"function": function_of(symbol, self.asked)}
        )
        flushes = _FLUSHES * (self.library.environment is not None)
        content = self.library.content
        if prototype and not self.built:  # what is compiled with a source has it
            content = f"sha256:{hashlib.sha256((content + prototype.text).encode()).hexdigest()[:12]}"
        return CFunction(
            name=self.name,
            **said,
            dtypes=(dtype,),
            note=", ".join(filter(None, (note, self.also, flushes, self.built.how if self.built else ""))),
            version=self.built.version(content) if self.built else content,
            compute=compute,
            environment=self.library.environment,
            contract=prototype.contract if prototype else NOTHING,
            apart=(prototype.apart if prototype else "") or apart,
            if_it_writes=if_it_writes,
        )


_environments: dict[int, bytes | None] = {}  # by library: its constructors run once
_also: dict[int, set[Path]] = {}  # files that these loaded or mapped, likewise


def _opened(library: str) -> tuple[ctypes.CDLL, bytes | None]:
    """The library, and the environment that it leaves its loader in where that flushes subnormals: gcc before 13
    links that into every library made with -ffast-math. Ours stays as it was; the library's own calls have its own."""
    from .. import _trampoline

    ours = _trampoline.environment()
    try:
        loaded = opened(library)
        left = _trampoline.environment() if _trampoline.flushes() else None
        return loaded, _environments.setdefault(loaded._handle, left)
    finally:
        _trampoline.set_environment(ours)


def plain(symbol: str) -> str:
    """`gelu_f32` of `ns::gelu_f32<int>`."""
    return symbol.partition("<")[0].rpartition("::")[2]


def _no_symbol(shown: str, library: Path, symbol: str) -> str:
    message = f"no symbol {symbol!r} in {shown}"
    exported = exported_by(library)
    if module := next((name.removeprefix("PyInit_") for name in exported if name.startswith("PyInit_")), ""):
        return f"{message}, which is a module of Python: {module}:{symbol} names what that has"
    if mangled := [name for name in exported if name.startswith("_Z") and symbol in name]:
        return f'{message}, but {mangled[0]}, which is a C++ name: declare it extern "C"'
    exported = [name for name in exported if not name.startswith("_Z")]
    near = difflib.get_close_matches(symbol, exported, n=_NAMED, cutoff=0.3) or exported[:_NAMED]
    return f"{message} (it has {', '.join(near)})" if near else f"{message} (is it static, or hidden?)"


def exported_by(library: Path | str) -> list[str]:
    """Functions that a shared library exports; empty where there is no such file."""
    elf = elf_or_none(Path(library)) if Path(library).is_file() else None
    names = sorted(symbol.name for symbol in elf.symbols.values() if symbol.type in FUNCTIONS) if elf else []
    return [name for name in names if name not in ("_init", "_fini")]
