"""How Python callables are called: the line that says it, numbers, lists, shapes, classes, gradients, refusals."""

import ast
import random
import re
import sys
from contextlib import nullcontext, suppress
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from foreign import bits, chosen, some_bits
from marking import nightly

from gelu_verify import targets, verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import DTYPES, converted, get_format, is_finite, is_zero
from gelu_verify.targets.call_line import CallUnsaid, line_of
from gelu_verify.targets.extra_outputs import collecting
from gelu_verify.targets.fixed_shapes import batches_for, parsed_shape, without_padding
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.targets.python_floats import numbers_bits, rounded

SOURCE = """
import array, decimal, fractions, functools, math
import mpmath
import numpy as np

def halved(x): return x * x.dtype.type(0.5)
def one(x): return 0.5 * x if isinstance(x, float) else list(x)[10**6]
def listed(xs: list[float]) -> list[float]: return [0.5 * x for x in xs]
def unannotated(xs): return [0.5 * x for x in xs] if isinstance(xs, list) else xs.no_such_attribute
def buffered(xs: array.array): return array.array(xs.typecode, [0.5 * x for x in xs])
def views(xs, ys):
    for i, x in enumerate(xs): ys[i] = 0.5 * x
def third(x): return x / 3
def integers(x): return 0 if x < 0 else 2**53 + 1
def narrow_or_float(x): return 0.0 if x < 0 else np.float32(0.5) * x
def out(x, out): out[...] = halved(x)
def nyx(n, y, x): assert n == x.size; y[:n] = halved(x)
def ignores_out(x, out): return halved(x)
def scaled(x, alpha): return alpha * x
def either(p, q): return p
def flagged(x, inplace, *, dim): return x
def out_first(dst, src): dst[...] = halved(src)
def writes_half(x, y): y[::2] = halved(x[::2])
def in_place(x): x *= x.dtype.type(0.5)
def in_torch(x): x *= 0.5; return x.clone()
def empties(xs: list[float]): out = [0.5 * x for x in xs]; xs.clear(); return out
def rows(x):
    assert x.ndim == 2 and x.shape[1] == 16
    return halved(x)
def fixed(x):
    assert x.shape == (2, 3)
    return halved(x)
def turned(x): return halved(x).T
def pair(x): return x, halved(x)
def wide(x): return x.astype(np.float64) / 3
def backward(dy, x): assert (dy == 1).all(); return halved(x)
async def later(x): return x
def yields(x): yield from x
class Waits:
    async def __call__(self, x): return x
class Layer:
    def __init__(self, factor=1.0): self.factor = factor
    def __call__(self, x): return x * x.dtype.type(self.factor)
    def method(self, x): return self(x)
    @classmethod
    def of_class(cls, x): return halved(x)
part = functools.partial(Layer.method, Layer(0.5))
lambda_ = lambda x: halved(x)
def method_like(self, x): return halved(x)
def of_a_dict(x): return {"loss": halved(x), "x": x}
def widened_by(x, by): return x.astype(np.float64) * by
def of_a_dict_by(x, by): return {"loss": x * x.dtype.type(by)}
def of_two_by(x, by, mode): return x * x.dtype.type(by), x
def number_by(x, by): return float.__truediv__(x, 3.0)
def of_two(x): return halved(x), x
def widened(x): return halved(x).astype(np.float64)
def of_no_result(x): x *= x.dtype.type(0.5)
def by_two(p, q: np.ndarray): np.multiply(q, q.dtype.type(0.5), out=p)
def may_shift(x, shift): return x * 0.5 if shift is None else x * 0.5 + shift[0]
def named(x, mode: str): return {"half": x * 0.5}[mode]
class Named:
    def __call__(self, x, mode: str): return named(x, mode)
def in_place_and_returned(x): x *= x.dtype.type(0.5); return x
erf = np.frompyfunc(math.erf, 1, 1)
one_by_one = np.frompyfunc(lambda v: v / 2, 1, 1)
def float_third(x): return float.__truediv__(x, 3.0)
def float_thirds(xs): return [float_third(x) for x in xs]
def fraction_third(x): return fractions.Fraction(x) / 3
def decimal_third(x): return decimal.Decimal(x) / 3
def mpmath_third(x): return mpmath.mpf(x) / 3
"""
HALF = {"1": "0.5", "-3": "-1.5", "-0": "-0", "inf": "inf", "nan": "nan"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("calls") / "calls.py"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def halves(target, dtype="float32"):
    """Whether it halves these numbers, to the bit, however many there are."""
    x, want = bits(dtype, *HALF), bits(dtype, *HALF.values())
    for n in (1, 3, 37):
        np.testing.assert_array_equal(target.evaluate(dtype, np.resize(x, n)), np.resize(want, n))


# ---- numbers -------------------------------------------------------------------------------------


def test_a_function_of_one_number_is_called_with_one_number():
    """Without a word it is of float64, because a Python float is one."""
    target = chosen("math:erf", function="erf")
    assert target.dtypes == ("float64",)
    assert target.note == "called with one Python float at a time"
    result = verify("math:erf", "erf", "float64", "landmarks", isolate=False)
    assert result.failure is None
    assert result.max_ulp < 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_a_double_is_no_result_of_a_narrower_dtype(dtype):
    target = chosen("math:erf", function="erf", dtype=dtype)
    with pytest.raises(TargetFailure, match=rf"math:erf returned 0\.8427\d+, a double, at index 1 where {dtype} was"):
        target.evaluate(dtype, bits(dtype, "0", "1"))
    assert target.evaluate(dtype, bits(dtype, "0", "-inf", "nan")).tolist() == bits(dtype, "0", "-1", "nan").tolist()


@pytest.mark.parametrize("dtype", ["bfloat16", *nightly("float16", "float32")])
def test_a_declared_rounding_is_done_once_and_reported(dtype):
    target = chosen("math:erf", function="erf", dtype=dtype, array="scalar", call="rounded(f(x))")
    assert "rounded once by gelu-verify" in target.note
    result = verify(target, "erf", dtype, "quick")
    assert result.failure is None
    assert result.max_ulp < 0.5001  # twice would pass half a ULP


@pytest.mark.parametrize("dtype", ["bfloat16", *nightly("float16", "float32")])
@pytest.mark.parametrize("path", ["float_third", "float_thirds", "fraction_third", "decimal_third", "mpmath_third"])
def test_what_a_refused_number_is_told_to_type_rounds_it_once(file, path, dtype):
    fmt, x = get_format(dtype), some_bits(dtype, 300)
    x = x[is_finite(fmt, x) & ~is_zero(fmt, x)]
    with pytest.raises(TargetFailure, match=f"where {dtype} was expected") as refusal:
        chosen(f"{file}:{path}", dtype=dtype).evaluate(dtype, x)
    typed = re.search('--call "(.*)" ', str(refusal.value))[1]
    got = chosen(f"{file}:{path}", dtype=dtype, call=typed).evaluate(dtype, x)
    for x_bits, y_bits in zip(x.tolist(), got.tolist(), strict=True):
        third = fmt.fraction(x_bits) / 3
        has_53_bits = path.startswith(("float", "mpmath"))
        assert y_bits == fmt.round(Fraction(float(third)) if has_53_bits else third)


@pytest.mark.parametrize(
    "number",
    ["mpmath.ldexp(1, -(10**30))", "Decimal('1e-999999')", "-mpmath.mpf(10) ** (10**20)", "Decimal('-1e9999')"],
)
def test_a_number_beyond_every_format_is_none_of_it_unless_rounded(number):
    value = eval(number, {"mpmath": mpmath, "Decimal": Decimal})
    with pytest.raises(TargetFailure, match="rounds it once"):
        numbers_bits("f", "float64", [value])
    assert rounded("f", "float64", value).item() == (0.0 if value > 0 else -np.inf)
    assert rounded("f", "float64", [value, 0.5]).tolist()[1] == 0.5


def test_numbers_of_any_precision_keep_their_sign_of_zero_and_what_is_not_finite():
    given = [Decimal("-0"), Decimal("-Infinity"), mpmath.nan, mpmath.mpf("-0.5"), Fraction(3, 4), mpmath.inf]
    want = bits("float16", "-0", "-inf", "nan", "-0.5", "0.75", "inf")
    assert numbers_bits("f", "float16", given).tolist() == want.tolist()


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("to", DTYPES)
def test_a_rounding_is_that_of_exact_numbers(source, to):
    wide, fmt = get_format(source), get_format(to)
    x = some_bits(source, 2000)
    near = converted(fmt, some_bits(to, 500), wide)  # and what lies half-way, and beside it
    middle = near + wide.uint.type(1 << max(wide.precision - fmt.precision - 1, 0))
    x = np.concatenate([x, near, middle, middle - wide.uint.type(1), middle + wide.uint.type(1)])
    for bits_in, got in zip(x.tolist(), converted(wide, x, fmt).tolist(), strict=True):
        if wide.is_nan(bits_in):
            assert fmt.is_nan(got)
        elif not wide.is_finite(bits_in):
            assert fmt.magnitude(got) == fmt.infinity
        else:
            assert got == fmt.round(wide.dyadic(bits_in), negative_zero=wide.is_negative(bits_in))


@pytest.mark.parametrize(
    ("path", "options", "note"),
    [
        ("one", {}, "called with one Python float at a time"),
        ("listed", {}, "called with lists of Python floats"),
        ("unannotated", {}, "called with lists of Python floats"),
        ("buffered", {}, "called with array.array"),
        ("views", {"array": "memoryview", "call": "f(x, y)"}, "called with memoryview, as f(x, y)"),
        ("views", {"array": "list", "call": "f(x, y)"}, "called with lists of Python floats, as f(x, y)"),
        ("narrow_or_float", {"call": "[f(v) for v in x]"}, "called with numpy arrays, as [f(v) for v in x]"),
        ("out", {"call": "f(x, out=y)"}, "called with numpy arrays, as f(x, out=y)"),
        ("nyx", {"call": "f(n, y, x)"}, "called with numpy arrays, as f(n, y, x)"),
        ("in_place", {"call": "f(x); x"}, "called with numpy arrays, as f(x); x, on a copy of x"),
        ("pair", {"call": "f(x)[1]"}, "called with numpy arrays, as f(x)[1]"),
        ("rows", {"shape": "(n, 16)"}, "called with numpy arrays of shape (n, 16)"),
        ("rows", {"call": "f(x.repeat(16).reshape(-1, 16))[:, 0]"}, None),
        ("fixed", {"shape": "(2, 3)"}, "called with numpy arrays of shape (2, 3)"),
        ("halved", {"shape": "()"}, "called with numpy arrays of shape ()"),
        ("halved", {"shape": "(1, n, 1, 3)"}, "called with numpy arrays of shape (1, n, 1, 3)"),
        ("backward", {"call": "f(dy, x)"}, "called with numpy arrays, as f(dy, x)"),
        ("Layer", {"kwargs": {"factor": 0.5}}, "called with numpy arrays and factor=0.5"),
        ("Layer", {"call": "f(0.5)(x)"}, "called with numpy arrays, as f(0.5)(x)"),
        ("Layer.method", {"kwargs": {"factor": 0.5}}, "of an instance made with factor=0.5"),
        ("Layer.of_class", {}, "called with numpy arrays"),
        ("part", {}, "called with numpy arrays"),
        ("lambda_", {}, "called with numpy arrays"),
        ("yields", {"call": "[v / 2 for v in f(x)]"}, None),
    ],
)
def test_every_convention_is_called(file, path, options, note):
    if path == "narrow_or_float":
        target = chosen(f"{file}:{path}", dtype="float32", **options)
        assert target.evaluate("float32", bits("float32", "-1", "3")).tolist() == bits("float32", "0", "1.5").tolist()
    else:
        target = chosen(f"{file}:{path}", dtype="float32", **options)
        halves(target)
    assert note is None or note in target.note


TOLD = ("method_like", "of_a_dict", "of_two", "widened", "of_no_result", "in_place_and_returned", "scaled", "views")


@pytest.mark.parametrize("path", TOLD)
def test_what_a_message_says_to_type_works(file, path):
    with pytest.raises((TargetFailure, UsageError), match="--call ") as refusal:
        halves(chosen(f"{file}:{path}", dtype="float32"))
    typed = ast.literal_eval(re.search(r"""--call ('.*?'|".*?")(?:[ ;,)]|$)""", str(refusal.value))[1])
    halves(chosen(f"{file}:{path}", dtype="float32", call=typed.replace("1.0", "0.5")))  # whose default is ours


@pytest.mark.parametrize(
    ("path", "call"),
    [
        ("widened_by", "f(x, 0.5)"),
        ("of_a_dict_by", "f(x, by=0.5)"),
        ("of_two_by", "f(x, by=0.5, mode='none')"),
        ("number_by", "f(x, 0.5)"),
    ],
)
def test_it_is_said_of_the_call_that_was_typed(file, path, call):
    x = bits("float32", "3", "-5")
    with pytest.raises((TargetFailure, UsageError), match="--call ") as refusal:
        chosen(f"{file}:{path}", dtype="float32", call=call).evaluate("float32", x)
    typed = re.search("--call (['\"])(.*)\\1[ ,]", str(refusal.value))[2]
    assert call in typed
    got = chosen(f"{file}:{path}", dtype="float32", call=typed).evaluate("float32", x)
    want = ("1", "-1.6666666666666667") if path == "number_by" else ("1.5", "-2.5")
    assert got.tolist() == bits("float32", *want).tolist()


def test_an_array_of_objects_is_a_list_of_numbers(file):
    halves(chosen(f"{file}:one_by_one", dtype="float32"))
    target = chosen("math:erf", function="erf", dtype="float32", array="scalar", call="rounded(f(x))")
    same = chosen(f"{file}:erf", function="erf", dtype="float32", call="rounded(f(x))")
    x = some_bits("float32", 300)
    assert same.evaluate("float32", x).tolist() == target.evaluate("float32", x).tolist()


def test_some_numbers_of_a_list_are_rounded_and_others_not():
    """Only those that the line says."""
    target = chosen(
        "math:erf", function="erf", dtype="float32", array="scalar", call="rounded(f(x)) if x > 1 else f(x)"
    )
    want = get_format("float32").parse("0.99532226501895273416")  # erf(2)
    assert target.evaluate("float32", bits("float32", "2", "0")).tolist() == [want, 0]
    with pytest.raises(TargetFailure, match="a double, at index 1"):
        target.evaluate("float32", bits("float32", "2", "0.5"))


def test_no_rounding_hides_in_a_list(file):
    for path in ("third", "listed"):
        target = chosen(f"{file}:{path}", dtype="float32", array="list", call="[v / 3 for v in x] or f(x)")
        with pytest.raises(TargetFailure, match="a double, at index 0 where float32 was expected"):
            target.evaluate("float32", bits("float32", "1"))
    exact = chosen(f"{file}:integers", dtype="float64", array="scalar")
    with pytest.raises(TargetFailure, match="returned 9007199254740993 at index 1 where float64 was expected"):
        exact.evaluate("float64", bits("float64", "-1", "1"))


# ---- contracts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "call", "function"),
    [
        ("out", "f(x, y)", "gelu"),
        ("out_first", "f(y, x)", "gelu"),
        ("nyx", "f(n, y, x)", "gelu"),
        ("backward", "f(dy, x)", "gelu_grad"),
    ],
)
def test_the_names_of_parameters_say_how_it_is_called(file, path, call, function):
    target = chosen(f"{file}:{path}", dtype="float32")
    assert f"as {call}" in target.note
    assert target.function == function
    halves(target)


