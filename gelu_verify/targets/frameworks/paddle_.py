"""PaddlePaddle on the CPU: `paddle.nn.functional`, its gradients and building blocks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import TargetFailure, TargetUnavailable
from ...formats import DTYPES, get_format, numpy_dtype
from ..arrays import ArrayKind
from ..base import Target
from ..expressions import evaluating, python_program
from ..importing import framework
from ..library_target import Path, library_targets

NEEDS = "paddle"

ON_REQUEST = True  # importing it takes two seconds
LOADS_FIRST = True  # after TensorFlow, importing it ends the process (Paddle 3.3, TensorFlow 2.21); before, it does not
NOTE = "CPU, dynamic graph"
PROGRAM = python_program("import paddle", 'paddle.full([{n}], {value}, "{dtype}")')


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
    paddle = framework("paddle")
    paddle.set_device("cpu")
    return library_targets(
        "paddle",
        paddle.__version__,
        paths(paddle),
        arrays=PaddleKind(),
        names={"paddle": paddle},
        note=NOTE,
    )


def paths(paddle: ModuleType) -> tuple[Path, ...]:
    """All paths, which any release of Paddle may have."""
    return (*_forward(), *_gradients(paddle))


FUNCTIONS = (  # name, form, expression
    ("gelu", "F.gelu: 0.5 x (1 + erf(x/sqrt 2))", "paddle.nn.functional.gelu(x)"),
    ("gelu_tanh", "F.gelu: 0.5 x (1 + tanh(...))", "paddle.nn.functional.gelu(x, approximate=True)"),
    ("silu", "F.silu: x / (1 + exp(-x))", "paddle.nn.functional.silu(x)"),
    ("gelu_sigmoid", "x F.sigmoid(1.702 x)", "x * paddle.nn.functional.sigmoid(1.702 * x)"),
)
BLOCKS = (
    *((name, f"F.{name}", f"paddle.nn.functional.{name}(x)") for name in ("relu", "elu", "sigmoid")),
    *((name, name, f"paddle.{name}(x)") for name in ("erf", "tanh", "exp")),
)


def _forward() -> Iterator[Path]:
    for name, form, expression in (*FUNCTIONS, *BLOCKS):
        yield Path(name, name, form, expression=expression)


def _gradients(paddle: ModuleType) -> Iterator[Path]:
    """The forward pass belongs to `prepare` and is not timed."""

    def after(forward: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
        def prepare(x: Any) -> tuple[Any, ...]:
            leaf = x.detach()
            leaf.stop_gradient = False
            return forward(leaf), leaf, paddle.ones_like(x)

        return prepare

    def backward(y: Any, x: Any, ones: Any) -> Any:
        return paddle.grad(y, x, ones, retain_graph=True)[0]

    for name, form, expression in FUNCTIONS:
        forward = evaluating(expression, {"paddle": paddle})
        prepare = after(forward)
        yield Path(f"{name}_grad", f"{name}_grad", f"gradient of {form}", backward, prepare, gradient_of=expression)
