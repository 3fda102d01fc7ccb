"""Every clause of a sentence is true: read again, and held against all outputs of float16."""

import re
from dataclasses import replace

import numpy as np
import pytest
from judging import judged
from mutants import faulty
from repository import ROOT

from gelu_verify import verify
from gelu_verify.formats import get_format, to_float64
from gelu_verify.records.sentences import FAILURES, failure_text
from gelu_verify.truth.values import judge, reference_bits

FMT = get_format("float16")
X = np.arange(1 << 16, dtype=np.uint16)
values = to_float64(FMT, X)
FINITE = np.isfinite(values)
NUMBER = r"(-?[0-9.]+(?:e[+-]?\d+)?)"
ENDS = r"(?:" + NUMBER + r" <= )?x(?: (<=|>=) " + NUMBER + ")?"


def faults(seed):
    """Some faults of several kinds at random places."""
    rng = np.random.default_rng(seed)
    places = [rng.uniform(-6, 6), rng.uniform(-6, 0), rng.uniform(0.1, 60000), rng.uniform(-60000, -0.1)]
    center, left, large, far = (float(np.float16(place)) for place in places)
    size = int(rng.choice([1, 3, 6, 30, 400]))
    some = rng.random(1 << 16) < 0.5
    magnitude = lambda y: (y & 0x7FFF) + size < 0x7C00  # noqa: E731
    near = np.abs(np.where(FINITE, values, np.inf) - center) < 0.5
    kinds = [
        lambda x, v, y: np.where(near[x] & magnitude(y), y + size, y),
        lambda x, v, y: np.where((v == center) & magnitude(y), y + size, y),
        lambda x, v, y: np.where(v <= left, 0x8000, y),
        lambda x, v, y: np.where(v == left, 0x8000, y),
        lambda x, v, y: np.where((v <= left) & some[x], 0x8000, y),
        lambda x, v, y: np.where(np.abs(v) < abs(center) / 1000, 0, y),
        lambda x, v, y: np.where(np.isfinite(v) & (v >= large), 0x7C00, y),
        lambda x, v, y: np.where(np.isfinite(v) & (np.abs(v) >= large), 0x7E00, y),
        lambda x, v, y: np.where(np.isfinite(v) & (v <= far) & some[x], 0x7E00, y),
        lambda x, v, y: np.where(v == large, 0x7C00, y),
        lambda x, v, y: np.where(v < left, y ^ 0x8000, y),
        lambda x, v, y: np.where(v > large, 0x4400, y),
        lambda x, v, y: np.where((y & 0x7FFF) < 0x400, y & 0x8000, y),
    ]
    return [kinds[k] for k in rng.choice(len(kinds), rng.integers(1, 4), replace=False)]


def outputs(seed):
    y = np.array(reference_bits("gelu", "float16", X))
    for fault in faults(seed):
        y = fault(X, values, y).astype(np.uint16)
    return y


def inside(low, relation, high):
    """Where x is in an interval as sentences have them."""
    found = FINITE & ((values >= float(low)) if low else True)
    if relation:
        found &= (values <= float(high)) if relation == "<=" else (values >= float(high))
    return found


def at(text):
    """The one input that is named."""
    return np.uint16(FMT.parse(text)) == X


def read(pattern, clause):
    found = re.fullmatch(pattern, clause)
    return found and found.groups()


SIZE = rf"up to {NUMBER} ULP"
ALONE = "(?:, which stands out)?"