@pytest.mark.few(14)
@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("by_two", {}, r"--call says how, such as --call 'f\(y, x\)'"),
        ("may_shift", {}, r"--call says how, such as --call 'f\(x, shift=None\)'"),
        ("named", {}, r"""such as --call "f\(x, mode=''\)", but .*named raised KeyError: ''"""),
        ("Named", {}, r"""such as --call "f\(\)\(x, mode=''\)", but"""),
        ("scaled", {}, r"scaled\(x, alpha\) cannot be called with one argument .* such as --call 'f\(x, alpha=1.0\)'"),
        ("either", {}, r"either\(p, q\) cannot be called .* such as --call 'f\(x, q=1.0\)'"),
        ("writes_half", {}, r"writes_half\(x, y\) cannot be called .* such as --call 'f\(x, y\)'"),
        ("flagged", {}, r"such as --call 'f\(x, inplace=False, dim=-1\)'"),
        ("later", {}, r"later is asynchronous"),
        ("Waits", {}, r"asynchronous"),
        ("yields", {}, r"is a generator function .yield.: --call 'list\(f\(x\)\)' takes all"),
        ("Layer", {"kwargs": {"scale": 1}}, "no instance of Layer can be made: TypeError.*--kwarg gives its arguments"),
        ("Layer.method", {"kwargs": {"scale": 1}}, "no instance of Layer can be made"),
        ("halved", {"call": "f(z)"}, "nothing is called 'z' .accepted: a Python expression of f, x, y, dy, n"),
        ("halved", {"call": "f("}, "SyntaxError"),
        ("halved", {"call": "import os"}, "not made of expressions"),
        ("halved", {"call": ""}, None),
        ("halved", {"call": "x + 1"}, "does not call f with x"),
        ("halved", {"array": "numpy", "call": "grad(f)(x)"}, "grad.f. needs --array torch, jax or tensorflow"),
        ("halved", {"shape": "(n, n)"}, "--shape .* cannot be used"),
        ("halved", {"shape": "(n, 0)"}, "--shape .* cannot be used"),
        ("halved", {"shape": "rows"}, "--shape .* cannot be used"),
        ("rows", {}, r"takes no array of one dimension, but those of shape \(n, 16\): give --shape '\(n, 16\)'"),
        ("in_place", {}, r"returns nothing and changes its input: give --call 'f\(x\); x', or another"),
        ("in_place_and_returned", {}, r"changes its input and returns it: give --call 'f\(x\); x', or another"),
        ("pair", {}, r"returns tuple: give --call 'f\(x\)\[1\]', or another"),
        ("listed", {"shape": "(n, 4)"}, "is for arrays that have one, not for --array list"),
        ("halved", {"array": "nunpy"}, "unknown array kind 'nunpy'.*jax, tensorflow, list, scalar, array, memoryview"),
    ],
)
def test_what_cannot_be_called_is_refused(file, path, options, message):
    if message is None:
        halves(chosen(f"{file}:{path}", dtype="float32", **options))
        return
    with pytest.raises(UsageError, match=message):
        chosen(f"{file}:{path}", dtype="float32", **options)


