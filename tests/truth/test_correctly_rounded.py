"""The kernels for others: right for every input, in any layout, and clear about what they do not take."""

import ctypes
import importlib
import inspect
import platform
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from core_bits import core_bits
from hypothesis import given
from hypothesis import strategies as st
from releasing import ticks_during

import gelu_verify
from gelu_verify import reference
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.inputs.hard_cases import hard_cases
from gelu_verify.truth._correctly_rounded import Kernel
from gelu_verify.truth.correctly_rounded import _KINDS, CHUNK, FUNCTIONS, _general, exactly

each_function = pytest.mark.parametrize("function", FUNCTIONS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
WIDE = ("float32", "float64")


def kernel(function):
    return getattr(gelu_verify, function)


def bits_of(array):
    return array.view(f"u{array.dtype.itemsize}")


def some_bits(dtype, n, seed=0):
    """Half of any size, NaN, infinities and subnormals among them, half from normal(0, 3)."""
    rng, fmt = np.random.default_rng(seed), get_format(dtype)
    anywhere = rng.integers(0, 1 << fmt.width, n, dtype=fmt.uint, endpoint=False) if fmt.width < 64 else None
    anywhere = rng.integers(0, 1 << 64, n, dtype=np.uint64) if anywhere is None else anywhere
    usual = rng.normal(0, 3, n).astype(numpy_dtype(dtype)).view(fmt.uint)
    positive = [0, 1, fmt.infinity, fmt.infinity + 1]
    special = np.array([*positive, *(bits | fmt.sign_mask for bits in positive)], fmt.uint)
    return np.concatenate([np.where(np.arange(n) % 2 == 0, anywhere, usual), special])


def some(dtype, n, seed=0):
    return some_bits(dtype, n, seed).view(numpy_dtype(dtype))


# ---- values --------------------------------------------------------------------------------------


@each_function
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_every_16_bit_input(function, dtype):
    x = np.arange(1 << 16, dtype=np.uint16)
    got = bits_of(kernel(function)(x.view(numpy_dtype(dtype))))
    assert np.array_equal(got, core_bits(function, dtype, x))


@each_function
@pytest.mark.parametrize("dtype", WIDE)
def test_wide_inputs_are_the_reference(function, dtype):
    x = some_bits(dtype, 20_000)
    got = bits_of(kernel(function)(x.view(dtype)))
    assert np.array_equal(got, core_bits(function, dtype, x))


@each_function
@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("in_place", [False, True])
def test_hard_cases(function, dtype, in_place):
    x, want = hard_cases_of(function, dtype)
    x, want = np.tile(x, 20), np.tile(want, 20)  # several blocks of the float64 loop
    y = kernel(function)(x.view(dtype), out=x.view(dtype) if in_place else None)
    assert np.array_equal(bits_of(y), want)


def hard_cases_of(function, dtype):
    cases, uint = hard_cases(function, dtype), get_format(dtype).uint
    return tuple(np.array([getattr(case, name) for case in cases], uint) for name in ("x_bits", "y_bits"))


@pytest.mark.parametrize("function", [name for name in FUNCTIONS if name.endswith("_grad")])
def test_the_oracle_is_asked_where_the_bound_does_not_decide(function):
    """Next to the zero of a gradient, where the bound is on what is subtracted."""
    x, want = hard_cases_of(function, "float64")
    asked = []

    def oracle(bits):
        asked.append(bits)
        return 0x4242424242424242

    ours = Kernel(function, np.ndarray, np.empty_like, _KINDS, None, oracle, _general)
    for y in (ours(x.view(np.float64)), ours(z := x.copy().view(np.float64), out=z)):
        from_oracle = np.isin(x, np.array(asked, np.uint64))
        assert 0 < from_oracle.sum() < 0.1 * len(x)
        assert (bits_of(y)[from_oracle] == 0x4242424242424242).all()
        assert np.array_equal(bits_of(y)[~from_oracle], want[~from_oracle])
    assert asked[: len(asked) // 2] == asked[len(asked) // 2 :]
    assert [exactly(function, bits) for bits in asked] == [int(want[x == bits][0]) for bits in asked]


# ---- layouts -------------------------------------------------------------------------------------


@each_function
@pytest.mark.parametrize("level", range(1, 5))
def test_long_arrays_begin_anywhere(function, level):
    """In a cache line, of every level: as short arrays, and nothing is written beside them."""
    try:
        ours = Kernel(function, np.ndarray, np.empty_like, _KINDS, None, None, _general, level)
    except LookupError:
        pytest.skip(f"no level {level} here")
    values = some("float32", 5000)
    want = np.concatenate([bits_of(ours(part)) for part in np.split(values, range(1000, len(values), 1000))])
    for start in range(17):
        memory = np.full(len(values) + 34, 42, np.float32)
        x, y = values[5 * start % 17 :], memory[start + 1 :][: len(values) - 5 * start % 17]
        ours(x, out=y)
        assert np.array_equal(bits_of(y), want[-len(x) :])
        assert (memory[: start + 1] == 42).all()
        assert (memory[start + 1 + len(x) :] == 42).all()


@st.composite
def layouts(draw):
    """A view of some base array: sliced with any steps, transposed, broadcast; or unaligned."""
    shape = tuple(draw(st.lists(st.integers(0, 7), min_size=0, max_size=3)))
    steps = tuple(draw(st.sampled_from([1, 2, -1, -3])) for _ in shape)
    order = draw(st.permutations(range(len(shape))))
    return shape, steps, order, draw(st.booleans()), draw(st.booleans())


def laid_out(dtype, layout, seed=0):
    shape, steps, order, unaligned, broadcast = layout
    sizes = tuple(max(1, n * abs(step)) for n, step in zip(shape, steps, strict=True))
    count = int(np.prod(sizes, dtype=int))
    values = some(dtype, count, seed)[:count]
    if unaligned:
        room = np.empty(values.nbytes + 1, np.uint8)
        room[1:] = values.view(np.uint8)
        values = np.frombuffer(room.data, values.dtype, offset=1)
    view = values.reshape(sizes)[(..., *(slice(None, None, step) for step in steps))][(..., *(slice(n) for n in shape))]
    view = view.transpose(order)
    return np.broadcast_to(view, (2, *view.shape)) if broadcast else view


@given(layout=layouts(), dtype=st.sampled_from(DTYPES))
def test_any_layout(layout, dtype):
    x = laid_out(dtype, layout)
    before = x.copy()
    y = gelu_verify.gelu_tanh(x)
    want = core_bits("gelu_tanh", dtype, bits_of(before))
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    assert np.array_equal(bits_of(y.copy()), want)
    assert np.array_equal(bits_of(x.copy()), bits_of(before))


@each_dtype
def test_a_misaligned_array_without_axes(dtype):
    for seed in range(3):  # a buffer that was not filled has the value before
        x, out = (laid_out(dtype, ((), (), [], True, False), each) for each in (seed, seed + 1))
        want = core_bits("silu", dtype, bits_of(x.copy()))
        assert bits_of(gelu_verify.silu(x).copy()) == want
        assert gelu_verify.silu(x, out=out) is out
        assert bits_of(out.copy()) == want


@given(layout=layouts(), other=layouts(), dtype=st.sampled_from(DTYPES))
def test_any_layout_of_out(layout, other, dtype):
    x = laid_out(dtype, layout)
    _, steps, order, unaligned, _ = other
    rank = x.ndim
    steps, order = (steps * 4)[:rank], sorted(range(rank), key=lambda axis: (order * 4)[axis] if order else axis)
    shape = tuple(x.shape[order.index(axis)] for axis in range(rank))
    out = laid_out(dtype, (shape, steps or (1,) * rank, order, unaligned, False), seed=1)
    assert out.shape == x.shape
    assert gelu_verify.silu(x, out=out) is out
    assert np.array_equal(bits_of(out.copy()), core_bits("silu", dtype, bits_of(x.copy())))


@each_dtype
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1023, 1024, 1025, 2 * CHUNK + 3])
def test_any_length(dtype, n):
    x = some(dtype, n)[:n]
    room = np.zeros(n + 2, x.dtype)
    gelu_verify.gelu(x, out=room[1:-1])
    assert np.array_equal(bits_of(room[1:-1].copy()), core_bits("gelu", dtype, bits_of(x)))
    assert bits_of(room)[[0, -1]].tolist() == [0, 0]  # nothing is written beside