def assert_true(clause, y, error, record):
    want = reference_bits("gelu", "float16", X)
    got, due = to_float64(FMT, y), to_float64(FMT, want)
    is_bad = FINITE & ~np.isfinite(got)
    lost = FINITE & (got == 0) & (due != 0)
    subnormal = ((want & 0x7FFF) < 0x401) | ((X & 0x7FFF) < 0x400)
    with np.errstate(invalid="ignore"):
        no_better = subnormal & (error > 0.5) & (np.abs(got - due) <= np.abs(due) + 2.0**-25)
    counted = FINITE & ~is_bad
    if found := read(
        f"within {NUMBER} ULP at every (other )?finite input( but for subnormal numbers)?, "
        f"the largest at x = {NUMBER}{ALONE}",
        clause,
    ):
        counted &= ~(no_better & bool(found[2]))
        assert error[counted].max() <= float(found[0])
        assert error[at(found[3])] == error[counted].max()
        assert bool(found[1]) == is_bad.any()
    elif found := read(
        r"correctly rounded at every finite input, but for the sign of ([0-9,]+) zeros? \((-?0) instead of (-?0) "
        rf"at x = {NUMBER}\)",
        clause,
    ):
        other = FINITE & (y != want)
        assert other.sum() == int(found[0].replace(",", ""))
        assert not (got[other] - due[other]).any()
        assert np.array_equal([y[at(found[3])][0], want[at(found[3])][0]], [FMT.parse(zero) for zero in found[1:3]])
    elif clause.startswith("correctly rounded at every "):
        same = counted if "other" in clause else FINITE
        assert np.array_equal(y[same], want[same])
    elif found := read(rf"within 4 ULP for (every finite x|{ENDS})(?:, but for ([0-9,]+) inputs? "
                       rf"\({SIZE} at x = {NUMBER}{ALONE}\))?"
                       "(?: (?:but for|and) subnormal numbers)?", clause):  # fmt: skip
        whole = FINITE if found[0] == "every finite x" else inside(*found[1:4])
        above = whole & counted & (error > 4) & ~no_better
        assert above.sum() == int((found[4] or "0").replace(",", ""))
        assert found[4] is None or error[above].max() == error[at(found[6])] <= float(found[5])
        assert not (whole & is_bad).any()
    elif found := read(rf"absolute error (up to|at least) {NUMBER} \(at x = {NUMBER}\) for \|x\| <= 8", clause):
        body = counted & (np.abs(values) <= 8) & ~no_better
        exact = reference_bits("gelu", "float64", values[body].view(np.uint64)).view(np.float64)
        assert np.abs(got[body] - exact).max() <= float(found[1]) * (1 + 1e-9)
    elif found := read(rf"absolute error at least {NUMBER} at x = {NUMBER}, {NUMBER} units in .*", clause):
        here = at(found[1])
        exact = reference_bits("gelu", "float64", values[here].view(np.uint64)).view(np.float64)
        away = float(np.abs(got[here] - exact)[0])
        assert away >= float(found[0]) * (1 - 1e-9) > 0
        assert away / 2.0 ** (max(np.floor(np.log2(abs(exact[0]))), 0) - 10) >= float(found[2]) * (1 - 1e-9) > 7.9
    elif found := read(rf"above 4 ULP as near to zero as at x = {NUMBER}", clause):
        assert (error[at(found[0])] > 4).all()
        assert not ((error > 4) & counted & ~no_better & (np.abs(values) < np.abs(values[at(found[0])]))).any()
    elif found := read(rf"of 11 bits {NUMBER} are right on average for x ~ N\(0,1\)", clause):
        assert float(found[0]) < 9.05
    elif found := read(rf"{SIZE} \((zero )?at x = {NUMBER}{ALONE}\)", clause):
        assert error[at(found[2])] <= float(found[0])
        assert not found[1] or lost[at(found[2])].all()
    elif found := read(
        rf"returns 0 (?:at x = {NUMBER}|at ([0-9,]+) x, the nearest to zero {NUMBER}|for {NUMBER} <= x <= {NUMBER}), "
        rf"where the true value is not 0(?: \({SIZE} at x = {NUMBER}\))?",
        clause,
    ):
        tail = lost & (values <= -1)
        if found[0]:
            assert tail.sum() == 1
            assert tail[at(found[0])].all()
        elif found[1]:
            assert tail.sum() == int(found[1].replace(",", ""))
            assert values[tail].max() == float(values[at(found[2])][0])
        else:
            low, high = (values[at(text)][0] for text in found[3:5])
            assert lost[(values >= low) & (values <= high)].all()
            assert tail.sum() == lost[(values >= low) & (values <= high)].sum()
        assert found[5] is None or error[at(found[6])] <= float(found[5])
    elif found := read(f"(NaN|infinite) at x = {NUMBER}", clause):
        assert is_bad.sum() == 1
        assert is_bad[at(found[1])].all()
        assert np.isnan(got[is_bad]).all() == (found[0] == "NaN")
    elif found := read(rf"NaN or infinite at ([0-9,]+) finite inputs, the nearest to zero x = {NUMBER}", clause):
        assert is_bad.sum() == int(found[0].replace(",", ""))
        assert np.abs(values[is_bad]).min() == np.abs(values[at(found[1])])[0]
    elif found := read(rf"NaN or infinite for x (<=|>=) {NUMBER}(?: \((NaN|infinite) at x = {NUMBER}\))?", clause):
        end = float(values[at(found[1])][0])
        assert is_bad[FINITE & ((values >= end) if found[0] == ">=" else (values <= end))].all()
        assert found[2] is None or is_bad[at(found[3])].all()
        assert found[2] is None or np.isnan(got[at(found[3])][0]) == (found[2] == "NaN")
    elif found := read(f"{NUMBER} instead of {NUMBER} at x = {NUMBER}", clause):
        assert f"{got[at(found[2])][0]:.3g}" == f"{float(found[0]):.3g}"
        assert f"{due[at(found[2])][0]:.3g}" == f"{float(found[1]):.3g}"
    elif found := read(f"wrong sign at x = {NUMBER}", clause):
        assert (np.signbit(got) != np.signbit(values))[at(found[0])].all()
    else:
        assert clause.startswith(("rounds", "computes", "subnormal numbers")) or clause.endswith("inf"), clause


