"""The NumPy ufuncs: the correctly rounded bits in whatever way NumPy calls a loop, and NumPy's own rules around it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from core_bits import core_bits
from hypothesis import given
from hypothesis import strategies as st
from releasing import ticks_during

from gelu_verify import ufunc
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.inputs.hard_cases import hard_cases
from gelu_verify.truth import correctly_rounded
from gelu_verify.truth._correctly_rounded import Kernel, UFunc

BFLOAT16 = numpy_dtype("bfloat16")
each_function = pytest.mark.parametrize("function", correctly_rounded.FUNCTIONS)
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def bits_of(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def some(dtype, n, seed=0):
    """Any bits and normal(0, 3) in turn; all of a 16-bit format where n is 2^16."""
    rng, fmt = np.random.default_rng(seed), get_format(dtype)
    if n == 1 << fmt.width:
        return np.arange(n, dtype=fmt.uint).view(numpy_dtype(dtype))
    anywhere = rng.integers(0, 1 << fmt.width, n, dtype=np.uint64).astype(fmt.uint) if fmt.width < 64 else None
    anywhere = rng.integers(0, 1 << 64, n, dtype=np.uint64) if anywhere is None else anywhere
    usual = rng.normal(0, 3, n).astype(numpy_dtype(dtype)).view(fmt.uint)
    return np.where(np.arange(n) % 2 == 0, anywhere, usual).view(numpy_dtype(dtype))


def correct(function, x):
    return core_bits(function, x.dtype.name, bits_of(x))


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # of other packages: pickle looks for the name in every module
def test_they_are_ufuncs_of_all_kernels():
    assert set(ufunc.__all__) == set(correctly_rounded.FUNCTIONS)
    for name in ufunc.__all__:
        found = getattr(ufunc, name)
        assert isinstance(found, np.ufunc)
        assert (found.__name__, found.nin, found.nout) == (name, 1, 1)
        assert "correctly rounded." in found.__doc__
        assert pickle.loads(pickle.dumps(found)) is found


@each_function
@pytest.mark.parametrize(("dtype", "n"), [(d, 1 << 16 if "16" in d else 9999) for d in DTYPES])
def test_results_are_correctly_rounded(function, dtype, n):
    x = some(dtype, n)
    y = getattr(ufunc, function)(x)
    assert y.dtype == x.dtype
    assert np.array_equal(bits_of(y), correct(function, x))


@each_dtype
@given(
    steps=st.tuples(*[st.sampled_from([1, 2, -1, -3])] * 3),
    out_steps=st.tuples(*[st.sampled_from([1, 3, -1])] * 3),
    order=st.permutations(range(3)),
    broadcast=st.booleans(),
    unaligned=st.booleans(),
)
def test_any_strides(dtype, steps, out_steps, order, broadcast, unaligned):
    shape = (3, 4, 5)
    x = some(dtype, 540)
    if unaligned:
        x = np.frombuffer(b"." + x.tobytes(), x.dtype, offset=1)
    x = x.reshape(9, 12, 5)[: 9 : abs(steps[0]) % 4, ::3, :][:3, :4][:: 1 - 2 * (steps[0] < 0)]
    x = x[:, :, :: steps[2] // abs(steps[2])].transpose(order)
    x = np.broadcast_to(x[:1], x.shape) if broadcast else x
    room = np.empty([n * abs(s) for n, s in zip(x.shape, out_steps, strict=True)], x.dtype)
    y = room[tuple(slice(None, None, s) for s in out_steps)]
    assert ufunc.gelu_tanh(x, out=y) is y
    assert np.array_equal(bits_of(y), correct("gelu_tanh", x))
    assert sorted(x.shape) == sorted(shape)


@pytest.mark.parametrize("n", [2047, 2048, 2049, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strided_arrays_of_more_than_one_block(dtype, n):
    x, out = some(dtype, 2 * n)[::2], np.zeros(3 * n, dtype)
    ufunc.silu(x, out=out[::-3])
    assert np.array_equal(bits_of(out[::-3]), correct("silu", x))
    assert not out[[*range(0, 3 * n - 1, 3), *range(1, 3 * n - 1, 3)]].any()


@each_dtype
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(lambda a: (a, a), id="in place"),
        pytest.param(lambda a: (a[::2], a[::2]), id="in place, strided"),
        pytest.param(lambda a: (a[::-1], a[::-1]), id="in place, backward"),
        pytest.param(lambda a: (a[1:], a[:-1]), id="one to the left"),
        pytest.param(lambda a: (a[:-1], a[1:]), id="one to the right"),
        pytest.param(lambda a: (a, a[::-1]), id="reversed"),
        pytest.param(lambda a: (a[:100].reshape(10, 10), a[:100].reshape(10, 10).T), id="transposed"),
    ],
)
def test_overlap(dtype, pair):
    x, out = pair(some(dtype, 20_000))
    want = correct("gelu", x)
    assert ufunc.gelu(x, out=out) is out
    assert np.array_equal(bits_of(out), want)


@each_dtype
def test_where_writes_only_there(dtype):
    x, where = some(dtype, 1000), np.random.default_rng(1).random(1000) < 0.5
    out = np.full_like(x, 9)
    ufunc.gelu(x, out=out, where=where)
    assert np.array_equal(bits_of(out), np.where(where, correct("gelu", x), bits_of(np.full_like(x, 9))))


@pytest.mark.parametrize("kind", ["?", *"bBhHiIlLqQ", ">f2", ">f4", ">f8", ">i2"])
def test_dtypes_are_converted_as_numpy_does(kind):
    x = np.array([0, 1, 3, 100]).astype(kind)
    y = ufunc.gelu(x)
    assert y.dtype == np.tanh(x).dtype
    assert np.array_equal(bits_of(y), correct("gelu", x.astype(y.dtype)))


@pytest.mark.parametrize("x", [1j, np.longdouble(1), "one", None, np.datetime64("now")])
def test_what_is_not_converted(x):
    with pytest.raises(TypeError, match="'gelu'"):
        ufunc.gelu(x)


def test_casting():
    x = np.linspace(-3, 3, 7)
    with pytest.raises(TypeError, match="Cannot cast ufunc 'gelu' output"):
        ufunc.gelu(x, out=np.empty(7, np.int32))
    with pytest.raises(TypeError, match="Cannot cast ufunc 'gelu' input"):
        ufunc.gelu(x, dtype=np.float16, casting="safe")
    y = ufunc.gelu(x, dtype=np.float16)
    assert np.array_equal(bits_of(y), correct("gelu", x.astype(np.float16)))
    out = np.empty(7, np.float32)
    assert np.array_equal(ufunc.gelu(x, out=out), ufunc.gelu(x).astype(np.float32))
    assert ufunc.gelu(x.astype(np.float32), dtype=np.float64).dtype == np.float64


@each_dtype
def test_scalars_and_empty_arrays(dtype):
    one = numpy_dtype(dtype).type(1)
    for x in (one, np.array(1, numpy_dtype(dtype))):
        assert (type(ufunc.gelu(x)), ufunc.gelu(x)) == (type(one), ufunc.gelu(np.array([one]))[0])
    assert ufunc.gelu(np.empty((3, 0), numpy_dtype(dtype))).shape == (3, 0)


def test_nothing_is_reduced():
    with pytest.raises(ValueError, match="only supported for binary functions"):
        ufunc.gelu.reduce([1.0, 2.0])


def test_no_floating_point_error_is_reported():
    with np.errstate(all="raise"):
        for dtype in DTYPES:
            ufunc.gelu(some(dtype, 5000))


FIRST_CALLS = """
import numpy as np
from gelu_verify import ufunc
from gelu_verify.formats import DTYPES, numpy_dtype
with np.errstate(all="raise"):
    for dtype in DTYPES:
        ufunc.gelu_grad(np.ones(3, numpy_dtype(dtype)))
    ufunc.gelu_grad(np.array(%r, np.uint64).view(float))
