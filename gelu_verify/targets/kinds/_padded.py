"""Memory for inputs of code that may read beyond their end: so many bytes more, and not one after them."""

from __future__ import annotations

import ctypes
import itertools
import mmap

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
_calls = itertools.count()


def padded(x_bits: np.ndarray, nbytes: int) -> np.ndarray:
    """A copy of `x_bits` with `nbytes` behind it that can be read, and a page that cannot.

    What can be read there is another thing in every second call, so that a result that depends on it shows.
    """
    nbytes = -(-nbytes // 8) * 8  # so that the copy is aligned
    used = x_bits.nbytes + nbytes
    size = -(-used // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    everything = np.frombuffer(memory, np.uint8)
    _libc.mprotect(ctypes.c_void_p(everything.ctypes.data + size), mmap.PAGESIZE, 0)
    beyond = everything[size - nbytes : size]
    beyond[:] = (0x00, 0xFF)[next(_calls) % 2]
    copy = everything[size - used : size - nbytes].view(x_bits.dtype)
    copy[:] = x_bits
    return copy
