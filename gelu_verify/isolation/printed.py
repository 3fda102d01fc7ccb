"""What a child writes to stdout and stderr: files in memory, no pipe that fills up or that the parent must read."""

from __future__ import annotations

import ctypes
import mmap
import os

SIZE = 1 << 24  # bytes that one call may print
SHOWN = 200


class Printed:
    """Looks at the first byte, which costs no system call, and begins anew when there is one."""

    def __init__(self) -> None:
        self._files = [mmap.mmap(number, SIZE) for number in (1, 2)]
        libc = ctypes.CDLL(None)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, 2, ctypes.c_size_t(0))  # _IONBF

    def taken(self) -> str:
        """The beginning of what went to stdout since the last time."""
        shown = [self._begun_anew(number, file) for number, file in enumerate(self._files, 1)]
        return shown[0]

    @staticmethod
    def _begun_anew(number: int, file: mmap.mmap) -> str:
        if not file[0]:
            return ""
        text = file[: min(os.lseek(number, 0, os.SEEK_CUR), SHOWN)].decode(errors="replace")
        os.lseek(number, 0, os.SEEK_SET)
        file[0] = 0
        return text or "?"
