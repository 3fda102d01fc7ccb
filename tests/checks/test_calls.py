"""The plan of calls: what depends on their number of elements, on neighbours or on the order is seen without timing."""

import itertools

import numpy as np
import pytest
from mutants import faulty

from gelu_verify.checks.calls import LONG, POWERS, VECTORS, _lengths
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep

FMT = get_format("float32")
MINUS_7 = FMT.parse("-7")


def value(x):
    return x.view(np.float32)


def rarely_wrong_in_an_interval():
    calls = itertools.count()
    inside = lambda x: (value(x) > 0.493267) & (value(x) < 0.494015)  # noqa: E731
    return lambda dtype, x, y: np.where(inside(x) & (next(calls) % 3 == 1), np.uint32(MINUS_7), y)


def where_neighbours_are_equal(dtype, x, y):
    return np.where(np.append(False, x[1:] == x[:-1]), np.uint32(MINUS_7), y)


def whole_calls(when, wrong="nan"):
    return lambda dtype, x, y: np.full_like(y, FMT.parse(wrong)) if when(x) else y


KERNELS = {
    "an interval in some calls": rarely_wrong_in_an_interval(),
    "equal neighbours": where_neighbours_are_equal,
    "constant arrays": whole_calls(lambda x: len(x) > 1 and (x == x[0]).all()),
    "long calls": whole_calls(lambda x: len(x) > 65_537, "0"),
    "66 to 126 elements": whole_calls(lambda x: 66 <= len(x) <= 126, "0"),
    "100 elements": whole_calls(lambda x: len(x) == 100, "0"),
    "multiples of 1,000": whole_calls(lambda x: len(x) % 1000 == 0, "0"),
    "113 elements": whole_calls(lambda x: len(x) == 113, "0"),
    "ascending": whole_calls(lambda x: len(x) > 64 and (np.diff(value(x)[np.isfinite(value(x))]) >= 0).all(), "0"),
    "the thousandth call": (lambda calls: whole_calls(lambda x: next(calls) == 1000, "0"))(itertools.count()),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_that_only_some_calls_show(name):
    record = sweep(faulty("gelu", KERNELS[name]), make_plan("default", "gelu", "float32"), workers=1).record
    assert record.grade == "broken", record.sentence
    assert record.failed_checks
    assert "correctly rounded" not in record.sentence
    assert record.beside or record.max_ulp > 1e6


def test_the_lengths_have_every_remainder_and_do_not_depend_on_chance():
    found = _lengths(1 << 18, 0)
    assert {*range(65, 128), 100, *range(1000, 11_000, 1000), *LONG} <= set(found)
    assert all({(1 << k) - 1, 1 << k, (1 << k) + 1} <= set(found) for k in POWERS)
    assert found == _lengths(1 << 18, 0) != _lengths(1 << 18, 1)
    assert max(_lengths(4097, 0)) <= 4097
    assert set(VECTORS) <= set(found)


@pytest.mark.parametrize(
    ("wrong_at", "grade"), [(lambda n: n == 37, "broken"), (lambda n: n > 70_000, "correctly_rounded")]
)
def test_of_what_nobody_asked_for_few_calls_are_compared_and_the_findings_say_so(wrong_at, grade):
    calls = []

    def noted(dtype, x, y):
        calls.append(len(x))
        return np.zeros_like(y) if wrong_at(len(x)) else y

    plan = make_plan("quick", "gelu", "float32")
    record = sweep(faulty("gelu", noted), plan, workers=1, few_calls=True).record
    assert record.grade == grade
    assert set(range(1, 65)) <= set(calls)
    assert len(calls) < 200
    assert record.findings["repeatable"].detail == "no calls at once were compared: nobody asked for this kernel"
    if grade != "broken":
        said = "only calls of up to 1000 elements were compared: nobody asked for this kernel"
        assert record.findings["lane"].detail == said
