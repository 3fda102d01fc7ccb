"""Python callables on arrays of any library, eager and compiled: a result is read where its dtype is certain."""

import ctypes
import sys
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
import requiring
from foreign import bits, chosen, some_bits
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify import targets, verify
from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import DTYPES, get_format, numpy_dtype
from gelu_verify.targets import array_protocols as _protocols
from gelu_verify.targets.arrays import bits_of, compilers, get_kind, kind_of_module
from gelu_verify.targets.python_callables import callable_target

jax = requiring.module("jax")


class Dlpack:
    """An array of a library that nobody knows: DLPack and nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Says(Dlpack):
    dtype = "library.bfloat16"


class Plain:
    """`__array__` and nothing else; `dtype` where it says one."""

    def __init__(self, array, dtype=None):
        self._array = array
        if dtype:
            self.dtype = dtype

    def __array__(self, dtype=None, copy=None):
        return self._array


class Cuda:
    """`__cuda_array_interface__` of memory that the driver of these tests takes for a device's."""

    def __init__(self, array, typestr, dtype=None, strides=None):
        self._array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": typestr,
            "data": (array.ctypes.data, False),
            "strides": strides,
            "version": 3,
        }
        if dtype:
            self.dtype = dtype


class Driver:
    """What libcuda.so.1 is asked for, on the host's memory."""

    status = 0

    def __getattr__(self, name):
        return lambda *_: self.status

    def cuMemcpyDtoH_v2(self, to, address, size):
        ctypes.memmove(to, address.value, size.value)
        return self.status


def jax_array(dtype, patterns):
    with get_kind("jax").session(dtype):
        return get_kind("jax").from_bits(dtype, patterns)


# ---- DLPack --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_keeps_every_bit_and_names_the_dtype(dtype):
    every = np.arange(1 << 16, dtype=np.uint16) if get_format(dtype).width == 16 else some_bits(dtype, 4096)
    found = _protocols.foreign_bits(Dlpack(jax_array(dtype, every)))
    assert found[0] == dtype
    np.testing.assert_array_equal(found[1], every)


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)),
    st.permutations(range(3)),
    st.tuples(*[st.sampled_from([1, 2, -1, -2])] * 3),
)
def test_dlpack_of_any_strides(shape, axes, steps):
    array = np.random.default_rng(0).normal(size=shape).astype(np.float32).transpose(axes)
    view = array[tuple(slice(None, None, step) for step in steps)]
    dtype, got = _protocols.foreign_bits(Dlpack(view))
    assert dtype == "float32"
    np.testing.assert_array_equal(got.view("f4"), view)


@pytest.mark.parametrize(
    ("array", "refusal"),
    [
        (np.zeros(2, np.int32), "int32"),
        (np.zeros(2, np.uint16), "uint16"),
        (np.zeros(2, np.complex64), "complex64"),
        (np.zeros(2, np.bool_), "bool8"),
    ],
)
def test_dlpack_of_other_dtypes_is_refused(array, refusal):
    with pytest.raises(TargetFailure, match=f"f returned {refusal} where float32 was expected"):
        bits_of("f", "float32", Dlpack(array))


def test_bfloat16_is_not_taken_for_float16():
    half = jax_array("float16", np.zeros(2, np.uint16))
    with pytest.raises(TargetFailure, match="f returned float16 where bfloat16 was expected"):
        bits_of("f", "bfloat16", Dlpack(half))
    with pytest.raises(TargetFailure, match="an array whose dtype is bfloat16, but whose data is float16"):
        bits_of("f", "bfloat16", Says(half))


