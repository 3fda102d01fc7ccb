"""Write docs/speed.md and its plots from docs/speed/*.json: python tools/make_speed.py [--measure [torch | peers]]

With --measure, all functions and dtypes are first timed beside torch on this machine, at each instruction-set level of
TORCH that it has, and docs/speed/<day>-<level>.json is written (`gelu-verify bench --json`, one thread, ten minutes);
then some beside other libraries, and docs/speed/<day>-peers.json (time_peers.py, five minutes). Or one of the two.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from speed_peers import plots, section
from time_peers import bench, peers

from gelu_verify.formats import DTYPES
from gelu_verify.truth._correctly_rounded import BEST_LEVEL
from gelu_verify.truth.correctly_rounded import FUNCTIONS, LEVELS, MAX_ISA

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
PEERS = "peers"
AARCH64 = "aarch64"  # written by count_instructions.py

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


def measure_torch() -> None:
    for level in TORCH:
        if LEVELS.get(level, BEST_LEVEL + 1) > BEST_LEVEL:
            continue
        environment = TORCH[level] | {MAX_ISA: level}
        runs = [timed(dtype, sizes, environment) for dtype, sizes in SIZES.items()]
        results = [row for run in runs for row in run["results"]]
        save(level, {**runs[0], "results": results})


def timed(dtype: str, sizes: str, environment: dict[str, str]) -> dict[str, Any]:
    arguments = ("--against", "torch", "--dtype", dtype, "--sizes", sizes, "--scale", SCALES)
    return bench(*arguments, environment=environment)


def measure_peers() -> None:
    save(PEERS, peers())


def save(name: str, run: dict[str, Any]) -> None:
    RUNS.mkdir(exist_ok=True)
    (RUNS / f"{date.today()}-{name}.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


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


def instructions(run: dict[str, Any], day: str) -> list[str]:
    """A table of what count_instructions.py has counted: a row for each function, a column for each dtype and scale."""
    rows = [row for row in run["instructions"] if "function" in row]
    found = {(row["function"], row["dtype"], row["scale"]): row for row in rows}
    columns = list(dict.fromkeys((row["dtype"], row["scale"]) for row in rows))
    lines = [f"## aarch64, {day}", "", "Instructions of an element in an emulator, where time says nothing: with NEON"]
    lines += [f"and, in brackets, in portable C. {run['compiler']}. Data:"]
    lines += [f"`docs/speed/{day}-{AARCH64}.json`, by `python tools/count_instructions.py`.", ""]
    lines += ["| function | " + " | ".join(f"{dtype}, {scale}*randn" for dtype, scale in columns) + " |"]
    lines += ["|---" * (len(columns) + 1) + "|"]
    for function in FUNCTIONS:
        cells = (found[function, *column] for column in columns)
        lines.append(f"| {function} | " + " | ".join(f"{row['neon']} ({row['portable']})" for row in cells) + " |")
    return [*lines, ""]


def page() -> str:
    lines = [INTRODUCTION]
    for level in sorted(TITLES, reverse=True):
        for day, run in timings(level):
            lines += [f"## {TITLES[level]}, {day}", "", f"{run['machine']['cpu']}; torch {run['versions']['torch']}."]
            lines[-1] += f" Data: `docs/speed/{day}-{level}.json`."
            lines.append("")
            for dtype in ("float32", "float64", "float16", "bfloat16"):
                lines += [*ratios(run, dtype), ""]
    for day, run in timings(AARCH64)[:1]:
        lines += instructions(run, day)
    for day, run in timings(PEERS)[:1]:
        lines += section(run, day, VARIES)
    return "\n".join(lines)


def timings(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Day and content of the files, the last one first."""
    paths = sorted(RUNS.glob(f"*-{name}.json"), reverse=True)
    return [(path.stem[:10], json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def files() -> dict[Path, str]:
    """What is written, by path."""
    drawn = {name: text for _, run in timings(PEERS)[:1] for name, text in plots(run).items()}
    return {PAGE: page(), **{RUNS / f"{name}.svg": text for name, text in drawn.items()}}


def main(arguments: list[str]) -> None:
    if "--measure" in arguments:
        if "peers" not in arguments:
            measure_torch()
        if "torch" not in arguments:
            measure_peers()
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
