"""Array kinds: how bits become a library's own array, and how its array becomes bits.

Always through integer views, never through a float conversion, so that NaN payloads, signed zeros
and bfloat16 arrive as they are. Nothing here imports a framework before it is used.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import MissingMeasurement, TargetFailure, UsageError, message_of, one_of
from ..formats import DTYPES, get_format, numpy_dtype
from . import incoming
from .array_protocols import foreign_bits
from .output_memory import empty_output_like

MAKERS = ("asarray", "from_dlpack")  # functions by which any module makes its arrays of NumPy's
OF_MODULES = "an installed module with asarray or from_dlpack, or package.Class that takes a NumPy array"


class ArrayKind(ABC):
    """One library's arrays. `name` is what `--array` takes; `roots` the packages whose objects are of this kind."""

    name: str
    roots: tuple[str, ...]
    classes: tuple[str, ...]  # of its arrays, in the package roots[0]
    compiler: str = ""  # what `--compile` uses, where the library has one
    compiles_per_length = False  # XLA does, for every operation
    has_devices = False  # whether `on` can choose one
    device = ""  # where its arrays are, where that was chosen

    def owns(self, thing: Any) -> bool:
        """Whether `thing` is an array of this kind; a library that was never imported has made none."""
        library = sys.modules.get(self.roots[0])
        return library is not None and isinstance(thing, tuple(getattr(library, name) for name in self.classes))

    @abstractmethod
    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        """`bits` (1-D, contiguous) as a native array of `dtype`, sharing memory where the library can."""

    @abstractmethod
    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        """Name of the dtype and bits of a native array; TargetFailure when it is none of our dtypes."""

    def session(self, dtype: str) -> AbstractContextManager[Any]:
        """What must be in force, in this thread only, while arrays of `dtype` are made and computed with."""
        return nullcontext()

    def wait(self, array: Any) -> Any:
        """`array`, computed to the end."""
        return array

    def shaped(self, array: Any, shape: tuple[int, ...]) -> Any:
        """The values of `array` in another shape."""
        return array.reshape(shape)

    def on(self, device: str) -> ArrayKind:
        """This kind, with its arrays on a device: "cpu", "cuda". MissingMeasurement where there is none."""
        raise UsageError(f"device {device!r} is for torch and jax arrays: {self.name} arrays have no device to choose")

    def gradient(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        """The gradient of f(x), by x, for ones as the gradient of the result."""
        raise UsageError(f"grad(f) needs --array torch, jax or tensorflow: {self.name} arrays have no gradients")

    def compiled(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """`compute` through `compiler`, "package.function"."""
        package, _, function = self.compiler.rpartition(".")
        compiled: Callable[..., Any] = getattr(import_module(package), function)(compute)
        return compiled


class NumpyKind(ArrayKind):
    name = "numpy"
    roots = ("numpy", "ml_dtypes", "scipy")
    classes = ("ndarray", "generic")

    def from_bits(self, dtype: str, bits: np.ndarray) -> np.ndarray:
        return bits.view(numpy_dtype(dtype))

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, np.ndarray | np.generic)

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        array = np.asarray(array, order="C")
        dtype = _name_of(array.dtype)
        return dtype, array.view(f"u{array.itemsize}")

    def session(self, dtype: str) -> AbstractContextManager[Any]:
        return np.errstate(all="ignore")  # overflow and invalid are what the sweep looks for


@cache
def _name_of(dtype: np.dtype) -> str:
    """One of DTYPES; refused are integers, objects, '<V2', '>f4', longdouble."""
    name: str = dtype.name
    if name not in DTYPES or dtype != numpy_dtype(name):
        raise _refused(dtype.str if name in DTYPES else name)
    return name


def placed_like(x: np.ndarray) -> np.ndarray:
    """An output like a NumPy array of floats, where the caller wants it."""
    return empty_output_like(x.view(f"u{x.itemsize}")).view(x.dtype)


class TorchKind(ArrayKind):
    name = "torch"
    has_devices = True
    roots = ("torch",)
    classes = ("Tensor",)
    compiler = "torch.compile"

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        torch = import_module("torch")
        signed = bits.view(f"i{bits.itemsize}")
        made = torch.from_numpy(signed if signed.flags.writeable else signed.copy()).view(getattr(torch, dtype))
        return made.to(self.device) if self.device else made

    def on(self, device: str) -> ArrayKind:
        if device == "cuda" and not import_module("torch").cuda.is_available():
            raise MissingMeasurement("device 'cuda' was asked for, but torch finds none")
        return _placed(self, device)

    def wait(self, array: Any) -> Any:
        if self.device == "cuda":
            import_module("torch").cuda.synchronize()
        return array

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        torch = import_module("torch")
        dtype = str(array.dtype).removeprefix("torch.")
        if dtype not in DTYPES or array.layout is not torch.strided:
            raise _refused(dtype if dtype not in DTYPES else f"{dtype} ({array.layout})")
        fmt = get_format(dtype)
        signed = array.detach().cpu().resolve_neg().contiguous().view(getattr(torch, f"int{fmt.width}"))
        return dtype, signed.numpy().view(fmt.uint)

    def gradient(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        torch = import_module("torch")

        def backward(x: Any) -> Any:
            leaf = x.detach().clone().requires_grad_()
            y = f(leaf)
            return torch.autograd.grad(y, leaf, incoming.scaled(torch.ones_like(y)))[0]

        return backward


class JaxKind(ArrayKind):
    name = "jax"
    has_devices = True
    roots = ("jax", "jaxlib")
    classes = ("Array",)
    compiler = "jax.jit"
    compiles_per_length = True

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        made = import_module("jax.numpy").asarray(bits.view(numpy_dtype(dtype)))
        jax = import_module("jax")
        return jax.device_put(made, jax.devices(self.device)[0]) if self.device else made

    def on(self, device: str) -> ArrayKind:
        try:
            import_module("jax").devices(device)
        except RuntimeError as error:
            reason = f"device {device!r} was asked for, but jax finds none: {message_of(error)}"
            raise MissingMeasurement(reason) from None
        return _placed(self, device)

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        return KINDS["numpy"].to_bits(array)

    def session(self, dtype: str) -> AbstractContextManager[Any]:
        # without it JAX turns float64 into float32; the switch is per thread and ends with the block
        return import_module("jax").enable_x64(True) if dtype == "float64" else nullcontext()

    def wait(self, array: Any) -> Any:
        return import_module("jax").block_until_ready(array)

    def gradient(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        jax = import_module("jax")

        def backward(x: Any) -> Any:
            y, pull_back = jax.vjp(f, x)
            return pull_back(incoming.scaled(jax.numpy.ones_like(y)))[0]

        return backward


class TensorflowKind(ArrayKind):
    name = "tensorflow"
    roots = ("tensorflow", "keras")
    classes = ("Tensor", "Variable")
    compiler = "tensorflow.function"
    compiles_per_length = True

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        return import_module("tensorflow").constant(bits.view(numpy_dtype(dtype)))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        return KINDS["numpy"].to_bits(array.numpy())

    def shaped(self, array: Any, shape: tuple[int, ...]) -> Any:
        return import_module("tensorflow").reshape(array, shape)

    def gradient(self, f: Callable[..., Any]) -> Callable[[Any], Any]:
        tensorflow = import_module("tensorflow")

        def backward(x: Any) -> Any:
            with tensorflow.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        return backward


class ModuleKind(ArrayKind):
    """Arrays of any other module that has `asarray` or `from_dlpack`, or of a class that NumPy's arrays are given to
    (`pandas.Series`); read by the protocols that they speak."""

    classes = ()

    def __init__(self, name: str) -> None:
        module, _, made = name.rpartition(".") if _is_class(name) else (name, "", "")
        self.name, self.roots = name, (module,)
        owner = import_module(module)
        maker = made or next(filter(partial(hasattr, owner), MAKERS), MAKERS[0])
        self._make: Callable[[Any], Any] = getattr(owner, maker)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        array = np.require(bits, requirements="W").view(numpy_dtype(dtype))
        made = foreign_bits(sample := self._make(array[:1]))
        if made is None:
            raise TargetFailure(f"a {type(sample).__name__}, which supports none of the array protocols")
        if made[0] != dtype or made[1].ravel().tolist() != bits[:1].tolist():
            raise TargetFailure(f"{self.name} makes {made[0]} of a {dtype} array")
        return self._make(array)

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        found = foreign_bits(array)
        if found is None:
            raise _refused(type(array).__name__)
        return found


def _is_class(name: str) -> bool:
    """Whether "package.Class" names one, of a package that is installed."""
    package, _, made = name.rpartition(".")
    return bool(package) and isinstance(getattr(import_module(package), made, None), type)


def _placed(kind: ArrayKind, device: str) -> ArrayKind:
    there = copy.copy(kind)
    there.device = device
    return there


KINDS: dict[str, ArrayKind] = {kind.name: kind for kind in (NumpyKind(), TorchKind(), JaxKind(), TensorflowKind())}


def get_kind(name: str) -> ArrayKind:
    """The array kind called `name`, or that of an installed module of this name; UsageError names the accepted ones."""
    if name in KINDS:
        return KINDS[name]
    try:
        return ModuleKind(name)
    except (ImportError, AttributeError, ValueError):
        accepted = [*KINDS, OF_MODULES]
        raise one_of("array kind", name, accepted) from None


def compilers() -> list[str]:
    """Names of the array kinds that can compile a function."""
    return [kind.name for kind in KINDS.values() if kind.compiler]


def kind_of_module(module: str | None) -> ArrayKind | None:
    """The kind that the package of `module` ('torch.nn.functional') works on, if it is known."""
    root = (module or "").partition(".")[0]
    if root == "keras" and root in sys.modules:
        root = sys.modules[root].backend.backend()
    return next((kind for kind in KINDS.values() if root in kind.roots), None)


def dtype_of(array: Any, *more: ArrayKind) -> str | None:
    """Which of our dtypes an array (of `more` too) is of; None for what is none, or of another dtype."""
    try:
        found = _dtype_and_bits(array, *more)
    except TargetFailure:
        return None
    return found and found[0]


def _dtype_and_bits(array: Any, *more: ArrayKind) -> tuple[str, np.ndarray] | None:
    kind = next((kind for kind in (*more, *KINDS.values()) if kind.owns(array)), None)
    return kind.to_bits(array) if kind else foreign_bits(array)


def bits_of(name: str, dtype: str, array: Any, *more: ArrayKind) -> np.ndarray:
    """Bits of what target `name` returned; TargetFailure when it is no array (of `more` too), or not of `dtype`."""
    try:
        found = _dtype_and_bits(array, *more)
    except TargetFailure as refusal:
        raise TargetFailure(f"{name} returned {refusal} where {dtype} was expected", "dtype") from None
    if found is None:
        accepted = f"{', '.join(KINDS)}, nor of anything with __dlpack__ or __array__"
        raise TargetFailure(f"{name} returned {type(array).__name__}, which is not an array of {accepted}")
    got, bits = found
    if got != dtype:
        raise TargetFailure(f"{name} returned {got} where {dtype} was expected", "dtype")
    return bits


def _refused(dtype: str) -> TargetFailure:
    """The refusal as `bits_of` completes it."""
    return TargetFailure(dtype)