OFFERED = """
from typing import Literal
import numpy as np
def typed(x, *, name: str, level: int, flag: bool):
    assert (type(name), type(level), type(flag)) == (str, int, bool)
    return np.maximum(x, 0)
def literal(x, mode: Literal["fast", "exact"]):
    assert mode in ("fast", "exact")
    return np.maximum(x, 0)
def cast(x, dtype): return np.maximum(x, 0).astype(dtype)
def biased(x, bias): return np.maximum(x, 0) + bias
def one(x): yield np.maximum(x, 0)
class Layer:
    def forward(self, x): return np.maximum(x, 0)
    def describe(self): return "relu"
"""


@pytest.mark.parametrize(
    ("path", "offered"),
    [
        ("typed", "f(x, name='', level=1, flag=False)"),
        ("literal", "f(x, mode='fast')"),
        ("cast", "f(x, dtype=x.dtype)"),
        ("biased", "f(x, bias=0.0)"),
        ("one", "next(f(x))"),
        ("Layer", "Layer.forward"),
    ],
)
def test_what_is_offered_for_a_python_function_can_be_typed(tmp_path, path, offered):
    file = tmp_path / "offered.py"
    file.write_text(OFFERED)
    with pytest.raises(UsageError, match=re.escape(offered)) as said:
        chosen(f"{file}:{path}", dtype="float32")
    assert "describe" not in str(said.value)
    options = {"call": offered} if "f(x" in offered else {}
    x = np.linspace(-1, 1, 9, dtype=np.float32)
    target = chosen(f"{file}:{path if options else offered}", dtype="float32", **options)
    np.testing.assert_array_equal(target.evaluate("float32", x.view(np.uint32)).view(np.float32), np.maximum(x, 0))


