"""Functions with a second input as people write them, right in float32, and with the faults that they may have."""

import numpy as np


def in_float32(x, g, compute):
    with np.errstate(all="ignore"):
        return compute(x.astype(np.float32), g.astype(np.float32)).astype(x.dtype)


def silu(x):
    return x / (1 + np.exp(-x))


def swiglu(x, g):
    return in_float32(x, g, lambda x, g: silu(x) * g)


def gate_rounded_early(x, g):
    with np.errstate(all="ignore"):
        return in_float32(x, x, lambda x, _: silu(x)) * g


def gate_with_a_beta(x, g):
    """As vLLM computes it: the activation rounded, times g + 0, which is 0 of g = -0."""
    return gate_rounded_early(x, g + np.float32(0).astype(g.dtype))


def swapped(x, g):
    return swiglu(g, x)


def first_for_all(x, g):
    return swiglu(x, g[:1])


def reversed_gate(x, g):
    return swiglu(x, g[::-1])


def side_by_side(both):
    d = both.shape[-1] // 2
    return swiglu(both[..., :d], both[..., d:])


def swapped_halves(both):
    d = both.shape[-1] // 2
    return swiglu(both[..., d:], both[..., :d])


def in_turn(both):
    return swiglu(both[..., ::2], both[..., 1::2])


def fails_for_negative(x, g):
    if (g < 0).any():
        raise ValueError("no negative gate")
    return swiglu(x, g)


def nan_for_three(x, g):
    return np.where(g == 3, np.float32(np.nan).astype(x.dtype), swiglu(x, g))


def gelu_tanh(t):
    return 0.5 * t * (1 + np.tanh(np.float32(0.7978846) * (t + np.float32(0.044715) * t * t * t)))


def bias_gelu_tanh(x, b):
    return in_float32(x, b, lambda x, b: gelu_tanh(x + b))


def bias_added_in_the_dtype(x, b):
    with np.errstate(all="ignore"):
        return in_float32(x + b, b, lambda t, _: gelu_tanh(t))
