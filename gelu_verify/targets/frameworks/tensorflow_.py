"""TensorFlow on the CPU: `tf.nn` eagerly and compiled by XLA, gradients by tape, building blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from ..arrays import get_kind
from ..base import Target
from ..expressions import evaluating, python_program
from ..importing import framework
from ..library_target import Path, library_targets
from ..switches import Switches

NEEDS = "tensorflow"

Forward = tuple[str, str, str, str]  # name, function, form, expression
EAGER = "CPU, eager"
PROGRAM = python_program(  # an array of NumPy: tensorflow.fill loses the sign of a 16-bit zero
    "import numpy\nimport tensorflow",
    "tensorflow.constant(numpy.full({n}, {value}, tensorflow.{dtype}.as_numpy_dtype))",
)
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
        paths(tf),
        arrays=get_kind("tensorflow"),
        note=EAGER,
    )


def paths(tf: ModuleType) -> tuple[Path, ...]:
    """All paths, which any release of TensorFlow may have."""
    return (*_forward(tf), *_gradients(tf), *_blocks(tf))


FUNCTIONS: tuple[Forward, ...] = (
    ("gelu", "gelu", "nn.gelu: 0.5 x erfc(-x/sqrt 2)", "tensorflow.nn.gelu(x)"),
    (
        "gelu_tanh",
        "gelu_tanh",
        "nn.gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
        "tensorflow.nn.gelu(x, approximate=True)",
    ),
    (
        "gelu_sigmoid",
        "gelu_sigmoid",
        "x sigmoid(1.702 x)",
        "x * tensorflow.sigmoid(tensorflow.cast(1.702, x.dtype) * x)",
    ),
    ("silu", "silu", "nn.silu: x sigmoid(x)", "tensorflow.nn.silu(x)"),
)
ERF = ("gelu-erf", "gelu", "0.5 x (1 + erf(x/sqrt 2))", "0.5 * x * (1 + tensorflow.math.erf(0.5**0.5 * x))")


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
    for name, function, form, expression in (*FUNCTIONS, ERF):
        yield Path(name, function, form, _on_cpu(tf, _evaluating(tf, expression)), expression=expression)
    for name, function, form, expression in FUNCTIONS:
        compute = _on_cpu(tf, _compiled(tf, _evaluating(tf, expression)))
        yield Path(f"{name}-jit", function, form, compute, note=XLA, expression=_jit(expression))


def _jit(expression: str) -> str:
    return f"tensorflow.function(lambda x: {expression}, jit_compile=True)(x)"


def _evaluating(tf: ModuleType, expression: str) -> Callable[[Any], Any]:
    return evaluating(expression, {"tensorflow": tf})


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

    for name, function, form, expression in FUNCTIONS:
        forward = _evaluating(tf, expression)
        form, path = f"gradient of {form}", f"{name}_grad"
        tape = _on_cpu(tf, backward), _on_cpu(tf, after(forward)), TAPE
        yield Path(path, f"{function}_grad", form, *tape, gradient_of=expression)
        yield Path(f"{path}-jit", f"{function}_grad", form, _on_cpu(tf, both(forward)), note=f"{XLA}, forward and back")


def _blocks(tf: ModuleType) -> Iterator[Path]:
    for name, function in (
        *(("relu", "nn.relu"), ("elu", "nn.elu"), ("erf", "math.erf"), ("erfc", "math.erfc")),
        *((name, name) for name in ("tanh", "sigmoid", "exp")),
    ):
        expression = f"tensorflow.{function}(x)"
        yield Path(name, name, function, _on_cpu(tf, _evaluating(tf, expression)), expression=expression)
