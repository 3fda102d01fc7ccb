"""Parameters of functions: exact numbers, and the names of functions with parameters: gelu[mu=0.5,sigma=1/3].

A function with other parameters than the default ones is a function of its own, under a name that says which: it goes
wherever a function goes. Every number has one text, so that one function has one name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from ..errors import UsageError, one_of
from ..formats import hex_text

MOST_CHARACTERS = 400  # of a number: a fraction of float64 numbers has 700 digits at most, and nobody types those
MOST_BITS = 10_000  # of a numerator or denominator: the exponent of a hex float has four digits
SHORT = 17  # significant digits up to which a number is written as a decimal


@dataclass(frozen=True)
class Parameter:
    """A number that a function depends on beside x."""

    name: str
    default: Fraction
    low: Fraction
    high: Fraction
    meaning: str
    taken_as: Literal["", "factor", "summand"] = ""
    """What it is where implementations take it as data, element by element: "factor", of g f(x); "summand", of f(x + b)
    (f: `Function.inner`). The name of an implementation says nothing of its value then."""

    @property
    def is_input(self) -> bool:
        """Whether implementations take it as data."""
        return bool(self.taken_as)

    @property
    def unsaid(self) -> Fraction | None:
        """The default where it is an end of what is accepted, and changes nothing."""
        return self.default if self.default in (self.low, self.high) else None

    def checked(self, value: Fraction) -> Fraction:
        """`value`, or UsageError where it lies outside the range."""
        if not self.low <= value <= self.high:
            ends = " to ".join(_power_text(end) for end in (self.low, self.high))
            raise UsageError(f"{self.name} is {exact_text(value)} (accepted: {ends})")
        return value


def exact_number(name: str, value: Any) -> Fraction:
    """A number given as int, Fraction, Decimal, float (its own value), NumPy scalar, or text.

    Text is a decimal (0.5, 1e-3), a fraction (1/3) or a hex float (0x1.8p-1). UsageError for all else.
    """
    number = _from_text(value) if isinstance(value, str) else _from_number(value)
    if number is None or not _has_short_text(number):
        raise UsageError(
            f"{name} {_shown(value)!r} is not a finite number whose exact text has up to {MOST_CHARACTERS} characters "
            "(accepted: a decimal such as 0.5, a fraction such as 1/3, a hex float such as 0x1.8p-1, a float for its "
            "own value)"
        )
    return number


def _shown(value: Any) -> str:
    """The beginning of a value; its type where it is so long that Python refuses to write it."""
    try:
        return str(value)[:40]
    except ValueError:
        return f"of type {type(value).__name__}"


def _from_text(text: str) -> Fraction | None:
    word = text.strip().lower()
    if len(word) > MOST_CHARACTERS or not word.isascii():
        return None
    if match := re.fullmatch(r"([+-]?)0x([0-9a-f]+)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]{1,4}))?", word):
        sign, whole, rest, exponent = match[1], match[2], match[3] or "", int(match[4] or 0)
        value = Fraction(int(whole + rest, 16)) * Fraction(2) ** (exponent - 4 * len(rest))
        return -value if sign == "-" else value
    number = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
    if re.fullmatch(rf"[+-]?(?:(?:{number})(?:e[+-]?[0-9]{{1,3}})?|[0-9]+/0*[1-9][0-9]*)", word):
        return Fraction(word)
    return None


def _from_number(value: Any) -> Fraction | None:
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 and value.dtype.kind in "fiuV":
        value = np.asarray(value)[()]
        if isinstance(value, np.floating) and np.isfinite(value):
            return Fraction(*value.as_integer_ratio())  # exact for longdouble too
        value = int(value) if value.dtype.kind in "iu" else float(value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() and abs(value.adjusted()) <= MOST_CHARACTERS else None
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def _has_short_text(value: Fraction) -> bool:
    """Whether its text can be read again: it stands in the name of a function."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return bits <= MOST_BITS and len(exact_text(value)) <= MOST_CHARACTERS


def exact_text(value: Fraction) -> str:
    """The one text of a number: a short decimal, else a hex float where it is a binary fraction, else n/d."""
    denominator = value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    odd, fives = denominator >> twos, 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    places = max(twos, fives)
    if odd == 1 and places <= 2 * SHORT and len(digits := str(abs(int(value * 10**places)))) <= SHORT:
        digits = digits.rjust(places + 1, "0")
        text = f"{digits[:-places]}.{digits[-places:]}" if places else digits
        return f"-{text}" if value < 0 else text
    if denominator >> twos == 1:
        return f"{'-' if value < 0 else ''}{hex_text(abs(value.numerator), -twos)}"
    return f"{value.numerator}/{denominator}"