def test_dlpack_on_a_device_is_copied_or_refused():
    class Device(Dlpack):
        def __dlpack_device__(self):
            return (2, 0)

        def __dlpack__(self, *, dl_device, copy):
            assert (dl_device, copy) == ((1, 0), True)
            return super().__dlpack__()

    class Old(Device):
        def __dlpack__(self):
            raise AssertionError("its memory is on the device")

    array = np.array([1.5, -0.0], np.float32)
    np.testing.assert_array_equal(bits_of("f", "float32", Device(array)), array.view(np.uint32))
    with pytest.raises(TargetFailure, match=r"a Old that cannot be read .TypeError"):
        bits_of("f", "float32", Old(array))


def test_a_protocol_that_refuses_leaves_it_to_the_next():
    class Both(Plain):
        def __dlpack_device__(self):
            raise BufferError("not today")

        __dlpack__ = __dlpack_device__

    array = np.array([1.5], np.float32)
    assert bits_of("f", "float32", Both(array)) == array.view(np.uint32)


# ---- the other protocols -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_array_protocol_keeps_every_bit(dtype):
    patterns = some_bits(dtype, 1000)
    np.testing.assert_array_equal(bits_of("f", dtype, Plain(patterns.view(numpy_dtype(dtype)))), patterns)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (Plain(np.zeros(2, np.float32), "bfloat16"), "an array whose dtype is bfloat16, but whose data is float32"),
        (Plain(np.zeros(2, np.float16), "bfloat16"), "an array whose dtype is bfloat16, but whose data is float16"),
        (Plain(np.zeros(2, np.uint16), "bfloat16"), "returned uint16"),
        (Plain(np.zeros(2, "V2")), "returned void16"),
        (Plain(np.zeros(2, ">f4")), "returned >f4"),
        (Plain(np.zeros(2, ml_dtypes.float8_e5m2)), "returned float8_e5m2"),
        (Plain(np.zeros(2, np.float32)), "returned float32 where bfloat16"),
    ],
)
def test_uncertain_arrays_are_refused(array, message):
    with pytest.raises(TargetFailure, match=message):
        bits_of("f", "bfloat16", array)


@pytest.mark.parametrize(
    ("dtype", "typestr", "stated"),
    [
        ("float32", "<f4", None),
        ("float64", "<f8", None),
        ("float32", "<f4", "library.float32"),
        ("float16", "<f2", "float16"),
        ("bfloat16", "<f2", "bfloat16"),
        ("bfloat16", "<V2", "library.bfloat16"),
    ],
)
def test_cuda_array_interface(monkeypatch, dtype, typestr, stated):
    monkeypatch.setattr(_protocols, "_driver", Driver)
    patterns = some_bits(dtype, 1000)
    np.testing.assert_array_equal(bits_of("f", dtype, Cuda(patterns, typestr, stated)), patterns)
    every_second = (2 * patterns.itemsize,)
    strided = Cuda(patterns, typestr, stated, every_second)
    strided.__cuda_array_interface__["shape"] = (500,)
    np.testing.assert_array_equal(bits_of("f", dtype, strided), patterns[::2])


@pytest.mark.parametrize(("typestr", "stated"), [("<f2", None), ("<V2", None), ("<f2", "float32"), ("<i4", "int32")])
def test_a_typestr_that_may_mean_two_formats_is_refused(monkeypatch, typestr, stated):
    monkeypatch.setattr(_protocols, "_driver", Driver)
    with pytest.raises(TargetFailure, match=f"typestr '{typestr}' without a dtype that says which format that is"):
        bits_of("f", "float16", Cuda(some_bits("float16", 4), typestr, stated))


def test_a_cuda_array_without_a_driver_is_refused(monkeypatch):
    def none(name):
        raise OSError("no libcuda.so.1")

    monkeypatch.setattr(_protocols.ctypes, "CDLL", none)
    with pytest.raises(TargetFailure, match=r"on a CUDA device, and there is no driver here: no libcuda.so.1"):
        bits_of("f", "float32", Cuda(some_bits("float32", 4), "<f4"))


