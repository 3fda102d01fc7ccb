"""`device`: where the arrays of a callable are."""

import numpy as np
import pytest

from gelu_verify.errors import MissingMeasurement, UsageError
from gelu_verify.verification import verify

LIBRARIES = ["jax", pytest.param("torch", marks=pytest.mark.frameworks)]


def has_cuda(library):
    if library == "torch":
        return pytest.importorskip("torch").cuda.is_available()
    return any(device.platform == "gpu" for device in pytest.importorskip("jax").devices())


def relu(x):
    return abs(x) / 2 + x / 2


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("array", [None, "given"])
def test_the_arrays_are_there(library, array):
    pytest.importorskip(library)
    seen = set()

    def watching(x):
        seen.add((type(x).__module__.partition(".")[0].removesuffix("lib"), str(x.device)))
        return relu(x)

    watching.__module__ = library  # as if that library had it
    result = verify(watching, "relu", "float16", "landmarks", device="cpu", array=library if array else None)
    assert {name for name, _ in seen} == {library}
    assert all("cpu" in device.lower() for _, device in seen)
    assert "arrays on cpu" in result.note
    assert "device='cpu'" in result.repeat


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_device_that_is_not_there_is_missing(library):
    if has_cuda(library):
        pytest.skip("it is there")
    with pytest.raises(MissingMeasurement, match="device 'cuda' was asked for, but"):
        verify(relu, "relu", "float16", "landmarks", device="cuda", array=library)


def test_numpy_has_none():
    with pytest.raises(UsageError, match="numpy arrays have no device"):
        verify(np.abs, "relu", "float16", "landmarks", device="cpu", array="numpy")


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_a_callable_computes_on_the_gpu(library):
    if not has_cuda(library):
        pytest.skip(f"{library} finds no CUDA device")
    seen = set()

    def watching(x):
        seen.add(str(x.device).lower())
        return relu(x)

    result = verify(watching, "relu", "float32", "quick", device="cuda", array=library)
    assert result.failure is None
    assert all("cuda" in device for device in seen)