@each_dtype
@pytest.mark.parametrize("n", [40, 3 * CHUNK])
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(lambda a: (a, a), id="in place"),
        pytest.param(lambda a: (a[::2], a[::2]), id="in place, strided"),
        pytest.param(lambda a: (a[1:], a[:-1]), id="one to the left"),
        pytest.param(lambda a: (a[:-1], a[1:]), id="one to the right"),
        pytest.param(lambda a: (a, a[::-1]), id="reversed"),
        pytest.param(lambda a: (a[::2], a[: (len(a) + 1) // 2]), id="strided onto its beginning"),
        pytest.param(lambda a: (np.broadcast_to(a[3], (9,)), a[:9]), id="broadcast onto itself"),
        pytest.param(lambda a: (a[:36].reshape(6, 6), a[:36].reshape(6, 6).T), id="transposed"),
    ],
)
def test_overlap(dtype, n, pair):
    x, out = pair(some(dtype, n - 8))
    want = core_bits("gelu", dtype, bits_of(x.copy()))
    assert gelu_verify.gelu(x, out=out) is out
    assert np.array_equal(bits_of(out.copy()), want)


# ---- what is no array yet ------------------------------------------------------------------------


@each_dtype
def test_scalars_give_scalars(dtype):
    x = numpy_dtype(dtype).type(1.0)
    y = gelu_verify.gelu(x)
    assert type(y) is type(x)
    assert y == reference("gelu", x)


def test_python_numbers_are_float64():
    assert (type(gelu_verify.gelu(1.0)), gelu_verify.gelu(1.0)) == (np.float64, np.float64(0.8413447460685429))
    assert gelu_verify.gelu(1) == gelu_verify.gelu(1.0)
    assert np.signbit(gelu_verify.gelu(-0.0))
    assert gelu_verify.gelu_grad(float("inf")) == 1


@each_dtype
def test_zero_dimensional_and_empty_arrays(dtype):
    x = np.array(1, numpy_dtype(dtype))
    y = gelu_verify.gelu(x)
    assert isinstance(y, np.ndarray)
    assert (y.shape, y.dtype) == ((), x.dtype)
    assert y == reference("gelu", x)
    assert gelu_verify.gelu(x, out=y) is y
    assert gelu_verify.gelu(np.empty((3, 0), x.dtype)).shape == (3, 0)


class Wrapped:
    """Some library's array."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class Named(np.ndarray):
    pass


def test_other_arrays():
    x = some("float32", 100)
    want = bits_of(gelu_verify.gelu(x))
    out = np.empty_like(x)
    for other in (Wrapped(x), x.view(Named), memoryview(x)):
        y = gelu_verify.gelu(other)
        assert type(y) is np.ndarray
        assert np.array_equal(bits_of(y), want)
        assert gelu_verify.gelu(other, out=out) is out
        assert np.array_equal(bits_of(out), want)
    named = np.empty_like(x).view(Named)
    assert gelu_verify.gelu(x, out=named) is named
    assert np.array_equal(bits_of(np.asarray(named)), want)
    assert gelu_verify.gelu([1.0, 2.0]).dtype == np.float64


@each_dtype
def test_torch_tensors(dtype):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    bits = some_bits(dtype, 500)
    signed = bits.view(f"i{bits.itemsize}")
    y = gelu_verify.gelu(torch.from_numpy(signed.copy()).view(getattr(torch, dtype)))
    assert y.dtype == numpy_dtype(dtype)
    assert np.array_equal(bits_of(y), core_bits("gelu", dtype, bits))
    with pytest.raises(UsageError, match="requires grad"):
        gelu_verify.gelu(torch.ones(3, dtype=getattr(torch, dtype), requires_grad=True))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.arange(3), "unknown array dtype 'int64'"),
        (np.int32(3), "unknown array dtype 'int32'"),
        ([1, 2], "unknown array dtype 'int64'"),
        (np.ones(3, np.longdouble), "accepted: "),
        (np.ones(3, complex), "unknown array dtype 'complex128'"),
        (np.ones(3, ">f4"), "float32 in the other byte order"),
        (np.ones(3, numpy_dtype("float8_e5m2")), r"accepted: float16, bfloat16, float32, float64\)"),
        (True, "True is not a float"),
        ("1.0", "'1.0' is not a float"),
        (None, "unknown array dtype 'object'"),
        ([[1.0], [1.0, 2.0]], "cannot read list as an array"),
    ],
)
def test_what_x_may_not_be(x, words):
    with pytest.raises(UsageError, match=words):
        gelu_verify.gelu(x)


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.empty(4, np.float64), "out is float64, x is float32"),
        (np.empty(4, ">f4"), "out is >f4, x is float32"),
        (np.empty(3, np.float32), r"out has shape \(3,\), x \(4,\)"),
        (np.empty((1, 4), np.float32), r"out has shape \(1, 4\), x \(4,\)"),
        (np.frombuffer(bytes(16), np.float32), "out is read-only"),
        (np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (4,), (0,)), "one place for several values"),
        ([0.0] * 4, "out must be a NumPy array, not list"),
        (np.float32(0), "out must be a NumPy array, not float32"),
    ],
)
def test_what_out_may_not_be(out, words):
    with pytest.raises(UsageError, match=words):
        gelu_verify.gelu(np.ones(4, np.float32), out=out)


def test_out_of_a_scalar():
    out = np.empty((), np.float64)
    assert gelu_verify.gelu(1.0, out=out) is out
    assert out == gelu_verify.gelu(1.0)


# ---- whoever calls -------------------------------------------------------------------------------

libm = ctypes.CDLL(None)


@contextmanager
def rounding_upward():
    upward = {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()]
    assert libm.fesetround(upward) == 0
    try:
        yield
    finally:
        libm.fesetround(0)


@contextmanager
def flushing_subnormals():
    """As torch.set_flush_denormal does: MXCSR is at byte 28 of x86-64 Linux's fenv_t."""
    environment = ctypes.create_string_buffer(64)
    libm.fegetenv(environment)
    before = environment.raw
    mxcsr = int.from_bytes(before[28:32], "little") | 0x8040
    environment[28:32] = mxcsr.to_bytes(4, "little")
    libm.fesetenv(environment)
    try:
        yield
    finally:
        libm.fesetenv(before)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="FE_UPWARD is not known here")
