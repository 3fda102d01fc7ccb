"""src/enclosure compiled by itself, to evaluate: one lane, with fma or without."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path

import numpy as np
from repository import ROOT

FORWARD = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
NAMES = tuple(f"{name}{end}" for name in FORWARD for end in ("", "_grad"))  # the functions that have kernels
STAGES = ("near", "enclosure")
# the largest |x| of the near enclosures, as the sources name it
LIMITS = {name: f"GV_NEAR_{name.upper()}" for name in NAMES} | dict.fromkeys(("gelu", "gelu_grad"), "GV_NEAR_LIMIT")
Evaluate = Callable[[str, np.ndarray], tuple[np.ndarray, np.ndarray]]


def compile_enclosures(fma: bool, folder: Path) -> tuple[Evaluate, dict[str, float]]:
    """`evaluate(call, x)`, the two ends at doubles x by gv_<name>_<stage>; the limits of the near enclosures."""
    calls = [f"gv_{name}_{stage}" for name in NAMES for stage in STAGES]
    cases = "".join(f"case {i}: y = {call}_one(x[k]); break;\n" for i, call in enumerate(calls))
    limits = ", ".join(LIMITS[name] for name in NAMES)
    code = f"""#define GV_LANES 1
#define GV_HAVE_FMA {int(fma)}
#define GV_TYPED(name) name##_one
#include "enclosure/enclosures.h"
const double limits[] = {{{limits}}};
void run(int index, const double *x, double *a, double *b, int n);
void run(int index, const double *x, double *a, double *b, int n) {{
    for (int k = 0; k < n; k++) {{
        gv_interval_one y = {{0, 0}};
        switch (index) {{ {cases} }}
        a[k] = y.a;
        b[k] = y.b;
    }}
}}
"""
    source, binary = folder / "enclosures.c", folder / "enclosures.so"
    source.write_text(code)
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    flags = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC", f"-I{ROOT / 'src'}"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(binary), "-lm"], check=True)
    library = ctypes.CDLL(str(binary))
    pointer = ctypes.POINTER(ctypes.c_double)

    def evaluate(call: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b = np.empty_like(x), np.empty_like(x)
        library.run(calls.index(call), *(array.ctypes.data_as(pointer) for array in (x, a, b)), len(x))
        return a, b

    found = (ctypes.c_double * len(NAMES)).in_dll(library, "limits")
    return evaluate, dict(zip(NAMES, found, strict=True))
