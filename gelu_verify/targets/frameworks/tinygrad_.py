"""tinygrad on the CPU: `Tensor.gelu` and its relatives, compiled by clang for every length, gradients, blocks."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import TargetFailure, TargetUnavailable
from ...formats import DTYPES, get_format
from ..arrays import ArrayKind
from ..base import Target
from ..expressions import python_program
from ..importing import framework
from ..library_target import Path, library_targets

NEEDS = "tinygrad"

ON_REQUEST = True  # it calls clang for every function, dtype and length

PROGRAM = python_program(
    "from tinygrad import Tensor, dtypes",
    'Tensor.full(({n},), {value}, dtype=dtypes.{dtype}, device="CPU")',
    values="y.realize().tolist()",  # what is lazy is rounded to its dtype only if it stands in memory
)
NOTE = "CPU, one fused kernel compiled by clang"


class TinygradKind(ArrayKind):
    name = "tinygrad"
    roots = ("tinygrad",)
    classes = ("Tensor",)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        tinygrad = framework("tinygrad")
        return tinygrad.Tensor(bits, device="CPU").bitcast(getattr(tinygrad.dtypes, dtype)).realize()

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        tinygrad = framework("tinygrad")
        dtype = next((name for name in DTYPES if array.dtype == getattr(tinygrad.dtypes, name)), str(array.dtype))
        if dtype not in DTYPES:
            raise TargetFailure(dtype)
        return dtype, array.bitcast(getattr(tinygrad.dtypes, get_format(dtype).uint.name)).numpy()

    def wait(self, array: Any) -> Any:
        return array.realize()


def discover() -> Iterator[Target]:
    """Every path, in every dtype: none is compiled before it is measured."""
    os.environ.setdefault("CACHELEVEL", "0")  # its cache of compiled code may be used from one thread only
    framework("tinygrad")
    compiler = os.environ.get("CC", "clang")
    if shutil.which(compiler) is None:
        raise TargetUnavailable(f"tinygrad is installed, but {compiler}, which it compiles with, is not")
    has_bfloat16 = _has_type(compiler, "__bf16")
    version = framework("importlib.metadata").version("tinygrad")
    return library_targets(
        "tinygrad",
        version,
        _paths(),
        arrays=TinygradKind(),
        note=NOTE,
        takes=lambda target, dtype: has_bfloat16 or dtype != "bfloat16",
    )


def _has_type(compiler: str, type_name: str) -> bool:
    """Whether the compiler has that C type here; clang before 17 has no bfloat16 on x86-64."""
    source = f"{type_name} f({type_name} *x) {{ return *x; }}"
    command = [compiler, "-x", "c", "-fsyntax-only", "-"]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode == 0


FUNCTIONS = (  # name, form, expression
    (
        "gelu",
        'gelu("none"): 0.5 x (1 + erf(x/sqrt 2)), erf by Abramowitz and Stegun 7.1.26',
        'x.gelu(approximate="none")',
    ),
    ("gelu_tanh", "gelu(): 0.5 x (1 + tanh(...)), tanh(u) = 2 sigmoid(2 u) - 1", "x.gelu()"),
    ("gelu_sigmoid", "quick_gelu(): x sigmoid(1.702 x)", "x.quick_gelu()"),
    ("silu", "silu(): x sigmoid(x)", "x.silu()"),
)


def _paths() -> Iterator[Path]:
    """Forward, gradients, blocks."""
    for name, form, expression in FUNCTIONS:
        yield Path(name, name, form, expression=expression)
    for name, form, expression in FUNCTIONS:
        gradient = f"{expression}.sum().gradient(x)[0]"
        yield Path(f"{name}_grad", f"{name}_grad", f"gradient of {form}", expression=gradient)
    for name in ("relu", "elu", "erf", "tanh", "sigmoid", "exp"):
        yield Path(name, name, f"{name}()", expression=f"x.{name}()")
