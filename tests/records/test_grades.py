"""Grades: each definition at its limits, from outputs that were made for it; planted defects; what stands apart."""

import re
import runpy

import numpy as np
import pytest
from judging import judged
from mutants import correct, faulty, in_lane, rounded
from repository import ROOT

from gelu_verify.formats import get_format, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.grades import GRADES
from gelu_verify.truth.values import reference_bits


def off_by(ulps, where=lambda x: x == x):
    """Adds so many floats to the magnitude of each output at a finite input where that holds."""

    def change(dtype, x, y):
        fmt = get_format(dtype)
        value = to_float64(fmt, x)
        size = y & fmt.uint.type(fmt.sign_mask - 1)
        at = np.isfinite(value) & where(value) & (size > ulps) & (size < fmt.max_finite - ulps)
        return np.where(at, y + fmt.uint.type(ulps), y)

    return change


def constant(bits, where):
    """That output where it holds."""

    def change(dtype, x, y):
        fmt = get_format(dtype)
        return np.where(where(to_float64(fmt, x)), fmt.uint.type(bits(fmt)), y)

    return change


def record_of(*changes, function="gelu", dtype="float16"):
    def change(dtype, x, y):
        for each in changes:
            y = each(dtype, x, y)
        return y

    return judged(faulty(function, change), dtype, few_calls=True)


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_first_grades_are_limits_of_the_error(dtype):
    assert judged(correct("gelu"), dtype, few_calls=True).grade == "correctly_rounded"
    assert judged(rounded("gelu", "up"), dtype, few_calls=True).grade == "faithful"
    for floats, grade in ((1, "accurate"), (3, "accurate"), (5, "accurate_range")):  # away from the ends of binades
        found = record_of(off_by(floats, lambda x: (x > 1.2) & (x < 1.9)), dtype=dtype)
        assert (found.grade, found.max_ulp < floats + 0.51) == (grade, True)


@pytest.mark.parametrize(
    ("ulps", "where", "grade"),
    [
        (5, lambda x: x < -2, "accurate_range"),
        (40, lambda x: (x < -2.2) & (x > -3), "accurate_range"),
        (5, lambda x: np.abs(x) < 0.1, "absolute"),
        (5, lambda x: (x > 0.6) & (x < 0.9), "accurate_range"),
        (9, lambda x: (x > 1.2) & (x < 1.9), "coarse"),
    ],
)
def test_where_relative_accuracy_is_lost_decides(ulps, where, grade):
    record = record_of(off_by(ulps, where))
    assert record.grade == grade, record.sentence
    assert record.accurate_range is None or record.accurate_range.low < 0 < record.accurate_range.high


@pytest.mark.parametrize("low", [-0.7, -3.0])
def test_the_accurate_range_ends_where_the_errors_begin(low):
    """In 16 bits every bucket is one input."""
    record = record_of(off_by(6, lambda x: (x < low) | (x > 40)))
    x = np.arange(1 << 16, dtype=np.uint16)
    value = to_float64(get_format("float16"), x)
    inside = value[np.isfinite(value) & (value >= low) & (value <= 40)]
    found = record.accurate_range
    assert (found.low, found.high) == (inside.min(), inside.max())
    assert int(found.low_bits, 16) in x[value == inside.min()]


def test_the_absolute_error_is_the_largest_of_the_body():
    fmt, fault = get_format("float16"), off_by(7, lambda x: (x > 2.1) & (x < 2.5))
    record = record_of(fault)
    x = np.arange(1 << 16, dtype=np.uint16)
    value = to_float64(fmt, x)
    y = reference_bits("gelu", "float16", x)
    wide = reference_bits("gelu", "float64", value.view(np.uint64)).view(np.float64)
    inside = np.abs(value) <= 8
    got = np.where(inside, to_float64(fmt, fault("float16", x, y)), 0)
    error = np.abs(got - np.where(inside, wide, 0))
    assert record.max_abs_error.error == pytest.approx(error.max(), rel=1e-6)
    assert record.max_abs_error.x == value[np.argmax(error)]
    assert record.max_abs_error.units == pytest.approx(7.5, abs=0.51)


@pytest.mark.parametrize(("change", "phrase"), [
    (constant(lambda fmt: fmt.infinity, lambda x: x == np.inf), None),
    (constant(lambda fmt: fmt.nan, lambda x: x == np.inf), "NaN at +inf"),
    (constant(lambda fmt: fmt.nan, lambda x: x == 3), "NaN at x = 3; within 0.500 ULP at every other finite input"),
    (constant(lambda fmt: fmt.infinity, lambda x: np.isfinite(x) & (x >= 1000)), "(infinite at x = 1000)"),
    (constant(lambda fmt: 0, np.isnan), "NaN gives a number"),
    (constant(lambda fmt: fmt.infinity | fmt.sign_mask, lambda x: x == -np.inf), "-inf"),
])  # fmt: skip
def test_a_defect_is_broken_however_good_the_rest_is(change, phrase):
    record = record_of(change)
    assert record.grade == ("broken" if phrase else "correctly_rounded")
    assert phrase is None or phrase in record.sentence


@pytest.mark.parametrize(("function", "change", "convention"), [
    ("gelu", constant(lambda fmt: fmt.nan, lambda x: x == -np.inf), "NaN at -inf"),
    ("gelu_grad", constant(lambda fmt: fmt.nan, lambda x: x == np.inf), "NaN at +inf"),
])  # fmt: skip
def test_a_convention_stands_apart(function, change, convention):
    record = record_of(change, function=function)
    assert (record.grade, record.conventions) == ("correctly_rounded", (convention,))


