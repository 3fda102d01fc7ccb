"""The CPU kernels: conversions, rounding after every operation, what they compute, and their door."""

import ctypes
import ctypes.util
import operator
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository import ROOT

from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, is_nan, to_float64, values
from gelu_verify.kernels import KERNELS, _cpu, run
from gelu_verify.targets import find
from gelu_verify.truth import correctly_rounded

HEADERS = ROOT / "src" / "kernels"
HALVES = ("float16", "bfloat16")
EVERY_HALF = np.arange(1 << 16, dtype=np.uint16)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}-{kernel.dtype}")


def evaluate(name, dtype, x_bits):
    x_bits = np.asarray(x_bits, dtype=get_format(dtype).uint)
    y_bits = np.empty_like(x_bits)
    run(name, dtype, x_bits, y_bits)
    return y_bits


def evaluate_at(name, dtype, *numbers):
    """Float64 values of a kernel at numbers given as text or float."""
    fmt = get_format(dtype)
    return to_float64(fmt, evaluate(name, dtype, [fmt.parse(str(number)) for number in numbers]))


def widen(dtype, half_bits):
    f32_bits = np.empty(half_bits.shape, np.uint32)
    _cpu.widen(dtype == "bfloat16", half_bits, f32_bits)
    return f32_bits


def narrow(dtype, f32_bits):
    half_bits = np.empty(f32_bits.shape, np.uint16)
    _cpu.narrow(dtype == "bfloat16", f32_bits, half_bits)
    return half_bits


def same_numbers(fmt, a, b):
    """Equal bits, any NaN for a NaN."""
    return np.all((a == b) | (is_nan(fmt, a) & is_nan(fmt, b)))


# ---- conversions (half.h) ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", HALVES)
def test_widening_is_exact(dtype):
    fmt, wide = get_format(dtype), get_format("float32")
    nan = is_nan(fmt, EVERY_HALF)
    assert np.array_equal(is_nan(wide, widen(dtype, EVERY_HALF)), nan)
    numbers = EVERY_HALF[~nan]
    assert np.array_equal(to_float64(wide, widen(dtype, numbers)), to_float64(fmt, numbers))


@pytest.mark.parametrize("dtype", HALVES)
def test_narrowing_undoes_widening(dtype):
    back = narrow(dtype, widen(dtype, EVERY_HALF))
    changed = EVERY_HALF[back != EVERY_HALF]
    quiet = 1 << (get_format(dtype).precision - 2)
    assert all(get_format(dtype).is_nan(int(bits)) and not bits & quiet for bits in changed)  # signalling NaNs only


def near_halfway(dtype):
    """Float32 bits at, just below and just above each midpoint of neighbouring finite numbers of a 16-bit dtype."""
    fmt, wide = get_format(dtype), get_format("float32")
    for bits in range(0, fmt.infinity, 7 if dtype == "float16" else 11):
        middle = wide.round((fmt.fraction(bits) + fmt.fraction(bits + 1)) / 2)
        yield from (middle + step for step in (-1, 0, 1) if middle + step >= 0)


@pytest.mark.parametrize("dtype", HALVES)
def test_narrowing_is_the_one_rounding(dtype):
    fmt, wide = get_format(dtype), get_format("float32")
    magnitudes = [*near_halfway(dtype), 0, 1, 0x477FEFFF, 0x477FF000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF]
    bits = np.array(magnitudes + [bits | wide.sign_mask for bits in magnitudes], dtype=np.uint32)
    want = [fmt.round(wide.fraction(int(b)), negative_zero=wide.is_negative(int(b))) for b in bits]
    assert narrow(dtype, bits).tolist() == want


@given(bits=st.integers(0, 2**32 - 1), dtype=st.sampled_from(HALVES))
def test_narrowing_any_float(bits, dtype):
    fmt, wide = get_format(dtype), get_format("float32")
    got = int(narrow(dtype, np.array([bits], np.uint32))[0])
    if wide.is_nan(bits):
        assert fmt.is_nan(got)
    elif not wide.is_finite(bits):
        assert got == fmt.infinity | (fmt.sign_mask if wide.is_negative(bits) else 0)
    else:
        assert got == fmt.round(wide.fraction(bits), negative_zero=wide.is_negative(bits))


