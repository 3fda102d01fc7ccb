"""Approximations: the results that the PTX ISA lists, and which bound is of which kind."""

import numpy as np
import pytest
import requiring
from ptx_programs import Case, results

X = np.array([np.inf, -np.inf, 0.0, 1.0, 2.0**-10, 1e-40, -200.0, 1.5, np.nan], np.float32)
BIG = np.full_like(X, 2.0**127)
ENDS = ("lowest", "nearest", "highest")
TEXTS = {
    "tanh": ("tanh.approx.f32 {d}, {a}", "f32"),
    "lg2": ("lg2.approx.f32 {d}, {a}", "f32"),
    "div": ("div.approx.f32 {d}, {a}, {b}", "f32"),
    "full": ("div.full.f32 {d}, {b}, {b}", "f32"),
    "tanh16": ("tanh.approx.bf16 {d}, {a}", "bf16"),
    "ex2": ("ex2.approx.ftz.bf16 {d}, {a}", "bf16"),
}


@pytest.fixture(scope="module")
def found():
    """By end and instruction: the results for X, as float32."""
    requiring.program("c++", "g++", "clang++")
    cases = [Case(text, (kind, kind), kind, int) for text, kind in TEXTS.values()]
    words, big = X.view(np.uint32), BIG.view(np.uint32)
    values = {"f32": [words, big, words], "bf16": [words >> 16] * 3}
    tables = {}
    for end in ENDS:
        got = dict(zip(TEXTS, results(cases, values, end).astype(np.uint32), strict=True))
        tables[end] = {
            name: (bits << (16 if TEXTS[name][1] == "bf16" else 0)).view(np.float32) for name, bits in got.items()
        }
    return tables


@pytest.mark.parametrize("end", ENDS)
def test_results_that_are_listed_are_exact(found, end):
    got = found[end]
    for name in ("tanh", "tanh16"):
        np.testing.assert_array_equal(got[name][[0, 1, 2, 8]], np.array([1, -1, 0, np.nan], np.float32))
    np.testing.assert_array_equal(got["lg2"][[0, 1, 2]], np.array([np.inf, np.nan, -np.inf], np.float32))
    np.testing.assert_array_equal(got["div"], np.where(np.isfinite(X), 0, np.nan))
    np.testing.assert_array_equal(got["ex2"][[0, 1, 2, 5, 6]], np.array([np.inf, 0, 1, 1, 0], np.float32))


@pytest.mark.parametrize(("end", "sign"), [("lowest", -1), ("highest", 1)])
def test_bounds_are_absolute_or_relative_as_the_isa_has_them(found, end, sign):
    nearest, got = found["nearest"], found[end]
    assert got["lg2"][3] == sign * 2.0**-22
    assert (got["full"] == 1 + sign * np.float32(2.0**-22) / (2 if sign < 0 else 1)).all()
    assert 0.9 * 2.0**-8 < sign * (got["tanh16"][4] - nearest["tanh16"][4]) <= 2.0**-8
    assert 0.99 * 2.0**-11 < sign * (got["tanh"][4] / nearest["tanh"][4] - 1) <= 2.0**-11


DOUBLES = np.array([3.0, -3.0, 1.0, 255.99999999999997, 1e300, -7e-5, 0.0, -0.0, -np.inf, 1e-310, np.nan, 1.7e308])


@pytest.mark.parametrize("end", ENDS)
def test_a_reciprocal_of_doubles_has_twenty_bits(end):
    """Of the upper half of its argument; 2 units away at the ends of what is assumed, subnormals as zeros."""
    requiring.program("c++", "g++", "clang++")
    case, words = Case("rcp.approx.ftz.f64 {d}, {a}", ("f64", "f64"), "f64", int), DOUBLES.view(np.uint64)
    got = results([case], {"f64": [words] * 3}, end)[0]
    upper = (words & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    away = {"lowest": -2, "nearest": 0, "highest": 2}[end]
    expected = [0, 0, 0, 0, 0, 0, 0x7FF << 52, 0xFFF << 52, 1 << 63, 0x7FF << 52, 0x7FFFFFFF << 32, 0]
    for k, x in enumerate(upper[:6]):
        up = np.array([1 / x]).view(np.uint64)[0] + np.uint64(1 << 31)
        expected[k] = (int(up) >> 32) + (away if x > 0 else -away) << 32
    np.testing.assert_array_equal(got, np.array(expected, np.uint64))