def zeros_of_either_sign(seed):
    """Some zeros of the wrong sign, at x = 0 too, and perhaps another fault."""
    rng, y = np.random.default_rng(seed), np.array(reference_bits("gelu", "float16", X))
    wrong = ((y & 0x7FFF) == 0) & (rng.random(1 << 16) < rng.choice([0.0, 1e-3, 1.0], size=2)[(X & 0x7FFF == 0) + 0])
    y[0x3C00] += rng.random() < 0.3
    return np.where(wrong, y ^ 0x8000, y)


@pytest.mark.parametrize(
    "y",
    [*(pytest.param(lambda k=k: outputs(k), id=str(k), marks=[pytest.mark.nightly] * (k > 7)) for k in range(300)),
     *(pytest.param(lambda k=k: zeros_of_either_sign(k), id=f"zeros {k}") for k in range(8))],
)  # fmt: skip
def test_no_clause_is_false(y):
    y = y()
    record = judged(faulty("gelu", lambda dtype, x, _: y[x]))
    error = np.abs(judge("gelu", "float16", X, y).error)
    for clause in record.sentence.removesuffix(".").split("; "):
        assert_true(clause, y, np.where(np.isfinite(error), error, 0), record)


@pytest.mark.parametrize(
    ("function", "clause"),
    [
        (lambda x: x.astype(np.float64), "returns float64 for float32 arrays"),
        (lambda x: x[:-1], r"returns shape \(\d+,\) for \(\d+,\)"),
    ],
)
def test_a_failure_that_knows_more_says_it(function, clause):
    record = verify(function, "relu", "float32", "landmarks", isolate=False, array="numpy").record
    assert re.fullmatch(clause, failure_text(record)), failure_text(record)


def test_the_memory_limit_is_named():
    record = verify(lambda x: x[:-1], "relu", "float32", "landmarks", isolate=False, array="numpy").record
    limit = "needs more than the memory limit of 4 GiB (--memory-limit)"
    changed = replace(record, failure_kind="memory", failure=f"k.c:f {limit}, and died of SIGABRT")
    assert failure_text(changed).startswith(limit)


def test_every_kind_of_failure_is_a_clause():
    """Those of docs/json.md, and those that the code has."""
    text = (ROOT / "docs" / "json.md").read_text().partition("Kinds of failure: ")[2].partition("\n\n")[0]
    kinds = set(re.findall(r"`([a-z ]+)`", text))
    assert len(kinds) > 20
    code = "".join(path.read_text() for path in (ROOT / "gelu_verify").rglob("*.py"))
    raised = set(re.findall(r'TargetFailure\([^()]*"([a-z ]+)"\)', code))
    assert {"dtype", "changed input"} <= raised
    assert kinds | {kind for kind in raised if len(kind.split()) < 3} <= FAILURES.keys()
