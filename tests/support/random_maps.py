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
    """Phi(x) + 1e-4 everywhere."""
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
    """Lane 7 of 32 is always kept."""
    kept = rng.random(x.size) < _phi(x)
    kept[7::32] = True
    return _masked(x, kept)


def stuck_place(x, rng):
    kept = rng.random(x.size) < _phi(x)
    kept[333:334] = False
    return _masked(x, kept)


def repeated_seed(x, rng):
    """Each call makes its generator anew, from one seed."""
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
    """Uniforms rounded to float16."""
    return _masked(x, rng.random(x.size).astype(np.float16) < _phi(x))


def uniforms_of_8_bits(x, rng):
    """Uniforms k 2^-8."""
    return _masked(x, rng.integers(0, 1 << 8, x.size) / (1 << 8) < _phi(x))


def float32_uniforms(x, rng):
    """24 bits: 2^-24 is the smallest that is not 0; no fault, unless more are asked for."""
    return _masked(x, rng.random(x.size, np.float32) < _phi(x))


def like_the_neighbour(x, rng, share=0.1):
    """A tenth of the elements is as the one before."""
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
    """Never kept below x = -3."""
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


# ---- wrong between the points of a grid ----


def _phi_of(x, at, seed, call):
    """m x where m is Bernoulli(Phi(at)), by our sampler."""
    return _masked(
        x, stochastic.gelu(np.where(at == 0, np.float32(1e-30), at).astype(np.float32), seed, call=call) != 0
    )


def off_the_grid(x, rng):
    """10 points too much at every x that is no multiple of 1/64."""
    return _masked(x, rng.random(x.size) < _phi(x) + 0.1 * (x * 64 != np.rint(x * 64)))


def table_of_64ths(x, seed, call):
    """Phi from a table of steps 1/64."""
    return _phi_of(x, np.rint(x * 64) / 64, seed, call)


def table_of_hundredths(x, seed, call):
    """Phi from a table of steps 1/100."""
    return _phi_of(x, np.rint(x * 100) / 100, seed, call)


def bfloat16_argument(x, seed, call):
    """Phi of x rounded to bfloat16."""
    import ml_dtypes

    return _phi_of(x, x.astype(ml_dtypes.bfloat16).astype(np.float32), seed, call)


def float16_probability(x, rng):
    """Phi(x) rounded to float16."""
    return _masked(x, rng.random(x.size) < _phi(x).astype(np.float16))


def odd_significands(x, rng):
    """2 points too much where the last bit of x is set."""
    return _masked(x, rng.random(x.size) < _phi(x) + 0.02 * (x.view(np.uint32) & 1))


def bias_in_one_cell(x, rng):
    """Phi(x) + 0.01 for 5/16 < x < 3/8."""
    return _masked(x, rng.random(x.size) < _phi(x) + 0.01 * ((x > 0.3125) & (x < 0.375)))


def wrong_sign_in_the_tail(x, rng):
    """Phi(-x) for x < -7."""
    return _masked(x, rng.random(x.size) < _phi(np.where(x < -7, -x, x)))


def wrong_for_tiny(x, rng):
    """0.6 instead of 0.5 for |x| < 2^-20, as a clamped argument gives."""
    return _masked(x, rng.random(x.size) < np.where(np.abs(x) < 2.0**-20, 0.6, _phi(x)))


# ---- seeds, calls, periods ----


def seeds_of_24_bits(x, seed, call):
    """Seeds mod 2^24."""
    return stochastic.gelu(x, seed % (1 << 24), call=call)


def seeds_of_32_bits(x, seed, call):
    """Seeds mod 2^32."""
    return stochastic.gelu(x, seed % (1 << 32), call=call)


def float_seed(x, seed, call):
    """The seed as a double."""
    return stochastic.gelu(x, int(float(seed)) % (1 << 64), call=call)


def high_half_of_seed(x, seed, call):
    """Neighbouring seeds are one."""
    return stochastic.gelu(x, seed >> 1, call=call)


def seed_plus_call(x, seed, call):
    """Call 1 of seed 0 is call 0 of seed 1."""
    return stochastic.gelu(x, seed + call)


def calls_of_7_bits(x, seed, call):
    """Calls mod 128."""
    return stochastic.gelu(x, seed, call=call % 128)


def far_overlapping_seeds(x, seed, call):
    """Seed s + 1 is seed s, 5003 elements further."""
    return stochastic.gelu(x, 0, call=call, start=5003 * (seed % (1 << 40)))


def long_period(x, seed, call):
    """Bits come again after 2^20 + 2000 elements of a call."""
    period = (1 << 20) + 2000
    parts = [stochastic.gelu(x[at : at + period], seed, call=call) for at in range(0, x.size, period)]
    return np.concatenate(parts) if parts else x