@each_function
@each_dtype
def test_another_rounding_mode(function, dtype):
    x = some(dtype, 3000)
    want = kernel(function)(x)
    third = np.array([1.0, 3.0])
    with rounding_upward():
        got = kernel(function)(x)
        up = third[0] / third[1]
    assert up > third[0] / third[1]  # the mode was in force, and came back after the call
    assert np.array_equal(bits_of(got), bits_of(want))


@pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="where MXCSR is in fenv_t"
)
@each_function
@each_dtype
def test_flushed_subnormals(function, dtype):
    fmt = get_format(dtype)
    tiny = np.arange(1, 3000, dtype=fmt.uint) << (fmt.precision - 13 if fmt.precision > 13 else 0)
    x = np.concatenate([tiny, tiny | fmt.uint.type(fmt.sign_mask), some_bits(dtype, 2000)]).view(numpy_dtype(dtype))
    want = kernel(function)(x)
    least = np.array([5e-324])
    with flushing_subnormals():
        got = kernel(function)(x)
        flushed = least[0] * 1.0
    assert flushed == 0  # the mode was in force, and came back after the call
    assert least[0] * 1.0 > 0
    assert np.array_equal(bits_of(got), bits_of(want))


def test_other_threads_run_meanwhile():
    x = some("float64", 1 << 17)
    y = np.empty_like(x)
    assert ticks_during(lambda: gelu_verify.gelu(x, out=y)) > 3


