"""Memory for arrays of code that demands something of them: aligned, or with bytes behind it that it may read.

A page follows that can be neither read nor written.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap

import numpy as np

_libc = ctypes.CDLL(None, use_errno=True)
_calls = itertools.count()


def padded(x_bits: np.ndarray, nbytes: int, aligned: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A copy of `x_bits` at a multiple of `aligned`, and the bytes behind it, `nbytes` that can be read before a page
    that cannot.

    What can be read there is another thing in every second call, so that a result that depends on it shows. Where
    the alignment needs more bytes, these are among them.
    """
    nbytes, whole = -(-nbytes // 8) * 8, max(aligned, x_bits.itemsize)
    used = -(-(x_bits.nbytes + nbytes) // whole) * whole
    page = max(mmap.PAGESIZE, aligned)
    size = -(-used // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    everything = np.frombuffer(memory, np.uint8)
    start = -everything.ctypes.data % page
    everything = everything[start : start + size + mmap.PAGESIZE]
    _libc.mprotect(ctypes.c_void_p(everything.ctypes.data + size), mmap.PAGESIZE, 0)
    place = everything[size - used : size]
    beyond = place[x_bits.nbytes :]
    beyond[:] = (0x00, 0xFF)[next(_calls) % 2]
    copy = place[: x_bits.nbytes].view(x_bits.dtype)
    copy[:] = x_bits
    return copy, beyond
