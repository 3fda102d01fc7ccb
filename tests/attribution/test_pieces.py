"""A kernel made of several: each piece is named, with its exact ends, its share and the cause of its largest error."""

import json

import numpy as np
import pytest
from marking import nightly
from mutants import target

from gelu_verify.attribution import attribute
from gelu_verify.attribution.evaluation import Arithmetic, evaluate
from gelu_verify.attribution.forms import FORMS
from gelu_verify.formats import get_format, ordinals
from gelu_verify.report.attribution_page import write_attribution
from gelu_verify.report.attribution_text import attribution_lines
from gelu_verify.targets import find

KERNELS = {kernel.name.partition(".")[2]: kernel for kernel in find(["kernels"])[0]}


def form(name):
    return lambda dtype, x: evaluate(FORMS[name].root, dtype, x, Arithmetic(dtype))[0]


def kernel(name):
    return KERNELS[name].evaluate


PIECES = {
    "zero": lambda dtype, x: np.zeros_like(x),
    "x": lambda dtype, x: x,
    "erf": form("gelu_erf"),
    "erfc": form("gelu_erfc"),
    "exp": kernel("gelu_tanh_sigmoid"),
    "right": kernel("gelu_cr"),
    "nan": lambda dtype, x: np.full_like(x, get_format(dtype).nan),
    "coarse": lambda dtype, x: kernel("gelu_erfc")(dtype, x) ^ 5,
}


def made_of(*names, edges):
    """names[0] below edges[0], names[1] from there to edges[1], ..."""

    def answer(dtype, x):
        fmt = get_format(dtype)
        place, ends = ordinals(fmt, x), [fmt.ordinal(fmt.parse(edge)) for edge in edges]
        at = np.searchsorted(ends, place, side="right")
        return np.choose(at, [PIECES[name](dtype, x) for name in names]).astype(fmt.uint)

    return target("gelu", answer, "user:kernel")


def found(*names, edges, dtype="float32"):
    record = attribute(made_of(*names, edges=edges), dtype, "quick").record
    fmt = get_format(dtype)
    starts = [fmt.fraction(int(row["from"], 16)) for row in record["pieces"]]
    return record, starts, [row["kind"] for row in record["pieces"]]


def test_what_is_nan_is_explained_by_no_formula_that_overflows():
    record = attribute(made_of("right", "nan", edges=["3"]), "float32", "default").record
    assert record["pieces"][-1]["what"] == "unknown: NaN"


@pytest.mark.parametrize("edge", ["-5.5", *nightly("-6", "-3.9")])
def test_a_clamp_is_found_to_the_float(edge):
    record, starts, kinds = found("zero", "erfc", edges=[edge])
    assert kinds == ["limit", "formula"]
    assert starts[1] == get_format("float32").fraction(get_format("float32").parse(edge))
    zero, rest = record["pieces"]
    assert zero["what"] == "a zero"
    assert (zero["main"], rest["main"]) == ("limit", "formula")
    assert sum(row["share"] for row in record["pieces"]) == pytest.approx(1)
    assert int(rest["from"], 16) == int(zero["to"], 16) - 1  # the bits of neighbours, both negative


@pytest.mark.nightly
def test_two_formulas_and_a_kernel():
    record, starts, kinds = found("erfc", "erf", "exp", edges=["-2.25", "1.5"])
    assert [float(start) for start in starts[1:]] == [-2.25, 1.5]
    assert "erfc" in record["pieces"][0]["what"]
    assert "1 + erf(" in record["pieces"][1]["what"]
    assert kinds[:2] == ["formula", "formula"]
    assert "exp(" in record["pieces"][2]["what"] or "gelu_tanh_sigmoid" in record["pieces"][2]["what"]


@pytest.mark.nightly
def test_what_nothing_explains_is_a_piece_of_its_own(tmp_path):
    made = made_of("erfc", "coarse", "x", edges=["-2", "3"])
    attribution = attribute(made, "float32", "quick")
    record = attribution.record
    unknown = [row for row in record["pieces"] if row["kind"] == "unknown"]
    assert unknown
    assert {row["what"] for row in unknown} == {"unknown"}
    assert all(row["agreement"] is None and row["main"] is None for row in unknown)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    printed = "\n".join(attribution_lines(record))
    assert "pieces of x, and what gives the measured bits there:" in printed
    write_attribution(attribution, tmp_path)
    assert "Pieces of x" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize("name", ["erfc", *nightly("erf", "exp")])
def test_one_formula_has_no_pieces(name):
    assert attribute(target("gelu", PIECES[name], "user:kernel"), "float32", "quick").record["pieces"] == []


@pytest.mark.nightly
def test_scattered_misses_are_no_pieces():
    """Of a formula that gives nearly all results."""
    rng = np.random.default_rng(1)

    def answer(dtype, x):
        y = PIECES["erfc"](dtype, x)
        return np.where(rng.random(len(x)) < 0.005, y ^ 1, y).astype(y.dtype)

    assert attribute(target("gelu", answer, "user:kernel"), "float32", "quick").record["pieces"] == []


@pytest.mark.nightly
def test_pieces_of_sixteen_bits():
    record, starts, kinds = found("zero", "erfc", "x", edges=["-3", "1.5"], dtype="bfloat16")
    assert float(starts[1]) == -3
    assert kinds[0] == "limit"
    assert record["pieces"][-1]["what"] == "x itself"
