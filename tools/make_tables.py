"""Generate data/reference (every answer of the 16-bit formats) and data/hard_cases, with data/manifest.json.

Run from the top of the checkout: python tools/make_tables.py [--check]

Tables come from the oracle alone. Hard cases are found with the native core among seeded random
inputs and in the places where rounding is delicate; their answers come from the oracle again.
`--check` recomputes nothing: it compares the files with the manifest.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np

from gelu_verify.formats import FORMATS, Format, from_ordinals
from gelu_verify.functions import FUNCTIONS, Function
from gelu_verify.truth.oracle import round_exactly
from gelu_verify.truth.values import judge, zero_threshold

DATA = Path(__file__).parents[1] / "data"
COMMAND = "python tools/make_tables.py"
SEED = 20261121
SEARCHED = {"float32": 1 << 21, "float64": 1 << 21}  # random inputs per function
KEPT = 48  # of these, those whose exact value lies closest to a rounding boundary
STRUCTURAL = 2.0**-30  # closer than chance allows: x/2 or 1 with a tiny rest, which `delicate` covers
Row = tuple[int, str]


def make_table(name: str, dtype: str) -> None:
    fmt = FORMATS[dtype]
    answers = [round_exactly(FUNCTIONS[name], fmt, bits) for bits in range(1 << fmt.width)]
    path = DATA / "reference" / name / f"{dtype}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.array(answers, fmt.uint))


def make_hard_cases(name: str, dtype: str) -> None:
    function, fmt = FUNCTIONS[name], FORMATS[dtype]
    cases: dict[int, str] = {}
    for ordinal, kind in (*delicate(function, fmt), *searched(function, fmt)):
        cases.setdefault(fmt.from_ordinal(ordinal), kind)
    path = DATA / "hard_cases" / f"{name}-{dtype}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["x_bits", "y_bits", "kind"])
        for bits in sorted(cases, key=fmt.ordinal):
            rows.writerow([fmt.bits_text(bits), fmt.bits_text(round_exactly(function, fmt, bits)), cases[bits]])


def delicate(function: Function, fmt: Format) -> Iterator[Row]:
    """Ties near zero, the edges of the format, landmarks, the threshold of zero: with their neighbours."""
    one = fmt.parse("1")
    for sign in (0, fmt.sign_mask):
        for bits in (0, 1, 2, 3, 5, (1 << fmt.precision - 1) - 1, 1 << fmt.precision - 1, (1 << fmt.precision) - 1):
            yield fmt.ordinal(bits | sign), "subnormal edge"
        for bits in (fmt.max_finite, fmt.infinity, one):
            yield fmt.ordinal(bits | sign), "edge of the format"
        for exponent in range(fmt.emin, 11, max(1, -fmt.emin // 24)):
            for step in (-1, 0, 1):
                yield fmt.ordinal(fmt.round((1, exponent)) | sign) + step, "power of two"
    for label, text in function.landmarks.items():
        for step in range(-2, 3):
            yield fmt.ordinal(fmt.round(Fraction(text))) + step, label
    threshold = zero_threshold(function.name, fmt.name)
    for step in range(-2, 4) if threshold is not None else ():
        yield fmt.ordinal(threshold) + step, "rounds to zero"


def searched(function: Function, fmt: Format) -> Iterator[Row]:
    """Of random inputs, those whose exact value lies closest to a midpoint or to a number of the format."""
    rng = np.random.default_rng([SEED, len(function.name), sum(map(ord, function.name)), fmt.width])
    low, high = (fmt.ordinal(fmt.parse(text)) for text in ("-110", "20"))
    x = from_ordinals(fmt, np.unique(rng.integers(low, high, SEARCHED[fmt.name])))
    want = judge(function.name, fmt.name, x, x).want_bits
    own = np.abs(judge(function.name, fmt.name, x, want).error)
    for distance, kind in ((0.5 - own, "close to a midpoint"), (own, "close to a number")):
        distance[distance < STRUCTURAL] = np.inf
        for i in np.argsort(distance, kind="stable")[:KEPT]:
            if np.isfinite(distance[i]):
                yield fmt.ordinal(int(x[i])), kind


def manifest() -> dict[str, object]:
    files = sorted(p for folder in ("reference", "hard_cases") for p in (DATA / folder).rglob("*") if p.is_file())
    return {
        "generated_by": COMMAND,
        "seed": SEED,
        "versions": {"python": platform.python_version(), "mpmath": mpmath.__version__, "numpy": np.__version__},
        "sha256": {str(p.relative_to(DATA)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }


def main() -> None:
    if "--check" in sys.argv:
        stored = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
        sys.exit(None if manifest()["sha256"] == stored["sha256"] else "data/ differs from data/manifest.json")
    jobs = [(make_table, n, d) for n in FUNCTIONS for d in ("float16", "bfloat16")]
    jobs += [(make_hard_cases, n, d) for n in FUNCTIONS for d in ("float32", "float64")]
    with ProcessPoolExecutor() as pool:
        for job in [pool.submit(*job) for job in jobs]:
            job.result()
    (DATA / "manifest.json").write_text(json.dumps(manifest(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
