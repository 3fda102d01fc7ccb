"""What a record says that is no verdict: rounding, flushing, roots, the world's tolerances, paths side by side."""

import dataclasses

import numpy as np
import pytest
from judging import judged, scaled, subnormals_flushed
from mutants import correct, erfc_form, faulty, formula, moved, tanh_form_derivative, target, through, where

from gelu_verify.formats import DTYPES, get_format, numpy_dtype, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.machine import machine
from gelu_verify.measure.pairs import FirstPaths
from gelu_verify.measure.sweep import sweep
from gelu_verify.measure.tolerances import TOLERANCES
from gelu_verify.truth.values import reference_bits


def composed(dtype, x):
    """x/2 (1 + erf) with every operation rounded to the dtype."""
    value = x.view(numpy_dtype(dtype))
    number = value.dtype.type
    with np.errstate(all="ignore"):
        erf = reference_bits("erf", dtype, (value * number(0.5**0.5)).view(x.dtype)).view(value.dtype)
        return (value * number(0.5) * (number(1) + erf)).view(x.dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_says_how_often(dtype):
    assert judged(correct("gelu"), dtype).rounding == "once"
    assert judged(formula("gelu", erfc_form()), dtype).rounding == "once"
    assert judged(target("gelu", composed), dtype).rounding == "composed"


def test_rounding_is_asked_of_16_bits_only():
    assert judged(correct("gelu"), "float32").rounding is None


def test_the_dtype_inside_is_reported():
    assert judged(correct("gelu"), "float64").computes_in == "float64"
    assert judged(through("gelu", "float32"), "float64").computes_in == "float32"


@pytest.mark.parametrize("dtype", DTYPES)
def test_flushes_can_be_forgiven(dtype):
    record = judged(faulty("gelu", subnormals_flushed), dtype)
    assert record.max_ulp > 60
    assert record.flush.max_ulp <= 0.5000001


def test_what_is_wrong_beside_a_flush_is_not_forgiven():
    both = faulty("gelu", lambda dtype, x, y: moved(1.0, 40)(dtype, x, subnormals_flushed(dtype, x, y)))
    assert 39 < judged(both).flush.max_ulp < 41


def test_near_a_root_the_absolute_error_is_reported():
    root = judged(formula("gelu_tanh_grad", tanh_form_derivative(), np.float32), "float32").root
    assert root.max_ulp > 1000
    assert root.max_ulp_absolute < 20
    assert judged(correct("gelu")).root is None
    assert judged(correct("gelu_grad")).root.max_ulp <= 0.5000001


# ---- tolerances ----------------------------------------------------------------------------------


def cancelled(dtype, x, y):
    """Zero below -5.6, as x/2 (1 + erf) is."""
    fmt = get_format(dtype)
    return np.where(to_float64(fmt, x) < -5.6, y & fmt.uint.type(fmt.sign_mask), y)


# name of the tolerance -> a fault that it lets through, and one that it sees
STRENGTH = {
    "torch": (faulty("gelu", cancelled), correct("gelu", "gelu_tanh")),
    "jax": (faulty("gelu", moved(-2.0, 50)), faulty("gelu", cancelled)),
    "jax_tanh": (correct("gelu", "gelu_tanh"), correct("gelu", "silu")),
    "benchdnn": (faulty("gelu", cancelled), correct("gelu", "silu")),
    "xnnpack": (faulty("gelu", cancelled), correct("gelu", "gelu_tanh")),
    "ggml": (faulty("gelu", cancelled), faulty("gelu", scaled(1.001))),
    "webnn": (faulty("gelu", cancelled), correct("gelu", "gelu_tanh")),
    "liger": (correct("gelu", "silu"), faulty("gelu", where(lambda x: (x > 2) & (x < 3), "9"))),
    "aitemplate": (correct("gelu", "gelu_tanh"), correct("gelu", "silu")),
}


def test_every_tolerance_is_held_against_faults():
    assert {rule.name for rule in TOLERANCES} == set(STRENGTH)
    assert all(rule.source for rule in TOLERANCES)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", STRENGTH)
def test_what_a_tolerance_lets_through_and_what_it_sees(name):
    passed, seen = (judged(mutant, "float32") for mutant in STRENGTH[name])
    assert passed.tolerances[name] is False
    assert seen.tolerances[name] is True
    for record in (passed, seen):  # ours see both
        assert "fail" in record.checks.values() or record.max_ulp > 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_tolerance_sees_nan(dtype):
    record = judged(faulty("gelu", where(lambda x: (x > 0.5) & (x < 2), "nan")), dtype)
    assert all(record.tolerances.values())
    assert "torch" in record.tolerances


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_faithful_implementation_needs_no_tolerance(dtype):
    assert judged(correct("gelu"), dtype).tolerances is None


# ---- paths ---------------------------------------------------------------------------------------


def path(name, mutant, form="x/2 erfc(-x/sqrt 2)"):
    return dataclasses.replace(mutant, name=name, form=form)


def run(*targets):
    firsts = FirstPaths()
    return [firsts.pair(sweep(each, make_plan("quick", each.function, "float32"))) for each in targets]


def test_paths_of_one_form_are_compared():
    first, same, other = run(
        path("test.gelu", correct("gelu")),
        path("test.gelu-jit", correct("gelu")),
        path("test.gelu-strided", faulty("gelu", moved(-2.5, 3))),
    )
    assert first is None
    assert (same.first, same.differ, same.floats, same.witness) == ("test.gelu", 0, 0, None)
    assert same.inputs > 200
    assert (other.differ, other.floats) == (1, 3)
    assert other.witness.x_bits == "0xc0200000"
    assert other.witness.got_bits != other.witness.other_bits


def test_other_forms_functions_and_failures_are_not_compared():
    def broken(dtype, x):
        raise ValueError("no")

    pairs = run(
        path("test.gelu", correct("gelu")),
        path("test.gelu-erf", correct("gelu"), "x/2 (1 + erf(x/sqrt 2))"),
        path("test.silu", correct("silu")),
        path("test.gelu-broken", target("gelu", broken)),
        path("other.gelu", correct("gelu")),
        path("test.formless", correct("gelu"), ""),
    )
    assert pairs == [None] * 6


def test_a_nan_is_a_nan_on_either_path():
    def payload(dtype, x, y):
        fmt = get_format(dtype)
        magnitude = y & fmt.uint.type(fmt.sign_mask - 1)
        return np.where(magnitude > fmt.uint.type(fmt.infinity), y | fmt.uint.type(1), y)

    assert run(path("test.gelu", correct("gelu")), path("test.gelu-jit", faulty("gelu", payload)))[1].differ == 0


def test_the_switches_of_dispatch_are_recorded(monkeypatch):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    here = machine()
    assert here["switches"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"
    assert "XLA_FLAGS" not in here["switches"]
    assert here["isa"]