# ---- one rounding per operation ------------------------------------------------------------------

OPERATIONS = {"add": (operator.add, np.add), "mul": (operator.mul, np.multiply), "div": (operator.truediv, np.divide)}


@pytest.mark.parametrize("operation", OPERATIONS)
@given(a=st.integers(0, 2**16 - 1), b=st.integers(0, 2**16 - 1), dtype=st.sampled_from(HALVES))
def test_float32_then_half_rounds_as_once(operation, a, b, dtype):
    fmt, (exact, in_float) = get_format(dtype), OPERATIONS[operation]
    if not (fmt.is_finite(a) and fmt.is_finite(b)) or (operation == "div" and fmt.magnitude(b) == 0):
        return
    x, y = widen(dtype, np.array([a, b], np.uint16)).view(np.float32)
    with np.errstate(all="ignore"):
        got = int(narrow(dtype, np.array([in_float(x, y)]).view(np.uint32))[0])
    value = exact(fmt.fraction(a), fmt.fraction(b))
    assert got == (fmt.round(value) if value else got & fmt.sign_mask)


class Rounded:
    """A number of a 16-bit dtype whose + - * / round by formats.round and whose erf, exp, tanh are libm's, rounded."""

    libm = ctypes.CDLL(ctypes.util.find_library("m"))

    def __init__(self, fmt, value):
        self.fmt, self.value = fmt, fmt.fraction(fmt.round(Fraction(value)))

    def _with(self, exact, other):
        other = other if isinstance(other, Rounded) else Rounded(self.fmt, other)
        return Rounded(self.fmt, exact(self.value, other.value))

    def __add__(self, other):
        return self._with(operator.add, other)

    def __mul__(self, other):
        return self._with(operator.mul, other)

    def __truediv__(self, other):
        return self._with(operator.truediv, other)

    def __neg__(self):
        return Rounded(self.fmt, -self.value)

    def call(self, function):
        f = getattr(self.libm, function + "f")
        f.argtypes, f.restype = [ctypes.c_float], ctypes.c_float
        return Rounded(self.fmt, Fraction(f(float(self.value))))


with mpmath.workprec(200):
    SQRT_HALF = Fraction(str(mpmath.nstr(mpmath.sqrt(0.5), 50)))
    SQRT_2_OVER_PI = Fraction(str(mpmath.nstr(mpmath.sqrt(2 / mpmath.pi), 50)))
CUBE = Fraction("0.044715")

