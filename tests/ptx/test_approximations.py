"""Approximations: the results that the PTX ISA lists, the whole interval that it allows, and what an H100 returned."""

import json
import runpy

import mpmath
import numpy as np
import pytest
import requiring
from ptx_programs import Case, results
from repository import ROOT

from gelu_verify.formats import get_format, ordinals
from gelu_verify.paths import resource
from gelu_verify.ptx import build

X = np.array([np.inf, -np.inf, 0.0, 1.0, 2.0**-10, 1e-40, -200.0, 1.5, np.nan], np.float32)
BIG = np.full_like(X, 2.0**127)
ENDS = ("lowest", "nearest", "highest")
ALL = (*ENDS, "mixed")
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
    for end in ALL:
        got = dict(zip(TEXTS, results(cases, values, end).astype(np.uint32), strict=True))
        tables[end] = {
            name: (bits << (16 if TEXTS[name][1] == "bf16" else 0)).view(np.float32) for name, bits in got.items()
        }
    return tables


@pytest.mark.parametrize("end", ALL)
def test_results_that_are_listed_are_exact(found, end):
    got = found[end]
    for name in ("tanh", "tanh16"):
        np.testing.assert_array_equal(got[name][[0, 1, 2, 8]], np.array([1, -1, 0, np.nan], np.float32))
    assert got["tanh"][5] == X[5], "a subnormal number passes through"
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


