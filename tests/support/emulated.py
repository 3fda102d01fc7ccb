"""C functions in shared libraries: called by ctypes, or, where a library is for aarch64, in an emulator.

Debian: gcc-aarch64-linux-gnu, qemu-user.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import requiring
from repository import SUPPORT

COMPILER = "aarch64-linux-gnu-gcc"


def call(library: ctypes.CDLL | Emulated, name: str, *arguments: np.ndarray | int) -> int:
    """What the function returns, a size_t. Arrays are passed by address, and integers as size_t."""
    if isinstance(library, Emulated):
        return library.call(name, *arguments)
    function = getattr(library, name)
    function.restype = ctypes.c_size_t
    given = (ctypes.c_size_t(a) if isinstance(a, int) else ctypes.c_void_p(a.ctypes.data) for a in arguments)
    return function(*given)


class Emulated:
    """A library for aarch64. Each call is a process of its own, by emulated.c."""

    def __init__(self, library: Path) -> None:
        emulator = requiring.program("qemu-aarch64", "qemu-aarch64-static")
        source, program = str(SUPPORT / "emulated.c"), str(library.with_name("emulated"))
        subprocess.run([COMPILER, "-std=c11", "-O1", source, "-o", program, "-ldl"], check=True)
        self.command = [emulator, "-L", "/usr/aarch64-linux-gnu", program, str(library)]

    def call(self, name: str, *arguments: np.ndarray | int) -> int:
        places: dict[int, int] = {}  # of arrays, by address
        arrays, words = [], []
        for k, argument in enumerate(arguments):
            if isinstance(argument, int):
                words.append(f"={argument}")
            elif argument.size and argument.ctypes.data in places:
                words.append(f"@{places[argument.ctypes.data]}")
            else:
                places[argument.ctypes.data] = k
                arrays.append(argument)
                words.append(str(argument.nbytes))
        given = b"".join(array.tobytes() for array in arrays)
        done = subprocess.run([*self.command, name, *words], input=given, stdout=subprocess.PIPE, check=True).stdout
        end = 8
        for array in arrays:
            array[:] = np.frombuffer(done, array.dtype, array.size, end)
            end += array.nbytes
        return int.from_bytes(done[:8], "little")