def test_an_error_of_the_driver_is_reported(monkeypatch):
    driver = Driver()
    driver.status = 201
    monkeypatch.setattr(_protocols, "_driver", lambda: driver)
    with pytest.raises(TargetFailure, match="the CUDA driver fails with error 201"):
        bits_of("f", "float32", Cuda(some_bits("float32", 4), "<f4"))


@pytest.mark.parametrize("thing", [None, 1.0, [1.0], "1", object()])
def test_what_speaks_no_protocol_is_no_array(thing):
    with pytest.raises(TargetFailure, match="which is not an array of numpy, torch, jax, tensorflow, nor of anything"):
        bits_of("f", "float32", thing)


class Tensor:
    """`numpy()` and nothing else, as tinygrad's."""

    def __init__(self, array, dtype):
        self._array, self.dtype = array, f"dtypes.{dtype}"

    def numpy(self):
        return self._array


def test_numpy_is_a_protocol():
    x = np.float32([-0.0, 2.5])
    assert bits_of("f", "float32", Tensor(x, "float32")).tolist() == x.view(np.uint32).tolist()
    with pytest.raises(TargetFailure, match="whose dtype is bfloat16, but whose data is float32"):
        bits_of("f", "float32", Tensor(x, "bfloat16"))


@pytest.mark.parametrize(("backend", "kind"), [("torch", "torch"), ("numpy", "numpy"), ("openvino", None)])
def test_keras_has_the_arrays_of_its_backend(monkeypatch, backend, kind):
    keras = SimpleNamespace(backend=SimpleNamespace(backend=lambda: backend))
    monkeypatch.setitem(sys.modules, "keras", keras)
    found = kind_of_module("keras.src.layers")
    assert (found and found.name) == kind


# ---- arrays of a module --------------------------------------------------------------------------

MODULE = """
import numpy
class Array:
    def __init__(self, array): self._array = array; self.dtype = "planted." + array.dtype.name
    def __array__(self, dtype=None, copy=None): return self._array
    def __getitem__(self, key): return Array(self._array[key])
def asarray(array):
    if array.dtype.name == "bfloat16": array = array.astype("f4")  # as a library without it may
    return Array(array)
def gelu(x):
    assert isinstance(x, Array)
    return Array(numpy.maximum(x._array, 0))
"""


def test_arrays_of_an_installed_module(tmp_path, monkeypatch):
    (tmp_path / "planted_arrays.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted_arrays", raising=False)
    target = chosen("planted_arrays:gelu", array="planted_arrays")
    assert target.dtypes == ("float16", "float32", "float64")
    assert target.evaluate("float32", bits("float32", "-1", "3")).tolist() == bits("float32", "0", "3").tolist()
    with pytest.raises(TargetFailure, match="planted_arrays makes float32 of a bfloat16 array"):
        chosen("planted_arrays:gelu", array="planted_arrays", dtype="bfloat16").evaluate(
            "bfloat16", bits("bfloat16", "1")
        )


