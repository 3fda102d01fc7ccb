"""Inputs for CUDA kernels, and the correctly rounded results."""

import numpy as np

import gelu_verify
from gelu_verify.formats import FORMATS, numpy_dtype
from gelu_verify.inputs.hard_cases import hard_cases

SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def some_bits(dtype, n, seed=0):
    """Half of them random patterns, half normal(0, 2)."""
    fmt, rng = FORMATS[dtype], np.random.default_rng(seed)
    normal = rng.normal(0, 2, n // 2).astype(numpy_dtype(dtype)).view(fmt.uint)
    return np.concatenate([rng.integers(0, 1 << fmt.width, n - n // 2, dtype=fmt.uint), normal])


def few_bits(dtype):
    """256 of these, of which outputs of a GPU are kept."""
    return some_bits(dtype, 1 << 14)[::64]


def hard_bits(function, dtype):
    return np.array([case.x_bits for case in hard_cases(function, dtype)], FORMATS[dtype].uint)


def want(function, dtype, x_bits):
    y = getattr(gelu_verify, function)(x_bits.view(numpy_dtype(dtype)))
    return y.view(FORMATS[dtype].uint)
