"""Write the published matrix: every implementation measured, in every dtype, forward and backward.

    python tools/make_matrix.py --measure       measure everything that is installed here, at every instruction-set
                                                level of this processor; keep that run in data/runs/, remove the
                                                others; write docs/matrix.md
    python tools/make_matrix.py RUN [RUN ...]   keep stored runs in data/runs/, remove the others; write docs/matrix.md
    python tools/make_matrix.py --add ...       the same, but the others stay
    python tools/make_matrix.py                 write docs/matrix.md from what data/runs/ holds
    python tools/make_matrix.py --check         exit with 1 if that would change it

A run is the folder that `gelu-verify run --all --isa all --no-throughput --out RUN` leaves, which is what `--measure`
runs; an implementation at an instruction-set level (`torch.gelu@avx2`) has a row of its own. Of several, a later
one replaces the results of the same target in an earlier one. It is kept condensed (docs/json.md): buckets and
findings stay in RUN, and `repeat` makes them again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gelu_verify.formats import DTYPES
from gelu_verify.functions import get_function
from gelu_verify.isa import split_level
from gelu_verify.records.claims import claim_text
from gelu_verify.records.grades import MARKS, MARKS_SAY
from gelu_verify.records.result import Record
from gelu_verify.report.text import ulp_text
from gelu_verify.runs.committed import commit, matrix_runs
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import Run, read_run

ROOT = Path(__file__).parents[1]
RUNS, PAGE = ROOT / "data" / "runs", ROOT / "docs" / "matrix.md"
COMMAND = "python tools/make_matrix.py"
FUNCTIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
MEASURE = (
    *("gelu-verify", "run", "--all", "--isa", "all", "--no-throughput"),
    *(word for name in FUNCTIONS for each in (name, f"{name}_grad") for word in ("--function", each)),
)
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

Cells = Mapping[str, Record]  # by dtype


def keep(paths: Sequence[Path], add: bool) -> None:
    """Condensed copies of stored runs in data/runs/; without `add` they replace those that are there."""
    runs = [_without_repetitions(verified(read_run(path))) for path in paths]
    if not add:
        for run in matrix_runs(RUNS):
            shutil.rmtree(run.path)
    for run in runs:
        commit(run, RUNS, matrix=True)


def _without_repetitions(run: Run) -> Run:
    """The run without results at an instruction-set level that are those of the library's own choice."""
    of = {(each.target, each.function, each.dtype): each for each in run.results}

    def repeats(record: Record) -> bool:
        first = of.get((split_level(record.target)[0], record.function, record.dtype))
        if first in (None, record) or record.pair is None or not record.pair.alike or record.pair.first != first.target:
            return False
        return (record.grade, record.checks) == (first.grade, first.checks)

    return replace(run, results=[record for record in run.results if not repeats(record)])


def measure(root: Path) -> Path:
    """The folder of a new run of everything that is installed here; a crash of an implementation is a result."""
    done = subprocess.run([*MEASURE, "--out", str(root / "run")], check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.returncode)
    return root / "run"


def records(runs: Iterable[Run]) -> list[Record]:
    """Of each target what the newest run that measured it found, of runs with the newest first."""
    found: list[Record] = []
    for run in runs:
        targets = {split_level(record.target)[0] for record in found}  # at a level too: a repetition is not kept
        found += [record for record in run.results if split_level(record.target)[0] not in targets]
    return sorted(found, key=lambda record: (split_level(record.target), record.function, record.dtype))


def page() -> str:
    """docs/matrix.md as the runs in data/runs/ have it."""
    runs = matrix_runs(RUNS)
    found = records(runs)
    parts = [_head(found, runs[::-1]), _changes(runs)]
    for name in (each for function in FUNCTIONS for each in (function, f"{function}_grad")):
        parts.append(_table(name, [record for record in found if record.function == name]))
    return "\n".join((*parts, _left_out(runs[::-1])))


def _head(records: list[Record], runs: list[Run]) -> str:
    versions = {name: version for run in runs for name, version in run.manifest["versions"].items()}
    implementations = len({record.target for record in records})
    newest = runs[-1].manifest
    machine, places = newest["machine"], [run.path.relative_to(ROOT) for run in runs]
    named = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(_command(run) for run in runs))
    files = " and ".join(f"`{place}/manifest.json`" for place in places)
    return f"""<!-- Generated by `{COMMAND}` from {", ".join(map(str, places))}; do not edit. -->
# The matrix

Grade and largest error in ULP of {implementations} implementations, {len(records)} results. The grades are those of
docs/grades.md; `x >= -1.3` means accurate (within 4 ULP) there. {MARKS["="]}: {MARKS_SAY["="]};
{MARKS[">="]}: {MARKS_SAY[">="]}. `=`: the largest error of all inputs; `>=`: the largest found in a sample.
"n lost": so many finite inputs give NaN or infinity where the result is finite; they do not count in the maximum.
A failed check is followed by the dtypes that fail it; `gelu-verify run NAME` shows the
input and the reason. Names that begin with `published.` are re-implementations of published formulas in C: they measure
the formula with its constants and roundings, not the library. A name that ends in `@avx2` is that of a
library limited to that instruction-set level by its own switches (docs/isa.md); it has a row where a result differs
from that of the library's own choice in a bit, the grade or a check. Every row, with its worst input,
regions and the command that repeats it: {files}.

Measured {newest["created"][:10]} by {commands}
on {machine["cpu"]} ({", ".join(machine["isa"])}), {machine["libm"]}, Python {machine["python"]};
{named}.
"""


