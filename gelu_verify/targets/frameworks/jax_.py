"""JAX on the CPU: `jax.nn` operation by operation and compiled by XLA, its gradients and building blocks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from ...functions import Function, base_name, second_of
from ..arrays import get_kind
from ..base import Target
from ..expressions import evaluating, python_program
from ..importing import framework, quiet
from ..library_target import LibraryTarget, Path, library_targets
from ..switches import Switches
from ..two_inputs import two_input_targets

NEEDS = "jax"

Forward = tuple[str, str, str, str]  # name, function, form, expression
EAGER = "CPU, one XLA computation per operation"
JIT = "CPU, jax.jit"
FULL = "jax.numpy.full({n}, {value}, jax.numpy.{dtype})"
WIDE = 'jax.config.update("jax_enable_x64", True)'
PROGRAM = python_program("import jax\nimport jax.scipy.stats", FULL, before={"float64": WIDE})


def _chosen() -> dict[str, str]:
    """The vector extensions that XLA compiled a function for, as the compiled function says."""
    jax = imported()
    with quiet():
        x = jax.device_put(np.ones(64, np.float32), jax.devices("cpu")[0])
        code = jax.jit(jax.nn.gelu).lower(x).compile().runtime_executable().serialize()
    on = dict.fromkeys(re.findall(rb"\+(sse4\.2|avx2|fma|avx512f|avx512bf16|avx512fp16|amx-bf16)\b", code))
    return {"XLA": " ".join(name.decode() for name in on)} if on else {}


SWITCHES = Switches(
    {
        level: {"XLA_FLAGS": f"--xla_cpu_max_isa={value}"}
        for level, value in (
            *(("sse4_2", "SSE4_2"), ("avx2", "AVX2"), ("avx512", "AVX512"), ("avx512_bf16", "AVX512_BF16")),
            *(("avx512_fp16", "AMX_FP16"), ("amx", "AMX")),
        )
    },
    _chosen,
)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    return _targets(paths(imported()))


TWO_INPUTS = {  # as they are written in models
    "geglu": "jax.nn.gelu(x, approximate=False) * g",
    "geglu_tanh": "jax.nn.gelu(x) * g",
    "swiglu": "jax.nn.silu(x) * g",
    "reglu": "jax.nn.relu(x) * g",
    "bias_gelu": "jax.nn.gelu(x + b, approximate=False)",
    "bias_gelu_tanh": "jax.nn.gelu(x + b)",
}


def computing(function: Function) -> Iterator[Target]:
    """What people write in Python for functions with parameters or two inputs, or `jax.nn` has; compiled, and gradients
    of it."""
    if second_of(function.name):
        jax = imported()
        return two_input_targets(
            "jax", jax.__version__, TWO_INPUTS, function, names(jax), array="jax", compile="jax", note=JIT
        )
    return _targets(_on_request(imported(), function))


def _targets(paths: Iterable[Path]) -> Iterator[Target]:
    jax = imported()
    with quiet():  # it says that it looked for a GPU
        cpu = jax.devices("cpu")[0]
    return library_targets(
        "jax",
        jax.__version__,
        paths,
        arrays=get_kind("jax"),
        names=names(jax),
        prepare=lambda x: (jax.device_put(x, cpu),),
        note=EAGER,
        takes=traces,
    )


def imported() -> ModuleType:
    """JAX, which looks for a GPU even where only the CPU is asked, and takes most of its memory unless told not to."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return framework("jax")


def names(jax: ModuleType) -> dict[str, Any]:
    """What expressions name."""
    framework("jax.scipy.stats")
    return {"jax": jax}


def paths(jax: ModuleType) -> tuple[Path, ...]:
    """All paths, which any device takes; notes speak of the CPU."""
    return (*_forward(jax), *_gradients(jax), *_blocks())


def traces(target: LibraryTarget, dtype: str) -> bool:
    """Whether it maps arrays of that dtype to the same dtype; traced only, as compiling takes a tenth of a second."""
    jax = framework("jax")
    with target.arrays.session(dtype):
        x = jax.ShapeDtypeStruct((4,), dtype)
        try:
            return bool(jax.eval_shape(target.compute, x).dtype == x.dtype)
        except TypeError:  # what JAX raises for a dtype that a function does not take
            return False


FUNCTIONS: tuple[Forward, ...] = (
    ("gelu", "gelu", "nn.gelu: 0.5 x erfc(-x/sqrt 2)", "jax.nn.gelu(x, approximate=False)"),
    ("gelu_tanh", "gelu_tanh", "nn.gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))", "jax.nn.gelu(x)"),
    ("gelu_sigmoid", "gelu_sigmoid", "x nn.sigmoid(1.702 x)", "x * jax.nn.sigmoid(1.702 * x)"),
    ("silu", "silu", "nn.silu: x logistic(x)", "jax.nn.silu(x)"),
)


def _compiled(jax: ModuleType, name: str, function: str, form: str, expression: str) -> Path:
    """What XLA makes of an expression as a whole."""
    compute = jax.jit(evaluating(expression, {"jax": jax}))
    return Path(f"{name}-jit", function, form, compute, note=JIT, expression=f"jax.jit(lambda x: {expression})(x)")


