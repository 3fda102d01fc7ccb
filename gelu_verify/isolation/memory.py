"""Memory that parent and child share: inputs, then outputs, without a name, so that nothing can be left over.

The child sees each between guard pages, and the inputs read-only; an array lies flush against one guard, so that the
element beside it cannot be touched. It is aligned as its elements are, which is all that `const T*` says.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

PAGE = mmap.PAGESIZE
GUARDS = 1 << 36, 1 << 30, 1 << 20  # the widest for which there are addresses: x[(unsigned)-1] is 2^35 bytes away
MARGIN = 64  # bytes of the slack beside an output that must stay as they are
_NONE, _READ, _WRITE = 0, mmap.PROT_READ, mmap.PROT_WRITE
_FIXED, _NORESERVE = 0x10, 0x4000
_FAILED = ctypes.c_void_p(-1).value


@dataclass(frozen=True)
class ArrayPlace:
    """Where `n` elements lie in a region of `capacity` bytes: flush with its start, or with its end."""

    n: int
    itemsize: int
    capacity: int
    at_start: bool = False

    @property
    def offset(self) -> int:
        return 0 if self.at_start else self.capacity - self.n * self.itemsize

    @property
    def margin(self) -> slice:
        """The bytes beside them that no guard page covers."""
        end = self.n * self.itemsize
        return (
            slice(end, min(end + MARGIN, self.capacity))
            if self.at_start
            else slice(max(self.offset - MARGIN, 0), self.offset)
        )


def capacity_for(nbytes: int) -> int:
    """Whole pages; grown by doubling, so that few sizes occur."""
    return max(PAGE, 1 << (nbytes - 1).bit_length()) if nbytes < 1 << 24 else -(-nbytes // PAGE) * PAGE


class SharedMemory:
    """The parent's side: two regions of one anonymous file."""

    def __init__(self, nbytes: int) -> None:
        self.capacity = capacity_for(nbytes)
        self.file = os.memfd_create("gelu-verify", os.MFD_CLOEXEC)
        os.ftruncate(self.file, 2 * self.capacity)
        self._bytes = np.frombuffer(mmap.mmap(self.file, 2 * self.capacity), np.uint8)

    def close_file(self) -> None:
        """The mapping stays."""
        os.close(self.file)

    def inputs(self, place: ArrayPlace, uint: np.dtype) -> np.ndarray:
        return self._region(0, place, uint)

    def outputs(self, place: ArrayPlace, uint: np.dtype) -> np.ndarray:
        return self._region(self.capacity, place, uint)

    def _region(self, base: int, place: ArrayPlace, uint: np.dtype) -> np.ndarray:
        start = base + place.offset
        return self._bytes[start : start + place.n * place.itemsize].view(uint)


class GuardedMemory:
    """The child's side: guard, inputs (read-only), guard, outputs, guard."""

    def __init__(self, file: int, capacity: int) -> None:
        self.capacity = capacity
        self.base, self.guard = _reserved(capacity)
        self._x, self._y = self.base + self.guard, self.base + 2 * self.guard + capacity
        _map(self._x, capacity, _READ, mmap.MAP_SHARED | _FIXED, file)
        _map(self._y, capacity, _READ | _WRITE, mmap.MAP_SHARED | _FIXED, file, capacity)

    def close(self) -> None:
        """Give the addresses back; nobody may hold an array of it any more."""
        _libc.munmap(self.base, 3 * self.guard + 2 * self.capacity)

    def inputs(self, place: ArrayPlace, uint: np.dtype) -> np.ndarray:
        """Flagged writable, because torch copies what is not: who writes meets the page."""
        return _array(self._x + place.offset, place.n, uint)

    def outputs(self, place: ArrayPlace, uint: np.dtype) -> np.ndarray:
        return _array(self._y + place.offset, place.n, uint)

    @cached_property
    def output_bytes(self) -> np.ndarray:
        return _array(self._y, self.capacity, np.dtype(np.uint8))


@dataclass
class GuardLayout:
    """Where a GuardedMemory lies, as the parent knows it, and what it was asked to call there last."""

    base: int
    guard: int
    capacity: int
    place: ArrayPlace | None = None

    def region(self, address: int) -> str | None:
        """What lies at an address: "input", "output", or which side of which; None where it is elsewhere.

        Between the two arrays it is the side of the nearer one: a call has one of them flush with its guard.
        """
        x, y = self.base + self.guard, self.base + 2 * self.guard + self.capacity
        if self.place is None or not self.base <= address < y + self.capacity + self.guard:
            return None
        start, size = self.place.offset, self.place.n * self.place.itemsize
        to_input, to_output = address - (x + start), address - (y + start)
        if 0 <= to_input < size:
            return "input"
        if 0 <= to_output < size:
            return "output"
        if to_input < 0:
            return "before its input"
        if to_output >= size:
            return "beyond the end of its output"
        return "beyond the end of its input" if to_input - size <= -to_output else "before its output"


def _reserved(capacity: int) -> tuple[int, int]:
    """Address and guard of a stretch without access for three guards and twice the capacity."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    for guard in GUARDS[:-1]:
        with suppress(OSError):  # fewer bits of address, or a limit of address space (ulimit -v)
            return _map(None, 3 * guard + 2 * capacity, _NONE, flags, -1), guard
    return _map(None, 3 * GUARDS[-1] + 2 * capacity, _NONE, flags, -1), GUARDS[-1]


def map_page(file: int) -> int:
    """Address of the first page of a file, shared."""
    return _map(None, PAGE, _READ | _WRITE, mmap.MAP_SHARED, file)


def _array(address: int, n: int, uint: np.dtype) -> np.ndarray:
    return np.frombuffer(memoryview((ctypes.c_char * (n * uint.itemsize)).from_address(address)), uint)


_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def _map(address: int | None, length: int, access: int, flags: int, file: int, offset: int = 0) -> int:
    found: int = _libc.mmap(address, length, access, flags, file, offset)
    if found == _FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found