@pytest.mark.parametrize("end", ENDS)
def test_a_reciprocal_square_root_of_doubles_has_twenty_bits(end):
    requiring.program("c++", "g++", "clang++")
    case, words = Case("rsqrt.approx.ftz.f64 {d}, {a}", ("f64", "f64"), "f64", int), DOUBLES.view(np.uint64)
    got = results([case], {"f64": [words] * 3}, end)[0]
    upper = (words & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    away = {"lowest": -2, "nearest": 0, "highest": 2}[end]
    infinite, nan = 0x7FF << 52, 0x7FFFFFFF << 32
    expected = [0, nan, 0, 0, 0, nan, infinite, 0xFFF << 52, nan, infinite, nan, 0]
    for k in (0, 2, 3, 4, 11):
        up = np.array([1 / np.sqrt(upper[k])]).view(np.uint64)[0] + np.uint64(1 << 31)
        expected[k] = (int(up) >> 32) + away << 32
    np.testing.assert_array_equal(got, np.array(expected, np.uint64))


def test_the_page_has_what_was_measured():
    script = runpy.run_path(str(ROOT / "tools" / "list_approximations.py"))
    assert script["page"]() == script["PAGE"].read_text(encoding="utf-8"), "run: python tools/list_approximations.py"


def in_ulp(count):
    """So many float32 from the correctly rounded one."""
    return lambda exact, x: [float(ordinal_moved(np.float32(float(exact)), step)) for step in (-count, count)]


def ordinal_moved(value, steps):
    for _ in range(abs(steps)):
        value = np.nextafter(value, np.float32(np.inf if steps > 0 else -np.inf))
    return value


def within(relative, absolute=0):
    def ends(exact, x):
        width = mpmath.mpf(2) ** relative * abs(exact) if relative else mpmath.mpf(2) ** absolute
        return exact - width, exact + width

    return ends


def of_log2(exact, x):
    return within(0, -22)(exact, x) if 0.5 < x < 2 else within(-22)(exact, x)


def of_tanh(exact, x):
    low, high = within(-11)(exact, x)
    return max(low, -1), min(high, 1)


def of_circular(exact, x):
    size = abs(mpmath.mpf(x)) / mpmath.pi
    low, high = within(0, mpmath.mpf("-20.4") if size <= 2 else -14.7)(exact, x) if size <= 100 else (-1, 1)
    return max(low, -1), min(high, 1)


SOURCES = {  # exact function, largest |x|, and the ends of what the PTX ISA allows, written from its text
    "ex2.approx.f32": (lambda x: mpmath.mpf(2) ** x, 120, in_ulp(2)),
    "rcp.approx.f32": (lambda x: 1 / x, 1e30, in_ulp(1)),
    "sqrt.approx.f32": (lambda x: mpmath.sqrt(abs(x)), 1e30, within(-23)),
    "rsqrt.approx.f32": (lambda x: 1 / mpmath.sqrt(abs(x)), 1e30, within(mpmath.mpf("-22.9"))),
    "lg2.approx.f32": (lambda x: mpmath.log(abs(x), 2), 4, of_log2),
    "sin.approx.f32": (mpmath.sin, 600, of_circular),
    "cos.approx.f32": (mpmath.cos, 600, of_circular),
    "tanh.approx.f32": (mpmath.tanh, 5, of_tanh),
}


def test_the_ends_are_the_outermost_numbers_of_the_interval():
    """Each is inside, and the next one beyond it is not; what is mixed is each of the three for some x."""
    requiring.program("c++", "g++", "clang++")
    rng, inputs = np.random.default_rng(5), {}
    for opcode, (_, largest, _) in SOURCES.items():
        x = (rng.uniform(-1, 1, 200) * largest * 10.0 ** rng.integers(-6, 1, 200)).astype(np.float32)
        inputs[opcode] = np.abs(x) if opcode.startswith(("sqrt", "rsqrt", "lg2")) else x
    cases = [Case(f"{opcode} {{d}}, {{a}}", ("f32",) * 3, "f32", int) for opcode in SOURCES]
    values = {"f32": [np.concatenate(list(inputs.values())).view(np.uint32)] * 3}
    of_all = {end: results(cases, values, end).astype(np.uint32).view(np.float32) for end in ALL}
    for place, (opcode, (exact, _, ends)) in enumerate(SOURCES.items()):
        x = inputs[opcode]
        got = {end: each[place, 200 * place : 200 * place + 200] for end, each in of_all.items()}
        chosen = np.array([[got["mixed"][k] == got[end][k] for end in ENDS] for k in range(len(x))])
        assert chosen.any(axis=1).all()
        assert chosen[chosen.sum(axis=1) == 1].sum(axis=0).min() > 5, opcode
        with mpmath.workdps(60):
            for k, value in enumerate(x):
                true = exact(mpmath.mpf(float(value)))
                low, high = ends(true, float(value))
                assert got["nearest"][k] == np.float32(float(true))
                down, up = got["lowest"][k], got["highest"][k]
                assert low <= mpmath.mpf(float(down)) <= mpmath.mpf(float(up)) <= high, (opcode, value)
                assert mpmath.mpf(float(ordinal_moved(down, -1))) < low, (opcode, value)
                assert mpmath.mpf(float(ordinal_moved(up, 1))) > high, (opcode, value)


def test_powers_of_two_are_exact():
    """CUDA's erf of doubles is made with them. 2^-127 is not on an H100."""
    requiring.program("c++", "g++", "clang++")
    x = np.arange(-140, 130).astype(np.float32)
    case, values = Case("ex2.approx.f32 {d}, {a}", ("f32",) * 3, "f32", int), {"f32": [x.view(np.uint32)] * 3}
    for end in ALL:
        got = results([case], values, end)[0].astype(np.uint32).view(np.float32)
        with np.errstate(over="ignore"):
            powers = np.ldexp(np.float32(1), x.astype(int))
        assert end != "lowest" or got[x == -127] < powers[x == -127]
        np.testing.assert_array_equal(got[x != -127], powers[x != -127])


@pytest.mark.parametrize("end", ENDS)
def test_a_quotient_by_a_subnormal_number_has_the_bound_of_others(end):
    """Also where the reciprocal is infinite."""
    requiring.program("c++", "g++", "clang++")
    a, b = np.array([[0, 1, 1e-20, -1e-8], [1e-40, 1e-38, 5e-39, 1e-45]], np.float32)
    values = {"f32": [a.view(np.uint32), b.view(np.uint32), a.view(np.uint32)]}
    cases = [Case(f"div.{kind}.f32 {{d}}, {{a}}, {{b}}", ("f32",) * 3, "f32", int) for kind in ("approx", "full")]
    approximate, full = results(cases, values, end).astype(np.uint32)
    np.testing.assert_array_equal(approximate, full)
    assert np.isfinite(full.view(np.float32)).all()


MEASURED = json.loads((resource("data") / "approximations" / "h100.json").read_text())
WIDTHS = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}


