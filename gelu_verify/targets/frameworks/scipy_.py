"""SciPy: x*ndtr(x) and its relatives, from `scipy.special` (float32 and float64; 16 bits are promoted there)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import pi, sqrt
from types import ModuleType

import numpy as np

from ...functions import Function, base_name
from ..arrays import get_kind, placed_like
from ..base import Target
from ..expressions import python_program
from ..importing import framework
from ..library_target import Path, library_targets
from ..probing import outputs_of_probe
from . import numpy_

NEEDS = "scipy"

SWITCHES = numpy_.SWITCHES  # it has none of its own: NumPy and the C library have
PROGRAM = python_program("import numpy\nimport scipy.special", 'numpy.full({n}, {value}, "{dtype}")')
SQRT_HALF = sqrt(0.5)
SQRT_8_OVER_PI = sqrt(8 / pi)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    _, special = framework("scipy"), framework("scipy.special")
    return _targets(paths(special))


def paths(special: ModuleType) -> tuple[Path, ...]:
    """All paths, which any release of SciPy may have."""
    return (*_forms(special), *_blocks(special))


def computing(function: Function) -> Iterator[Target]:
    """x F(t) by `scipy.special`, for gelu and silu with parameters."""
    _, special = framework("scipy"), framework("scipy.special")
    return _targets(_with_parameters(special, function))


def _targets(paths: tuple[Path, ...]) -> Iterator[Target]:
    return library_targets(
        "scipy",
        framework("scipy").__version__,
        paths,
        arrays=get_kind("numpy"),
        prepare=lambda x: (x, placed_like(x)),
        note="scipy.special on NumPy arrays",
        takes=lambda target, dtype: dtype in ("float32", "float64") and outputs_of_probe(target, dtype),
        safe_in_threads=True,
    )


def _forms(special: ModuleType) -> tuple[Path, ...]:
    return (
        Path(
            "gelu",
            "gelu",
            "x ndtr(x)",
            lambda x, out: np.multiply(x, special.ndtr(x), out=out),
            expression="x * scipy.special.ndtr(x)",
        ),
        Path(
            "gelu-log_ndtr",
            "gelu",
            "x exp(log_ndtr(x))",
            lambda x, out: np.multiply(x, np.exp(special.log_ndtr(x)), out=out),
            expression="x * numpy.exp(scipy.special.log_ndtr(x))",
        ),
        Path(
            "gelu-erfc",
            "gelu",
            "0.5 x erfc(-x/sqrt 2)",
            lambda x, out: np.multiply(0.5 * x, special.erfc(-SQRT_HALF * x), out=out),
            expression="0.5 * x * scipy.special.erfc(-(0.5**0.5) * x)",
        ),
        Path(
            "gelu-erf",
            "gelu",
            "0.5 x (1 + erf(x/sqrt 2))",
            lambda x, out: np.multiply(0.5 * x, 1 + special.erf(SQRT_HALF * x), out=out),
            expression="0.5 * x * (1 + scipy.special.erf(0.5**0.5 * x))",
        ),
        Path(
            "gelu_tanh",
            "gelu_tanh",
            "x expit(2 sqrt(2/pi) (x + 0.044715 x^3))",
            lambda x, out: np.multiply(x, special.expit(SQRT_8_OVER_PI * (x + 0.044715 * (x * x * x))), out=out),
            expression="x * scipy.special.expit((8 / numpy.pi) ** 0.5 * (x + 0.044715 * (x * x * x)))",
        ),
        Path(
            "gelu_sigmoid",
            "gelu_sigmoid",
            "x expit(1.702 x)",
            lambda x, out: np.multiply(x, special.expit(1.702 * x), out=out),
            expression="x * scipy.special.expit(1.702 * x)",
        ),
        Path(
            "silu",
            "silu",
            "x expit(x)",
            lambda x, out: np.multiply(x, special.expit(x), out=out),
            expression="x * scipy.special.expit(x)",
        ),
    )


def _with_parameters(special: ModuleType, function: Function) -> tuple[Path, ...]:
    name, values = function.name, function.floats
    if base_name(name) == "gelu":
        mu, sigma = values["mu"], values["sigma"]
        return (
            Path(
                "gelu",
                name,
                "x ndtr((x - mu)/sigma)",
                lambda x, out: np.multiply(x, special.ndtr((x - mu) / sigma), out=out),
            ),
            Path(
                "gelu-log_ndtr",
                name,
                "x exp(log_ndtr((x - mu)/sigma))",
                lambda x, out: np.multiply(x, np.exp(special.log_ndtr((x - mu) / sigma)), out=out),
            ),
        )
    if base_name(name) == "silu":
        beta = values["beta"]
        compute = lambda x, out: np.multiply(x, special.expit(beta * x), out=out)  # noqa: E731 - as the paths above
        return (Path("silu", name, "x expit(beta x)", compute),)
    own = {"logit": "logit", "log_sigmoid": "log_expit", "log1p": "log1p"}.get(name)
    return (Path(name, name, own, getattr(special, own)),) if own else ()


def _blocks(special: ModuleType) -> Iterator[Path]:
    for name, function in (("erf", "erf"), ("erfc", "erfc"), ("normcdf", "ndtr")):
        yield _block(special, name, function)
    yield Path(
        "normcdf-log_ndtr",
        "normcdf",
        "exp(log_ndtr(x))",
        lambda x, out: np.exp(special.log_ndtr(x), out=out),
        expression="numpy.exp(scipy.special.log_ndtr(x))",
    )
    yield _block(special, "sigmoid", "expit")


def _block(special: ModuleType, name: str, function: str) -> Path:
    compute = partial(_into, getattr(special, function))
    return Path(name, name, function, compute, expression=f"scipy.special.{function}(x)")


def _into(function: np.ufunc, x: np.ndarray, out: np.ndarray) -> np.ndarray:
    y: np.ndarray = function(x, out=out)
    return y