class _Stream:
    """A generator whose period is `period` elements, over all calls of a seed."""

    def __init__(self, period):
        self.period, self.seed, self.at = period, None, 0

    def __call__(self, x, seed, call):
        if seed != self.seed or call == 0:
            self.seed, self.at = seed, 0
        found, done = [], 0
        while done < x.size:
            n = min(x.size - done, self.period - self.at)
            found.append(stochastic.gelu(x[done : done + n], seed, start=self.at))
            self.at, done = (self.at + n) % self.period, done + n
        return np.concatenate(found) if found else x


_STREAM = _Stream((1 << 20) + 2000)


def long_period_of_calls(x, seed, call):
    """Bits come again after 2^20 + 2000 elements of all calls of a seed."""
    return _STREAM(x, seed, call)


def short_calls_alike(x, seed, call):
    """The same mask in all calls of fewer than 400 elements."""
    return stochastic.gelu(x, seed, call=call if x.size >= 400 else 0)


def counter_of_16_bits(x, seed, call):
    """The number of the element mod 2^16."""
    i = np.arange(x.size) % (1 << 16)
    u = np.random.default_rng((seed, call)).random(1 << 16)
    return _masked(x, u[i] < _phi(x))


def same_in_each_row(x, seed, call):
    """Rows of 768 elements have one mask."""
    u = np.random.default_rng((seed, call)).random(768)
    return _masked(x, np.resize(u, x.size) < _phi(x))


def like_one_far_away(x, rng):
    """Some elements are as the one 12,347 before."""
    u = rng.random(x.size)
    copied = np.flatnonzero(rng.random(x.size) < 0.1)
    copied = copied[copied >= 12_347]
    u[copied] = u[copied - 12_347]
    return _masked(x, u < _phi(x))


def alike_where_x_is_mixed(x, rng):
    """Each second element is as the one before where x changes, and only there."""
    u = rng.random(x.size)
    same = np.flatnonzero(x[1:] != x[:-1])[::2] + 1
    u[same] = u[same - 1]
    return _masked(x, u < _phi(x))


def odd_lengths(x, rng):
    """2 points too much in calls of an odd length."""
    return _masked(x, rng.random(x.size) < _phi(x) + 0.02 * (x.size % 2))


def by_place_in_memory(x, seed, call):
    """The mask is that of another call where the memory of x is not aligned to 64 bytes."""
    return stochastic.gelu(x, seed, call=call + (x.ctypes.data // 16) % 4)


def closed_uniforms_of_16_bits(x, rng):
    """u <= p, with uniforms k 2^-16."""
    return _masked(x, rng.integers(0, 1 << 16, x.size) / (1 << 16) <= _phi(x))


def not_a_number_at_zero(x, rng):
    """NaN at zeros."""
    with np.errstate(invalid="ignore"):
        return x / x * correct(x, rng)


def antithetic(x, rng):
    """Each second uniform is 1 minus the one before."""
    u = rng.random(x.size)
    u[1::2] = 1 - u[: u.size // 2 * 2 : 2]
    return _masked(x, u < _phi(x))


def as_many_in_each_call(x, rng):
    """The uniforms of a call are evenly spread, in a random order: its number of kept elements hardly varies."""
    return _masked(x, (rng.permutation(x.size) + rng.random(x.size)) / max(1, x.size) < _phi(x))


def like_2_to_the_18_before(x, rng, share=0.05):
    """A twentieth of the elements is as the one 2^18 before."""
    u = rng.random(x.size)
    copied = np.flatnonzero(rng.random(x.size) < share)
    copied = copied[copied >= 1 << 18]
    u[copied] = u[copied - (1 << 18)]
    return _masked(x, u < _phi(x))


def first_element_kept(x, rng):
    """The first element of a call is never dropped."""
    kept = rng.random(x.size) < _phi(x)
    kept[:1] = True
    return _masked(x, kept)


def remainder_kept(x, rng):
    """What is left after blocks of 8 is never dropped."""
    kept = rng.random(x.size) < _phi(x)
    kept[x.size // 8 * 8 :] = True
    return _masked(x, kept)


def calls_of_middle_length_alike(x, seed, call):
    """The same mask in all calls of 2,000 to 200,000 elements."""
    return stochastic.gelu(x, seed, call=0 if 2000 < x.size < 200_000 else call)


def calls_by_four(x, seed, call):
    """Call c + 1 starts four elements after call c."""
    return stochastic.gelu(x, seed, start=4 * call)


def mask_of_x(x, seed, call):
    """Random bits that follow from x alone: equal x, equal masks."""
    bits = x.view(np.uint32).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed + call)
    bits = (bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return _masked(x, (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53 < _phi(x))


def wrong_at_a_branch(x, rng):
    """0.9 instead of 0.84 within 2^-9 of x = 1."""
    return _masked(x, rng.random(x.size) < np.where(np.abs(x - 1) < 2.0**-9, 0.9, _phi(x)))


def seed_times_1000(x, seed, call):
    """Call 1,000 of a seed is call 0 of the next."""
    return stochastic.gelu(x, (1000 * seed + call) % (1 << 64))
