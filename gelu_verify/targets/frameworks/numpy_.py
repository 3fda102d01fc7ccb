"""NumPy: the forms that need tanh and exp only; in 16 bits NumPy rounds after every operation."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from math import pi, sqrt
from typing import Any

import numpy as np

from ...functions import Function, base_name
from ..arrays import get_kind, placed_like
from ..base import Target
from ..expressions import python_program
from ..library_target import Path, library_targets
from ..switches import Switches

OURS = True  # this package runs on it: called in this process
SQRT_2_OVER_PI = sqrt(2 / pi)
PROGRAM = python_program("import ml_dtypes\nimport numpy", 'numpy.full({n}, {value}, "{dtype}")')

# Features of several versions of NumPy, by the level that has them.
_FEATURES = {
    "avx2": ("AVX", "F16C", "FMA3", "AVX2", "X86_V3"),
    "avx512": ("AVX512F", "AVX512CD", "AVX512_SKX", "X86_V4"),
    "avx512_bf16": ("AVX512_CLX", "AVX512_CNL", "AVX512_ICL", "AVX512_SPR"),
}


def _without(*levels: str) -> dict[str, str]:
    """The switch that disables what those levels have, as far as this NumPy has code for it."""
    core: Any = import_module("numpy._core._multiarray_umath")
    features = [name for level in levels for name in _FEATURES[level] if name in core.__cpu_dispatch__]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}


def _chosen() -> dict[str, str]:
    """The code that NumPy has chosen for the functions that the paths use."""
    ours = {"func_name": "^(exp|tanh|multiply|divide)$", "signature": "float16|float32|float64"}
    found = np.lib.introspect.opt_func_info(**ours)
    words = (each["current"] for of in found.values() for each in of.values())
    return {"NumPy": " ".join(sorted(set(words), reverse=True))}


SWITCHES = Switches(
    {
        "sse4_2": _without("avx2", "avx512", "avx512_bf16"),
        "avx2": _without("avx512", "avx512_bf16"),
        "avx512": _without("avx512_bf16"),
    },
    _chosen,
)

# compute(x, out, c): c rounds a constant to the dtype, as a bfloat16 array and a Python float make float32
PATHS = (
    Path(
        "gelu_tanh",
        "gelu_tanh",
        "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
        lambda x, out, c: np.multiply(
            c(0.5) * x, c(1) + np.tanh(c(SQRT_2_OVER_PI) * (x + c(0.044715) * np.power(x, 3))), out=out
        ),
        expression="x / 2 * (1 + numpy.tanh(x.dtype.type((2 / numpy.pi) ** 0.5) * "
        "(x + x.dtype.type(0.044715) * numpy.power(x, 3))))",
    ),
    Path(
        "gelu_tanh-exp",
        "gelu_tanh",
        "x / (1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3)))",
        lambda x, out, c: np.divide(
            x, c(1) + np.exp(c(-2 * SQRT_2_OVER_PI) * (x + c(0.044715) * (x * x * x))), out=out
        ),
        expression="x / (1 + numpy.exp(x.dtype.type(-((8 / numpy.pi) ** 0.5)) * "
        "(x + x.dtype.type(0.044715) * (x * x * x))))",
    ),
    Path(
        "gelu_sigmoid",
        "gelu_sigmoid",
        "x / (1 + exp(-1.702 x))",
        lambda x, out, c: np.divide(x, c(1) + np.exp(c(-1.702) * x), out=out),
        expression="x / (1 + numpy.exp(x.dtype.type(-1.702) * x))",
    ),
    Path(
        "silu",
        "silu",
        "x / (1 + exp(-x))",
        lambda x, out, c: np.divide(x, c(1) + np.exp(-x), out=out),
        expression="x / (1 + numpy.exp(-x))",
    ),
    Path(
        "relu",
        "relu",
        "maximum(x, 0)",
        lambda x, out, c: np.maximum(x, c(0), out=out),
        expression="numpy.maximum(x, 0)",
    ),
    Path(
        "elu",
        "elu",
        "where(x > 0, x, expm1(x))",
        lambda x, out, c: np.where(x > 0, x, np.expm1(x)),
        expression="numpy.where(x > 0, x, numpy.expm1(x))",
    ),
    Path("tanh", "tanh", "tanh", lambda x, out, c: np.tanh(x, out=out), expression="numpy.tanh(x)"),
    Path(
        "sigmoid",
        "sigmoid",
        "1 / (1 + exp(-x))",
        lambda x, out, c: np.divide(c(1), c(1) + np.exp(-x), out=out),
        expression="1 / (1 + numpy.exp(-x))",
    ),
    Path("exp", "exp", "exp", lambda x, out, c: np.exp(x, out=out), expression="numpy.exp(x)"),
    Path("log", "log", "log", lambda x, out, c: np.log(x, out=out), expression="numpy.log(x)"),
)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    return _targets(paths())


def paths(numpy: object = np) -> tuple[Path, ...]:
    """All paths, which any release of NumPy may have."""
    return PATHS


def computing(function: Function) -> Iterator[Target]:
    """Functions with parameters that need exp and arctan only."""
    return _targets(_with_parameters(function))


def _with_parameters(function: Function) -> tuple[Path, ...]:
    name, base = function.name, base_name(function.name)
    beta, alpha = (function.floats.get(each, 1.0) for each in ("beta", "alpha"))
    found = {
        "silu": ("x / (1 + exp(-beta x))", lambda x, out, c: np.divide(x, c(1) + np.exp(c(-beta) * x), out=out)),
        "elu": (
            "where(x > 0, x, alpha expm1(x))",
            lambda x, out, c: np.where(x > 0, x, c(alpha) * np.expm1(np.minimum(x, c(0)))),
        ),
        "cauchy_unit": (
            "x (0.5 + arctan(x)/pi)",
            lambda x, out, c: np.multiply(x, c(0.5) + np.arctan(x) / c(pi), out=out),
        ),
        "softplus": ("logaddexp(0, beta x)/beta", lambda x, out, c: np.logaddexp(c(0), c(beta) * x) / c(beta)),
        "softsign": ("x / (1 + |x|)", lambda x, out, c: np.divide(x, c(1) + np.abs(x), out=out)),
        "log1p": ("log1p", lambda x, out, c: np.log1p(x, out=out)),
        "atanh": ("arctanh", lambda x, out, c: np.arctanh(x, out=out)),
        "log_sigmoid": ("-logaddexp(0, -x)", lambda x, out, c: np.negative(np.logaddexp(c(0), -x), out=out)),
        "relu2": ("maximum(x, 0)^2", lambda x, out, c: np.square(np.maximum(x, c(0)), out=out)),
    }
    return (Path(base, name, *found[base]),) if base in found else ()


def _targets(paths: tuple[Path, ...]) -> Iterator[Target]:
    return library_targets(
        "numpy",
        np.__version__,
        paths,
        arrays=get_kind("numpy"),
        prepare=lambda x: (x, placed_like(x), x.dtype.type),
        note="one array operation after the other; constants rounded to the dtype",
        safe_in_threads=True,
    )
