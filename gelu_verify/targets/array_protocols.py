"""Arrays of any library: DLPack, `__cuda_array_interface__`, `__array__`, `numpy()`, in this order; else Python's
buffers.

Only what certainly is of a dtype is read. DLPack names bfloat16; a typestr does not ('<f2' has meant both 16-bit
formats), so there, and wherever an array's own `dtype` says something else, the array is refused.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import DTYPES, dtype_name, get_format
from ..gpu.info import load_driver

_CPU = 1
_ON_HOST = (_CPU, 3, 11)  # CPU, and memory of the host that CUDA or ROCm has pinned
_DLPACK_NAMES = {(2, 16): "float16", (2, 32): "float32", (2, 64): "float64", (4, 16): "bfloat16"}  # (code, bits)
_DLPACK_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_TYPESTRS = {"<f4": "float32", "<f8": "float64"}
_ERRORS = (TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError, BufferError)

Read = Callable[[int, int], bytes]  # (address, size) -> what lies there


def foreign_bits(array: Any) -> tuple[str, np.ndarray] | None:
    """Dtype and bits of anything that speaks one of the protocols; None for what speaks none.

    Raises TargetFailure with the dtype, or with the reason, where the dtype is not certain or is none of ours.
    """
    readers = {"__dlpack__": _dlpack, "__cuda_array_interface__": _cuda, "__array__": _array, "numpy": _to_numpy}
    spoken = [read for name, read in readers.items() if hasattr(array, name)]
    if not spoken:
        try:
            array, spoken = memoryview(array), [_array]
        except TypeError:
            return None
    reasons = []
    for read in spoken:
        try:
            dtype, bits = read(array)
        except _ERRORS as error:  # it has the method, and refuses: the next protocol may do
            reasons.append(f"{type(error).__name__}: {error}")
            continue
        if (named := _named_dtype(array)) not in (None, dtype):
            raise TargetFailure(f"an array whose dtype is {named}, but whose data is {dtype}")
        return dtype, bits
    raise TargetFailure(f"a {type(array).__name__} that cannot be read ({reasons[-1]})")


def _named_dtype(array: Any) -> str | None:
    """The dtype that an array's own `dtype` names: 'bfloat16' of `torch.bfloat16`, of `dtypes.bfloat16`."""
    name = str(getattr(array, "dtype", "")).rpartition(".")[2]
    return name if name in DTYPES else None


# ---- DLPack --------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h, which a DLManagedTensor begins with."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def _dlpack(array: Any) -> tuple[str, np.ndarray]:
    on_host = int(array.__dlpack_device__()[0]) in _ON_HOST
    capsule = array.__dlpack__() if on_host else array.__dlpack__(dl_device=(_CPU, 0), copy=True)
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))  # lives as long as its capsule
    if tensor.device_type not in _ON_HOST:
        raise BufferError(f"its data is on a device (DLPack type {tensor.device_type})")
    dtype = _DLPACK_NAMES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TargetFailure(f"{_DLPACK_CODES.get(tensor.code, f'code {tensor.code} ')}{tensor.bits}")
    shape = [int(tensor.shape[axis]) for axis in range(tensor.ndim)]
    item = tensor.bits // 8
    strides = [item * int(tensor.strides[axis]) for axis in range(tensor.ndim)] if tensor.strides else None
    return dtype, _copied(dtype, (tensor.data or 0) + tensor.byte_offset, shape, strides, ctypes.string_at)


def _copied(dtype: str, address: int, shape: Sequence[int], strides: Sequence[int] | None, read: Read) -> np.ndarray:
    """Bits of the array that lies at `address`; strides in bytes, of either sign."""
    uint = np.dtype(get_format(dtype).uint)
    if prod(shape) == 0:
        return np.empty(tuple(shape), uint)
    if strides is None:
        strides = [uint.itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape))]
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    memory = read(address + low, high - low + uint.itemsize)
    return np.ndarray(tuple(shape), uint, memory, -low, tuple(strides)).copy()


# ---- CUDA ----------------------------------------------------------------------------------------


def _cuda(array: Any) -> tuple[str, np.ndarray]:
    found = array.__cuda_array_interface__
    typestr = found["typestr"]
    dtype = _TYPESTRS.get(typestr)
    if dtype is None:
        dtype = _named_dtype(array)
        if dtype is None or get_format(dtype).width != 16 or typestr not in ("<f2", "<V2", "<u2"):
            raise TargetFailure(f"typestr {typestr!r} without a dtype that says which format that is")
    return dtype, _copied(dtype, found["data"][0], found["shape"], found.get("strides"), _from_device)


def _from_device(address: int, size: int) -> bytes:
    """A copy of device memory, by the driver; the context is that of whoever made the array, or the first device's."""
    driver, context, memory = _driver(), ctypes.c_void_p(), ctypes.create_string_buffer(size)
    _done(driver.cuInit(0))
    _done(driver.cuCtxGetCurrent(ctypes.byref(context)))
    if not context:
        _done(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        _done(driver.cuCtxSetCurrent(context))
    _done(driver.cuCtxSynchronize())
    _done(driver.cuMemcpyDtoH_v2(memory, ctypes.c_uint64(address), ctypes.c_size_t(size)))
    return memory.raw


def _driver() -> Any:
    try:
        return load_driver()
    except OSError as error:
        raise BufferError(f"its data is on a CUDA device, and there is no driver here: {error}") from None


def _done(status: int) -> None:
    if status:
        raise RuntimeError(f"the CUDA driver fails with error {status}")


# ---- NumPy ---------------------------------------------------------------------------------------


def _to_numpy(array: Any) -> tuple[str, np.ndarray]:
    return _array(array.numpy())


def _array(array: Any) -> tuple[str, np.ndarray]:
    there = np.asarray(array)
    name = there.dtype.name
    if name not in DTYPES:
        raise TargetFailure(name)
    if not there.dtype.isnative:
        raise TargetFailure(there.dtype.str)
    return dtype_name(there), np.asarray(there, order="C").view(get_format(name).uint)