"""


def test_nor_by_what_a_first_call_loads():
    hard = [case.x_bits for case in hard_cases("gelu_grad", "float64")]
    subprocess.run([sys.executable, "-P", "-c", FIRST_CALLS % hard], check=True)


def made(oracle=None, load=None):
    ours = Kernel("gelu_grad", np.ndarray, np.empty_like, {}, load, oracle, None)
    return UFunc(ours, "gelu_grad", "for a test", BFLOAT16.num)


@pytest.mark.parametrize("step", [1, 2])
def test_the_oracle_is_asked_where_the_bound_does_not_decide(step):
    cases = hard_cases("gelu_grad", "float64")
    x = np.repeat(np.array([case.x_bits for case in cases], np.uint64).view(float), step)[::step]
    want = np.array([case.y_bits for case in cases], np.uint64)
    kept = made(asked := lambda bits: 0x4242424242424242)
    y = bits_of(kept.ufunc(x))
    from_oracle = y == asked(0)
    assert 0 < from_oracle.sum() < 0.1 * len(x)
    assert np.array_equal(y[~from_oracle], want[~from_oracle])
    assert np.array_equal(bits_of(ufunc.gelu_grad(x)), want)


def test_an_error_on_the_way_is_raised():
    def fails(_):
        raise UsageError("no oracle today")

    kept = made(fails, fails)
    cases = hard_cases("gelu_grad", "float64")
    for x in (np.array([case.x_bits for case in cases], np.uint64).view(float), np.ones(3, np.float16)):
        with pytest.raises(UsageError):
            kept.ufunc(x)


def test_other_threads_run_meanwhile():
    x = some("float32", 1 << 17)
    y = np.empty_like(x)
    assert ticks_during(lambda: ufunc.gelu(x, out=y)) > 3
