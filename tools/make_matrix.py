"""Write the published matrix: every implementation measured, in every dtype, forward and backward.

    python tools/make_matrix.py RUN [RUN ...]   take the results of stored runs into data/runs/; write docs/matrix.md
    python tools/make_matrix.py --add RUN ...   the same, but the newest record keeps what those runs did not measure
    python tools/make_matrix.py                 write docs/matrix.md from what data/runs/ holds
    python tools/make_matrix.py --check         exit with 1 if that would change it

A run is the folder that `gelu-verify run --all --no-throughput --out RUN` leaves; of several, a later one replaces the
results of an earlier one. What is kept is small enough to be committed: one row for each result (matrix.csv) and what
the runs say of themselves (provenance.json); buckets and findings stay in the run, and `repeat` makes them again.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gelu_verify.formats import DTYPES
from gelu_verify.functions import get_function
from gelu_verify.report.text import ulp_text
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import read_run

ROOT = Path(__file__).parents[1]
RUNS, PAGE = ROOT / "data" / "runs", ROOT / "docs" / "matrix.md"
COMMAND = "python tools/make_matrix.py"
FUNCTIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
REGIONS = ("(-inf,-8)", "[-8,-5)", "[-5,-3)", "[-3,-1)", "[-1,0)", "[0,1)", "[1,inf)")
TOLD = ("target", "function", "dtype", "form", "note", "version", "n", "bound", "max_ulp")
WITNESS = ("x_bits", "got_bits", "want_bits")
COLUMNS = (*TOLD, *WITNESS, "nonfinite", "zero_from", *REGIONS, "failed_checks", "failure", "repeat")
FACTS = ("command", "created", "seed", "plan", "versions", "machine", "git", "absent")
LEFT_OUT = (  # what the matrix has no row for, and why
    (
        "PyTorch MPS, MLX on Metal, Core ML, BNNS",
        "need Apple hardware; their formulas are in the matrix",
    ),
    (
        "PyTorch, JAX, ONNX Runtime, MIGraphX, Paddle, candle on GPUs",
        "need a GPU, for CUDA's and HIP's erf, tanh and exp",
    ),
    ("tanh.approx.f32 and .f16 (CUTLASS, FasterTransformer, Paddle)", "an instruction that only NVIDIA GPUs have"),
    (
        "FasterTransformer's and TensorRT's plugins, TensorRT kGELU",
        "not published, or as above; the formula is in the matrix",
    ),
    (
        "oneDNN on SVE and RVV, gelu_tanh by its JIT's tanh table",
        "need another machine; openvino.gelu_tanh runs the table",
    ),
    ("DirectML, WebNN, Core ML", "publish a formula but no arithmetic: measured with ours"),
    ("ExecuTorch Vulkan, OpenCV, MLC, ggml SYCL and Metal", "shaders: tanh and exp depend on the driver"),
    ("Tenstorrent bfloat16 since 2026", "uses exp_21f of the SFPU, whose arithmetic is not IEEE 754's"),
)

Row = dict[str, str]


def row(record: dict[str, Any]) -> Row:
    """One result as text, nothing where there is nothing to say."""
    regions = {region["region"]: region["max_ulp"] for region in record["regions"] or ()}
    failed = [name for name, verdict in record["checks"].items() if verdict == "fail"]
    cells = {
        **{name: record[name] for name in (*TOLD, "failure", "repeat")},
        **(record["witness"] or {}),
        "nonfinite": (record["nonfinite"] or {}).get("count"),
        "zero_from": (record["zero_from"] or {}).get("x"),
        "failed_checks": " ".join(failed),
        **{name: regions.get(name) for name in REGIONS},
    }
    return {name: "" if cells.get(name) is None else str(cells[name]) for name in COLUMNS}


def recorded(place: Path) -> tuple[list[Row], list[dict[str, Any]]]:
    """The rows of a record, and what the runs that it was made of say of themselves."""
    with (place / "matrix.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads((place / "provenance.json").read_text(encoding="utf-8"))["runs"]


def record_runs(paths: Sequence[Path], rows: Iterable[Row] = (), told: Iterable[dict[str, Any]] = ()) -> None:
    """Keep the results of those runs, in a folder named by the day of the last.

    `rows` and `told` are of a record that stays, but for the targets that those runs have measured.
    """
    runs = [verified(read_run(path)) for path in paths]
    measured = {r["target"] for run in runs for r in run.results}
    kept = {(r["target"], r["function"], r["dtype"]): r for r in rows if r["target"] not in measured}
    kept |= {(r["target"], r["function"], r["dtype"]): row(r) for run in runs for r in run.results}
    place = RUNS / f"zoo-{runs[-1].manifest['created'][:10]}"
    place.mkdir(parents=True, exist_ok=True)
    with (place / "matrix.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(kept[key] for key in sorted(kept))
    facts_of_runs = [{key: run.manifest[key] for key in FACTS} for run in runs]
    for each in facts_of_runs:
        each["command"] = each["command"].partition(" --out")[0]
    facts = {"generated": f"{COMMAND} RUN ...", "runs": [*told, *facts_of_runs]}
    (place / "provenance.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def newest() -> Path:
    return max(RUNS.glob("zoo-*"))


def page() -> str:
    """docs/matrix.md as the newest record has it."""
    place = newest()
    rows, runs = recorded(place)
    parts = [_head(rows, runs, place)]
    for name in (each for function in FUNCTIONS for each in (function, f"{function}_grad")):
        parts.append(_table(name, [r for r in rows if r["function"] == name]))
    return "\n".join((*parts, _left_out(runs)))


def _head(rows: list[Row], runs: list[dict[str, Any]], place: Path) -> str:
    versions = {name: version for run in runs for name, version in run["versions"].items()}
    implementations = len({row["target"] for row in rows})
    machine, where = runs[-1]["machine"], place.relative_to(ROOT)
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(run["command"] for run in runs))
    return f"""<!-- Generated by `{COMMAND}` from {where}; do not edit. -->
