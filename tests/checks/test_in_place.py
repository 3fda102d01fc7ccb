"""Calls in place: what is asked of whom, and that a fault of them is nothing else."""

import shutil

import numpy as np
import pytest
from checks.planted.in_place import overlapping, right
from judging import failing, judged

from gelu_verify.checks.in_place import LENGTHS
from gelu_verify.targets import in_place, load
from gelu_verify.targets.kinds.base import Asked
from gelu_verify.targets.python_callables import callable_target

X = [0xBF700000, 0x3F000000, 0xBF000000]  # -0.9375, 0.5, -0.5

SOURCE = """
#include <math.h>
#include <stddef.h>
#define NOT_THE_SAME __restrict__
static float g(float x) { return (float)(0.5 * x * erfc(-x * 0.70710678118654752440)); }
void pointwise(const float *x, float *y, size_t n) { for (size_t i = 0; i < n; i++) y[i] = g(x[i]); }
void overlapping(const float *x, float *y, size_t n)
{
    size_t i = 0;
    if (n < 8) { pointwise(x, y, n); return; }
    for (; i + 8 <= n; i += 8) pointwise(x + i, y + i, 8);
    if (i < n) pointwise(x + n - 8, y + n - 8, 8);
}
void restricted(const float *restrict x, float *__restrict__ y, size_t n) { overlapping(x, y, n); }
#define DECLARED(name, ...) void name(__VA_ARGS__)
DECLARED(hidden, const float *NOT_THE_SAME x, float *y, size_t n) { overlapping(x, y, n); }
float one(float x) { return g(x); }
int refusing(const float *x, float *y, size_t n) { if (x == y) return 22; pointwise(x, y, n); return 0; }
"""
BY_X_Y_N = "void f(const float *x, float *y, size_t n)"
CASES = {  # symbol, --call: what is answered in words, or the lengths at which the results differ
    ("pointwise", None): [],
    ("overlapping", None): [n for n in LENGTHS if n > 8 and n % 8],
    ("overlapping", BY_X_Y_N): [n for n in LENGTHS if n > 8 and n % 8],
    ("overlapping", BY_X_Y_N.replace("*y", "*restrict y")): "its pointers are declared restrict",
    ("overlapping", BY_X_Y_N + "; oob_reads=16"): "it reads beyond its input",
    ("restricted", None): "its pointers are declared restrict",
    ("hidden", None): "its pointers are declared restrict",
    ("one", None): "it takes one value",
    ("refusing", BY_X_Y_N.replace("void", "int")): "it refuses to be called in place",
}


def differing(target):
    answered = in_place.outputs(target, "float32", X, list(LENGTHS))
    return answered if isinstance(answered, str) else [n for n, (a, b) in zip(LENGTHS, answered, strict=True) if a != b]


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_c_functions(tmp_path):
    (tmp_path / "k.c").write_text(SOURCE)
    for (symbol, call), expected in CASES.items():
        (target,), _ = load(f"{tmp_path}/k.c:{symbol}", Asked(call=call))
        found = differing(target)
        assert found.startswith(expected) if isinstance(expected, str) else found == expected, (symbol, call, found)


@pytest.mark.parametrize("width", [4, 8, 16, 32, 64, 128, 256, 1024])
def test_an_overlapping_last_block_is_seen_whatever_its_width(width):
    assert differing(callable_target(overlapping(width), "gelu", "float32", call="f(x, out=y)"))


def test_whose_results_replace_its_input_or_nothing_is_not_asked():
    def changing(x):
        x[:] = right(x)

    for target in (
        callable_target(right, "gelu", "float32"),
        callable_target(changing, "gelu", "float32", call="f(x); x"),
    ):
        assert isinstance(differing(target), str)


def test_a_target_whose_results_vary_is_not_accused_of_that():
    calls = [0]

    def f(x, out, every):
        calls[0] += 1
        out[:] = right(x) + np.float32(calls[0] % every == 0)

    for every in (1, 2, 3, 4, 5):
        target = callable_target(f, "gelu", "float32", kwargs={"every": every}, call="f(x, out=y)")
        assert differing(target) == [], every


def test_it_is_said_and_enters_no_error():
    record = judged(callable_target(overlapping(8), "gelu", "float32", call="f(x, out=y)"), "float32")
    assert failing(record) == {"in_place"}
    assert record.findings["in_place"].severity == "loss"
    assert record.grade == "correctly_rounded"
    assert record.max_ulp <= 0.5000001
    assert not record.beside
    assert "called in place with 9 inputs it gives" in record.sentence
