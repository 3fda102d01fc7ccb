"""Count the instructions that the kernels of aarch64 execute for an element: python tools/count_instructions.py

In an emulator, where time says nothing: portable C and NEON, each function of float32 and float64, and the look-up of
16 bits. Writes docs/speed/<day>-aarch64.json, of which make_speed.py makes a table. Needs Debian's
gcc-aarch64-linux-gnu and qemu-user.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from datetime import date
from pathlib import Path

import numpy as np

from gelu_verify.truth.correctly_rounded import FUNCTIONS

ROOT = Path(__file__).parents[1]
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
FLAGS = ["-std=c11", "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic", "-ffp-contract=off"]  # as in setup.py
FLAGS += ["-fpeel-loops", "-funswitch-loops", "-DGV_PORTABLE", f"-I{ROOT / 'src'}"]
LEVELS = {"portable": 1, "neon": 2}
ELEMENTS = 1 << 14
SCALES = (2, 10)


def built(folder: Path) -> list[str]:
    """The command that runs the program and counts."""
    plugin, program = folder / "counter.so", folder / "program"
    source = str(ROOT / "tools" / "qemu_counter.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", str(plugin)], check=True)
    sources = [ROOT / "tools" / "count_instructions.c", *(ROOT / "src" / "cr").glob("*.c")]
    subprocess.run([COMPILER, *FLAGS, "-static", *map(str, sources), "-o", str(program), "-lm"], check=True)
    return [EMULATOR, "-plugin", str(plugin), str(program)]


def instructions(command: list[str], function: str, dtype: str, level: int, x: np.ndarray) -> float:
    """Of one element: a call more, divided by its elements."""

    def executed(calls: int) -> int:
        words = [*command, function, dtype, str(level), str(len(x)), str(calls)]
        return int(subprocess.run(words, input=x.tobytes(), stderr=subprocess.PIPE, check=True).stderr)

    return round((executed(2) - executed(1)) / len(x), 1)


def counted(command: list[str]) -> list[dict[str, str | float]]:
    randn = np.random.default_rng(0).standard_normal(ELEMENTS)
    rows: list[dict[str, str | float]] = []
    for dtype in ("float32", "float64"):
        for function in FUNCTIONS:
            for scale in SCALES:
                x = (scale * randn).astype(dtype)
                counts = {name: instructions(command, function, dtype, level, x) for name, level in LEVELS.items()}
                rows.append({"dtype": dtype, "function": function, "scale": scale, **counts})
    x = (2 * randn).astype(np.float16)
    return [*rows, {"dtype": "float16", "neon": instructions(command, "gelu", "float16", 2, x)}]


def first_line(*command: str) -> str:
    return subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = counted(built(Path(folder)))
    found = {"compiler": first_line(COMPILER), "emulator": first_line(EMULATOR), "instructions": rows}
    path = ROOT / "docs" / "speed" / f"{date.today()}-aarch64.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