# The matrix

Largest error in ULP of {implementations} implementations, {len(rows)} results. `=`: every input was tried; `>=`: the
largest error found in a sample. "n lost": so many finite inputs give NaN or infinity where the result is finite; they
do not count in the maximum. A failed check is followed by the dtypes that fail it; `gelu-verify run NAME` shows the
input and the reason. Names that begin with `published.` are re-implementations of published formulas in C: they measure
the formula with its constants and roundings, not the library. `{where}/matrix.csv` has every row with its
worst input, regions and the command that repeats it.

Measured {runs[-1]["created"][:10]} by {commands}
on {machine["cpu"]} ({", ".join(machine["isa"])}), {machine["libm"]}, Python {machine["python"]};
{named}.
"""


def _table(name: str, rows: list[Row]) -> str:
    targets = sorted({r["target"] for r in rows})
    lines = [
        f"## {name}\n\n`{get_function(name).formula}`\n",
        "| implementation | " + " | ".join(DTYPES) + " | failed checks |",
        "|---|" + "---|" * (len(DTYPES) + 1),
    ]
    for target in targets:
        of = {r["dtype"]: r for r in rows if r["target"] == target}
        cells = [_cell(of.get(dtype)) for dtype in DTYPES]
        lines.append(f"| `{target}` | " + " | ".join(cells) + f" | {_failed(of)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row["failure"]:
        return "raised"
    lost = f", {row['nonfinite']} lost" if row["nonfinite"] not in ("", "0") else ""
    return (row["bound"] + ulp_text(float(row["max_ulp"]), row["bound"]) if row["max_ulp"] else "") + lost


def _failed(of: dict[str, Row]) -> str:
    """Every failed check once, with its dtypes unless all have it."""
    failed = {dtype: row["failed_checks"].split() for dtype, row in of.items()}
    where = {name: [d for d in DTYPES if name in failed.get(d, ())] for names in failed.values() for name in names}
    return ", ".join(name if len(at) == len(of) else f"{name} ({_short(at)})" for name, at in where.items())


def _short(dtypes: Iterable[str]) -> str:
    return " ".join(dtype.replace("bfloat", "bf").replace("float", "f") for dtype in dtypes)


def _left_out(runs: list[dict[str, Any]]) -> str:
    absent = {family: why for run in runs for family, why in run["absent"].items()}
    lines = ["## Not in the matrix\n", *(f"- {what}: {why}." for what, why in LEFT_OUT)]
    lines += [f"- {family}: {why}." for family, why in sorted(absent.items())]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return int(PAGE.read_text(encoding="utf-8") != page())
    runs = [Path(argument) for argument in arguments if argument != "--add"]
    if "--add" in arguments:
        record_runs(runs, *recorded(newest()))
    elif runs:
        record_runs(runs)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