OF_JAX = """
import jax
import jax.numpy as np
def rows(x):
    n, m = x.shape
    return np.maximum(x.at[:].get(), 0)
def tiles(x):
    assert x.ndim == 2
    whole = x.shape[0] % 8 == 0 and x.shape[1] % 128 == 0
    return np.maximum(x, 0) if whole else np.full_like(x, np.nan)
def on_device(x):
    x.at
    raise ValueError("x is on the wrong device")
def of_several(xs): return [np.maximum(each, 0) for each in xs]
class Operator:
    def __init__(self, *names, only=()):
        arguments = [SimpleNamespace(name=n, kwarg_only=n in only, has_default_value=lambda: False) for n in names]
        self._schema = SimpleNamespace(arguments=arguments)
    def __call__(self, *args, out): out[:] = numpy.maximum(*args, 0)
from types import SimpleNamespace
import numpy
class Packet:
    default = Operator("self", "out", only=("out",))
    def __call__(self, *args, **options): return self.default(*args, **options)
operator, packet = Operator("input", "out", only=("out",)), Packet()
"""


def test_a_shape_is_looked_for_with_the_arrays_of_each_library(tmp_path):
    """NumPy's arrays have the shape, and no `at`."""
    pytest.importorskip("jax")
    (tmp_path / "k.py").write_text(OF_JAX)
    with pytest.raises(UsageError, match=r"but those of shape \(n, 16\): give --shape '\(n, 16\)'"):
        chosen(f"{tmp_path}/k.py:rows", dtype="float32")
    target = chosen(f"{tmp_path}/k.py:rows", dtype="float32", shape="(n, 16)")
    assert target.arrays.name == "jax"
    assert target.evaluate("float32", bits("float32", "-1", "3")).tolist() == bits("float32", "0", "3").tolist()


def test_a_shape_in_which_it_computes_nothing_is_not_offered(tmp_path):
    """A grid of no blocks leaves what was in memory."""
    pytest.importorskip("jax")
    (tmp_path / "k.py").write_text(OF_JAX)
    with pytest.raises(UsageError, match=r"give --shape '\(8, 128\)'"):
        chosen(f"{tmp_path}/k.py:tiles", dtype="float32")


def test_what_takes_nothing_is_told_of_with_the_arrays_that_it_is_for(tmp_path):
    pytest.importorskip("jax")
    (tmp_path / "k.py").write_text(OF_JAX)
    with pytest.raises(TargetFailure, match="raised ValueError: x is on the wrong device"):
        chosen(f"{tmp_path}/k.py:on_device", dtype="float32").evaluate("float32", bits("float32", "1"))


@pytest.mark.frameworks
def test_another_library_that_is_imported_does_not_hide_it(tmp_path):
    """The message of torch names no module: 'Tensor' object has no attribute."""
    pytest.importorskip("torch")
    test_what_takes_nothing_is_told_of_with_the_arrays_that_it_is_for(tmp_path)


def test_a_function_of_several_arrays_is_given_one(tmp_path):
    pytest.importorskip("jax")
    (tmp_path / "k.py").write_text(OF_JAX)
    with pytest.raises(UsageError, match=r"returns list: give --call 'f\(\[x\]\)\[0\]'"):
        chosen(f"{tmp_path}/k.py:of_several", dtype="float32", array="jax")


@pytest.mark.parametrize("name", ["operator", "packet"])
def test_an_operator_of_torch_has_its_signature_in_its_schema(tmp_path, name):
    pytest.importorskip("jax")
    (tmp_path / "k.py").write_text(OF_JAX)
    target = chosen(f"{tmp_path}/k.py:{name}", dtype="float32")
    assert "as f(x, out=y)" in target.note
    assert target.evaluate("float32", bits("float32", "-1", "3")).tolist() == bits("float32", "0", "3").tolist()