def test_flushing_changes_no_grade_but_the_best():
    """Of what is correctly rounded else: zeros for subnormal results are told apart, and not an error of 1,000 ULP."""

    def flush(dtype, x, y):
        fmt = get_format(dtype)
        size = y & fmt.uint.type(fmt.sign_mask - 1)
        return np.where(size < 1 << (fmt.precision - 1), y & fmt.uint.type(fmt.sign_mask), y)

    record = record_of(flush)
    assert record.max_ulp > 500
    assert (record.grade, record.conventions) == ("faithful", ("flushes subnormal results",))


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_no_range_is_made_of_flushed_numbers_alone(dtype):
    """Where all behind them is wrong, too, zeros for subnormal results are errors as others."""

    def flush(dtype, x, y):
        fmt = get_format(dtype)
        size = y & fmt.uint.type(fmt.sign_mask - 1)
        wrong = off_by(20)(dtype, x, y)
        return np.where(size < 1 << (fmt.precision - 1), y & fmt.uint.type(fmt.sign_mask), wrong)

    record = record_of(flush, dtype=dtype)
    found = record.accurate_range
    assert found is None or found.high <= 10 * get_format(dtype).fraction(1)  # to the least of them zero is near
    nearest = re.search(r"above 4 ULP as near to zero as at x = (\S+?)[;.]?(?: |$)", record.sentence)
    assert nearest is None or abs(float(nearest[1])) < 1e-38


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_what_rounds_to_the_least_normal_number_is_flushed_too(dtype):
    """It is subnormal before it is rounded, which is when devices look."""

    def flush(dtype, x, y):
        fmt = get_format(dtype)
        return np.where((y & fmt.uint.type(fmt.sign_mask - 1)) <= 1 << (fmt.precision - 1), y & fmt.sign_mask, y)

    record = record_of(flush, dtype=dtype)
    assert (record.grade, record.conventions) == ("faithful", ("flushes subnormal results",))
    assert record.accurate_range.high == float(get_format(dtype).fraction(get_format(dtype).max_finite))


@pytest.mark.parametrize(("floats", "grade"), [(2, "accurate"), (300, "broken")])
def test_a_lane_is_a_defect_where_it_is_far_off(floats, grade):
    """Two outputs of one input, as vector loops and their remainders give them."""
    record = record_of(in_lane(3, 8, floats, lambda x: (x > 1.2) & (x < 1.9)))
    assert record.checks["lane"] == "fail"
    assert record.grade == grade
    assert ("slightly" in record.sentence) == (grade != "broken")


@pytest.mark.parametrize("floats", [1, 2])
def test_outputs_beside_the_plan_count(floats):
    """Of calls of 9 elements, which the plan has not: an output that is not the right one is not correctly rounded."""

    def of_nine(dtype, x, y):
        return off_by(floats, lambda x: (x > 1.2) & (x < 1.9))(dtype, x, y) if len(x) == 9 else y

    record = record_of(of_nine)
    assert record.correctly_rounded == 1
    assert record.grade == ("accurate" if record.max_ulp >= 1 else "faithful")


def test_one_wrong_input_is_pointed_out():
    record = record_of(off_by(400, lambda x: x == 1.75))
    assert record.grade == "coarse"
    assert ", which stands out)" in record.sentence


def test_bits_are_those_of_the_errors():
    assert judged(correct("gelu"), "float16").mean_bits.plan == 11
    half = record_of(off_by(1, lambda x: np.abs(x) > 0.6745))  # half of N(0,1)
    assert half.mean_bits.normal == pytest.approx(11 - np.log2(3) / 2, abs=0.6)
    assert record_of(constant(lambda fmt: fmt.nan, np.isfinite)).mean_bits.plan == 0


def test_a_narrowed_plan_has_no_range():
    record = sweep(correct("gelu"), make_plan("default", "gelu", "float16", 0, ["1:2"])).record
    assert (record.grade, record.accurate_range) == ("correctly_rounded", None)
    assert record.mean_bits.normal is None


@pytest.mark.parametrize("ranges", [["nan:nan"], ["inf:inf"], ["0x7f80:0x7fff", "0xff80:0xff81"]])
def test_where_no_finite_input_was_tried_there_is_no_grade(ranges):
    """Also where what was tried is right: no error says anything then."""
    plan = make_plan("default", "gelu", "bfloat16", 0, ranges)
    for target in (correct("gelu"), rounded("gelu", "up")):
        record = sweep(target, plan).record
        assert (record.grade, record.grade_bound) == (None, None)
        assert record.sentence.startswith("no finite input was tried")
    broken = sweep(faulty("gelu", constant(lambda fmt: fmt.one, np.isnan)), plan).record
    assert broken.grade in ("broken", None)
    assert "correctly rounded" not in broken.sentence


def test_what_fails_is_broken():
    def raising(dtype, x, y):
        raise ValueError("no")

    record = record_of(raising)
    assert (record.grade, record.sentence) == ("broken", "raises an exception.")


def test_the_page_has_every_definition():
    script = runpy.run_path(str(ROOT / "tools" / "make_grades.py"))
    assert script["page"]() == script["PAGE"].read_text(encoding="utf-8"), "run: python tools/make_grades.py"
    assert [*GRADES] == ["correctly_rounded", "faithful", "accurate", "accurate_range", "absolute", "coarse", "broken"]
