"""Rewrites are right before they are proposed: errors, ends, in C and in arrays; what is proposed was run."""

from dataclasses import replace

import numpy as np
import pytest
from foreign import needs_cc
from marking import nightly
from mutants import correct

from gelu_verify.attribution import attribute
from gelu_verify.attribution.blocks import libm_block
from gelu_verify.attribution.evaluation import Arithmetic, evaluate
from gelu_verify.attribution.executable import in_arrays, in_c
from gelu_verify.attribution.expression import X, nodes, select, text
from gelu_verify.attribution.forms import FORMS
from gelu_verify.attribution.rewrites import COMPENSATED, WORTH, rewrites_of
from gelu_verify.formats import get_format, is_nan, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.report.attribution_page import write_attribution
from gelu_verify.report.attribution_text import attribution_lines, time_text
from gelu_verify.targets import find
from gelu_verify.truth.values import judge, reference_bits

KERNELS = {kernel.name.partition(".")[2]: kernel for kernel in find(["kernels"])[0]}


def plan_bits(function, dtype):
    return np.concatenate([chunk.x_bits() for chunk in make_plan("quick", function, dtype).chunks])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", COMPENSATED)
def test_a_compensated_formula_is_nearly_right_everywhere(function, dtype):
    """With correctly rounded building blocks; an uncompensated argument costs tens to thousands of ULP.

    What is left: erfc is subnormal where its product with x is not yet.
    """
    x = plan_bits(function, dtype)
    got = evaluate(COMPENSATED[function][1](dtype), dtype, x, Arithmetic(dtype))[0]
    assert np.nanmax(np.abs(judge(function, dtype, x, got).error)) < 12


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", ["gelu"])
def test_a_compensated_formula_has_the_right_ends(function, dtype):
    fmt = get_format(dtype)
    x = np.array([fmt.infinity, fmt.infinity | fmt.sign_mask, 0, fmt.sign_mask, fmt.nan, fmt.max_finite], fmt.uint)
    got = evaluate(COMPENSATED[function][1](dtype), dtype, x, Arithmetic(dtype))[0]
    want = np.asarray(reference_bits(function, dtype, x))
    assert (is_nan(fmt, got) == [False, False, False, False, True, False]).all()
    assert (to_float64(fmt, got[[0, 2, 3, 5]]) == to_float64(fmt, want[[0, 2, 3, 5]])).all()
    assert to_float64(fmt, got[1:2])[0] == 0


def test_a_choice_is_exact_and_shown():
    root = select(X + 1, X, 2)
    x = np.array([-3.0, -1.0, 5.0], np.float32).view(np.uint32)
    assert evaluate(root, "float32", x, Arithmetic("float32"))[0].view(np.float32).tolist() == [-3, 2, 2]
    assert text(root) == "(x if x + 1 < 0 else 2)"


def cases():
    for function in ("gelu", "gelu_tanh", "silu"):
        for each in rewrites_of(function, "float32", f"{function}_none"):
            yield pytest.param(function, each, id=f"{function}: {each.text}")


@needs_cc
@pytest.mark.parametrize(("function", "each"), list(cases()))
def test_c_code_computes_what_the_formula_says(function, each):
    """Bit for bit, with the functions of the same C library."""
    x = plan_bits(function, "float32")
    used = [node.operation for node in nodes(each.root)]
    blocks = {name: libm_block(name, each.working).call for name in ("erf", "erfc", "exp", "tanh") if name in used}
    want = evaluate(each.root, "float32", x, Arithmetic(each.working, blocks))[0]
    got, seconds = in_c(each.root, each.working, "float32").seconds(x)
    nan = is_nan(get_format("float32"), want)
    assert (got[~nan] == want[~nan]).all()
    assert is_nan(get_format("float32"), got[nan]).all()
    assert seconds > 0


@pytest.mark.parametrize("library", ["scipy", "torch"])
def test_array_operations_compute_what_the_formula_says(library):
    pytest.importorskip(library)
    for dtype, working in (("float32", "float32"), ("float32", "float64"), ("float16", "float32")):
        x = plan_bits("gelu", dtype)
        for form in ("gelu_erfc", "gelu_erf"):
            got, _ = in_arrays(FORMS[form].root, working, dtype, library).seconds(x)
            assert got.dtype == x.dtype
            real = to_float64(get_format(dtype), x)
            near = np.abs(real) < 2
            with np.errstate(all="ignore"):
                error = np.abs(judge("gelu", dtype, x[near], got[near]).error)
            assert np.nanmax(error) < 30


@needs_cc
@pytest.mark.parametrize(
    ("name", "guilty", "at_most"),
    [
        ("gelu_erfc", "-x*sqrt(1/2) rounds", 8),
        *nightly(
            ("silu_exp", "exp(-x) overflows", 4),
            ("gelu_erf", "1 + erf(x*sqrt(1/2)) cancels", 8),
            ("gelu_tanh_tanh", "1 + tanh(u) cancels", 8),
        ),
    ],
)
def test_a_rewrite_is_proposed_with_what_it_measures(name, guilty, at_most, tmp_path):
    found = attribute(KERNELS[name], "float32", "quick")
    record, lines = found.record, "\n".join(attribution_lines(found.record))
    rows = record["rewrites"]
    assert {row["guilty"] for row in rows} == {guilty}
    assert {row["run"] for row in rows} == {"C"}
    assert [row["after_ulp"] for row in rows] == sorted(row["after_ulp"] for row in rows)
    assert rows[0]["after_ulp"] < 0.51
    same_dtype = [row["after_ulp"] for row in rows if row["working"] == "float32"]
    assert min(same_dtype) < at_most
    fmt = get_format("float32")
    for row in rows:
        assert row["before_ulp"] == abs(record["worst"]["error"])
        assert row["time"] > 0
        assert row["formula"] in lines.replace("\n      ", " ")
        assert fmt.is_finite(int(row["x_bits"], 16))
    assert f"{guilty}: " in lines
    assert " -> >=" in lines
    write_attribution(found, tmp_path)
    assert "<h2>Rewrites, in C: " in (tmp_path / "index.html").read_text()


def test_nothing_is_proposed_for_what_is_right_or_cannot_be_run(monkeypatch):
    assert attribute(correct("gelu"), "float32", "quick", form="erfc").record["rewrites"] == []
    unknown = replace(KERNELS["gelu_erfc"], name="user:kernel")  # neither C nor an array expression
    assert attribute(unknown, "float32", "quick", form="erfc").record["rewrites"] == []
    limited = replace(KERNELS["gelu_erfc"], level="avx2")  # C code of ours would run at the level of the machine
    assert attribute(limited, "float32", "quick", form="erfc").record["rewrites"] == []
    monkeypatch.setenv("CC", "/no/such/compiler")
    record = attribute(KERNELS["gelu_erfc"], "float32", "quick").record
    assert abs(record["worst"]["error"]) > WORTH
    assert record["rewrites"] == []


def test_times_in_words():
    assert [time_text(ratio) for ratio in (None, 1.04, 0.9, 3.02, 0.25)] == [
        "time not measured", "4 % slower", "10 % faster", "3.0 times as slow", "4.0 times as fast",
    ]  # fmt: skip