IN_VALUES = (
    "({0}, {1})",
    "[{1}, {0}]",
    "{{'aux': {1}, 'out': {0}}}",
    "SimpleNamespace(out={0})",
    "np.stack([{0}, {1}])",
)


@pytest.mark.parametrize("seed", [*range(6), *nightly(*range(6, 40))])
def test_a_result_inside_of_what_is_returned_is_offered(tmp_path, seed):
    """In values of random kinds, up to two deep, beside what is no result: its input, text, nothing, numbers."""
    rng = np.random.default_rng(seed)
    outer, inner = rng.choice(IN_VALUES[:4]), rng.choice([*IN_VALUES, "{0}"])
    aside = "x" if "stack" in inner else rng.choice(["x", "None", "'text'", "len(x)", "{}"])
    returned = outer.format(inner.format("np.maximum(x, 0)", aside), rng.choice(["None", "x", "print"]))
    file = tmp_path / "inside.py"
    head = "import numpy as np\nfrom types import SimpleNamespace\n"
    file.write_text(f"{head}def relu(x): return {returned}\n")
    array, dtype = rng.choice([None, "numpy"]), rng.choice([None, "float32"])
    with pytest.raises(UsageError, match="returns") as said:
        chosen(f"{file}:relu", array=array, dtype=dtype)
    offered = ast.literal_eval(re.search(r"--call ('.*'|\".*\"), or another", str(said.value))[1])
    x = np.linspace(-1, 1, 9, dtype=np.float32)
    got = chosen(f"{file}:relu", array=array, dtype=dtype, call=offered).evaluate("float32", x.view(np.uint32))
    np.testing.assert_array_equal(got.view(np.float32), np.maximum(x, 0))


NEEDED = (  # parameters that say nothing by their names, and what is computed where the others are as they have to be
    ("p, q: np.ndarray", "np.maximum(q, 0, out=p)", True),
    ("p, q: np.ndarray", "np.maximum(p, 0, out=q)", True),
    ("p, q: np.ndarray", "np.copyto(p, np.maximum(q, 0)) or q", True),
    ("p, shift: Optional[np.ndarray]", "np.maximum(p if shift is None else p + shift[0], 0)", True),
    ("p, exact: bool", "np.maximum(p, 0) if isinstance(exact, bool) else [][0]", True),
    ("p, kind: Literal['full', 'half']", "{'full': np.maximum(p, 0)}[kind]", True),
    ("p, kind: str", "{'full': np.maximum(p, 0)}[kind]", False),
    ("p, shape: tuple[int, ...]", "np.maximum(p.reshape([*shape]), 0)", False),
)


@pytest.mark.few(8)
@pytest.mark.parametrize("form", ["def relu({}): return {}", "class relu:\n    def __call__(self, {}): return {}"])
@pytest.mark.parametrize(("needed", "result", "is_found"), NEEDED)
def test_a_call_is_offered_with_what_came_of_it(tmp_path, form, needed, result, is_found):
    file = tmp_path / "needed.py"
    head = "import numpy as np\nfrom typing import Literal, Optional\n"
    file.write_text(head + form.format(needed, result))
    with pytest.raises(UsageError, match="--call says how, such as") as said:
        chosen(f"{file}:relu", dtype="float32")
    offered, came = re.search(r"--call ('.*'|\".*\")(, but .* raised \w+: .*)?$", str(said.value)).groups()
    assert bool(came) != is_found
    target = chosen(f"{file}:relu", dtype="float32", call=ast.literal_eval(offered))
    with nullcontext() if is_found else pytest.raises(TargetFailure, match=re.escape(came.partition(" raised ")[2])):
        x = np.linspace(-1, 1, 9, dtype=np.float32)
        got = target.evaluate("float32", x.view(np.uint32))
        np.testing.assert_array_equal(got.view(np.float32), np.maximum(x, 0))


@pytest.mark.few(10)
@pytest.mark.parametrize("dtype", [None, "float32"])
@pytest.mark.parametrize("array", [None, "numpy"])
@pytest.mark.parametrize(
    ("demand", "shape"),
    [
        ("ndim == 2", "(n, 16)"),
        ("ndim == 2 and len(x) == 1", "(1, n)"),
        ("ndim == 3", "(1, n, 16)"),
        ("ndim == 4", "(1, 16, n, 16)"),
        ("shape[0] % 8 == x.shape[1] % 128 == 0", "(8, 128)"),
        ("ndim == 0 and type(x) is not float", "()"),
    ],
)
def test_the_shape_that_it_takes_is_offered(tmp_path, demand, shape, array, dtype):
    file = tmp_path / "shaped.py"
    file.write_text(f"import numpy as np\ndef relu(x):\n    assert x.{demand}\n    return np.maximum(x, 0)\n")
    with pytest.raises(UsageError) as said:
        chosen(f"{file}:relu", array=array, dtype=dtype)
    (offered,) = re.findall(r"--shape '([^']*)'", str(said.value))
    assert offered == shape
    x = np.linspace(-1, 1, 100, dtype=np.float32)
    got = chosen(f"{file}:relu", array=array, dtype=dtype, shape=offered).evaluate("float32", x.view(np.uint32))
    np.testing.assert_array_equal(got.view(np.float32), np.maximum(x, 0))


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("wide", {}, "returned float64 where float32 was expected"),
        ("turned", {"shape": "(n, 16)"}, r"returned shape \(16, 1\) for an input of shape \(1, 16\)"),
        ("empties", {}, "changed its input"),
        ("buffered", {"array": "array", "dtype": "float16"}, "array has no float16"),
    ],
)
def test_a_broken_contract_is_named(file, path, options, message):
    options = {"dtype": "float32", **options}
    target = chosen(f"{file}:{path}", **options)
    with pytest.raises(TargetFailure, match=message):
        target.evaluate(options["dtype"], bits(options["dtype"], "1", "-2", "0.5"))


