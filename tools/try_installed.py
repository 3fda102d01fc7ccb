"""Try an installed gelu-verify where there is no compiler: `python tools/try_installed.py`, with its Python.

A function in Python and the installed NumPy are measured; a C file must be refused in one line that says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FUNCTION = """import numpy as np
from gelu_verify import verify


def relu(x):
    return np.maximum(x, 0)


if __name__ == "__main__":
    result = verify(relu, "relu", "float16")
    assert (result.max_ulp, result.record.grade) == (0.0, "correctly_rounded"), result
"""
NO_COMPILER = "no C compiler"


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.py").write_text(FUNCTION)
        (folder / "kernel.c").write_text("float gelu_f32(float x) { return x; }\n")
        program = [sys.executable, "-m", "gelu_verify"]
        tried(folder, [sys.executable, "mine.py"])
        tried(folder, [*program, "run", "mine.py:relu", "--dtype", "float16", "--function", "relu", "--max-ulp", "0"])
        tried(folder, [*program, "run", "numpy", "--plan", "quick", "--no-throughput"])
        refused = tried(folder, [*program, "run", "kernel.c:gelu_f32"], ends_with=3)
        if NO_COMPILER not in refused:
            raise SystemExit(f"expected an error that says {NO_COMPILER!r}:\n{refused}")
    print("works without a compiler")


def tried(folder: Path, command: list[str], ends_with: int = 0) -> str:
    """What it writes on stderr, in an environment that has no program at all on its path."""
    nothing = folder / "nothing"
    nothing.mkdir(exist_ok=True)
    without = {key: value for key, value in os.environ.items() if key not in ("CC", "CXX", "NVCC", "CUDA_HOME")}
    done = subprocess.run(command, cwd=folder, env={**without, "PATH": str(nothing)}, capture_output=True, text=True)
    if done.returncode != ends_with:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stderr


if __name__ == "__main__":
    main()