def test_tables_are_loaded_once_however_many_threads_ask():
    loads = []

    def load(kind):
        loads.append(kind)
        return np.arange(1 << 16, dtype=np.uint16)[::-1].copy()

    ours = Kernel("gelu", np.ndarray, np.empty_like, _KINDS, load, None, _general)
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for _ in range(2):
        assert np.array_equal(bits_of(ours(x)), bits_of(x)[::-1])
    assert loads == [0]


def test_a_table_of_another_size_is_refused():
    ours = Kernel("gelu", np.ndarray, np.empty_like, _KINDS, lambda kind: np.zeros(100, np.uint16), None, _general)
    with pytest.raises(ValueError, match="65,536"):
        ours(np.ones(3, np.float16))


def test_no_such_kernel():
    with pytest.raises(LookupError, match="no correctly rounded relu"):
        Kernel("relu", np.ndarray, np.empty_like, _KINDS, None, None, _general)


# ---- names ---------------------------------------------------------------------------------------


@each_function
def test_public_names(function):
    found = kernel(function)
    assert callable(found)
    assert function in gelu_verify.__all__
    assert list(inspect.signature(found).parameters) == ["x", "out"]
    assert "correctly rounded" in found.__doc__
    importlib.import_module("gelu_verify.functions.gelu")
    assert kernel(function) is found


def test_importing_the_package_loads_no_array_library():
    code = "import sys, gelu_verify as g; assert 'numpy' not in sys.modules; g.gelu; assert 'mpmath' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
