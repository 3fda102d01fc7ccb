"""The shape of gelu and of the functions used in its place, and how far these are from it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..errors import OracleError
from .balls import Ball, Jet, ball, below, derivative, difference, jet_of, largest, negated, roots, text
from .base import Fact
from .curves import ARGUMENTS, JETS, phi, sigmoid, upper_tail, value

END = Fraction(12)
BEYOND = END + Fraction(1, 89)  # no zero lies there, so that its sign is certain
_SLOPES = {"gelu_tanh": "sqrt(2/pi)", "gelu_sigmoid": "0.851", "silu": "0.5", "gelu": "sqrt(2/pi)"}
_EXACT_SLOPES = {"gelu_sigmoid": "0.851", "silu": "0.5"}


def facts() -> Iterator[Fact]:
    for name, jet in JETS.items():
        yield from _shape(name, jet)
    for name, jet in JETS.items():
        if name != "gelu":
            yield from _distance(name, jet)
    for name in ARGUMENTS:
        yield _cumulative(name)
    yield from _relu()


def _shape(name: str, jet: Jet) -> Iterator[Fact]:
    (minimum,) = roots(derivative(jet), -BEYOND, BEYOND)
    left, right = roots(derivative(jet, 2), -BEYOND, BEYOND)
    lowest = value(name, minimum)
    tail = _falling_tail(name)
    yield Fact(
        name=f"{name}.minimum",
        topic="shape",
        statement=f"{name} falls on (-inf, x] and rises on [x, inf): f(x) is its only minimum, and its greatest "
        f"lower bound.",
        values={"x": text(minimum), "f(x)": text(lowest)},
        proof=f"f' has one zero in [-12, 12] (interval Newton on a bisection); {tail}, and f' > 0 for x >= 0.",
    )
    yield Fact(
        name=f"{name}.inflections",
        topic="shape",
        statement=f"{name} is convex on [-x, x] and concave outside: f' has its minimum at -x and its maximum at x.",
        values={"x": text(right), "f'(-x)": text(jet(left, 1)[1]), "f'(x)": text(jet(right, 1)[1])},
        proof=f"f'' has the zeros -x and x in [-12, 12]; {_bent_tail(name)}.",
    )
    yield Fact(
        name=f"{name}.lipschitz",
        topic="shape",
        statement=f"The Lipschitz constant of {name} is L = max |f'|, taken at x alone.",
        values={"x": text(right), "L": text(jet(right, 1)[1])},
        proof="f' rises between its two extrema, and tends to 0 and 1: the inflections give them.",
    )
    place, steepest = largest(derivative(jet, 2), Fraction(-1, 2), END)
    if not place.contains(0):
        raise OracleError(f"{name}: |f''| is not largest at 0")
    if name != "gelu" and not _bend_rest(name, ball(END)) < abs(steepest):
        raise OracleError(f"{name}: |f''| may be larger in the tail")
    yield Fact(
        name=f"{name}.gradient_lipschitz",
        topic="shape",
        statement=f"The Lipschitz constant of the gradient of {name} is max |f''| = f''(0) = {_SLOPES[name]}.",
        values={"f''(0)": _EXACT_SLOPES.get(name) or text(steepest)},
        proof="Branch-and-bound on [-1/2, 12] (f'' is even): |f''| is largest at the one zero of f''' there, "
        "which is 0; "
        + (
            "phi(x) (x^2 - 2) falls beyond 12."
            if name == "gelu"
            else "|f''| <= (4 s' + x s'^2) e^-s beyond 12, which falls."
        ),
    )
    yield Fact(
        name=f"{name}.symmetry",
        topic="shape",
        statement=f"{name}: f(x) - f(-x) = x and f'(x) + f'(-x) = 1 for every x, exactly.",
        values={},
        proof="f(x) = x w(x) with w(x) + w(-x) = 1; the second equation is the derivative of the first.",
    )
    yield Fact(
        name=f"{name}.bounds",
        topic="shape",
        statement=f"max(x, 0) - c <= {name}(x) <= max(x, 0), with equality on the left at -x and x alone: the "
        f"largest distance "
        "from relu is c.",
        values={"c": text(-lowest), "x": text(-minimum)},
        proof="For x <= 0, f(x) lies between its minimum -c and 0; f(x) - x = f(-x) carries that over to x > 0.",
    )


def _falling_tail(name: str) -> str:
    if name == "gelu":
        return "Phi(x) < phi(x)/|x| gives f' < 0 for x < -1"
    return "f' = w (1 + x s' (1 - w)) < 0 for x < -2, as s' >= 1 and 1 - w > 1/2 there"


def _bent_tail(name: str) -> str:
    if name == "gelu":
        return "f'' = phi(x) (2 - x^2): they are -sqrt(2) and sqrt(2)"
    return (
        "beyond, f''/(w (1 - w)) = 2 s' + x s'' - x s'^2 tanh(s/2) < 0: "
        "s' >= 1, x s'' <= 2 s' and tanh(s/2) > 0.9 there"
    )


def _distance(name: str, jet: Jet) -> Iterator[Fact]:
    gap = difference(jet, JETS["gelu"])
    for suffix, f, rest in (("", gap, _rest), ("_grad", derivative(gap), _gradient_rest)):
        place, size = largest(f, Fraction(1, 97), END)
        for each in (f, negated(f)):
            below(each, size, Fraction(0), Fraction(1, 97))
        if not rest(name, ball(END)) < size:
            raise OracleError(f"{name}{suffix}: the tails may be farther apart")
        yield Fact(
            name=f"{name}{suffix}.distance",
            topic="distance",
            statement=f"{name}{suffix} is farthest from gelu{suffix} at -x and x: |{name}{suffix}(x) - "
            f"gelu{suffix}(x)| = d.",
            values={"x": text(place), "d": text(size)},
            proof="The difference is "
            + ("odd" if suffix else "even")
            + "; branch-and-bound on [1/97, 12] and one zero of its "
            "derivative in the cells that are left; on [0, 1/97], and beyond 12, where both are close to relu, "
            "it is smaller.",
        )


def _rest(name: str, x: Ball) -> Ball:
    """A bound of |f - gelu| beyond x: x e^-s for f, phi(x) for gelu, both falling."""
    return x * (-ARGUMENTS[name](x)).exp() + phi(x)


def _gradient_rest(name: str, x: Ball) -> Ball:
    """A bound of |f' - gelu'| beyond x >= 12: (1 + x s') e^-s and (1 + x) phi(x), both falling; x s' <= 3 s."""
    s = ARGUMENTS[name](x)
    return (1 + 3 * s) * (-s).exp() + (1 + x) * phi(x)


def _bend_rest(name: str, x: Ball) -> Ball:
    """A bound of |f''| beyond x >= 12, falling: (4 s' + x s'^2) e^-s, with x s' <= 3 s."""
    s = ARGUMENTS[name](x)
    return (12 * s + 9 * s * s) / x * (-s).exp()


def _cumulative(name: str) -> Fact:
    """sigmoid(s(x)) in place of Phi(x): what the approximations approximate."""
    gap = difference(jet_of(lambda x: sigmoid(ARGUMENTS[name](x))), jet_of(lambda x: upper_tail(-x)))
    place, size = largest(gap, Fraction(1, 97), END)
    for each in (gap, negated(gap)):
        below(each, size, Fraction(0), Fraction(1, 97))
    if not (-ARGUMENTS[name](ball(END))).exp() + phi(ball(END)) < size:
        raise OracleError(f"{name}: the tails of the distribution functions may be farther apart")
    return Fact(
        name=f"{name}.cumulative",
        topic="distance",
        statement=f"{name}(x)/x = sigmoid(s(x)) is farthest from Phi at -x and x: |sigmoid(s(x)) - Phi(x)| = d.",
        values={"x": text(place), "d": text(abs(size))},
        proof="The difference is odd; branch-and-bound on [1/97, 12] and one zero of its derivative in the cells that "
        "are left; on [0, 1/97], and beyond 12, where both are within e^-s + phi(x) of 1, it is smaller.",
    )


def _relu() -> Iterator[Fact]:
    yield Fact(
        name="relu_grad.distance",
        topic="distance",
        statement="The derivative of relu is farthest from gelu_grad at 0, where both its one-sided limits are d away.",
        values={"d": "0.5"},
        proof="gelu'(0) = 1/2; for x > 0, |1 - gelu'(x)| <= max(1/2, gelu'(sqrt(2)) - 1) = 1/2, as gelu' rises "
        "up to sqrt(2).",
    )