MODELS = {
    "gelu_erf": lambda x: (x * Fraction(1, 2)) * ((x * SQRT_HALF).call("erf") + 1),
    "gelu_erfc": lambda x: (x * Fraction(1, 2)) * (-x * SQRT_HALF).call("erfc"),
    "gelu_tanh_tanh": lambda x: (x * Fraction(1, 2)) * (((x + (x * x * x) * CUBE) * SQRT_2_OVER_PI).call("tanh") + 1),
    "silu_exp": lambda x: x / ((-x).call("exp") + 1),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", MODELS)
def test_native_kernels_round_after_every_operation(name, dtype):
    fmt = get_format(dtype)
    x = np.random.default_rng(1).uniform(-6, 6, 500).astype(np.float32)
    x_bits = narrow(dtype, x.view(np.uint32))
    got = [fmt.fraction(int(bits)) for bits in evaluate(name, dtype, x_bits)]
    assert got == [MODELS[name](Rounded(fmt, fmt.fraction(int(bits)))).value for bits in x_bits]


@pytest.mark.parametrize("name", sorted({k.name for k in KERNELS if k.name.endswith("-f32")}))
@pytest.mark.parametrize("dtype", HALVES)
def test_by_float32_is_the_float32_kernel_rounded_once(name, dtype):
    inside = evaluate(name.removesuffix("-f32"), "float32", widen(dtype, EVERY_HALF))
    assert same_numbers(get_format(dtype), evaluate(name, dtype, EVERY_HALF), narrow(dtype, inside))


CONSTANT = re.compile(r"(-?0x1\.[0-9a-f]+p[+-]\d+)(f?)\)?;? +/\* ([^:]+?)(?:: .*)? \*/")


CONSTANTS = [
    pytest.param(literal, "float32" if is_float else "float64", expression, id=f"{header.stem}-{expression}")
    for header in sorted(HEADERS.glob("*.h"))
    for literal, is_float, expression in CONSTANT.findall(header.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("literal", "dtype", "expression"), CONSTANTS)
def test_constants_are_what_their_comments_say(literal, dtype, expression):
    with mpmath.workprec(200):
        exact = re.sub(r"[\d.]+", r"mpf('\g<0>')", expression)
        mantissa, exponent = mpmath.mpf(eval(exact, {"mpf": mpmath.mpf, "pi": mpmath.pi, "sqrt": mpmath.sqrt})).man_exp
        sign = -1 if expression.startswith("-") else 1
        value = Fraction(sign * abs(mantissa)) * Fraction(2) ** exponent
    fmt = get_format(dtype)
    assert fmt.parse(literal) == fmt.round(value)
    wide = get_format("float32")
    once_more = wide.fraction(wide.round(fmt.fraction(fmt.parse(literal))))  # CONSTANT: double, float, then the format
    for half in HALVES:
        assert get_format(half).round(once_more) == get_format(half).round(value)


def test_all_constants_are_checked():
    text = "".join(header.read_text(encoding="utf-8") for header in HEADERS.glob("*.h"))
    named = re.findall(r"(?:CONSTANT\(|= )-?0x1\.[0-9a-f]+p", text)  # 1.0 and powers of two need no comment
    assert len(CONSTANTS) == len(named) >= 13


# ---- what each kernel computes -------------------------------------------------------------------

LANDMARKS = ("-2.69894", "-2.2704", "-1.9655", "-1.422", "2.0187")


def exact_values(function, x):
    """mpmath's own value of a function or gradient of the family, from its definition."""
    x = mpmath.mpf(x)
    u = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)
    slope = {"gelu_tanh": mpmath.sqrt(2 / mpmath.pi) * (1 + 3 * mpmath.mpf("0.044715") * x**2)}
    inner = {"gelu_tanh": 2 * u, "gelu_sigmoid": mpmath.mpf("1.702") * x, "silu": x}
    variant = function.removesuffix("_grad")
    if variant == "gelu":
        factor, derivative = mpmath.ncdf(x), mpmath.npdf(x)
    else:
        factor = 1 / (1 + mpmath.exp(-inner[variant]))
        outer = {"gelu_tanh": 2 * slope["gelu_tanh"], "gelu_sigmoid": mpmath.mpf("1.702"), "silu": 1}[variant]
        derivative = factor * (1 - factor) * outer
    return factor + x * derivative if function.endswith("_grad") else x * factor


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.dtype == "float64"], ids=lambda k: k.name)
def test_kernel_is_nearest_to_the_function_it_claims(kernel):
    suffix = "_grad" if kernel.function.endswith("_grad") else ""
    names = [variant + suffix for variant in ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")]
    got = evaluate_at(kernel.name, "float64", *LANDMARKS)
    for x, y in zip(LANDMARKS, got, strict=True):
        distances = {name: abs(exact_values(name, x) - mpmath.mpf(y)) for name in names}
        assert min(distances, key=distances.get) == kernel.function, (x, distances)


def test_as7126_keeps_the_bound_of_its_handbook():
    x = np.linspace(-6, 6, 2001)
    got = values(get_format("float64"), evaluate("gelu_as7126", "float64", x.view(np.uint64)))
    for number, y in zip(x, got, strict=True):  # |erf error| <= 1.5e-7 (Abramowitz and Stegun 7.1.26)
        assert abs(mpmath.mpf(y) - exact_values("gelu", number)) <= abs(number) / 2 * 1.5e-7 + 1e-15


def test_table_is_indexed_by_float16():
    x = np.random.default_rng(3).uniform(-9.99, 9.99, 5000).astype(np.float32).view(np.uint32)
    by_float16 = widen("float16", evaluate("gelu_tanh_table", "float16", narrow("float16", x)))
    assert np.array_equal(evaluate("gelu_tanh_table", "float32", x), by_float16)
    got = evaluate_at("gelu_tanh_table", "float32", "-10", "10", "1e30", "-inf", "2e-8")
    assert got.tolist() == [0, 10, np.float32(1e30), 0, 0]


@each_kernel
def test_nan_gives_nan(kernel):
    fmt = get_format(kernel.dtype)
    assert fmt.is_nan(int(evaluate(kernel.name, kernel.dtype, [fmt.nan])[0]))


FORWARD = [k for k in KERNELS if not k.function.endswith("_grad")]


@pytest.mark.parametrize("kernel", FORWARD, ids=lambda kernel: f"{kernel.name}-{kernel.dtype}")
def test_forward_specials_are_those_of_the_formula(kernel):
    fmt = get_format(kernel.dtype)
    minus = fmt.sign_mask
    got = evaluate(kernel.name, kernel.dtype, [0, minus, fmt.infinity, fmt.infinity | minus]).tolist()
    assert got[:3] == [0, minus, fmt.infinity]
    if (kernel.form, kernel.dtype) == ("table", "float32"):
        assert got[3] == 0  # clamped
    else:
        assert fmt.is_nan(got[3])  # -inf * 0, or -inf / inf


def test_erf_cancels_and_erfc_does_not():
    erf, erfc = (evaluate_at(f"gelu_{form}", "float32", "-6.5")[0] for form in ("erf", "erfc"))
    assert erf == 0
    assert erfc < 0


# ---- the door ------------------------------------------------------------------------------------


def test_run_refuses_what_it_cannot_use():
    x = np.zeros(4, np.uint32)
    with pytest.raises(UsageError, match="unknown kernel 'gelu_err in float32'; did you mean 'gelu_erf"):
        run("gelu_err", "float32", x, x.copy())
    with pytest.raises(UsageError, match="accepted: uint16"):
        run("gelu_erf", "float16", x, x.copy())
    with pytest.raises(UsageError, match="accepted: uint32"):
        run("gelu_erf", "float32", x, np.zeros(4, np.uint64))
    with pytest.raises(ValueError, match="4 inputs but room for 3"):
        run("gelu_erf", "float32", x, np.zeros(3, np.uint32))
    with pytest.raises(ValueError, match="read-only"):
        run("gelu_erf", "float32", x, np.frombuffer(bytes(16), np.uint32))


def test_read_only_and_empty_inputs_are_fine():
    x = np.frombuffer(bytes(16), np.uint32)
    assert evaluate("gelu_erf", "float32", x).tolist() == [0, 0, 0, 0]
    assert evaluate("gelu_erf", "float32", []).size == 0


def test_names_are_function_and_form():
    assert len({(k.name, k.dtype) for k in KERNELS}) == len(KERNELS)
    for kernel in KERNELS:
        assert kernel.name.removesuffix("-f32") == f"{kernel.function}_{kernel.form}"
        assert re.fullmatch("[0-9a-f]{12}", kernel.version)


def test_every_form_comes_in_every_arithmetic():
    for kernel in KERNELS:
        if kernel.form != "table" and not kernel.name.endswith("-f32"):
            dtypes = {(k.dtype, k.name.endswith("-f32")) for k in KERNELS if k.name.startswith(kernel.name)}
            assert {(dtype, False) for dtype in DTYPES} | {(dtype, True) for dtype in HALVES} <= dtypes


def test_targets_are_the_kernels():
    found, absent = find(["kernels"])
    assert not absent
    targets = [target for target in found if target.form != "correctly rounded"]
    assert {target.name for target in found} - {target.name for target in targets} == {
        f"kernels.{name}_cr" for name in correctly_rounded.FUNCTIONS
    }
    assert {(t.name, dtype) for t in targets for dtype in t.dtypes} == {(f"kernels.{k.name}", k.dtype) for k in KERNELS}
    x_bits = np.arange(0, 1 << 16, 101, dtype=np.uint16)
    for target in targets:
        if "float16" in target.dtypes:
            got = target.evaluate("float16", x_bits)
            assert np.array_equal(got, evaluate(target.kernel, "float16", x_bits))
