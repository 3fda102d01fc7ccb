"""Loading a shared library so that its own symbols come first, and what the loader really loaded with it.

By default a symbol is looked for in the program and its libraries first: a library that defines `tanhf` would call that
of the C library. RTLD_DEEPBIND looks in the library itself first, then in those that it needs, then in the program.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ..under_way import loading
from ._elf import RUNTIME, Elf, elf_or_none

_STANDARD = re.compile(r"_Z(GV|Z|T[ISV])*N?[KV]*S[tabdios]")  # C++ names of namespace std: every library has the same
_SANITIZERS = {"__asan_init": "AddressSanitizer", "__tsan_init": "ThreadSanitizer", "__msan_init": "MemorySanitizer"}
_C_LIBRARY = re.compile(r"lib(c|m)\.so\.\d+")
_ours: set[int] = set()  # entries of the loader's list that were made here
_program = ctypes.CDLL(None)
_spellings = itertools.count()
_contents: dict[int, str] = {}  # of each file when it was first opened here, by its entry in the loader's list


class _Symbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


class _Entry(ctypes.Structure):
    """struct link_map of link.h."""


_Entry._fields_ = (
    ("base", ctypes.c_void_p),
    ("name", ctypes.c_char_p),
    ("dynamic", ctypes.c_void_p),
    ("next", ctypes.POINTER(_Entry)),
    ("previous", ctypes.POINTER(_Entry)),
)


@dataclass(frozen=True)
class LoadedFile:
    """A file that the loader has mapped: where its entry is, and what is in it."""

    entry: int
    elf: Elf


def opened(library: str) -> ctypes.CDLL:
    """dlopen, own symbols first. A file that was replaced since is another library, whatever its name; OSError."""
    folder, slash, name = library.rpartition("/")
    if slash:  # a new spelling each time: the loader does not open a file of a name that it has opened
        spelling = "".join("./" if bit == "0" else ".//" for bit in f"{next(_spellings):b}")
        library = f"{folder}/{spelling}{name}"
    own_first = 0 if hindrance() else getattr(os, "RTLD_DEEPBIND", 0)
    before = {ctypes.addressof(entry) for entry in _entries(_program)} - _ours
    with loading():
        handle = ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL | own_first)
    if handle._handle not in before:
        _ours.add(handle._handle)
    return handle


def hindrance() -> str:
    """Why RTLD_DEEPBIND cannot be used in this process; empty where it can.

    The runtime of a sanitizer ends a program that uses it. Where malloc was replaced (LD_PRELOAD), the library would
    free with the C library's what the C library has got from the other one.
    """
    if found := next((name for symbol, name in _SANITIZERS.items() if hasattr(_program, symbol)), ""):
        return f"{found} forbids RTLD_DEEPBIND"
    malloc = file_of(address_of(_program, "malloc") or 0)
    libraries = {Path(entry.name.decode()) for entry in _entries(_program)}  # the program itself has no name there
    if malloc not in libraries or RUNTIME.fullmatch(malloc.name):
        return ""
    return f"malloc is that of {malloc}, and RTLD_DEEPBIND would mix it with the C library's"


def files_of(handle: ctypes.CDLL) -> list[LoadedFile]:
    """The library, and all that it needs, as they are loaded: in the order in which symbols are looked for.

    The C library is among them even where the library does not say so: the program has it.
    """
    entries = [(ctypes.addressof(entry), entry.name.decode()) for entry in _entries(handle)]
    files: dict[int, LoadedFile] = {}
    elves = {at: elf for at, name in entries if "/" in name and (elf := elf_or_none(Path(name).absolute()))}
    queue = [handle._handle]
    for at in queue:  # grows
        if at in files or at not in elves:
            continue
        files[at] = LoadedFile(at, elves[at])
        for needed in elves[at].needed:
            queue += [other for other, name in entries if other in elves and needed in (name, elves[other].name)][:1]
    c_library = [LoadedFile(at, elf) for at, elf in elves.items() if _C_LIBRARY.fullmatch(elf.path.name)]
    return [*files.values(), *(file for file in c_library if file.entry not in files)]


def _entries(handle: ctypes.CDLL) -> Iterator[_Entry]:
    """The loader's list, from its start."""
    entry = ctypes.cast(handle._handle, ctypes.POINTER(_Entry))
    while entry.contents.previous:
        entry = entry.contents.previous
    while entry:
        yield entry.contents
        entry = entry.contents.next