@pytest.mark.parametrize("place", ["planted_arrays", "planted_arrays.core"])  # as paddle has it, and as mlx
def test_what_takes_no_other_array_is_called_with_those_of_its_own_package(place, tmp_path, monkeypatch):
    (tmp_path / "planted_arrays").mkdir()
    (tmp_path / "planted_arrays" / "core.py").write_text(MODULE)
    (tmp_path / "planted_arrays" / "nn.py").write_text("from .core import *")
    exported = "from .core import asarray" if place == "planted_arrays" else "from . import core"
    (tmp_path / "planted_arrays" / "__init__.py").write_text(exported)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("planted_arrays", "planted_arrays.core", "planted_arrays.nn"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    target = chosen("planted_arrays.nn:gelu", dtype="float32")
    assert target.note.startswith(f"called with {place} arrays, from ")
    assert target.evaluate("float32", bits("float32", "-1", "3")).tolist() == bits("float32", "0", "3").tolist()


@pytest.mark.parametrize("name", ["json", "no_such_module", "", "nunpy"])
def test_what_is_no_array_library_is_refused(name):
    with pytest.raises(UsageError, match=f"unknown array kind '{name}'.*numpy, torch, jax, tensorflow"):
        get_kind(name)


# ---- compiled ------------------------------------------------------------------------------------

JAX = """
import jax
traced = []
def gelu(x):
    traced.append(x.dtype.name)
    assert isinstance(x, jax.core.Tracer) or eager
    return 0.5 * x * (1 + jax.lax.erf(x * x.dtype.type(0.70710678118654752)))
eager = False
"""
TORCH = """
import torch
def gelu(x):
    assert torch.compiler.is_compiling()
    return 0.5 * x * (1 + torch.erf(x * 0.5**0.5))
"""


def test_jax_jit_compiles(tmp_path):
    """The function sees tracers only, but for the question which dtypes it takes."""
    path = tmp_path / "mine.py"
    path.write_text(JAX)
    target = chosen(f"{path}:gelu", compile="jax", dtype="float64")
    assert target.note == "called with jax arrays, compiled by jax.jit"
    result = verify(target, "gelu", "float64", "landmarks")
    assert result.failure is None
    assert result.record.variant == "gelu"
    with pytest.raises(TargetFailure, match="AssertionError"):
        chosen(f"{path}:gelu", array="jax", dtype="float64").evaluate("float64", bits("float64", "1"))


@pytest.mark.frameworks
def test_a_result_of_torch_that_is_a_negated_view_is_read(tmp_path):
    """As the imaginary part of what is conjugated."""
    path = tmp_path / "mine.py"
    path.write_text("import torch\ndef relu(x): return torch.complex(x, -torch.relu(x)).conj().imag\n")
    target = chosen(f"{path}:relu", dtype="float32")
    assert target.evaluate("float32", bits("float32", "2", "-3")).tolist() == bits("float32", "2", "0").tolist()


@pytest.mark.frameworks
def test_torch_compile_compiles(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TORCH)
    target = chosen(f"{path}:gelu", compile="torch", dtype="bfloat16")
    assert target.note == "called with torch arrays, compiled by torch.compile"
    assert target.evaluate("bfloat16", bits("bfloat16", "20", "-0")).tolist() == bits("bfloat16", "20", "-0").tolist()


@pytest.mark.frameworks
def test_tensorflow_function_compiles():
    tensorflow = pytest.importorskip("tensorflow")

    def relu(x):
        assert not tensorflow.executing_eagerly()
        return tensorflow.maximum(x, tensorflow.zeros_like(x))

    target = callable_target(relu, "relu", "float32", compile="tensorflow")
    assert target.evaluate("float32", bits("float32", "2", "-3")).tolist() == bits("float32", "2", "0").tolist()


def test_what_is_compiled_by_what():
    assert compilers() == ["torch", "jax", "tensorflow"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compile": "numpy"}, "numpy compiles nothing .accepted by --compile: torch, jax, tensorflow"),
        ({"compile": "jax", "array": "numpy"}, "--compile jax compiles for jax arrays, not for numpy ones"),
        ({"compile": "gcc"}, "unknown array kind 'gcc'"),
    ],
)
def test_a_compiler_that_cannot_be_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        targets.select(["numpy:tanh"], **options)


@pytest.mark.parametrize("code", ["e", "f", "d", "b", "I", "B"])
def test_a_buffer_of_python_is_an_array(code):
    """As a typed memoryview of Cython is, or array.array."""
    values = np.array([1, 2, 3], code)
    for buffer in (memoryview(values), memoryview(np.array([1, 0, 2, 0, 3], code))[::2]):
        if code in "efd":
            dtype, got = _protocols.foreign_bits(buffer)
            assert (dtype, got.tolist()) == (values.dtype.name, values.view(f"u{values.itemsize}").tolist())
        else:
            with pytest.raises(TargetFailure, match=values.dtype.name):
                _protocols.foreign_bits(buffer)
    assert _protocols.foreign_bits("text") is None
