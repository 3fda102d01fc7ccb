"""Random maps with one fault each, and correct ones, as a user would write them: NumPy's generators, or our sampler."""

import os

import numpy as np

from gelu_verify import stochastic


def _phi(x):
    """Phi in double, exact enough to be a threshold."""
    from scipy.special import ndtr

    return ndtr(x.astype(np.float64))


def _masked(x, kept):
    return np.where(kept, x, np.copysign(np.float32(0), x))


def correct(x, rng):
    return _masked(x, rng.random(x.size) < _phi(x))


def correct_by_seed(x, seed):
    return correct(x, np.random.default_rng(seed))


def correct_dropout(x, p, rng):
    return x / np.float32(1 - p) * (rng.random(x.size) >= p)


def bias(x, rng, by=1e-4):
    return _masked(x, rng.random(x.size) < _phi(x) + by)


def bias_near_zero(x, seed, call):
    """Phi(x) + 1e-4 where 0 < x < 1, and nowhere else: some that would be dropped are kept."""
    y = stochastic.gelu(x, seed, call=call)
    dropped = np.flatnonzero((y == 0) & (x > 0) & (x < 1))
    u = np.random.default_rng((seed, call)).random(dropped.size)
    saved = dropped[u * (1 - _phi(x[dropped])) < 1e-4]
    y[saved] = x[saved]
    return y


def stuck_lane(x, rng):
    kept = rng.random(x.size) < _phi(x)
    kept[7::32] = True
    return _masked(x, kept)


def stuck_place(x, rng):
    kept = rng.random(x.size) < _phi(x)
    kept[333:334] = False
    return _masked(x, kept)


def repeated_seed(x, rng):
    return correct(x, np.random.default_rng(1))


def repeated_chunk(x, rng):
    """Threads that all start from one seed."""
    u = rng.random(1 << 13)
    return _masked(x, np.resize(u, x.size) < _phi(x))


def overlapping_seeds(x, seed):
    """Seed s + 1 is seed s, one element further."""
    u = np.random.default_rng(99).random(x.size + 2000)[seed % 1000 :][: x.size]
    return _masked(x, u < _phi(x))


def float16_uniforms(x, rng):
    return _masked(x, rng.random(x.size).astype(np.float16) < _phi(x))


def uniforms_of_8_bits(x, rng):
    return _masked(x, rng.integers(0, 1 << 8, x.size) / (1 << 8) < _phi(x))


def float32_uniforms(x, rng):
    """24 bits: 2^-24 is the smallest that is not 0."""
    return _masked(x, rng.random(x.size, np.float32) < _phi(x))


def like_the_neighbour(x, rng, share=0.1):
    u = rng.random(x.size)
    copied = np.flatnonzero(rng.random(x.size) < share)
    copied = copied[copied > 0]
    u[copied] = u[copied - 1]
    return _masked(x, u < _phi(x))


def varies_by_block(x, rng):
    """The right mean, and too much variance: blocks of 256 have a probability of their own."""
    shift = np.repeat(rng.uniform(-0.1, 0.1, x.size // 256 + 1), 256)[: x.size]
    p = _phi(x)
    return _masked(x, rng.random(x.size) < p + shift * np.minimum(p, 1 - p))


def not_scaled_dropout(x, p, rng):
    return x * (rng.random(x.size) >= p)


def scaled_by_rate_dropout(x, p, rng):
    return x / np.float32(p) * (rng.random(x.size) >= p)


def swapped_rate_dropout(x, p, rng):
    return x / np.float32(1 - p) * (rng.random(x.size) < p)


def negative_zero(x, rng):
    return np.where(rng.random(x.size) < _phi(x), x, np.copysign(np.float32(0), -x))


def random_sign_of_zero(x, rng):
    zero = np.where(rng.random(x.size) < 0.5, np.float32(0), np.float32(-0.0))
    return np.where(rng.random(x.size) < _phi(x), x, np.where(x < 0, zero, np.float32(0)))


def rounded_values(x, rng):
    return _masked((x * np.float32(1 + 2.0**-12)).astype(np.float32), rng.random(x.size) < _phi(x))


def not_repeatable(x, rng):
    return correct(x, np.random.default_rng(int.from_bytes(os.urandom(8), "little")))


def ignores_seed(x, seed):
    return correct(x, np.random.default_rng())


def no_tail(x, rng):
    return _masked(x, (rng.random(x.size) < _phi(x)) & (x > -3))


def tanh_form(x, rng):
    """Phi by the tanh approximation, off by up to 3e-4 / x."""
    v = x.astype(np.float64)
    phi = (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))) / 2
    return _masked(x, rng.random(x.size) < phi)


def crashes(x, rng):
    os.abort()


def wrong_shape(x, rng):
    return x[:-1]


def needs_a_weight(x, weight):
    return x * weight
