"""MLX on the CPU: `mlx.nn`'s GELUs, compiled as MLX compiles them and operation by operation, gradients, blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import TargetFailure
from ...formats import DTYPES, get_format
from ..arrays import ArrayKind
from ..base import Target
from ..importing import framework
from ..library_target import Path, library_targets

ON_REQUEST = True  # MLX calls a C++ compiler for every function and dtype: seconds each

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
    mx, nn = framework("mlx.core"), framework("mlx.nn")
    mx.set_default_device(mx.cpu)
    version = framework("importlib.metadata").version("mlx")
    return library_targets(
        "mlx",
        version,
        (*_forward(mx, nn), *_gradients(mx, nn), *_blocks(mx)),
        arrays=MlxKind(),
        note=EAGER,
        takes=lambda target, dtype: True,
    )


Forward = tuple[str, str, str, Callable[[Any], Any]]


def _functions(nn: ModuleType) -> tuple[Forward, ...]:
    return (
        ("gelu", "gelu", "nn.gelu: x (1 + erf(x/sqrt 2)) / 2", nn.gelu),
        ("gelu_tanh", "gelu_tanh", "nn.gelu_approx: 0.5 x (1 + tanh(...))", nn.gelu_approx),
        ("gelu_sigmoid", "gelu_sigmoid", "nn.gelu_fast_approx: x sigmoid(1.702 x)", nn.gelu_fast_approx),
        ("silu", "silu", "nn.silu: x sigmoid(x)", nn.silu),
    )


def _forward(mx: ModuleType, nn: ModuleType) -> Iterator[Path]:
    for name, function, form, compute in _functions(nn):
        yield Path(name, function, form, compute, note=COMPILED)
        yield Path(f"{name}-eager", function, form, _uncompiled(mx, compute))


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


def _gradients(mx: ModuleType, nn: ModuleType) -> Iterator[Path]:
    for name, function, form, forward in _functions(nn):
        backward = mx.grad(lambda x, forward=forward: forward(x).sum())
        yield Path(f"{name}_grad", f"{function}_grad", f"mx.grad of {form}", _uncompiled(mx, backward))


def _blocks(mx: ModuleType) -> tuple[Path, ...]:
    return (
        Path("erf", "erf", "erf", mx.erf),
        Path("tanh", "tanh", "tanh", mx.tanh),
        Path("sigmoid", "sigmoid", "sigmoid", mx.sigmoid),
        Path("exp", "exp", "exp", mx.exp),
    )
