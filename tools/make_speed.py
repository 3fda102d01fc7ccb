"""Write docs/speed.md from the timings in docs/speed: python tools/make_speed.py [--measure]

With --measure, all functions and dtypes are first timed beside torch on this machine, at each instruction-set level of
TORCH that it has, and docs/speed/<day>-<level>.json is written (`gelu-verify bench --json`, one thread, ten minutes).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from gelu_verify.formats import DTYPES
from gelu_verify.truth._correctly_rounded import BEST_LEVEL
from gelu_verify.truth.correctly_rounded import FUNCTIONS, MAX_ISA, X86_64

ROOT = Path(__file__).parents[1]
PAGE, RUNS = ROOT / "docs" / "speed.md", ROOT / "docs" / "speed"
SCALES = "2,10"
SIZES = dict.fromkeys(DTYPES, "2^14,2^18") | {"float32": "2^14,2^18,2^22,2^24"}
TORCH = {  # what holds torch, and oneDNN in it, to a level
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
    "avx512": {},
}
VARIES = 0.2  # interquartile range over median: other programs ran
TITLES = {"avx512": "AVX-512", "avx2": "AVX2"}


INTRODUCTION = f"""\
<!-- written by `python tools/make_speed.py` from docs/speed/*.json -->
# Speed

Our correctly rounded kernels beside torch: the ratio of elements per second (above 1 ours is faster) and, in brackets,
our million elements a second. Medians of interleaved calls in one process, one thread, preallocated outputs, torch
held to the same instruction-set level. Gradients beside the backward operator, with a gradient of ones; torch has no
sigmoid GELU, its silu stands in. `~`: the interquartile range of one of the two exceeds {VARIES:.0%} of its median.

To repeat it: `python tools/make_speed.py --measure`; one case: `gelu-verify bench gelu --sizes 2^18 --scale 2,10`.
A level below the best: `{MAX_ISA}=avx2`, and of torch `ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2`.
"""


def measure() -> None:
    for level in TORCH:
        if X86_64[level] > BEST_LEVEL:
            continue
        environment = os.environ | TORCH[level] | {MAX_ISA: level}
        runs = [timed(dtype, sizes, environment) for dtype, sizes in SIZES.items()]
        results = [row for run in runs for row in run["results"]]
        RUNS.mkdir(exist_ok=True)
        text = json.dumps({**runs[0], "results": results}, indent=1)
        (RUNS / f"{date.today()}-{level}.json").write_text(text + "\n", encoding="utf-8")


def timed(dtype: str, sizes: str, environment: dict[str, str]) -> dict[str, Any]:
    command = ["gelu-verify", "bench", "--against", "torch", "--dtype", dtype, "--sizes", sizes, "--scale", SCALES]
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def ratios(run: dict[str, Any], dtype: str) -> list[str]:
    """A table of our speed over torch's: a row for each function, a column for each size and scale."""
    found = {
        (r["function"], r["n"], r["scale"]): r for r in run["results"] if r["dtype"] == dtype and r["rival"] == "torch"
    }
    columns = sorted({(scale, n) for _, n, scale in found})
    heads = [f"{scale}*randn, 2^{n.bit_length() - 1}" for scale, n in columns]
    lines = [f"| {dtype} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for function in FUNCTIONS:
        cells = [found.get((function, n, scale)) for scale, n in columns]
        if any(cells):
            lines.append(f"| {function} | " + " | ".join(map(cell, cells)) + " |")
    return lines


def cell(row: dict[str, Any] | None) -> str:
    """'1.31 (1560)': the ratio and our million elements a second; '~' where they vary."""
    if not row:
        return ""
    varies = max(row[side]["spread"] for side in ("ours", "theirs")) > VARIES
    return f"{'~' if varies else ''}{row['ratio']:.2f} ({row['ours']['elements_per_s'] / 1e6:.0f})"


def page() -> str:
    lines = [INTRODUCTION]
    for path in sorted(RUNS.glob("*.json"), reverse=True):
        run, level = json.loads(path.read_text(encoding="utf-8")), path.stem.rpartition("-")[2]
        machine = run["machine"]
        lines += [f"## {TITLES[level]}, {path.stem[:10]}", ""]
        lines += [f"{machine['cpu']}; torch {run['versions']['torch']}. Data: `docs/speed/{path.name}`.", ""]
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            lines += [*ratios(run, dtype), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    if "--measure" in sys.argv[1:]:
        measure()
    PAGE.write_text(page(), encoding="utf-8")
