"""What is in an ELF file: its name, what it needs, its dynamic symbols, and which of its bytes are loaded."""

from __future__ import annotations

import hashlib
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_LOAD, _DYNAMIC, _DYNSYM = 1, 2, 11  # PT_LOAD, PT_DYNAMIC, SHT_DYNSYM
_NEEDED, _STRTAB, _SONAME, _RPATH, _SYMBOLIC, _RUNPATH, _FLAGS = 1, 5, 14, 15, 16, 29, 30  # DT_*
_DF_SYMBOLIC = 2
_HEADER = 64  # bytes of the ELF header; it says where the debug information is, which is never loaded
_SHARED_OBJECT = 3  # ET_DYN
# Libraries of the compiler and the C library: the process has its own, wherever the compiler keeps those it links with.
RUNTIME = re.compile(
    r"(ld-linux.*|lib(c|m|mvec|dl|rt|util|pthread|resolv|gcc_s|stdc\+\+|gomp|atomic|quadmath|gfortran))\.so(\.\d+)*"
)
FUNCTIONS = ("function", "ifunc")
_TYPES = {1: "variable", 2: "function", 6: "thread-local variable", 10: "ifunc"}
_BINDINGS = {1: "global", 2: "weak", 10: "unique"}


class ElfSymbol(NamedTuple):
    """A dynamic symbol that a file defines."""

    name: str
    type: str  # "function", "ifunc", "variable", "thread-local variable", or "" where nothing is said
    binding: str  # "global", "weak", "unique"


class NotElf(ValueError):
    """Not a shared object of a 64-bit machine."""


@dataclass(frozen=True)
class Elf:
    """A 64-bit ELF shared object, or an executable that may be loaded anywhere; NotElf for anything else."""

    path: Path

    def __post_init__(self) -> None:
        head = self._bytes[:20]
        shared = len(head) == 20 and head[:5] == b"\x7fELF\x02" and self._read("H", 16)[0] == _SHARED_OBJECT
        if not shared:
            raise NotElf(str(self.path))

    @cached_property
    def _bytes(self) -> mmap.mmap | bytes:
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.path.stat().st_size else b""

    def _read(self, layout: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(("<" if self._bytes[5] == 1 else ">") + layout, self._bytes, offset)

    @cached_property
    def content(self) -> str:
        """Hash of the whole file."""
        return hashlib.sha256(self._bytes).hexdigest()

    @cached_property
    def loaded_content(self) -> str:
        """Hash of what is loaded: debug information, which names folders, is not."""
        digest = hashlib.sha256()
        for kind, _, offset, _, _, size, *_ in self._segments():
            if kind == _LOAD:
                digest.update(self._bytes[max(offset, _HEADER) : offset + size] + b"\0")
        return digest.hexdigest()

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The libraries that the loader must find, by the names in the file."""
        return tuple(self._string(value) for tag, value in self._dynamic if tag == _NEEDED)

    @cached_property
    def name(self) -> str:
        """Its soname, by which others need it; else its file's name."""
        return next((self._string(value) for tag, value in self._dynamic if tag == _SONAME), self.path.name)

    def searched(self, variable: str) -> list[Path]:
        """The folders in which the loader looks for what it needs, before the system's; `variable`: LD_LIBRARY_PATH."""
        own = {tag: self._string(value) for tag, value in self._dynamic if tag in (_RPATH, _RUNPATH)}
        first = "" if _RUNPATH in own else own.get(_RPATH, "")
        origin = str(self.path.absolute().parent)
        text = ":".join((first, variable.replace(";", ":"), own.get(_RUNPATH, "")))
        text = text.replace("$ORIGIN", origin).replace("${ORIGIN}", origin)
        return [Path(folder) for folder in text.split(":") if folder]

    @cached_property
    def symbolic(self) -> bool:
        """Whether it was linked with -Bsymbolic: its own symbols come first wherever it is loaded."""
        return any(tag == _SYMBOLIC or (tag == _FLAGS and value & _DF_SYMBOLIC) for tag, value in self._dynamic)

    @cached_property
    def symbols(self) -> dict[str, ElfSymbol]:
        """The dynamic symbols that it defines, by name."""
        return {symbol.name: symbol for symbol in self._symbols()}

    def _segments(self) -> Iterator[tuple[int, ...]]:
        """Program headers: type, flags, offset, address, physical address, size in the file, in memory, alignment."""
        (start,), (size, count) = self._read("Q", 32), self._read("HH", 54)
        return (self._read("IIQQQQQQ", start + index * size) for index in range(count))

    @cached_property
    def _dynamic(self) -> list[tuple[int, int]]:
        """Tags and values of the dynamic section."""
        offset, size = next(((s[2], s[5]) for s in self._segments() if s[0] == _DYNAMIC), (0, 0))
        pairs = [self._read("QQ", offset + at) for at in range(0, size, 16)]
        return [(tag, value) for tag, value in pairs]

    def _string(self, at: int) -> str:
        """A string of the dynamic string table."""
        address = next(value for tag, value in self._dynamic if tag == _STRTAB)
        segment = next(s for s in self._segments() if s[0] == _LOAD and s[3] <= address < s[3] + s[5])
        return self._text(address - segment[3] + segment[2] + at)

    def _text(self, start: int) -> str:
        return self._bytes[start : self._bytes.find(b"\0", start)].decode(errors="replace")

    def _symbols(self) -> Iterator[ElfSymbol]:
        """By the section headers; nothing where they were removed."""
        (start,), (entry, count) = self._read("Q", 40), self._read("HH", 58)
        sections = [self._read("IIQQQQIIQQ", start + index * entry) for index in range(count)]
        for _, kind, _, _, offset, size, strings, _, _, step in sections:
            if kind != _DYNSYM:
                continue
            for at in range(offset, offset + size, step):
                name, info, _, section = self._read("IBBH", at)
                binding = _BINDINGS.get(info >> 4)
                if section and binding:
                    text = self._text(sections[strings][4] + name)
                    yield ElfSymbol(text, _TYPES.get(info & 15, ""), binding)


def elf_or_none(path: Path) -> Elf | None:
    """The file as ELF; None where it is not a shared object."""
    try:
        return Elf(path)
    except NotElf:
        return None