def file_of(address: int) -> Path | None:
    """The file that an address was loaded from."""
    found = _Symbol()
    known = _program.dladdr(ctypes.c_void_p(address), ctypes.byref(found))
    return Path(found.file.decode()) if known else None


def address_of(handle: ctypes.CDLL, symbol: str) -> int | None:
    """dlsym."""
    try:
        return ctypes.cast(handle[symbol], ctypes.c_void_p).value
    except AttributeError:
        return None


def check_loaded(shown: str, handle: ctypes.CDLL, files: Sequence[LoadedFile]) -> None:
    """UsageError where what runs would not be what lies in the files, or would be another library's."""
    for file in files:
        path, content = file.elf.path, file.elf.content
        if _contents.setdefault(file.entry, content) != content:
            raise UsageError(f"{path} has changed since this process loaded it: test {shown} in a new process")
        _check_needed(shown, file.elf, files)
    if reason := hindrance() if files[0].entry in _ours else "this program had loaded it before":
        for file in files:
            if not (RUNTIME.fullmatch(file.elf.path.name) or (file is files[0] and file.elf.symbolic)):
                _check_not_replaced(shown, reason, file.elf)
    _check_unique(shown, handle, files)


def _check_unique(shown: str, handle: ctypes.CDLL, files: Sequence[LoadedFile]) -> None:
    """UsageError where an inline variable is that of another library, which may have given it another value."""
    own = [file.elf.path for file in files]
    for symbol in files[0].elf.symbols.values():
        if symbol.binding != "unique" or _STANDARD.match(symbol.name):
            continue
        other = file_of(address_of(handle, symbol.name) or 0)
        if other is not None and not any(_same(other, path) for path in own):
            raise UsageError(
                f"{shown} would use {symbol.name} of {other}, which this process loaded before "
                "(STB_GNU_UNIQUE: one for all libraries): test it in its own process"
            )


def _check_needed(shown: str, elf: Elf, files: Sequence[LoadedFile]) -> None:
    """UsageError where the process had another file of a name that is needed: the loader does not look for it then."""
    for needed in elf.needed:
        if RUNTIME.fullmatch(needed) and not _C_LIBRARY.fullmatch(needed):
            continue  # the compiler's: one for all of a process
        taken = next((file.elf.path for file in files if needed in (file.elf.name, file.elf.path.name)), None)
        places = (folder / needed for folder in elf.searched(os.environ.get("LD_LIBRARY_PATH", "")))
        own = next((path for path in places if path.is_file()), None)
        if taken and own and not _same(taken, own) and own.parent.resolve() not in taken.resolve().parents:
            raise UsageError(
                f"{shown} needs {own}, but this process has loaded {taken} before: test it in its own process"
            )


def _check_not_replaced(shown: str, reason: str, elf: Elf) -> None:
    """Without RTLD_DEEPBIND: UsageError where the program has something of the same name, which would be used.

    C++ names are not looked at: most are the same inline function in both.
    """
    for symbol in elf.symbols.values():
        if not symbol.type or symbol.name.startswith(("_Z", "__")):
            continue
        other = file_of(address_of(_program, symbol.name) or 0)
        if other is not None and not _same(other, elf.path):
            raise UsageError(
                f"{shown} would use {symbol.name} of {other}, not that of {elf.path}: {reason} "
                "(link it with -Wl,-Bsymbolic, or run without that)"
            )


def check_linked(shown: str, files: Sequence[LoadedFile], linked: Sequence[Path]) -> None:
    """UsageError where the loader took another file than the linker read."""
    loaded = {file.elf.name: file.elf.path for file in files}
    for path in linked:
        taken = loaded.get(Elf(path).name)
        if taken is not None and not _same(taken, path):
            raise UsageError(f"{shown} was linked with {path}, but the loader takes {taken}: name it by a full path")


def content_of(files: Sequence[LoadedFile], compiled: bool) -> str:
    """`sha256:` and twelve digits of all that was loaded; of what was `compiled` here without debug information."""
    own = files[0].elf.loaded_content if compiled else files[0].elf.content
    hashes = [own, *(file.elf.content for file in files[1:])]
    return f"sha256:{hashlib.sha256(' '.join(hashes).encode()).hexdigest()[:12]}"


def _same(one: Path, other: Path) -> bool:
    return one == other or (one.exists() and other.exists() and one.samefile(other))