def _command(run: Run) -> str:
    return str(run.manifest["command"]).partition(" --out")[0]


def _table(name: str, records: list[Record]) -> str:
    targets = dict.fromkeys(record.target for record in records)
    lines = [
        f"## {name}\n\n`{get_function(name).formula}`\n",
        "| implementation | " + " | ".join(DTYPES) + " | failed checks |",
        "|---|" + "---|" * (len(DTYPES) + 1),
    ]
    for target in targets:
        of = {record.dtype: record for record in records if record.target == target}
        cells = [cell(of[dtype]) if dtype in of else "" for dtype in DTYPES]
        lines.append(f"| `{target}` | " + " | ".join(cells) + f" | {_failed(of)} |")
    return "\n".join(lines) + "\n"


def cell(record: Record) -> str:
    return ", ".join(filter(None, (grade(record), error(record))))


def grade(record: Record) -> str:
    """The grade, or the range that it is of, with the mark of what it stands on."""
    if record.grade is None:
        return ""
    return f"**{claim_text(record)}**" if record.grade == "broken" else claim_text(record)


def error(record: Record) -> str:
    if record.failure and record.max_ulp is None:
        return "failed"
    lost = f", {record.nonfinite.count} lost" if record.nonfinite and record.nonfinite.count else ""
    return ("" if record.max_ulp is None else record.bound + ulp_text(record.max_ulp, record.bound)) + lost


def _changes(runs: Sequence[Run]) -> str:
    """What the newest run found otherwise than the ones before, the newest first; one of new results alone is none."""
    for at, newest in enumerate(runs):
        before = {record.key: record for run in runs[:at:-1] for record in run.results}
        if any(record.key in before for record in newest.results):
            break
    else:
        return ""
    lines = [
        f"## What changed since {runs[at + 1].manifest['created'][:10]}\n",
        f"Then on {_processor(runs[at + 1])}, now on {_processor(newest)}. "
        "Listed are errors that changed by a tenth or",
        "more, and results of which another number of inputs is lost.\n",
        "| implementation | function | dtype | then | now |",
        "|---|---|---|---|---|",
    ]
    for now in sorted(newest.results, key=lambda record: (record.function, record.target, record.dtype)):
        then = before.get(now.key)
        if then is not None and _differ(then, now):
            version = "" if then.version == now.version else f" ({then.version})"
            cells = (f"`{now.target}`", now.function, now.dtype, error(then) + version, cell(now))
            lines.append("| " + " | ".join(cells) + " |")
    same = sum(record.key in before for record in newest.results) - (len(lines) - 5)
    return "\n".join([*lines, "", f"The other {same} results that both have are the same within a tenth."]) + "\n"


def _differ(then: Record, now: Record) -> bool:
    counts = [record.nonfinite.count if record.nonfinite else 0 for record in (then, now)]
    errors = [record.max_ulp or 0.0 for record in (then, now)]
    return counts[0] != counts[1] or max(errors) > 1.1 * min(errors) or bool(then.failure) != bool(now.failure)


def _processor(run: Run) -> str:
    machine = run.manifest["machine"]
    return f"{machine['cpu']} with {machine['isa'][-1]}" if machine["isa"] else str(machine["cpu"])


def _failed(of: Cells) -> str:
    """Every failed check once, with its dtypes unless all have it."""
    names = dict.fromkeys(name for record in of.values() for name in record.failed_checks)
    where = {name: [d for d in DTYPES if d in of and name in of[d].failed_checks] for name in names}
    return ", ".join(name if len(at) == len(of) else f"{name} ({_short(at)})" for name, at in where.items())


def _short(dtypes: Iterable[str]) -> str:
    return " ".join(dtype.replace("bfloat", "bf").replace("float", "f") for dtype in dtypes)


def _left_out(runs: list[Run]) -> str:
    absent = {family: why for run in runs for family, why in run.manifest["absent"].items()}
    lines = ["## Not in the matrix\n", *(f"- {what}: {why}." for what, why in LEFT_OUT)]
    lines += [f"- {family}: {why}." for family, why in sorted(absent.items())]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return int(PAGE.read_text(encoding="utf-8") != page())
    runs = [Path(argument) for argument in arguments if not argument.startswith("--")]
    with tempfile.TemporaryDirectory() as root:
        if "--measure" in arguments:
            runs.append(measure(Path(root)))
        if runs:
            keep(runs, "--add" in arguments)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