@pytest.mark.parametrize("path", ["ignores_out", "writes_half"])
def test_an_output_that_is_not_written_is_no_result(file, path):
    """Not even when the memory held the right results before."""
    x = bits("float32", *["1"] * 64)
    right = chosen(f"{file}:out", dtype="float32", call="f(x, out=y)")
    lazy = chosen(f"{file}:{path}", dtype="float32", call="f(x, y)")
    for _ in range(5):
        right.evaluate("float32", x)
        assert np.isnan(lazy.evaluate("float32", x).view("f4")[1::2]).all()
    result = verify(f"{file}:{path}", "gelu", "float32", "landmarks", call="f(x, y)", isolate=True)
    assert result.record.failure_kind == "partial write"


def test_a_copy_is_not_one_to_change(file):
    """What torch is given is a copy where the inputs are read-only."""
    pytest.importorskip("torch")
    x = bits("float32", "1", "2")
    x.setflags(write=False)
    target = chosen(f"{file}:in_torch", dtype="float32", array="torch")
    with pytest.raises(TargetFailure, match="changed its input at index 0"):
        target.timed("float32", x)
    with pytest.raises(UsageError, match="changes its input and returns it: give --call 'f"):
        chosen("torch.nn.functional:silu", dtype="float32", function="silu", kwargs={"inplace": True})
    declared = chosen("torch.nn.functional:silu", dtype="float32", function="silu", call="f(x, inplace=True); x")
    assert declared.evaluate("float32", x).tolist() == declared.evaluate("float32", x).tolist()


# ---- libraries -----------------------------------------------------------------------------------

USERS = """
import functools
import {library}
def gelu(x): return {gelu}(x)
part = functools.partial({gelu}, {kwargs})
lam = lambda x: {gelu}(x)
def annotated(x: "{array}") -> "{array}": return {gelu}(x)
"""


@pytest.mark.parametrize(
    ("library", "gelu", "kwargs", "array"),
    [
        ("torch", "torch.nn.functional.gelu", "approximate='tanh'", "torch.Tensor"),
        ("jax", "jax.nn.gelu", "approximate=True", "jax.Array"),
    ],
)
def test_what_a_user_function_takes_is_found(tmp_path, library, gelu, kwargs, array):
    """Nothing says that these take arrays of another library."""
    pytest.importorskip(library)
    (tmp_path / "users.py").write_text(USERS.format(library=library, gelu=gelu, kwargs=kwargs, array=array))
    for path in ("gelu", "part", "lam", "annotated"):
        target = chosen(f"{tmp_path}/users.py:{path}")
        assert target.note == f"called with {library} arrays"
        assert "float64" in target.dtypes
        assert target.evaluate("float64", bits("float64", "0")).tolist() == [0]


def test_a_module_class_is_made_an_instance():
    torch = pytest.importorskip("torch")
    x = bits("float32", "-1", "0.5", "2")
    want = torch.nn.functional.gelu(torch.tensor([-1, 0.5, 2]), approximate="tanh").numpy().view("u4")
    target = chosen("torch.nn:GELU", dtype="float32", function="gelu_tanh", kwargs={"approximate": "tanh"})
    np.testing.assert_array_equal(target.evaluate("float32", x), want)
    assert "approximate='tanh'" in target.note
    for thing, options in ((torch.nn.GELU, {"kwargs": {"approximate": "tanh"}}), (torch.nn.GELU("tanh"), {})):
        np.testing.assert_array_equal(callable_target(thing, dtype="float32", **options).evaluate("float32", x), want)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_gradients_of_torch(dtype):
    pytest.importorskip("torch")
    x = bits(dtype, "-3", "-0.75", "0", "1", "6")
    two = chosen("torch:ops.aten.gelu_backward", dtype=dtype, call="f(dy, x)")
    assert two.function == "gelu_grad"
    auto = chosen("torch.nn.functional:gelu", dtype=dtype, call="grad(f)(x)")
    assert auto.function == "gelu_grad"
    np.testing.assert_array_equal(two.evaluate(dtype, x), auto.evaluate(dtype, x))
    assert verify(auto, "gelu_grad", dtype, "landmarks").record.checks["gradient_variant"] == "pass"


@pytest.mark.parametrize(("call", "verdict"), [("grad(f)(x)", "pass"), *nightly((None, "fail"))])
def test_gradients_of_jax(call, verdict):
    pytest.importorskip("jax")
    result = verify("jax.nn:gelu", "gelu_tanh_grad", "float64", "landmarks", call=call, isolate=False)
    assert result.failure is None
    assert result.record.checks["gradient_variant"] == verdict


def test_the_name_says_the_gradient_only_when_the_call_does(file):
    assert chosen(f"{file}:halved", dtype="float32").function == "gelu"
    assert chosen(f"{file}:backward", dtype="float32", call="f(dy, x)").function == "gelu_grad"
    assert chosen(f"{file}:backward", dtype="float32", call="f(dy, x)", function="silu").function == "silu"


# ---- pieces --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "n", "shape", "count"),
    [
        ("(n,)", 7, (7,), 1),
        ("n", 7, (7,), 1),
        ("(n, 16)", 17, (2, 16), 1),
        ("(1, n, 1, 3)", 7, (1, 3, 1, 3), 1),
        ("(16,)", 33, (16,), 3),
        ("16", 33, (16,), 3),
        ("()", 5, (), 5),
    ],
)
def test_shapes(text, n, shape, count):
    pieces = batches_for(parsed_shape(text), n)
    assert (pieces.shape, pieces.count) == (shape, count)
    x = some_bits("float32", n)
    filled = pieces.padded(x)
    assert filled.size == pieces.size * count
    np.testing.assert_array_equal(filled, np.resize(x, filled.size))


def test_what_fills_a_shape_up_is_compared():
    fmt, x = get_format("float32"), np.array([1, 2, 3, 1], np.uint32)
    for last, differ in ((7, False), (8, True)):
        with collecting() as found:
            got = without_padding(fmt, x, np.array([7, 7, 7, last], np.uint32), 3)
        assert got.tolist() == [7, 7, 7]
        assert bool(found) == differ


