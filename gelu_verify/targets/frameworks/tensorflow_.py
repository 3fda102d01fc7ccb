"""TensorFlow on the CPU: `tf.nn` eagerly and compiled by XLA, gradients by tape, building blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from ..arrays import get_kind
from ..base import Target
from ..importing import framework
from ..library_target import Path, library_targets
from ..switches import Switches

Forward = tuple[str, str, str, Callable[[Any], Any]]
EAGER = "CPU, eager"
XLA = "CPU, tf.function(jit_compile=True)"
TAPE = "CPU, eager, GradientTape"

# What it has chosen cannot be seen. Its eager kernels are compiled for one level and have no switch.
SWITCHES = Switches(
    {
        "sse4_2": {"XLA_FLAGS": "--xla_cpu_max_isa=SSE4_2", "ONEDNN_MAX_CPU_ISA": "SSE41"},
        "avx2": {"XLA_FLAGS": "--xla_cpu_max_isa=AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
        "avx512": {"XLA_FLAGS": "--xla_cpu_max_isa=AVX512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
    }
)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    os.environ.setdefault("TF_FORCE_GPU_ALLOW_GROWTH", "true")  # it takes all of a GPU's memory, to compute on the CPU
    tf = framework("tensorflow")
    return library_targets(
        "tensorflow",
        tf.__version__,
        (*_forward(tf), *_gradients(tf), *_blocks(tf)),
        arrays=get_kind("tensorflow"),
        note=EAGER,
    )


def _functions(tf: ModuleType) -> tuple[Forward, ...]:
    nn = tf.nn
    return (
        ("gelu", "gelu", "nn.gelu: 0.5 x erfc(-x/sqrt 2)", lambda x: nn.gelu(x, approximate=False)),
        (
            "gelu_tanh",
            "gelu_tanh",
            "nn.gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
            lambda x: nn.gelu(x, approximate=True),
        ),
        ("gelu_sigmoid", "gelu_sigmoid", "x sigmoid(1.702 x)", lambda x: x * tf.sigmoid(tf.cast(1.702, x.dtype) * x)),
        ("silu", "silu", "nn.silu: x sigmoid(x)", nn.silu),
    )


def _on_cpu(tf: ModuleType, compute: Callable[..., Any]) -> Callable[..., Any]:
    def placed(*arguments: Any) -> Any:
        with tf.device("/CPU:0"):
            return compute(*arguments)

    return placed


def _compiled(tf: ModuleType, compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """XLA's version of `compute`, traced once per dtype for any length (else TensorFlow warns of retracing)."""
    function = tf.function(compute, jit_compile=True)

    @cache
    def traced(dtype: Any) -> Callable[[Any], Any]:
        concrete: Callable[[Any], Any] = function.get_concrete_function(tf.TensorSpec([None], dtype))
        return concrete

    return lambda x: traced(x.dtype)(x)


def _forward(tf: ModuleType) -> Iterator[Path]:
    erf = ("gelu-erf", "gelu", "0.5 x (1 + erf(x/sqrt 2))", lambda x: 0.5 * x * (1 + tf.math.erf(0.5**0.5 * x)))
    for name, function, form, compute in (*_functions(tf), erf):
        yield Path(name, function, form, _on_cpu(tf, compute))
    for name, function, form, compute in _functions(tf):
        yield Path(f"{name}-jit", function, form, _on_cpu(tf, _compiled(tf, compute)), note=XLA)


def _gradients(tf: ModuleType) -> Iterator[Path]:
    """The forward pass belongs to `prepare` and is not timed, except where XLA compiles both."""

    def after(forward: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
        def prepare(x: Any) -> tuple[Any, ...]:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = forward(x)
            return tape, y, x

        return prepare

    def backward(tape: Any, y: Any, x: Any) -> Any:
        return tape.gradient(y, x)

    def both(forward: Callable[[Any], Any]) -> Callable[[Any], Any]:
        prepare = after(forward)
        return _compiled(tf, lambda x: backward(*prepare(x)))

    for name, function, form, forward in _functions(tf):
        form, path = f"gradient of {form}", f"{name}_grad"
        yield Path(path, f"{function}_grad", form, _on_cpu(tf, backward), _on_cpu(tf, after(forward)), TAPE)
        yield Path(f"{path}-jit", f"{function}_grad", form, _on_cpu(tf, both(forward)), note=f"{XLA}, forward and back")


def _blocks(tf: ModuleType) -> Iterator[Path]:
    blocks = (
        ("relu", "nn.relu", tf.nn.relu),
        ("elu", "nn.elu", tf.nn.elu),
        ("erf", "math.erf", tf.math.erf),
        ("erfc", "math.erfc", tf.math.erfc),
        ("tanh", "tanh", tf.tanh),
        ("sigmoid", "sigmoid", tf.sigmoid),
        ("exp", "exp", tf.exp),
    )
    for name, form, compute in blocks:
        yield Path(name, name, form, _on_cpu(tf, compute))
