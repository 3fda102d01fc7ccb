"""What processes of the service ask of the allocator, so that memory that was used once is given back."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of glibc's mallopt
_LARGE = 1 << 18


def give_back_freed_memory() -> None:
    """Have glibc return large blocks when they are freed, and use two arenas for all threads; nothing elsewhere."""
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for what, value in ((_MMAP_THRESHOLD, _LARGE), (_TRIM_THRESHOLD, _LARGE), (_ARENA_MAX, 2)):
            mallopt(what, value)
