"""Array kinds: how bits become a library's own array, and how its array becomes bits.

Always through integer views, never through a float conversion, so that NaN payloads, signed zeros
and bfloat16 arrive as they are. Nothing here imports a framework before it is used.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import TargetFailure, one_of
from ..formats import DTYPES, get_format, numpy_dtype


class ArrayKind(ABC):
    """One library's arrays. `name` is what `--array` takes; `roots` the packages whose objects are of this kind."""

    name: str
    roots: tuple[str, ...]
    classes: tuple[str, ...]  # of its arrays, in the package roots[0]

    def owns(self, thing: Any) -> bool:
        """Whether `thing` is an array of this kind; a library that was never imported has made none."""
        library = sys.modules.get(self.roots[0])
        return library is not None and isinstance(thing, tuple(getattr(library, name) for name in self.classes))

    @abstractmethod
    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        """`bits` (1-D, contiguous) as a native array of `dtype`, sharing memory where the library can."""

    @abstractmethod
    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        """Name of the dtype and bits of a native array; TargetFailure when it is no float dtype judged here."""

    def session(self, dtype: str) -> AbstractContextManager:
        """What must be in force, in this thread only, while arrays of `dtype` are made and computed with."""
        return nullcontext()

    def wait(self, array: Any) -> Any:
        """`array`, computed to the end."""
        return array


class NumpyKind(ArrayKind):
    name = "numpy"
    roots = ("numpy", "ml_dtypes", "scipy")
    classes = ("ndarray", "generic")

    def from_bits(self, dtype: str, bits: np.ndarray) -> np.ndarray:
        return bits.view(numpy_dtype(dtype))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        array = np.asarray(array)
        dtype = array.dtype.name
        if dtype not in DTYPES or array.dtype != numpy_dtype(dtype):  # integers, objects, '<V2', '>f4', longdouble
            raise _refused(array.dtype.str if dtype in DTYPES else dtype)
        return dtype, np.asarray(array, order="C").view(get_format(dtype).uint)

    def session(self, dtype: str) -> AbstractContextManager:
        return np.errstate(all="ignore")  # overflow and invalid are what the sweep looks for


class TorchKind(ArrayKind):
    name = "torch"
    roots = ("torch",)
    classes = ("Tensor",)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        torch = import_module("torch")
        signed = bits.view(f"i{bits.itemsize}")
        return torch.from_numpy(signed if signed.flags.writeable else signed.copy()).view(getattr(torch, dtype))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        torch = import_module("torch")
        dtype = str(array.dtype).removeprefix("torch.")
        if dtype not in DTYPES or array.layout is not torch.strided:
            raise _refused(dtype if dtype not in DTYPES else f"{dtype} ({array.layout})")
        fmt = get_format(dtype)
        signed = array.detach().cpu().contiguous().view(getattr(torch, f"int{fmt.width}"))
        return dtype, signed.numpy().view(fmt.uint)


class JaxKind(ArrayKind):
    name = "jax"
    roots = ("jax", "jaxlib")
    classes = ("Array",)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        return import_module("jax.numpy").asarray(bits.view(numpy_dtype(dtype)))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        return KINDS["numpy"].to_bits(array)

    def session(self, dtype: str) -> AbstractContextManager:
        # without it JAX turns float64 into float32; the switch is per thread and ends with the block
        return import_module("jax").enable_x64(True) if dtype == "float64" else nullcontext()

    def wait(self, array: Any) -> Any:
        return import_module("jax").block_until_ready(array)


class TensorflowKind(ArrayKind):
    name = "tensorflow"
    roots = ("tensorflow", "keras")
    classes = ("Tensor", "Variable")

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        return import_module("tensorflow").constant(bits.view(numpy_dtype(dtype)))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        return KINDS["numpy"].to_bits(array.numpy())


KINDS: dict[str, ArrayKind] = {kind.name: kind for kind in (NumpyKind(), TorchKind(), JaxKind(), TensorflowKind())}


def get_kind(name: str) -> ArrayKind:
    """The array kind called `name`; UsageError names the accepted ones."""
    if name not in KINDS:
        raise one_of("array kind", name, list(KINDS))
    return KINDS[name]


def kind_of_module(module: str | None) -> ArrayKind | None:
    """The kind that the package of `module` ('torch.nn.functional') works on, if it is known."""
    root = (module or "").partition(".")[0]
    return next((kind for kind in KINDS.values() if root in kind.roots), None)


def bits_of(name: str, dtype: str, array: Any, *more: ArrayKind) -> np.ndarray:
    """Bits of what target `name` returned; TargetFailure when it is no array (of `more` too), or not of `dtype`."""
    kind = next((kind for kind in (*more, *KINDS.values()) if kind.owns(array)), None)
    if kind is None:
        raise TargetFailure(f"{name} returned {type(array).__name__}, which is no array of {', '.join(KINDS)}")
    try:
        got, bits = kind.to_bits(array)
    except TargetFailure as refusal:
        raise TargetFailure(f"{name} returned {refusal} where {dtype} was expected") from None
    if got != dtype:
        raise TargetFailure(f"{name} returned {got} where {dtype} was expected")
    return bits


def _refused(dtype: str) -> TargetFailure:
    """The refusal as `bits_of` completes it."""
    return TargetFailure(dtype)