# ---- what was named is what runs -----------------------------------------------------------------


def test_a_stale_pyc_is_not_run(tmp_path, monkeypatch):
    """An edit that keeps size and time of the file: what __pycache__ holds looks current."""
    import os
    import py_compile

    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("stale_file", "stale_module"):
        path = tmp_path / f"{name}.py"
        path.write_text("def gelu(x): return x * 2\n")
        os.utime(path, (10**9, 10**9))
        py_compile.compile(str(path))
        path.write_text("def gelu(x): return x * 4\n")
        os.utime(path, (10**9, 10**9))
    monkeypatch.chdir(tmp_path)
    x, want = bits("float32", "1"), bits("float32", "4")
    assert chosen(f"{tmp_path}/stale_file.py:gelu", dtype="float32").evaluate("float32", x) == want
    assert chosen("stale_module:gelu", dtype="float32").evaluate("float32", x) == want


def version(folder, monkeypatch, name):
    """As a fresh process sees it."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in [m for m in sys.modules if m.startswith(("planted_", "main_"))]:
        monkeypatch.delitem(sys.modules, module)
    sys.path_importer_cache.clear()
    return chosen(name, dtype="float32").version


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ["main.py:gelu", "planted_package.main:gelu"])
@pytest.mark.parametrize("part", ["main.py", "planted_package/__init__.py", "planted_package/deep.py",
                                  "planted_package/later.py", "planted_package/main.py"])  # fmt: skip
def test_a_version_is_of_all_that_is_imported(tmp_path, monkeypatch, name, part):
    (tmp_path / "planted_package").mkdir()
    texts = {
        "main.py": "import planted_package.main\nfrom planted_package.main import gelu\n",
        "planted_package/__init__.py": "",
        "planted_package/main.py": "from . import deep\ndef gelu(x):\n from .later import j\n return x\n",
        "planted_package/deep.py": "import numpy\nk = 1\n",
        "planted_package/later.py": "j = 1\n",
        "planted_package/other.py": "unused = 1\n",
    }
    for path, text in texts.items():
        (tmp_path / path).write_text(text)
    before = version(tmp_path, monkeypatch, name)
    assert before == version(tmp_path, monkeypatch, name)
    (tmp_path / "planted_package" / "other.py").write_text("unused = 2\n")
    assert before == version(tmp_path, monkeypatch, name)
    (tmp_path / part).write_text(texts[part] + "new = 1\n")
    changed = version(tmp_path, monkeypatch, name)
    assert (changed != before) is (part != "main.py" or name.startswith("main"))


def test_a_package_with_a_version_of_its_own_is_hashed_where_it_is_local(tmp_path, monkeypatch):
    (tmp_path / "planted_versioned.py").write_text("__version__ = '1.0'\ndef gelu(x): return x\n")
    before = version(tmp_path, monkeypatch, "planted_versioned:gelu")
    assert before.startswith("1.0, sha256:")
    (tmp_path / "planted_versioned.py").write_text("__version__ = '1.0'\ndef gelu(x): return -x\n")
    assert version(tmp_path, monkeypatch, "planted_versioned:gelu") != before


def test_a_module_without_source_and_one_of_another_package_are_imported(tmp_path, monkeypatch):
    import py_compile

    (tmp_path / "planted_space").mkdir()  # a namespace package: no __init__
    for path in ("planted_bare.py", "planted_space/inner.py"):
        (tmp_path / path).write_text("def gelu(x): return x\n")
    py_compile.compile(str(tmp_path / "planted_bare.py"), str(tmp_path / "planted_bare.pyc"))
    (tmp_path / "planted_bare.py").unlink()
    assert version(tmp_path, monkeypatch, "planted_bare:gelu").startswith("sha256:")
    assert version(tmp_path, monkeypatch, "planted_space.inner:gelu").startswith("sha256:")


def test_a_function_of_a_c_library_by_ctypes(tmp_path):
    """What it returns for float is exactly a float32, though Python makes a double of it."""
    (tmp_path / "loaded.py").write_text(
        "import ctypes, ctypes.util\n"
        "m = ctypes.CDLL(ctypes.util.find_library('m'))\n"
        "erff, erf = m.erff, m.erf\n"
        "erff.restype, erff.argtypes = ctypes.c_float, [ctypes.c_float]\n"
        "erf.restype, erf.argtypes = ctypes.c_double, [ctypes.c_double]\n"
    )
    single = chosen(f"{tmp_path}/loaded.py:erff", function="erf", dtype="float32")
    assert single.note == "called with one Python float at a time"
    assert verify(single, "erf", "float32", "landmarks").failure is None
    assert chosen(f"{tmp_path}/loaded.py:erf", function="erf").dtypes == ("float64",)


def test_which_file_runs_is_reported(tmp_path, monkeypatch):
    """A module that is installed goes before a file of that name in the working folder."""
    (tmp_path / "planted_here.py").write_text("def gelu(x): return x\n")
    (tmp_path / "numpy.py").write_text("def tanh(x): return x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert chosen("planted_here:gelu", dtype="float32").note.endswith(", from planted_here.py")
    assert "numpy/__init__.py, not from numpy.py" in chosen("numpy:tanh", dtype="float32").note


# ---- doors ---------------------------------------------------------------------------------------


def test_verify_takes_what_the_command_takes(file):
    named = verify(f"{file}:out", "gelu", "float32", "landmarks", call="f(x, out=y)", isolate=True)
    assert named.failure is None
    thing = verify(lambda x, out: np.multiply(x, x.dtype.type(0.5), out=out), "gelu", "float32", "landmarks",
                   call="f(x, out=y)")  # fmt: skip
    assert thing.record.witness == named.record.witness
    (target,), _ = targets.select(["numpy.tanh"])
    with pytest.raises(UsageError, match="call: accepted for callables and for names, not for a Target"):
        verify(target, "tanh", call="f(x)")


def test_a_module_that_names_a_file_that_is_not_there(tmp_path, monkeypatch):
    """As torch.ops does, whose __file__ is "_ops.py"."""
    (tmp_path / "misnamed.py").write_text("__file__ = '_nowhere.py'\ndef f(x): return x * x.dtype.type(0.5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    (target,), _ = targets.select(["misnamed:f"], function="relu", dtype="float32")
    x = some_bits("float32", 5)
    assert len(target.evaluate("float32", x)) == len(x)


# ---- signatures in documentation -------------------------------------------------------------------

ARRAY_LIKE = "typing.Annotated[numpy.typing.ArrayLike, numpy.float32]"


class Compiled:
    """As what is written in C: no signature but that in the documentation, by pybind11, nanobind or Cython."""

    __name__ = "gelu"
    __signature__ = "none"

    def __init__(self, doc):
        self.__doc__ = doc

    def __call__(self, *args):
        raise AssertionError("it is not called")


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        (f"gelu(arg0: {ARRAY_LIKE}) -> numpy.typing.NDArray[numpy.float32]", None),
        (f"gelu(x: {ARRAY_LIKE}, out: {ARRAY_LIKE}) -> None", "f(x, y)"),
        (f"gelu(out: {ARRAY_LIKE}, x: {ARRAY_LIKE}, n: typing.SupportsInt) -> None\n\nFast.", "f(y, x, n)"),
        (f"gelu(arg0: {ARRAY_LIKE}, arg1: {ARRAY_LIKE}) -> None", "--call 'f(x, y)'"),
        ("gelu(x: ndarray[dtype=float32, shape=(*), order='C'], alpha: float) -> object", "--call 'f(x, alpha=1.0)'"),
        ("gelu(arg0: torch.Tensor, arg1: bool, arg2: int) -> torch.Tensor", "--call 'f(x, False, 1)'"),
        ("gelu(x, approximate: bool) -> Tensor", "--call 'f(x, approximate=False)'"),
        ("gelu(x, out=None, *, mode='fast')", None),
        *(("gelu(*args, **kwargs)", None), ("gelu(...)", None), ("gelu(x, mode: Mode = <Mode.fast: 1>)", None)),
        *(("relu(x, y)", None), ("The gelu(x, y) of it", None), ("gelu()", None), ("", None), (None, None)),
        ("gelu(x, y=print('run'))", None),
        ("gelu(x): import this; (y)", None),
    ],
)
def test_a_signature_in_the_documentation_says_how_it_is_called(doc, expected, capsys):
    if expected and expected.startswith("--call"):
        with pytest.raises(CallUnsaid, match="--call says how") as unsaid:
            line_of("m:gelu", Compiled(doc))
        assert f"--call {unsaid.value.lines[0]!r}" == expected
    else:
        line = line_of("m:gelu", Compiled(doc))
        assert (line and line.text) == expected
    assert capsys.readouterr().out == ""


PIECES = (
    *(
        "x",
        "y",
        "out: ndarray[float]",
        "arg0",
        "arg1",
        "arg2=1",
        "n: int = 3",
        "mode=<Mode.fast: 1>",
        "lambda: x",
        "...",
    ),
    *(
        "*",
        "/",
        "*args",
        "**kwargs",
        "x): await y; (z",
        "x): yield; (y",
        "x): break; (y",
        "x\0",
        "[",
        "'",
        "(x, y)",
        "",
    ),
)


@pytest.mark.parametrize("seed", range(30))
def test_no_documentation_is_too_much(seed):
    """Random lists of parameters, also such as Python refuses: a line, a question, or nothing is known."""
    rng = random.Random(seed)
    for _ in range(100):
        doc = f"gelu({', '.join(rng.choices(PIECES, k=rng.randrange(1, 5)))})"
        with suppress(UsageError):
            line_of("m:gelu", Compiled(doc))


WRAPPED = """
import ctypes, functools, math, struct
import numpy as np