def _power_text(value: Fraction) -> str:
    """An end of a range, a power of two."""
    exponent = abs(value).numerator.bit_length() - value.denominator.bit_length()
    return f"{'-' if value < 0 else ''}2^{exponent}" if abs(exponent) > 10 else exact_text(value)


def base_name(name: str) -> str:
    """The function without its parameters."""
    return name.partition("[")[0]


def split_name(name: str) -> tuple[str, dict[str, str]]:
    """("gelu", {"mu": "0.5"}) of gelu[mu=0.5]."""
    base, bracket, rest = name.partition("[")
    if not bracket:
        return base, {}
    pairs = [pair.partition("=") for pair in rest[:-1].split(",")] if rest.endswith("]") else []
    found = {key.strip(): text for key, equals, text in pairs if equals}
    if not pairs or len(found) != len(pairs):
        raise UsageError(f"function {name[:60]!r} cannot be read (accepted: name[parameter=number,...])")
    return base, found


def named(name: str, values: Mapping[str, Any]) -> str:
    """The name of a function with these parameters, in place of those that it names: for `get_function`."""
    if not values or not isinstance(name, str):  # which `get_function` refuses
        return name
    base, found = split_name(name)
    texts = {**found, **{key: exact_text(exact_number(key, value)) for key, value in values.items()}}
    return f"{base}[{','.join(f'{key}={text}' for key, text in texts.items())}]"


def checked_values(name: str, parameters: tuple[Parameter, ...], texts: Mapping[str, str]) -> dict[str, Fraction]:
    """The values of all parameters, in order: those given, or the default ones."""
    accepted = [parameter.name for parameter in parameters]
    for key in texts:
        if not accepted:
            raise UsageError(f"function {name} has no parameters: {key!r} cannot be set")
        if key not in accepted:
            raise one_of(f"parameter of {name}", key, accepted)
    return {
        each.name: each.checked(exact_number(each.name, texts[each.name])) if each.name in texts else each.default
        for each in parameters
    }


def canonical_name(name: str, parameters: tuple[Parameter, ...], values: Mapping[str, Fraction]) -> str:
    """The one name: parameters in their order, those with their default value left out."""
    texts = [f"{p.name}={exact_text(values[p.name])}" for p in parameters if values[p.name] != p.default]
    return f"{name}[{','.join(texts)}]" if texts else name


def stated(formula: str, parameters: tuple[Parameter, ...], values: Mapping[str, Fraction]) -> str:
    """A formula in parameters, and what these are: a default that is an end of what is accepted goes without saying."""
    texts = [
        f"{p.name} = {exact_text(values[p.name])}" for p in parameters if p.unsaid is None or values[p.name] != p.unsaid
    ]
    return ", ".join([formula, *texts])


def times(text: str, factor: Fraction) -> str:
    """A decimal of a fact times a fraction, to 36 digits."""
    context = Context(prec=80)
    product = context.divide(context.multiply(Decimal(text), factor.numerator), Decimal(factor.denominator))
    return f"{Context(prec=36).plus(product):f}"


def moved(text: str, distance: Fraction) -> str:
    """A decimal of a fact plus a fraction, to 36 digits."""
    context = Context(prec=80)
    total = context.add(Decimal(text), context.divide(Decimal(distance.numerator), Decimal(distance.denominator)))
    return f"{Context(prec=36).plus(total):f}"


def all_times(texts: tuple[str, ...] | None, factor: Fraction) -> tuple[str, ...] | None:
    return None if texts is None else tuple(times(text, factor) for text in texts)


LARGEST, SMALLEST = Fraction(2**1024), Fraction(1, 2**1074)  # between them lies whatever a double holds
MU = Parameter("mu", Fraction(0), -LARGEST, LARGEST, "mean of the normal law")
SIGMA = Parameter("sigma", Fraction(1), SMALLEST, LARGEST, "standard deviation of the normal law")
BETA = Parameter("beta", Fraction(1), SMALLEST, LARGEST, "slope of the sigmoid's argument")
ALPHA = Parameter("alpha", Fraction(1), SMALLEST, LARGEST, "-alpha is the limit for x -> -inf")
