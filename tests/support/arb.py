"""The second witness: the same functions in Arb balls (python-flint), rounded from proved enclosures."""

from __future__ import annotations

from fractions import Fraction

import flint
from flint import arb, fmpq

from gelu_verify.formats import Format, Mode
from gelu_verify.functions import FUNCTIONS, Function


def phi(x):
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def normcdf(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def sigmoid(s):
    return 1 / (1 + (-s).exp())


def _tanh_slope(x):
    c, k = arb(fmpq(44715, 1000000)), (2 / arb.pi()).sqrt()
    return 2 * k * (x + c * x**3), 2 * k * (1 + 3 * c * x**2)


def _sigmoid_slope(x):
    k = arb(fmpq(1702, 1000))
    return k * x, k


def logistic(slope):
    return lambda x: x * sigmoid(slope(x)[0])


def logistic_grad(slope):
    def grad(x):
        s, ds = slope(x)
        return sigmoid(s) * (1 + x * ds * sigmoid(-s))

    return grad


def cauchy_unit_grad(x):
    return arb(fmpq(1, 2)) + x.atan() / arb.pi() + x / (arb.pi() * (1 + x * x))


def mish_grad(x):
    t = (1 + x.exp()).log().tanh()
    return t + x * (1 - t * t) * sigmoid(x)


ARB = {
    "gelu": lambda x: x * normcdf(x),
    "gelu_grad": lambda x: normcdf(x) + x * phi(x),
    "gelu_tanh": logistic(_tanh_slope),
    "gelu_tanh_grad": logistic_grad(_tanh_slope),
    "gelu_sigmoid": logistic(_sigmoid_slope),
    "gelu_sigmoid_grad": logistic_grad(_sigmoid_slope),
    "silu": logistic(lambda x: (x, arb(1))),
    "silu_grad": logistic_grad(lambda x: (x, arb(1))),
    "relu": lambda x: x if x > 0 else arb(0),
    "gelu_grad_mu": lambda x: -x * phi(x),
    "gelu_grad_sigma": lambda x: -x * x * phi(x),
    "silu_grad_beta": lambda x: x * x * sigmoid(x) * sigmoid(-x),
    "elu_grad": lambda x: x.exp() if x < 0 else arb(1),
    "elu": lambda x: x if x > 0 else x.expm1(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "normcdf": normcdf,
    "tanh": lambda x: x.tanh(),
    "sigmoid": sigmoid,
    "exp": lambda x: x.exp(),
    "cauchy_unit": lambda x: x * (arb(fmpq(1, 2)) + x.atan() / arb.pi()),
    "cauchy_unit_grad": cauchy_unit_grad,
    "softplus": lambda x: (1 + x.exp()).log(),
    "softplus_grad": sigmoid,
    "mish": lambda x: x * (1 + x.exp()).log().tanh(),
    "mish_grad": mish_grad,
    "relu2": lambda x: x * x if x > 0 else arb(0),
    "relu2_grad": lambda x: 2 * x if x > 0 else arb(0),
} | {name: function.arb for name, function in FUNCTIONS.items() if function.arb}
OF_TWO = {  # with a second number, of which the default changes nothing
    "geglu": "gelu",
    "geglu_tanh": "gelu_tanh",
    "swiglu": "silu",
    "reglu": "relu",
    "bias_gelu": "gelu",
    "bias_gelu_tanh": "gelu_tanh",
}
ARB |= {f"{name}{suffix}": ARB[f"{of_x}{suffix}"] for name, of_x in OF_TWO.items() for suffix in ("", "_grad")}


class Undecided(AssertionError):
    """No precision that was tried decides a rounding: f(x) may be exact, or beside a limit."""


def _dyadic(point: arb) -> tuple[int, int]:
    m, e = point.man_exp()
    return int(m), int(e)


def _clamped(end: tuple[int, int], fmt: Format) -> tuple[int, int]:
    """An end far below the smallest number: it rounds as one of significand 1 just below it does."""
    m, e = end
    if m and abs(m).bit_length() + e < fmt.min_exponent - 4:
        return (1 if m > 0 else -1), fmt.min_exponent - 4
    return end


def arb_round(function: Function, fmt: Format, x_bits: int, mode: Mode = "nearest", most: int = 1 << 17) -> int:
    """Bits of f(x), rounded in that mode, for a finite non-zero x, from Arb enclosures of up to `most` bits."""
    if not function.is_defined(fmt, x_bits):
        return fmt.nan
    m, e = fmt.dyadic(x_bits)
    precision = 64
    while precision <= most:
        flint.ctx.prec = precision
        ball = ARB[function.name](arb(m) * arb(2) ** e)
        if ball.is_finite():
            low, high = (_clamped(_dyadic(end), fmt) for end in (ball.lower(), ball.upper()))
            exact_zero = ball.is_exact() and low[0] == 0
            in_tail = abs(m).bit_length() + e > 1
            if in_tail and not exact_zero and low[0] <= 0 <= high[0] and max(-low[0], high[0]) == 1:
                # so deep in a tail that Arb's ball holds 0
                sign = -1 if (function.at_minus_infinity if m < 0 else function.at_plus_infinity) == "-0" else 1
                return fmt.round((sign, fmt.min_exponent - 4), mode)
            if (low[0] and high[0]) or exact_zero:
                a, b = (fmt.round(end, mode) for end in (low, high))
                if a == b:
                    return a
        precision *= 2
    raise Undecided(f"Arb does not decide {function.name} at {Fraction(m) * Fraction(2) ** e}")


def arb_agrees(
    function: Function, fmt: Format, x_bits: int, got: int, mode: Mode = "nearest", most: int = 1 << 17
) -> bool | None:
    """Whether the bits of f(x) are those of Arb, but for the sign of a zero that may have either; None where the value
    is that of a pole, by definition, and where Arb does not decide it: beside a limit, and where f(x) is exact."""
    if function.is_defined(fmt, x_bits) and function.is_stated(fmt, x_bits):
        return None
    try:
        want = arb_round(function, fmt, x_bits, mode, most)
    except Undecided:
        return None
    return got == want or (function.either_zero and fmt.magnitude(got) == fmt.magnitude(want) == 0)
