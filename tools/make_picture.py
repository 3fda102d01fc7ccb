"""Write the picture and the table of README.md: python tools/make_picture.py [RUN...]

With stored runs (`gelu-verify run ... --out RUN`), what they say of the calls below is first kept in docs/errors.json:
the largest error in each eighth of x in float32, and where each call is accurate. The picture, docs/errors.svg, and
the table are made from that file, so that they can be tested without the libraries.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gelu_verify.formats import DTYPES, get_format, to_float64
from gelu_verify.records.claims import claim_text
from gelu_verify.records.result import Record
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import Run, read_run
from gelu_verify.show.chart import MINUS, Axis, Chart, Curve, Note, ReferenceLine, octaves
from gelu_verify.show.drawing import svg

ROOT = Path(__file__).parents[1]
KEPT, PICTURE, README = ROOT / "docs" / "errors.json", ROOT / "docs" / "errors.svg", ROOT / "README.md"
START, END = "<!-- calls: written by `python tools/make_picture.py` -->", "<!-- end of calls -->"
NOTE = "Written by `python tools/make_picture.py`; do not edit."

CALLS = {  # what users write, by the name of the result
    "torch.gelu": "torch.nn.functional.gelu(x)",
    "jax.gelu_tanh": "jax.nn.gelu(x)",
    "onnxruntime.gelu": "onnxruntime: Gelu(x)",
    "kernels.gelu_cr": "gelu_verify.gelu(x)",
}
CURVES = {  # the exact function only; by the name of the result
    "torch.gelu": "torch",
    "jax.gelu": "jax, approximate=False",
    "onnxruntime.gelu": "onnxruntime",
    "kernels.gelu_cr": "gelu_verify",
}
DRAWN = "float32"
LOW, HIGH, PER_UNIT = -15, 5, 8  # x from -15 to 5, in bins of 1/8
OCTAVES = (-3, 26)


# ---- what is kept of stored runs -----------------------------------------------------------------


def kept(runs: Sequence[Run]) -> dict[str, Any]:
    """What the picture and the table need of these runs; the first one that has a result counts."""
    calls: dict[str, dict[str, str]] = {name: {} for name in CALLS}
    curves: dict[str, list[float | None]] = {}
    versions: dict[str, str] = {}
    for run in runs:
        for index, record in enumerate(run.results):
            versions |= {
                name: version.partition("+")[0]
                for name, version in run.manifest["versions"].items()
                if name == record.family
            }
            if record.target in CALLS and record.dtype not in calls[record.target]:
                calls[record.target][record.dtype] = verdict(record)
            if record.target in CURVES and record.dtype == DRAWN and record.target not in curves:
                curves[record.target] = largest(run, index)
    missing = [name for name in CURVES if name not in curves] + [name for name in CALLS if not calls[name]]
    if missing:
        raise SystemExit(f"not in these runs: {', '.join(missing)}")
    machine = sorted({f"{run.manifest['machine']['cpu']}, {_level(run)}" for run in runs})
    return {"machine": machine, "versions": versions, "calls": calls, "curves": {n: curves[n] for n in CURVES}}


def _level(run: Run) -> str:
    return "AVX-512" if "avx512f" in run.manifest["machine"]["isa"] else "AVX2"


def verdict(record: Record) -> str:
    """The claim of a result, with its mark: where it is accurate, or its grade."""
    text = claim_text(record)
    return re.sub(r"(but for) [\d,]+ inputs?", r"\1 a few", text.replace(" on a range", ""))


def largest(run: Run, index: int) -> list[float | None]:
    """The largest error in ULP of the inputs tried in each bin of x; None where an output is not a number."""
    table = run.table(index, ["n", "max_error", "max_error_x", "nonfinite"])
    fmt = get_format(DRAWN)
    tried = table[table["n"] > 0]
    x = to_float64(fmt, tried["max_error_x"].to_numpy().astype(fmt.uint))
    place = np.floor(x * PER_UNIT) - LOW * PER_UNIT  # a tiny negative number is left of 0
    inside = (place >= 0) & (place < (HIGH - LOW) * PER_UNIT)
    found = np.full((HIGH - LOW) * PER_UNIT, np.nan)
    np.fmax.at(found, place[inside].astype(int), tried["max_error"].to_numpy()[inside])
    return [None if math.isnan(error) else float(f"{error:.4g}") for error in found.tolist()]


# ---- the picture ---------------------------------------------------------------------------------


def picture(data: Mapping[str, Any]) -> str:
    """Curves of the largest error, with a dash pattern each."""
    middle = [LOW + (k + 0.5) / PER_UNIT for k in range((HIGH - LOW) * PER_UNIT)]
    curves = [
        Curve(
            label=label,
            colour=colour,
            points=[
                (x, math.nan if error is None else error) for x, error in zip(middle, data["curves"][name], strict=True)
            ],
        )
        for colour, (name, label) in enumerate(CURVES.items())
    ]
    chart = Chart(
        title="GELU in float32: largest error found",
        name="Largest error in ULP over x of the float32 GELU of torch, jax, onnxruntime and gelu_verify",
        x=Axis((LOW, HIGH), [(x, str(x).replace("-", MINUS)) for x in range(-14, 5, 2)], "x"),
        y=octaves(OCTAVES, "error, units in the last place (ULP)", 8),
        curves=curves,
        rules=[ReferenceLine(4, label="4 ULP: accurate below this line")],
        labels=[
            Note(82, 34, "2²⁴ ULP: every digit is lost, the result is 0"),
            Note(96, 282, "0.5 ULP: correctly rounded"),
            Note(378, 60, "jax returns 0 for\nresults below\n1.2e-38", (368, 56)),
        ],
        width=480,
        height=320,
        left=44,
    )
    return str(svg(chart, alone=True, scale=1.5, note=NOTE))


# ---- the table -----------------------------------------------------------------------------------


def table(data: Mapping[str, Any]) -> str:
    """A row for each call, a column for each dtype."""
    rows = [
        f"| `{text}` | " + " | ".join(data["calls"][name].get(dtype, "-") for dtype in DTYPES) + " |"
        for name, text in CALLS.items()
    ]
    head = [f"| call | {' | '.join(DTYPES)} |", "|---|" + "---|" * len(DTYPES)]
    return "\n".join([*head, *rows])


def readme(data: Mapping[str, Any], text: str) -> str:
    """README.md with its table."""
    before, _, rest = text.partition(START)
    return f"{before}{START}\n{table(data)}\n{END}{rest.partition(END)[2]}"


def files() -> dict[Path, str]:
    """The picture and README.md, as docs/errors.json says."""
    data = json.loads(KEPT.read_text(encoding="utf-8"))
    return {PICTURE: picture(data), README: readme(data, README.read_text(encoding="utf-8"))}


def main(arguments: Sequence[str]) -> None:
    if arguments:
        data = kept([verified(read_run(path)) for path in arguments])
        KEPT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
