"""Generate data/reference (every result of the 16-bit formats) and data/hard_cases, with data/manifest.json.

    python tools/make_tables.py --function mish --function mish_grad    # one function, or some
    python tools/make_tables.py --dtype float64 --function gelu         # its hard cases in float64
    python tools/make_tables.py                                         # all
    python tools/make_tables.py --check                                 # compare the files with the manifest

The tables come from proved enclosures of the oracle alone. Hard cases are the places where rounding is delicate, the
hardest of data/hardest (tools/make_hardest.py), and, where that does not have every input, the hardest of seeded random
inputs; their results come from the oracle again. A function of another distribution gets its files too, where --data
says.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import platform
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from gelu_verify.errors import MissingMeasurement
from gelu_verify.formats import DTYPES, FORMATS, Format, from_ordinals, to_float64
from gelu_verify.functions import FUNCTIONS, Function, get_function
from gelu_verify.truth.hardest import Hardest, hardest
from gelu_verify.truth.oracle import round_exactly
from gelu_verify.truth.values import judge, zero_threshold

DATA = Path(__file__).parents[1] / "data"
COMMAND = "python tools/make_tables.py"
SEED = 20261121
RANDOM = 1 << 21  # random inputs of a function and dtype
KEPT = 48  # of these, those whose exact value lies closest to a rounding boundary
FAR = 0.125  # of an ulp: what is no closer is not hard, as every input where f is a number of the format
SMALL = 2.0**-20  # |x| below it gives no known hard case of float64: f is x/2 and a short polynomial there
STRUCTURAL = 2.0**-30  # closer than chance allows: x/2 or 1 with a tiny rest, which `delicate` covers
FOLDERS = ("reference", "hard_cases", "hardest")
Row = tuple[int, str]


def make_table(data: Path, name: str, dtype: str) -> None:
    """data/reference/<name>/<dtype>.npy: results, by input bits."""
    function, fmt = FUNCTIONS[name], FORMATS[dtype]
    results = [round_exactly(function, fmt, bits) for bits in range(1 << fmt.width)]
    path = data / "reference" / name / f"{dtype}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, np.array(results, fmt.uint))


def make_hard_cases(data: Path, name: str, dtype: str) -> str:
    """data/hard_cases/<name>-<dtype>.csv; which inputs were looked at."""
    function, fmt = FUNCTIONS[name], FORMATS[dtype]
    cases: dict[int, str] = {}
    known = hardest_of(function, fmt)
    has_all = known is not None and not known.intervals
    found = () if has_all else searched(function, fmt)
    for ordinal, kind in (*delicate(function, fmt), *(known_rows(fmt, known) if known else ()), *found):
        cases.setdefault(fmt.from_ordinal(ordinal), kind)
    path = data / "hard_cases" / f"{name}-{dtype}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["x_bits", "y_bits", "kind"])
        for bits in sorted(cases, key=fmt.ordinal):
            rows.writerow([fmt.bits_text(bits), fmt.bits_text(round_exactly(function, fmt, bits)), cases[bits]])
    return "every input" if has_all else f"{RANDOM:,} random inputs"


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


def hardest_of(function: Function, fmt: Format) -> Hardest | None:
    """The table in data/hardest; None without one."""
    try:
        return hardest(function.name, fmt.name)
    except MissingMeasurement:
        return None


def known_rows(fmt: Format, known: Hardest) -> Iterator[Row]:
    """The hardest inputs of the table, of either kind."""
    here = np.abs(to_float64(fmt, known.x_bits)) >= (SMALL if known.intervals else 0.0)
    for is_midpoint, kind in ((True, "close to a midpoint"), (False, "close to a number")):
        x, offset = (column[here & (known.is_midpoint == is_midpoint)] for column in (known.x_bits, known.offset))
        for i in np.argsort(np.abs(offset), kind="stable")[:KEPT]:
            yield fmt.ordinal(int(x[i])), kind


def searched(function: Function, fmt: Format) -> Iterator[Row]:
    """Of random inputs, those whose exact value lies closest to a midpoint or to a number of the format."""
    rng = np.random.default_rng([SEED, len(function.name), sum(map(ord, function.name)), fmt.width])
    low, high = (fmt.ordinal(fmt.parse(text)) for text in ("-110", "20"))
    x = from_ordinals(fmt, np.unique(rng.integers(low, high, RANDOM)))
    own = _errors(function, fmt, x)
    for distance, kind in ((0.5 - own, "close to a midpoint"), (own, "close to a number")):
        distance = np.where((distance < STRUCTURAL) | (distance > FAR), np.inf, distance)
        for i in np.argsort(distance, kind="stable")[:KEPT]:
            if np.isfinite(distance[i]):
                yield fmt.ordinal(int(x[i])), kind


def _errors(function: Function, fmt: Format, x: np.ndarray) -> np.ndarray:
    """|E| of the correctly rounded results: how far the exact values are from numbers of the format."""
    want = judge(function.name, fmt.name, x, x).want_bits
    return np.abs(judge(function.name, fmt.name, x, want).error)


# ---- the manifest --------------------------------------------------------------------------------


def manifest(data: Path) -> dict[str, Any]:
    """What data/manifest.json says: command, versions, the hash of each file."""
    files = sorted(p for folder in FOLDERS for p in (data / folder).rglob("*") if p.is_file())
    return {
        "generated_by": COMMAND,
        "seed": SEED,
        "versions": {"python": platform.python_version(), "mpmath": mpmath.__version__, "numpy": np.__version__},
        "sha256": {str(p.relative_to(data)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files},
    }


def stored(data: Path) -> dict[str, Any]:
    """The manifest that is there."""
    path = data / "manifest.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"sha256": {}}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--function", action="append", metavar="NAME", help="a function; may be repeated (default: all)")
    words.add_argument("--dtype", action="append", choices=DTYPES, help="a dtype; may be repeated (default: all)")
    words.add_argument(
        "--missing", action="store_true", help="make only the files that are not there: go on after Ctrl-C"
    )
    words.add_argument("--data", type=Path, default=DATA, help="the folder (default: data/ of this checkout)")
    words.add_argument("--check", action="store_true", help="compare the files with the manifest, write nothing")
    asked = words.parse_args()
    before = stored(asked.data)
    if asked.check:
        same = manifest(asked.data)["sha256"] == before["sha256"]
        sys.exit(None if same else f"{asked.data} differs from its manifest.json")
    for name in [get_function(name).name for name in asked.function or FUNCTIONS]:
        for dtype in asked.dtype or DTYPES:
            key = f"reference/{name}/{dtype}.npy" if FORMATS[dtype].width == 16 else f"hard_cases/{name}-{dtype}.csv"
            if asked.missing and (asked.data / key).exists():
                continue
            start = time.perf_counter()
            if FORMATS[dtype].width == 16:
                make_table(asked.data, name, dtype)
                note = "65,536 results"
            else:
                note = "of " + make_hard_cases(asked.data, name, dtype)
            print(f"{key}: {note}, {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
            written = json.dumps(manifest(asked.data), indent=1) + "\n"
            (asked.data / "manifest.json").write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
