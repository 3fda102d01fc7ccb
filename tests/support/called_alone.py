"""Functions of other projects, called without gelu-verify, and their errors against mpmath."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

_PYTHON = """
import ctypes, os, sys
import numpy as np
x = np.frombuffer(sys.stdin.buffer.read(), {dtype!r}).copy()
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # where a library prints
def scalar(library, symbol, *first):
    f = ctypes.CDLL(library)[symbol]
    f.restype = ctypes.c_{type}
    f.argtypes = [f.restype]
    return [f(v) for v in x.tolist()]
{code}
answers.write(np.ascontiguousarray(y, {dtype!r}).tobytes())
"""
_C = """#include <stdio.h>
{declare}
int main(void) {{
    {type} x, y;
    while (fread(&x, sizeof x, 1, stdin)) {{ {code} fwrite(&y, sizeof y, 1, stdout); }}
}}
"""
_FORMATS = {"float32": (24, -126), "float64": (53, -1022)}  # significant bits, exponent of the smallest normal number

# Each in a form that cancels nowhere.
EXACT: dict[str, Callable[[Any], Any]] = {
    "erf": mpmath.erf,
    "exp": mpmath.exp,
    "tanh": mpmath.tanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "gelu_sigmoid": lambda x: x / (1 + mpmath.exp(-mpmath.mpf("1.702") * x)),
    "gelu_tanh": lambda x: x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3))),
}


def called_alone(target: Mapping[str, Any], dtype: str, x: np.ndarray, folder: Path, scratch: Path) -> np.ndarray:
    """What the library's own call gives for x, in a process of its own."""
    typed = {"float32": "float", "float64": "double"}[dtype]
    if "python" in target:
        words = [sys.executable, "-c", _PYTHON.format(dtype=dtype, type=typed, code=target["python"])]
    else:
        cpp = "c++" in target
        source, program = scratch / f"alone.{'cpp' if cpp else 'c'}", scratch / "alone"
        code = target["c++" if cpp else "c"]
        source.write_text(_C.format(declare=target["declare"], type=typed, code=code))
        compiler = ["c++" if cpp else "cc", source, "-w", "-I.", *shlex.split(target["flags"]), "-lm", "-o", program]
        subprocess.run(compiler, cwd=folder, check=True)
        words = [str(program)]
    data = np.ascontiguousarray(x, dtype).tobytes()
    variables = {**os.environ, "JAX_PLATFORMS": "cpu"} | ({} if "python" in target else {"LD_LIBRARY_PATH": "."})
    answer = subprocess.run(words, cwd=folder, input=data, capture_output=True, env=variables, check=False)
    assert not answer.returncode, answer.stderr.decode()[-2000:]
    return np.frombuffer(answer.stdout, dtype)


def error_in_ulp(function: str, dtype: str, x: float, got: float) -> float:
    """Distance from the exact value, in units of the last place of that; of a result that is a number."""
    significant, emin = _FORMATS[dtype]
    with mpmath.workdps(60):
        exact = EXACT[function](mpmath.mpf(float(x)))
        exponent = mpmath.frexp(exact)[1] - 1 if exact else emin
        ulp = mpmath.ldexp(1, max(exponent, emin) - significant + 1)
        return float(abs(mpmath.mpf(float(got)) - exact) / ulp)
