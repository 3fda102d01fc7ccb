"""One second input, any bit pattern: finite ones as parameters, others as IEEE 754 has it of the formula."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gelu_verify.errors import UsageError
from gelu_verify.formats import from_ordinals, get_format, is_nan, to_float64
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.truth.second_input import composed_bits, judge_pair, of_two_inputs
from gelu_verify.truth.values import exact, judge

DTYPES = ("float16", "bfloat16")


def every_x(dtype):
    return from_ordinals(get_format(dtype), np.arange(-(1 << 15), 1 << 15))


def bits(dtype, text):
    return get_format(dtype).parse(text)


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ["swiglu", "bias_gelu", "reglu_grad"])
def test_a_finite_second_input_is_a_parameter(function, dtype):
    x, name = every_x(dtype), of_two_inputs(function).parameter.name
    got = np.random.default_rng(1).integers(0, 1 << 16, x.size, dtype=np.uint16)
    for text, number in (("0.5", "0.5"), ("-3", "-3"), ("-0", "0"), ("0", "0")):
        found, expected = (
            judge_pair(function, dtype, bits(dtype, text), x, got),
            judge(f"{function}[{name}={number}]", dtype, x, got),
        )
        for one, other in zip(found, expected, strict=True):
            assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("like", ["swiglu", "bias_gelu"])
def test_the_function_says_what_its_second_input_is_and_no_name(monkeypatch, like):
    """Another name of g and of b, as of somebody else's function: g of the sum, b of the product."""
    entry = get_function(like)
    name = {"swiglu": "b", "bias_gelu": "g"}[like]
    (own,) = entry.parameters
    other = replace(
        entry,
        name="of_another",
        parameters=(replace(own, name=name),),
        with_values=lambda values: entry.with_values({own.name: values[name]}),
    )
    monkeypatch.setitem(FUNCTIONS._functions, other.name, other)
    x = every_x("bfloat16")
    got = np.random.default_rng(2).integers(0, 1 << 16, x.size, dtype=np.uint16)
    for text in ("inf", "-inf", "nan", "-3"):
        found, expected = (judge_pair(each, "bfloat16", bits("bfloat16", text), x, got) for each in (other.name, like))
        for one, two in zip(found, expected, strict=True):
            assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
        outputs = [composed_bits(each, "bfloat16", bits("bfloat16", text), x) for each in (other.name, like)]
        assert np.array_equal(*outputs)


def due_of_product(function, g, x):
    """g f(x) for g infinite or NaN; None: anything. From the sign of the exact value."""
    if math.isnan(x) or math.isnan(g):
        return math.nan
    if x == -math.inf:
        return None
    inner = of_two_inputs(function).inner.name
    if x == 0 or math.isinf(x):
        f = {"silu": x, "relu": x, "gelu_grad": 0.5 if x == 0 else 1.0}[inner]
    else:
        f = float(exact(inner, x, digits=3).partition("e")[0])  # its sign; far below 1e-308 too
    return f * g if f else math.nan


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", ["swiglu", "reglu", "geglu_grad"])
@pytest.mark.parametrize("g", ["inf", "-inf", "nan"])
def test_an_infinite_factor_gives_infinities_and_nan(function, dtype, g):
    texts = ("nan", "-inf", "-300", "-20", "-2", "-0.75", "-1e-5", "-0", "0", "1e-5", "3", "300", "inf")
    x = np.array([bits(dtype, text) for text in texts], np.uint16)
    for got in ("inf", "-inf", "nan", "1", "0"):
        output = np.full_like(x, bits(dtype, got))
        want, error, faithful = judge_pair(function, dtype, bits(dtype, g), x, output)
        for k, number in enumerate(to_float64(get_format(dtype), x).tolist()):
            due = due_of_product(function, float(g), number)
            right = due is None or float(got) == due or (math.isnan(due) and got == "nan")
            assert faithful[k] == right, (number, got, due)
            if due is None:
                assert want[k] == output[k]
            else:
                assert want[k] == bits(dtype, str(due))
            if not math.isfinite(number):
                assert math.isnan(error[k])
            elif right:
                assert math.isnan(error[k]) == math.isnan(due)
                assert math.isnan(due) or error[k] == 0
            else:
                assert error[k] == math.inf


@pytest.mark.parametrize("dtype", DTYPES)
def test_at_a_jump_both_results_are_right(dtype):
    """relu'(0) may be 0 or 1: inf * 0 is NaN, inf * 1 is inf."""
    x = np.full(4, 0, np.uint16)
    got = np.array([bits(dtype, text) for text in ("nan", "inf", "-inf", "1")], np.uint16)
    assert judge_pair("reglu_grad", dtype, bits(dtype, "inf"), x, got).faithful.tolist() == [True, True, False, False]
    assert judge_pair("reglu_grad", dtype, bits(dtype, "-inf"), x, got).faithful.tolist() == [True, False, True, False]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("function", "b", "limit"),
    [
        ("bias_gelu", "inf", "inf"),
        ("bias_gelu", "-inf", "-0"),
        ("bias_gelu_grad", "inf", "1"),
        ("bias_gelu", "nan", "nan"),
    ],
)
def test_an_infinite_summand_gives_the_limit(function, dtype, b, limit):
    fmt, x = get_format(dtype), every_x(dtype)
    due = np.full_like(x, bits(dtype, limit))
    due[is_nan(fmt, x)] = fmt.nan
    due[x == bits(dtype, {"inf": "-inf", "-inf": "inf", "nan": "nan"}[b])] = fmt.nan
    want, error, faithful = judge_pair(function, dtype, bits(dtype, b), x, due)
    assert (want == due).all()
    assert faithful.all()
    assert (np.nan_to_num(error) == 0).all()
    wrong = judge_pair(function, dtype, bits(dtype, b), x, np.full_like(x, bits(dtype, "2")))
    assert not wrong.faithful.any()
    one = error[x == bits(dtype, "1")]
    off = wrong.error[x == bits(dtype, "1")]
    assert np.isfinite(off).all() == (limit in ("-0", "1")), (one, off)


def test_a_function_without_a_second_input_is_refused():
    x = np.zeros(1, np.uint16)
    for function in ("silu", "swiglu[g=2]"):
        with pytest.raises(UsageError, match="accepted: as swiglu, bias_gelu"):
            judge_pair(function, "bfloat16", 0, x, x)
    with pytest.raises(UsageError, match="of one shape"):
        judge_pair("swiglu", "bfloat16", 0x7F80, x, x[:0])
    with pytest.raises(UsageError, match="too wide"):
        judge_pair("swiglu", "bfloat16", -1 & 0x1FFFF, x, x)
