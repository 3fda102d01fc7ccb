"""Every clause of a sentence is true: read again, and held against all outputs of float16."""

import re

import numpy as np
import pytest
from judging import judged
from marking import nightly
from mutants import faulty

from gelu_verify.formats import get_format, to_float64
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
    """The inputs that are shown so."""
    return FINITE & np.array([f"{v:.4g}" == text for v in values.tolist()])


def read(pattern, clause):
    found = re.fullmatch(pattern, clause)
    return found and found.groups()


def assert_true(clause, y, error, is_flushing):
    got = to_float64(FMT, y)
    is_bad = FINITE & ~np.isfinite(got)
    lost = FINITE & (got == 0) & (to_float64(FMT, reference_bits("gelu", "float16", X)) != 0)
    subnormal = (reference_bits("gelu", "float16", X) & 0x7FFF < 0x400) | (X & 0x7FFF < 0x400)
    counted = FINITE & ~is_bad & ~(lost & subnormal & is_flushing)
    alone = f"(?:, the largest at x = {NUMBER}, which stands out)?"
    if found := read(f"within {NUMBER} ULP at every (other )?finite input( that is not flushed)?{alone}", clause):
        assert error[counted].max() <= float(found[0])
        assert (bool(found[1]), bool(found[2])) == (is_bad.any(), is_flushing)
    elif clause == "correctly rounded at every finite input":
        assert np.array_equal(y[FINITE], reference_bits("gelu", "float16", X)[FINITE])
    elif found := read(f"within 4 ULP for {ENDS}", clause):
        assert error[inside(*found) & counted].max() <= 4
        assert not (inside(*found) & is_bad).any()
    elif found := read(rf"absolute error up to {NUMBER} \(at x = {NUMBER}\) for \|x\| <= 8", clause):
        body = counted & (np.abs(values) <= 8)
        exact = reference_bits("gelu", "float64", values[body].view(np.uint64)).view(np.float64)
        away = np.abs(got[body] - exact)
        assert away.max() <= float(found[0]) * (1 + 1e-9)
    elif found := read(rf"up to {NUMBER} ULP \((zero )?at x = {NUMBER}(, which stands out)?\)", clause):
        assert error[FINITE & ~is_bad].max() <= float(found[0])
        assert not found[1] or lost[at(found[2])].any()
    elif found := read(
        rf"zero (from|at some x from|at x =) {NUMBER}(?: on)?(?: \({NUMBER} ULP\))?, right from {NUMBER} on", clause
    ):
        due = to_float64(FMT, np.array([FMT.parse(found[3])], np.uint16))[0]
        tail = (values <= float(found[1]) * (1 + 1e-3)) & (values > due * (1 - 1e-3))
        assert lost[tail].all() == (found[0] == "from") or not tail.any()
        assert (lost[(values < -1) & (values > due)].sum() == 1) == (found[0] == "at x =")
        assert found[2] is None or error[FINITE & ~is_bad].max() <= float(found[2])
    elif found := read(f"(NaN|infinite) at x = {NUMBER}", clause):
        assert is_bad.sum() == 1
        assert is_bad[at(found[1])].any()
        assert np.isnan(got[is_bad]).all() == (found[0] == "NaN")
    elif found := read(rf"NaN or infinite at ([0-9,]+) finite inputs, the nearest to zero x = {NUMBER}", clause):
        assert is_bad.sum() == int(found[0].replace(",", ""))
        assert np.abs(values[is_bad]).min() in np.abs(values[at(found[1])])
    elif found := read(r"(NaN|infinite|NaN or infinite) for (\|x\|.*|x .*)", clause):
        parts = [part.split() for part in found[1].removeprefix("for ").split(" and for ")]
        due = np.zeros(1 << 16, bool)
        for name, relation, end in parts:
            size = np.abs(values) if name == "|x|" else values
            bound = float(end) * (1 + np.copysign(1e-3, float(end)) * (1 if relation == ">=" else -1))
            due |= FINITE & ((size >= bound) if relation == ">=" else (size <= bound))
        assert is_bad[due].all()
        assert found[0] != "NaN" or np.isnan(got[is_bad]).all()
        assert found[0] != "infinite" or np.isinf(got[is_bad]).all()
    elif found := read(f"{NUMBER} instead of {NUMBER} at x = {NUMBER}", clause):
        assert any(f"{v:.3g}" == f"{float(found[0]):.3g}" for v in got[at(found[2])].tolist())
    elif found := read(f"wrong sign at x = {NUMBER}", clause):
        assert (np.signbit(got) != np.signbit(values))[at(found[0])].any()
    else:
        assert clause.startswith(("rounds", "computes")) or clause.endswith("inf"), clause


@pytest.mark.parametrize("seed", [*range(8), *nightly(*range(8, 400))])
def test_no_clause_is_false(seed):
    y = outputs(seed)
    record = judged(faulty("gelu", lambda dtype, x, _: y[x]))
    error = np.abs(judge("gelu", "float16", X, y).error)
    for clause in record.sentence.removesuffix(".").split("; "):
        assert_true(clause, y, np.where(np.isnan(error), 0, error), record.flush is not None)