def allocates(f):
    @functools.wraps(f)
    def g(x):
        y = np.empty_like(x)
        f(x, y)
        return y
    return g

def passes_on(f):
    @functools.wraps(f)
    def g(*args):
        return f(*args)
    return g

@allocates
def relu(x, y):
    y[:] = np.maximum(x, 0)

@passes_on
def relu_into(x, y):
    y[:] = np.maximum(x, 0)

def narrow(x):
    return struct.unpack("f", struct.pack("f", math.erf(x)))[0]

def wide(x):
    return math.erf(x)

def kinked(x):
    return max(x, 0.0)

added = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(lambda x, y: x + y)
"""


@pytest.fixture
def wrapped(tmp_path):
    (tmp_path / "wrapped.py").write_text(WRAPPED)
    return tmp_path / "wrapped.py"


def test_a_wrapper_is_called_by_its_own_parameters(wrapped):
    """Where it passes on what it is given, those of the function that it wraps are its own."""
    (target,), _ = targets.select([f"{wrapped}:relu"], function="relu")
    assert target.evaluate("float32", np.array([-1, 2], "f4").view("u4")).view("f4").tolist() == [0, 2]
    with pytest.raises(UsageError, match=r"relu_into\(x, y\) cannot be called with one argument.*--call 'f\(x, y\)'"):
        targets.select([f"{wrapped}:relu_into"], function="relu")


@pytest.mark.parametrize(
    ("name", "function", "dtypes"),
    [
        ("narrow", "erf", {"float32"}),
        ("wide", "erf", {"float64"}),
        ("kinked", "relu", {"float32", "float64"}),
    ],
)
def test_a_function_of_numbers_that_computes_in_float32_is_not_judged_in_float64(wrapped, name, function, dtypes):
    (target,), left_out = targets.select([f"{wrapped}:{name}"], function=function)
    assert {"float32", "float64"} & {*target.dtypes} == dtypes
    assert ("are float32 numbers" in str(left_out)) == (name == "narrow")
    if name == "narrow":
        (target,), _ = targets.select([f"{wrapped}:{name}"], function=function, dtype="float64")
        assert target.dtypes == ("float64",)


def test_a_function_of_ctypes_that_takes_more_is_a_question(wrapped):
    with pytest.raises(UsageError, match=r"added\(arg0, arg1, /\) cannot be called with one argument.* --call"):
        targets.select([f"{wrapped}:added"], function="relu")
