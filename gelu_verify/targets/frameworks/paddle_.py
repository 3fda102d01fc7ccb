"""PaddlePaddle on the CPU: `paddle.nn.functional`, its gradients and building blocks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import TargetFailure, TargetUnavailable
from ...formats import DTYPES, get_format, numpy_dtype
from ..arrays import ArrayKind
from ..base import Target
from ..importing import framework
from ..library_target import Path, library_targets

ON_REQUEST = True  # importing it takes two seconds
LOADS_FIRST = True  # after TensorFlow, importing it ends the process (Paddle 3.3, TensorFlow 2.21); before, it does not
NOTE = "CPU, dynamic graph"


class PaddleKind(ArrayKind):
    name = "paddle"
    roots = ("paddle",)
    classes = ("Tensor",)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        # Paddle's bfloat16 is NumPy's uint16
        return framework("paddle").to_tensor(bits if dtype == "bfloat16" else bits.view(numpy_dtype(dtype)))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        dtype = str(array.dtype).removeprefix("paddle.")
        if dtype not in DTYPES:
            raise TargetFailure(dtype)
        return dtype, array.detach().numpy().view(get_format(dtype).uint)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes for which there is a CPU kernel."""
    if "tensorflow" in sys.modules and "paddle" not in sys.modules:
        raise TargetUnavailable("paddle crashes where TensorFlow is loaded: measure it alone (gelu-verify run paddle)")
    paddle = framework("paddle", "paddlepaddle")
    paddle.set_device("cpu")
    F = paddle.nn.functional
    return library_targets(
        "paddle",
        paddle.__version__,
        (*_forward(F), *_gradients(paddle, F), *_blocks(paddle, F)),
        arrays=PaddleKind(),
        note=NOTE,
    )


Forward = tuple[str, str, str, Callable[[Any], Any]]


def _functions(F: ModuleType) -> tuple[Forward, ...]:
    return (
        ("gelu", "gelu", "F.gelu: 0.5 x (1 + erf(x/sqrt 2))", partial(F.gelu, approximate=False)),
        ("gelu_tanh", "gelu_tanh", "F.gelu: 0.5 x (1 + tanh(...))", partial(F.gelu, approximate=True)),
        ("silu", "silu", "F.silu: x / (1 + exp(-x))", F.silu),
        ("gelu_sigmoid", "gelu_sigmoid", "x F.sigmoid(1.702 x)", lambda x: x * F.sigmoid(1.702 * x)),
    )


def _forward(F: ModuleType) -> Iterator[Path]:
    for name, function, form, compute in _functions(F):
        yield Path(name, function, form, compute)


def _gradients(paddle: ModuleType, F: ModuleType) -> Iterator[Path]:
    """The forward pass belongs to `prepare` and is not timed."""

    def after(forward: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
        def prepare(x: Any) -> tuple[Any, ...]:
            leaf = x.detach()
            leaf.stop_gradient = False
            return forward(leaf), leaf, paddle.ones_like(x)

        return prepare

    def backward(y: Any, x: Any, ones: Any) -> Any:
        return paddle.grad(y, x, ones, retain_graph=True)[0]

    for name, function, form, forward in _functions(F):
        yield Path(f"{name}_grad", f"{function}_grad", f"gradient of {form}", backward, after(forward))


def _blocks(paddle: ModuleType, F: ModuleType) -> tuple[Path, ...]:
    return (
        Path("relu", "relu", "F.relu", F.relu),
        Path("elu", "elu", "F.elu", F.elu),
        Path("erf", "erf", "erf", paddle.erf),
        Path("tanh", "tanh", "tanh", paddle.tanh),
        Path("sigmoid", "sigmoid", "F.sigmoid", F.sigmoid),
        Path("exp", "exp", "exp", paddle.exp),
    )