def _forward(jax: ModuleType) -> Iterator[Path]:
    for name, function, form, expression in FUNCTIONS:
        yield Path(name, function, form, expression=expression)
        yield _compiled(jax, name, function, form, expression)
    for name, function, _, expression in FUNCTIONS:
        if not name.endswith("sigmoid"):
            wide = f"{expression.replace('(x', '(x.astype(jax.numpy.float32)', 1)}.astype(x.dtype)"
            path = replace(_compiled(jax, name, function, "in float32, rounded once", wide), name=f"{name}-in_float32")
            yield replace(path, dtypes=("float16", "bfloat16"))
    norm = "jax.scipy.stats.norm"
    for name, form, expression in (
        ("gelu-normcdf", "x norm.cdf(x)", f"x * {norm}.cdf(x)"),
        ("gelu-logcdf", "x exp(norm.logcdf(x))", f"x * jax.numpy.exp({norm}.logcdf(x))"),
    ):
        yield replace(_compiled(jax, name, "gelu", form, expression), name=name)


def _gradients(jax: ModuleType) -> Iterator[Path]:
    """Compiled only: operation by operation, XLA would compile each of some twenty for every length of x."""
    for name, function, form, expression in FUNCTIONS:
        gradient = f"jax.vmap(jax.grad(lambda x: {expression}))(x)"
        yield _compiled(jax, f"{name}_grad", f"{function}_grad", f"jax.grad of {form}", gradient)


def _on_request(jax: ModuleType, function: Function) -> Iterator[Path]:
    """The forward paths; or, of a derivative, its gradients: in a parameter of a copy of it in the dtype of x."""
    base, grad, by = base_name(function.name).partition("_grad")
    values = function.floats
    for name, form, compute in _parameterized(jax).get(base, ()):
        wanted: Callable[[Any], Any] = partial(compute, **values)
        if by:
            wanted = jax.vmap(_in_parameter(jax, compute, values, by[1:]))
        elif grad:
            wanted = jax.vmap(jax.grad(wanted))
        path = f"{name.replace(base, base_name(function.name), 1)}-jit"
        yield Path(path, function.name, f"jax.grad of {form}" if grad else form, jax.jit(wanted), note=JIT)


def _in_parameter(
    jax: ModuleType, compute: Callable[..., Any], values: Mapping[str, float], parameter: str
) -> Callable[[Any], Any]:
    def derivative(x: Any) -> Any:
        at = jax.numpy.asarray(values[parameter], x.dtype)
        return jax.grad(lambda value: compute(x, **{**values, parameter: value}))(at)

    return derivative


def _parameterized(jax: ModuleType) -> dict[str, tuple[tuple[str, str, Callable[..., Any]], ...]]:
    nn, norm, pi = jax.nn, framework("jax.scipy.stats").norm, jax.numpy.pi
    return {
        "gelu": (
            ("gelu-normcdf", "x norm.cdf((x - mu)/sigma)", lambda x, mu, sigma: x * norm.cdf((x - mu) / sigma)),
            ("gelu-loc", "x norm.cdf(x, mu, sigma)", lambda x, mu, sigma: x * norm.cdf(x, mu, sigma)),
        ),
        "silu": (("silu", "x nn.sigmoid(beta x)", lambda x, beta: x * nn.sigmoid(beta * x)),),
        "elu": (("elu", "nn.elu(x, alpha)", lambda x, alpha: nn.elu(x, alpha)),),
        "cauchy_unit": (("cauchy_unit", "x (0.5 + arctan(x)/pi)", lambda x: x * (0.5 + jax.numpy.arctan(x) / pi)),),
        "softplus": (
            ("softplus", "nn.softplus(beta x)/beta", lambda x, beta, threshold: nn.softplus(beta * x) / beta),
        ),
        "mish": (("mish", "nn.mish", nn.mish),),
        "relu2": (("relu2", "nn.relu(x)^2", lambda x: jax.numpy.square(nn.relu(x))),),
        "celu": (("celu", "nn.celu(x, alpha)", nn.celu),),
        "selu": (("selu", "nn.selu", nn.selu),),
        "softsign": (("softsign", "nn.soft_sign", nn.soft_sign),),
        "hard_swish": (("hard_swish", "nn.hard_swish", nn.hard_swish),),
        "hard_sigmoid": (("hard_sigmoid", "nn.hard_sigmoid", nn.hard_sigmoid),),
        "hard_tanh": (("hard_tanh", "nn.hard_tanh", nn.hard_tanh),),
        "relu6": (("relu6", "nn.relu6", nn.relu6),),
        "relu": (("relu", "nn.relu", nn.relu),),
        "leaky_relu": (("leaky_relu", "nn.leaky_relu(x, slope)", lambda x, slope: nn.leaky_relu(x, slope)),),
        "log_sigmoid": (("log_sigmoid", "nn.log_sigmoid", nn.log_sigmoid),),
        "softcap": (("softcap", "cap tanh(x/cap)", lambda x, cap: cap * jax.numpy.tanh(x / cap)),),
        "log1p": (("log1p", "numpy.log1p", jax.numpy.log1p),),
        "logit": (("logit", "scipy.special.logit", framework("jax.scipy.special").logit),),
        "atanh": (("atanh", "numpy.arctanh", jax.numpy.arctanh),),
    }


def _blocks() -> Iterator[Path]:
    for name, function in (
        *(("relu", "nn.relu"), ("elu", "nn.elu"), ("erf", "lax.erf"), ("erfc", "lax.erfc")),
        *(("normcdf", "scipy.stats.norm.cdf"), ("tanh", "lax.tanh"), ("sigmoid", "nn.sigmoid")),
        *(("exp", "lax.exp"), ("log", "lax.log")),
    ):
        yield Path(name, name, function, expression=f"jax.{function}(x)")
