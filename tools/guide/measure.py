"""What docs/guide.md shows of measurements that no committed run holds: errors along x, and the defaults of libraries.

`python tools/make_guide.py --measure` writes them to docs/guide/measured.json, with machine and versions.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from gelu_verify.buckets.bins import envelope
from gelu_verify.machine import machine
from gelu_verify.runs.store import read_run

from .defaults import defaults

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "guide" / "measured.json"
PER_BINADE = 8
NONE = -20.0  # no error that a drawing would show
COMMAND = (
    *("gelu-verify", "run"),
    *("kernels.gelu_cr", "kernels.gelu_erf", "kernels.gelu_erfc", "kernels.gelu_as7126"),
    *("kernels.gelu_erf-f32", "kernels.gelu_erfc-f32", "kernels.gelu_tanh_tanh", "kernels.gelu_tanh_sigmoid"),
    *("kernels.gelu_grad_erf", "kernels.gelu_grad_erfc", "published.ttnn-gelu_lut", "published.ttnn-gelu_chebyshev"),
    *("--dtype", "float32", "--dtype", "bfloat16", "--dtype", "float16", "--no-throughput", "--no-own"),
)


def measure() -> None:
    """Write docs/guide/measured.json: half a minute."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "run"
        done = subprocess.run([*COMMAND, "--out", str(folder)], check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.returncode)
        curves, manifest = dict(_curves(folder)), read_run(folder).manifest
    content = {
        "generated_by": "python tools/make_guide.py --measure",
        "measured": str(date.today()),
        "command": " ".join(COMMAND),
        "machine": {key: machine()[key] for key in ("cpu", "isa", "libm", "python")},
        "versions": manifest["versions"],
        "bins_per_binade": PER_BINADE,
        "curves": curves,
        "defaults": list(defaults()),
    }
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _curves(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """log2 of the largest error in ULP of each bin, rounded up to hundredths, and at least NONE."""
    run = read_run(folder)
    for place, record in enumerate(run.results):
        table = run.table(place, ["bucket", "max_error", "nonfinite"])
        peaks = envelope(table, record.dtype, PER_BINADE).max_error
        octaves = [max(math.ceil(100 * math.log2(e)) / 100, NONE) if e > 0 else NONE for e in peaks.tolist()]
        yield f"{record.target} {record.dtype}", {"bound": record.bound, "octaves": " ".join(map(str, octaves))}
