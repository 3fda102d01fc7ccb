"""The sources of src/cuda compiled for the CPU: every kernel as a function that one thread calls."""

import ctypes
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

from gelu_verify.gpu import cuda, nvcc
from gelu_verify.paths import resource

# every operation rounds as written, as nvcc -fmad=false has it
FLAGS = ["-x", "c++", "-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]


class CompiledForCpu:
    """One source as a shared library; `kernels` from the table that it carries."""

    def __init__(self, library: Path) -> None:
        self.library = ctypes.CDLL(str(library))
        self.kernels = cuda.kernel_rows(self._table())
        if hasattr(self.library, cuda.PREPARE):
            self.library[cuda.PREPARE]()

    def _table(self) -> bytes:
        address, rows = ctypes.addressof(ctypes.c_char.in_dll(self.library, cuda.TABLE)), b""
        while not rows or any(rows[-cuda.ROW.itemsize :]):  # it ends with a row of zeros
            rows += ctypes.string_at(address + len(rows), cuda.ROW.itemsize)
        return rows

    def run(self, symbol: str, x_bits: np.ndarray, y_bits: np.ndarray, *parameters: float) -> np.ndarray:
        call = self.library[symbol]
        doubles = (ctypes.c_double,) * len(parameters)
        call.argtypes, call.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulonglong, *doubles), None
        call(x_bits.ctypes.data, y_bits.ctypes.data, x_bits.size, *parameters)
        return y_bits

    def undecided(self) -> list[int]:
        """Places that the last calls left to the oracle; counts from zero again."""
        places = (ctypes.c_ulonglong * 65536).in_dll(self.library, "gv_undecided")
        found = list(places[1 : 1 + places[0]])
        places[0] = 0
        return found


def sources() -> list[Path]:
    return sorted(dict.fromkeys(build.source for build in nvcc.builds()))


@cache
def compiled_for_cpu(name: str, folder: Path) -> CompiledForCpu:
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler, "this package was compiled here: there is a C++ compiler"
    library = folder / f"{name.replace('/', '_')}.so"
    source = resource("src/cuda") / name
    subprocess.run([compiler, *FLAGS, f"-I{resource('src')}", str(source), "-o", str(library)], check=True)
    return CompiledForCpu(library)
