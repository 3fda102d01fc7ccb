"""The device's memory: a range of addresses of its own, and of each byte whether it is allocated and written.

No address is given twice before all have been: what is used after it was freed is found.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

BASE = 0x7000_0000_0000  # the first address, as kernels see it
SIZE = 1 << 40
ALLOCATED, WRITTEN, CONSTANT = 1, 2, 4  # src/ptx/types.h
UNWRITTEN = 0xFF  # what is read from memory that nobody has written: NaN in every format
PAGE = mmap.PAGESIZE
_NONE, _READ, _WRITE = 0, 1, 2
_PRIVATE, _ANONYMOUS, _NORESERVE = 0x02, 0x20, 0x4000
_DONTNEED = 4


class OutOfMemory(Exception):
    """There is none left."""


class AddressedMemory:
    """`data` and `state` are the addresses at which this process has the bytes, and what is known of them."""

    def __init__(self) -> None:
        self._libc: Any = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long]
        self._libc.mprotect.argtypes = self._libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        self._libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.data, self.state = self._reserved(_NONE), self._reserved(_READ)
        self._sizes: dict[int, int] = {}
        self._next = BASE + PAGE

    def _reserved(self, protection: int) -> int:
        address = self._libc.mmap(None, SIZE, protection, _PRIVATE | _ANONYMOUS | _NORESERVE, -1, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OutOfMemory
        return int(address)

    def close(self) -> None:
        for address in (self.data, self.state):
            self._libc.munmap(address, SIZE)

    def alloc(self, nbytes: int, flags: int = ALLOCATED) -> int:
        """The address of so many bytes, whose contents are not written."""
        pages = -(-max(nbytes, 1) // PAGE) * PAGE
        if self._next + pages + PAGE > BASE + SIZE:
            raise OutOfMemory
        address, offset = self._next, self._next - BASE
        if self._libc.mprotect(self.data + offset, pages, _READ | _WRITE):
            raise OutOfMemory
        if self._libc.mprotect(self.state + offset, pages, _READ | _WRITE):
            self._release(offset, pages)
            raise OutOfMemory
        ctypes.memset(self.data + offset, UNWRITTEN, nbytes)
        ctypes.memset(self.state + offset, flags, nbytes)
        self._next += pages + PAGE
        self._sizes[address] = nbytes
        return address

    def free(self, address: int) -> None:
        nbytes = self._sizes.pop(address)
        pages = -(-max(nbytes, 1) // PAGE) * PAGE
        self._release(address - BASE, pages)

    def _release(self, offset: int, pages: int) -> None:
        for place, protection in ((self.data, _NONE), (self.state, _READ)):
            self._libc.madvise(place + offset, pages, _DONTNEED)
            self._libc.mprotect(place + offset, pages, protection)

    @property
    def in_use(self) -> int:
        """Bytes that are allocated."""
        return sum(self._sizes.values())

    def is_allocated(self, address: int, nbytes: int) -> bool:
        """Whether all of these bytes are one allocation's."""
        if not nbytes:
            return True
        if not BASE <= address <= BASE + SIZE - nbytes:
            return False
        return bool((self._state(address, nbytes) & ALLOCATED).all())

    def _state(self, address: int, nbytes: int) -> np.ndarray:
        return _view(self.state + address - BASE, nbytes)

    def write(self, address: int, data: np.ndarray) -> None:
        ctypes.memmove(self.data + address - BASE, data.ctypes.data, data.nbytes)
        self._state(address, data.nbytes)[:] |= WRITTEN

    def read(self, address: int, to: np.ndarray) -> None:
        ctypes.memmove(to.ctypes.data, self.data + address - BASE, to.nbytes)

    def fill(self, address: int, byte: int, nbytes: int) -> None:
        ctypes.memset(self.data + address - BASE, byte, nbytes)
        self._state(address, nbytes)[:] |= WRITTEN

    def copy(self, to: int, address: int, nbytes: int) -> None:
        """What was not written there is not written here either."""
        ctypes.memmove(self.data + to - BASE, self.data + address - BASE, nbytes)
        state = self._state(to, nbytes)
        state[:] = (state & ~np.uint8(WRITTEN)) | (self._state(address, nbytes) & WRITTEN)

    def nearest(self, address: int) -> tuple[int, int] | None:
        """The allocation that ends or begins nearest to an address: its first byte and its size."""
        if not self._sizes:
            return None
        first = min(self._sizes, key=lambda each: max(each - address, address - each - self._sizes[each] + 1))
        return first, self._sizes[first]


def _view(address: int, nbytes: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))
