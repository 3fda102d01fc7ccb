"""What is proved of the functions, as marks on the drawings of the gallery and as a table beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ..facts import stored_facts
from ..formats import DTYPES
from .text import MINUS

DIGITS = 12
FUNCTIONS = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")


@dataclass(frozen=True)
class Landmark:
    """Points of a curve at a value x of a fact: at x, or at -x and x."""

    text: str
    fact: str
    value: str = "x"
    both: bool = True

    def at(self, function: str) -> list[tuple[float, str]]:
        """(x, text) for a function or its derivative; none where there is no such fact of it."""
        digits = _values(self.fact.format(function)).get(self.value)
        if digits is None:
            return []
        places = (digits.lstrip("-"), f"-{digits.lstrip('-')}") if self.both else (digits,)
        return [(float(each), f"{self.text}: x = {_shown(each)}") for each in places]


MINIMUM = Landmark("minimum", "{}.minimum", both=False)
ROOT = Landmark("zero of the derivative", "{}.minimum", both=False)
INFLECTIONS = Landmark("inflection", "{}.inflections")
EXTREMA = Landmark("extremum of the derivative", "{}.inflections")
FARTHEST = Landmark("farthest from gelu", "{}.distance")
GRADIENT_FARTHEST = Landmark("farthest from gelu_grad", "{}_grad.distance")
CROSSINGS = Landmark("equal to gelu", "{}.crossings")
ZEROS = tuple(Landmark(f"zero in {dtype} below", "{}.thresholds", f"{dtype}: zero below", False) for dtype in DTYPES)

_ROWS = (
    ("minimum: x", "{}.minimum", "x", False),
    ("minimum: f(x)", "{}.minimum", "f(x)", False),
    ("inflections: x", "{}.inflections", "x", True),
    ("least slope", "{}.inflections", "f'(-x)", False),
    ("largest slope", "{}.inflections", "f'(x)", False),
    ("f''(0), largest |f''|", "{}.gradient_lipschitz", "f''(0)", False),
    ("farthest from relu: x", "{}.bounds", "x", True),
    ("distance", "{}.bounds", "c", False),
    ("farthest from gelu: x", "{}.distance", "x", True),
    ("distance", "{}.distance", "d", False),
    ("derivative farthest: x", "{}_grad.distance", "x", True),
    ("distance", "{}_grad.distance", "d", False),
    ("equal to gelu: x", "{}.crossings", "x", True),
    *((f"zero in {dtype} below", "{}.thresholds", f"{dtype}: zero below", False) for dtype in DTYPES),
)


def fact_rows() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(label, (value to 12 digits, all its digits) of each of FUNCTIONS); empty texts where there is none."""
    for label, fact, value, both in _ROWS:
        found = [_values(fact.format(name)).get(value) for name in FUNCTIONS]
        sign = "±" if both else ""
        yield label, [("", "") if each is None else (sign + _shown(each), each) for each in found]


def _values(name: str) -> dict[str, str]:
    return next((fact.values for fact in stored_facts() if fact.name == name), {})


def _shown(digits: str) -> str:
    return f"{Decimal(f'{Decimal(digits):.{DIGITS}g}'):f}".replace("-", MINUS)