INSTRUCTIONS = [name for name, found in MEASURED.items() if isinstance(found, dict)]


def witnesses(opcode):
    """Inputs and what an H100 returned for them, as bits, and the type of all."""
    kind = opcode.rsplit(".", 1)[1]
    found = [each for each in MEASURED[opcode].values() if isinstance(each, dict) and "got" in each]
    bits = [[int(each.get(key, "0"), 16) for each in found] for key in ("x", "y", "got")]
    return kind, np.array(bits, get_format(WIDTHS[kind]).uint)


@pytest.fixture(scope="module")
def allowed():
    """For each instruction the lowest and the highest result for its witnesses: one program has all instructions."""
    requiring.program("c++", "g++", "clang++")
    found = {opcode: witnesses(opcode) for opcode in INSTRUCTIONS}
    inputs, places = {kind: [np.empty((2, 0), np.uint64)] for kind in WIDTHS}, {}
    for opcode, (kind, (x, y, _)) in found.items():
        start = sum(each.shape[1] for each in inputs[kind])
        places[opcode] = slice(start, start + len(x))
        inputs[kind].append(np.array([x, y], np.uint64))
    columns = {kind: np.concatenate(each, axis=1) for kind, each in inputs.items()}
    n = max(each.shape[1] for each in columns.values())
    padded = {kind: np.pad(each, ((0, 0), (0, n - each.shape[1]))) for kind, each in columns.items()}
    values = {kind: [x, y, x] for kind, (x, y) in padded.items()}
    cases = [
        Case(f"{opcode} {{d}}, {{a}}" + (", {b}" if opcode.startswith("div") else ""), (kind,) * 3, kind, int)
        for opcode, (kind, _) in found.items()
    ]
    ends = [results(cases, values, end) for end in ("lowest", "highest")]
    return {opcode: [end[k, places[opcode]] for end in ends] for k, opcode in enumerate(found)}


@pytest.mark.parametrize("opcode", INSTRUCTIONS)
def test_what_an_h100_returned_is_within_the_bounds(allowed, opcode):
    """The results that are farthest from the exact ones, and those beyond what the ISA says."""
    kind, (_, _, got) = witnesses(opcode)
    fmt = get_format(WIDTHS[kind])
    low, high = (ordinals(fmt, end.astype(fmt.uint)) for end in allowed[opcode])
    assert len(got) > 0
    assert (low <= ordinals(fmt, got)).all()
    assert (ordinals(fmt, got) <= high).all()


def test_intervals_of_no_width_leave_no_difference(monkeypatch):
    """Nothing else differs between the executions of a kernel."""
    requiring.program("c++", "g++", "clang++")
    command, identity = build.compiler(), build._identity
    monkeypatch.setattr(build, "compiler", lambda: (*command, "-DGELU_VERIFY_PTX_WIDTH=0"))
    monkeypatch.setattr(build, "_identity", identity.__wrapped__)
    x = np.random.default_rng(6).normal(0, 3, 500)
    values = {"f32": [x.astype(np.float32).view(np.uint32)] * 3, "f64": [x.view(np.uint64)] * 3}
    values["f16"] = [x.astype(np.float16).view(np.uint16)] * 3
    cases = [Case(f"{opcode} {{d}}, {{a}}", ("f32",) * 3, "f32", int) for opcode in SOURCES]
    cases += [Case(f"{name}.approx.ftz.f64 {{d}}, {{a}}", ("f64",) * 3, "f64", int) for name in ("rcp", "rsqrt")]
    cases += [Case(f"{name}.approx.f16 {{d}}, {{a}}", ("f16",) * 3, "f16", int) for name in ("ex2", "tanh")]
    nearest, *others = (results(cases, values, end) for end in ("nearest", "lowest", "highest", "mixed"))
    for other in others:
        np.testing.assert_array_equal(other, nearest)
