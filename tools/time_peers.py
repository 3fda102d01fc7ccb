"""Time our kernels beside the best of other libraries and a memory copy: python tools/make_speed.py --measure peers

Functions that all of them have, over sizes, in one process (`gelu-verify bench --json`); then ours at each lower
instruction-set level. speed_peers.py makes tables and plots of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from gelu_verify.formats import DTYPES
from gelu_verify.truth._correctly_rounded import BEST_LEVEL
from gelu_verify.truth.correctly_rounded import LEVELS, MAX_ISA

FUNCTIONS = ("gelu", "gelu_tanh")
PLOTTED = "gelu"
RIVALS = ("torch", "jax", "openvino", "copy", "onnxruntime")
SIZES = "2^10..2^24"


def bench(*arguments: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """What `gelu-verify bench --json` prints."""
    command = [sys.executable, "-P", "-m", "gelu_verify", "bench", *arguments, "--json"]
    done = subprocess.run(command, env=os.environ | (environment or {}), capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def peers(sizes: str = SIZES) -> dict[str, Any]:
    """`bench`'s answer for the best level, each row with its level; then the rows of the others, against a copy."""
    arguments = ("--dtype", ",".join(DTYPES), "--sizes", sizes)
    run = bench(*FUNCTIONS, *arguments, "--against", ",".join(RIVALS), environment={"JAX_PLATFORMS": "cpu"})
    levels = {level: number for level, number in LEVELS.items() if number <= BEST_LEVEL}
    best = max(levels, key=levels.__getitem__, default="")
    rows = [row | {"level": best} for row in run["results"]]
    for level in levels.keys() - {best}:
        found = bench(PLOTTED, *arguments, "--against", "copy", environment={MAX_ISA: level})
        rows += [row | {"level": level} for row in found["results"]]
    return run | {"results": rows, "level": best}
