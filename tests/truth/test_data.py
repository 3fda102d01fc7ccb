"""The shipped tables have tests of their own: checksums, provenance, and answers computed anew."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from arb import ARB, arb_round
from marking import CORE, nightly
from repository import ROOT

from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.hard_cases import hard_cases
from gelu_verify.paths import resource
from gelu_verify.truth import correctly_rounded
from gelu_verify.truth.oracle import judge_exactly, round_exactly
from gelu_verify.truth.values import judge, reference_bits

DATA = resource("data")
# Of every function that has them; those with kernels must have tables, those with a native core hard cases.
TABLES = [(path.parent.name, path.stem) for path in sorted((DATA / "reference").glob("*/*.npy"))]
CASES = [tuple(path.stem.split("-")) for path in sorted((DATA / "hard_cases").glob("*.csv"))]


def test_every_file_is_the_one_that_was_generated():
    manifest = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
    assert (ROOT / manifest["generated_by"].split()[1]).exists()
    assert set(manifest["versions"]) == {"python", "mpmath", "numpy"}
    found = [p for folder in ("reference", "hard_cases", "hardest") for p in (DATA / folder).rglob("*") if p.is_file()]
    sums = {str(p.relative_to(DATA)): hashlib.sha256(p.read_bytes()).hexdigest() for p in found}
    assert sums == manifest["sha256"]
    assert len(sums) == len(TABLES) + len(CASES) + len(list((DATA / "hardest").iterdir()))
    assert {(name, dtype) for name in correctly_rounded.FUNCTIONS for dtype in ("float16", "bfloat16")} <= set(TABLES)
    own = {name for name, function in FUNCTIONS.items() if function.owner == "gelu-verify"}
    assert {(name, dtype) for name in own for dtype in ("float32", "float64")} == set(CASES)


@pytest.mark.few(9)
@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.prove)])
@pytest.mark.parametrize(("name", "dtype"), TABLES)
def test_tables_are_whole_and_arb_agrees_with_their_results(name, dtype, stride):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    table = np.load(DATA / "reference" / name / f"{dtype}.npy")
    assert (table.dtype, table.shape) == (np.uint16, (1 << 16,))
    inputs = [x for x in range(0, 1 << 16, stride) if fmt.is_finite(x) and fmt.magnitude(x)]
    witness = arb_round if name in ARB else round_exactly
    assert [fmt.bits_text(x) for x in inputs if table[x] != witness(function, fmt, x)] == []
    for x in (0, fmt.sign_mask, fmt.infinity, fmt.infinity | fmt.sign_mask, fmt.nan):
        assert table[x] == function.limit_bits(fmt, x)


@pytest.mark.few(9)
@pytest.mark.parametrize(
    ("name", "dtype"),
    [*(case for case in CASES if case[0] in CORE), *nightly(*(case for case in CASES if case[0] not in CORE))],
)
def test_hard_cases_are_answered_right_by_every_path(name, dtype):
    fmt, function = FORMATS[dtype], FUNCTIONS[name]
    cases = hard_cases(name, dtype)
    x = np.array([case[0] for case in cases], fmt.uint)
    assert reference_bits(name, dtype, x).tolist() == [case[1] for case in cases]
    for bits, y, kind in cases:
        assert round_exactly(function, fmt, bits) == y
        if fmt.is_finite(bits) and fmt.magnitude(bits) and not function.is_stated(fmt, bits) and name in ARB:
            found = arb_round(function, fmt, bits)
            assert found == y or fmt.magnitude(found) == fmt.magnitude(y) == 0  # Arb has one zero
        for got in {y, fmt.from_ordinal(fmt.ordinal(y) + 1)} if kind == "close to a number" else ():
            judged = judge(name, dtype, np.array([bits], fmt.uint), np.array([got], fmt.uint))
            _, error, faithful = judge_exactly(function, fmt, bits, got)
            assert judged.faithful[0] == faithful
            assert judged.error[0] == pytest.approx(error, rel=1e-9, abs=2.0**-16, nan_ok=True)
    kinds = {kind for *_, kind in cases}
    assert "power of two" in kinds
    if not kinds & {"close to a midpoint", "close to a number"}:  # pieces that are exact, or constants
        finite = [case for case in cases if fmt.is_finite(case.x_bits) and fmt.is_finite(case.y_bits)]
        errors = {abs(judge_exactly(function, fmt, x, y)[1]) for x, y, _ in finite}
        assert all(error < 2.0**-30 or 0.125 < error < 0.375 for error in errors)


@pytest.mark.parametrize("script", ["make_core_tables.py", "make_enclosure_tables.py"])
def test_generated_sources_are_what_their_script_generates(script):
    done = subprocess.run([sys.executable, str(ROOT / "tools" / script), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
