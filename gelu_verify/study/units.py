"""The activations that are compared: correctly rounded functions, and kernels with the faults that were found in
libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..formats import DTYPES
from ..targets import Target
from ..targets.frameworks import kernels, published
from .arithmetic import RoundedArithmetic


@dataclass(frozen=True)
class Unit:
    """An activation and its derivative.

    `function` is what it computes; `baseline` the unit that it is compared with; `note` what it is, or what is wrong
    with it."""

    name: str
    function: str
    forward: str
    backward: str
    baseline: str
    note: str
    dtypes: tuple[str, ...] = DTYPES


FUNCTIONS = (
    Unit("gelu", "gelu", "kernels.gelu_cr", "kernels.gelu_grad_cr", "", "x Phi(x), correctly rounded"),
    Unit("relu", "relu", "relu", "relu_grad", "gelu", "max(x, 0)"),
    Unit(
        "elu", "elu", "elu", "elu_grad", "gelu",
        "e^x - 1 for x < 0, else x; by NumPy in float64, rounded to the dtype",
    ),
    Unit(
        "silu", "silu", "kernels.silu_cr", "kernels.silu_grad_cr", "gelu",
        "x sigmoid(x), correctly rounded",
    ),
    Unit(
        "gelu_stochastic", "gelu_stochastic", "kernels.gelu_cr", "kernels.gelu_grad_cr", "gelu",
        "x with probability Phi(x), else 0, while training; its expectation gelu in the test",
    ),
    Unit(
        "gelu_learned", "gelu_learned", "kernels.gelu_cr", "kernels.gelu_grad_cr", "gelu",
        "x Phi((x - mu)/sigma), with mu and sigma of each layer learned from 0 and 1",
    ),
)  # fmt: skip
APPROXIMATIONS = (
    Unit(
        "gelu_tanh", "gelu_tanh", "kernels.gelu_tanh_cr", "kernels.gelu_tanh_grad_cr", "gelu",
        "the tanh form, correctly rounded",
    ),
    Unit(
        "gelu_sigmoid", "gelu_sigmoid", "kernels.gelu_sigmoid_cr", "kernels.gelu_sigmoid_grad_cr", "gelu",
        "x sigmoid(1.702 x), correctly rounded",
    ),
)  # fmt: skip
KERNELS = (
    Unit(
        "gelu_erf", "gelu", "kernels.gelu_erf", "kernels.gelu_grad_erf", "gelu",
        "dead tail: 1 + erf(x/sqrt(2)) is 0 where gelu is not; every operation rounded to the dtype",
    ),
    Unit(
        "gelu_as7126", "gelu", "kernels.gelu_as7126", "kernels.gelu_grad_as7126", "gelu",
        "erf by Abramowitz and Stegun 7.1.26, off by 1.5e-7 before anything is rounded",
    ),
    Unit(
        "pytorch-gelu_cuda", "gelu", "published.pytorch-gelu_cuda", "published.pytorch-gelu_grad_cuda", "gelu",
        "formulas of PyTorch on CUDA, 16-bit dtypes computed in float32: dead tail",
    ),
    Unit(
        "gelu, tanh backward", "gelu", "kernels.gelu_cr", "kernels.gelu_tanh_grad_cr", "gelu",
        "mixed backward: the derivative of gelu_tanh behind gelu, both correctly rounded",
    ),
    Unit(
        "burn-gelu", "gelu", "published.burn-gelu", "published.burn-gelu_grad", "gelu",
        "mixed backward of Burn: as before, with coefficients of six digits and NaN where x^3 overflows",
    ),
    Unit(
        "gelu_tanh_tanh", "gelu_tanh", "kernels.gelu_tanh_tanh", "kernels.gelu_tanh_grad_tanh", "gelu_tanh",
        "dead tail: 1 + tanh(...) cancels; every operation rounded to the dtype; derivative NaN where x^3 overflows",
    ),
    Unit(
        "gelu_tanh_table", "gelu_tanh", "kernels.gelu_tanh_table", "kernels.gelu_tanh_grad_cr", "gelu_tanh",
        "ggml's table of float16 results, also for float32; derivative correctly rounded", ("float16", "float32"),
    ),
)  # fmt: skip
UNITS = {unit.name: unit for unit in (*FUNCTIONS, *APPROXIMATIONS, *KERNELS)}
STOCHASTIC, LEARNED = "gelu_stochastic", "gelu_learned"


@cache
def targets() -> dict[str, Target]:
    """Our kernels and re-implementations by name."""
    return {target.name: target for target in (*kernels.discover(), *published.discover())}


def evaluated(name: str, arithmetic: RoundedArithmetic, x: np.ndarray) -> np.ndarray:
    """The target or baseline of that name at numbers of a dtype, of any shape."""
    if name in _BASELINES:
        return arithmetic.rounded(_BASELINES[name](x.astype(np.float64)).astype(arithmetic.work))
    found = targets()[name].evaluate(arithmetic.dtype, arithmetic.bits(x))
    return arithmetic.values(found).reshape(x.shape)


def normal_cdf(arithmetic: RoundedArithmetic, x: np.ndarray) -> np.ndarray:
    """Phi, as gelu(x) / x."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = arithmetic.rounded(evaluated("kernels.gelu_cr", arithmetic, x) / x)
    return np.where(x == 0, x.dtype.type(0.5), found)


def kept(x: np.ndarray, generators: Sequence[np.random.Generator]) -> np.ndarray:
    """Where the stochastic map keeps x: with probability Phi(x), by one generator for each run (the first axis)."""
    drawn = np.stack([generator.random(x.shape[1:]) for generator in generators])
    return np.asarray(drawn < normal_cdf(RoundedArithmetic("float64"), x.astype(np.float64)))


def _elu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _elu_grad(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, 1.0, np.exp(np.minimum(x, 0)))


_BASELINES: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # of float64, rounded to the dtype
    "relu": lambda x: np.maximum(x, 0),
    "relu_grad": lambda x: (x > 0).astype(np.float64),
    "elu": _elu,
    "elu_grad": _elu_grad,
}
