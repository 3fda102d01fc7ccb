"""MLX on the CPU: `mlx.nn`'s GELUs, compiled as MLX compiles them and operation by operation, gradients, blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import TargetFailure
from ...formats import DTYPES, get_format
from ..arrays import ArrayKind
from ..base import Target
from ..expressions import evaluating, python_program
from ..importing import framework
from ..library_target import Path, library_targets

NEEDS = "mlx"

ON_REQUEST = True  # MLX calls a C++ compiler for every function and dtype: seconds each

PROGRAM = python_program("import mlx.core\nimport mlx.nn", "mlx.core.full(({n},), {value}, mlx.core.{dtype})")
COMPILED = "CPU, mx.compile, as mlx.nn calls it"
EAGER = "CPU, one operation after the other"


class MlxKind(ArrayKind):
    name = "mlx"
    roots = ("mlx",)
    classes = ()

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, framework("mlx.core").array)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        mx = framework("mlx.core")
        return mx.array(bits).view(getattr(mx, dtype))

    def to_bits(self, array: Any) -> tuple[str, np.ndarray]:
        mx = framework("mlx.core")
        dtype = str(array.dtype).removeprefix("mlx.core.")
        if dtype not in DTYPES:
            raise TargetFailure(dtype)
        return dtype, np.array(array.view(getattr(mx, get_format(dtype).uint.name)))

    def wait(self, array: Any) -> Any:
        framework("mlx.core").eval(array)
        return array


def discover() -> Iterator[Target]:
    """Every path, in every dtype: none is tried before it is measured."""
    framework("mlx.nn")
    mlx = import_module("mlx")
    mlx.core.set_default_device(mlx.core.cpu)
    version = framework("importlib.metadata").version("mlx")
    return library_targets(
        "mlx",
        version,
        paths(mlx),
        arrays=MlxKind(),
        names={"mlx": mlx},
        note=EAGER,
        takes=lambda target, dtype: True,
    )


def paths(mlx: ModuleType) -> tuple[Path, ...]:
    """All paths, which any release of MLX may have."""
    names = {"mlx": mlx}
    return (*_forward(mlx.core, names), *_gradients(mlx.core, names), *_blocks())


FUNCTIONS = (  # name, form, expression
    ("gelu", "nn.gelu: x (1 + erf(x/sqrt 2)) / 2", "mlx.nn.gelu(x)"),
    ("gelu_tanh", "nn.gelu_approx: 0.5 x (1 + tanh(...))", "mlx.nn.gelu_approx(x)"),
    ("gelu_sigmoid", "nn.gelu_fast_approx: x sigmoid(1.702 x)", "mlx.nn.gelu_fast_approx(x)"),
    ("silu", "nn.silu: x sigmoid(x)", "mlx.nn.silu(x)"),
)


def _forward(mx: ModuleType, names: Mapping[str, Any]) -> Iterator[Path]:
    for name, form, expression in FUNCTIONS:
        yield Path(name, name, form, note=COMPILED, expression=expression)
        yield Path(f"{name}-eager", name, form, _uncompiled(mx, evaluating(expression, names)))


def _uncompiled(mx: ModuleType, compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute` without mx.compile, which is a switch of the process: targets of this family take turns."""

    def called(*arguments: Any) -> Any:
        mx.disable_compile()
        try:
            y = compute(*arguments)
            mx.eval(y)
        finally:
            mx.enable_compile()
        return y

    return called


def _gradients(mx: ModuleType, names: Mapping[str, Any]) -> Iterator[Path]:
    for name, form, expression in FUNCTIONS:
        gradient = f"mlx.core.grad(lambda x: {expression}.sum())(x)"
        backward = _uncompiled(mx, evaluating(gradient, names))
        yield Path(f"{name}_grad", f"{name}_grad", f"mx.grad of {form}", backward, gradient_of=expression)


def _blocks() -> Iterator[Path]:
    for name in ("erf", "tanh", "sigmoid", "exp"):
        yield Path(name, name, name, expression=f"mlx.core.{name}(x)")
