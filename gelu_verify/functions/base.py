"""What is stated of a function: its exact definition, and the facts that plans, checks and reports read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..errors import GeluVerifyError, OracleError, UsageError, message_of
from ..formats import Dyadic, Format, Mode
from .enclosures import Enclosure, Terms, as_interval, fraction, shown
from .limits import POLES, Limit, bits_of, bounds_of, check_limit, terms_of
from .parameters import Parameter, all_times, base_name, checked_values, split_name, times

Group = Literal["activation", "baseline", "block"]
GROUPS: tuple[Group, ...] = ("activation", "baseline", "block")
Values = Mapping[str, Fraction]
MOST_TURNS = 8  # turning points that the native reducer takes
OWNER = "gelu-verify"


@dataclass(frozen=True)
class Constant:
    """A number in a definition; when it grows by a small share e, f(x) changes by `effect(x)` e."""

    name: str
    value: str
    effect: Callable[[np.ndarray], np.ndarray]

    def in_derivative(self) -> Constant:
        """The same number in f': its effect to 9 digits, which is more than a fit can use."""
        whole = self.effect
        return Constant(self.name, self.value, lambda x: (whole(x + _STEP) - whole(x - _STEP)) / (2 * _STEP))


_STEP = 1e-5  # of a central difference in double: truncated and rounded by about 1e-10


@dataclass(frozen=True, kw_only=True, eq=False)
class Function:
    """One mathematical function; equal to itself alone.

    Only the facts above `group` must be given; what is left out is not asked by any check. Decimals are strings with at
    least 20 digits (or exact), so that no float rounds them on the way. `tests/functions` holds every fact against the
    definition, for every function that is found.
    """

    name: str
    """Lower-case letters, digits and "_". The derivative of f is `f_grad`."""
    formula: str
    """For readers, one line; of a function with parameters, for their defaults."""
    terms: Callable[[Enclosure, Dyadic], Terms]
    """`terms(c, x)`: a proved enclosure of f(x) at an exact x = (m, e), which is m 2^e and not zero, as an exact
    leading term + an interval. The interval must shrink to f(x) - leading as `c.precision` grows."""
    at_minus_infinity: Limit
    """The limit: "inf", "-inf", "0" or "-0" (its sign counts unless `either_zero`), an exact decimal or, where it is
    irrational, a function of an Enclosure that encloses it: `lambda c: c.iv.pi / 2`. "nan" outside of `domain`."""
    at_plus_infinity: Limit
    at_zero: Limit
    """f(0), as above ("nan" where 0 is outside of the domain); "x" where f(0) = 0 has the sign of x, "-x" where it has
    the other one. "inf" or "-inf" is a pole: the result at both zeros (IEEE 754: division by zero)."""

    group: Group = "activation"
    """Where it stands in lists and reports. A target that claims an activation or a baseline is compared with all
    others to name what it really computes (checks `variant`, `gradient_variant`); a building block is not."""
    domain: tuple[str, str] = ("-inf", "inf")
    """Where f is defined, both ends included: elsewhere the result is NaN (IEEE 754: invalid operation), and `terms` is
    not asked. -0 counts as 0."""
    at: Mapping[str, Limit] = field(default_factory=dict)
    """f at other single points, where `terms` is not asked: {"1": "inf"} is a pole at 1, the result that is due there
    (IEEE 754: division by zero), {"1": "nan"} says that f is not defined at 1, as at an open end of its domain."""
    also: Mapping[str, tuple[Limit, ...]] = field(default_factory=dict)
    """Results that are as right as the one of the formula: the one-sided limits at 0 or another point, where a
    derivative jumps."""
    gradient_of: str | None = None
    """The function whose derivative this is."""
    approximates: str | None = None
    """The function that this one is used in place of: the distance to it is measured too."""
    slope_at_zero: str | None = None
    """f'(0) as an exact decimal, of a function with f(0) = 0 whose results near zero are to be within 1 ulp (check
    `half_slope`, of its derivative too). None: not asked."""
    turning_points: tuple[str, ...] | None = ()
    """All x where f turns from falling to rising or back, ascending, at most 8: between them it is monotone. None where
    they are more or unknown: nothing is asked of neighbours."""
    falls_first: bool = False
    """Whether f falls from -inf to the first turning point."""
    sign: Literal["", "+", "-", "x", "-x"] = ""
    """"+": never negative; "-": never positive; "x": the sign of x; "-x": the other one; "": it changes elsewhere."""
    either_zero: bool = False
    """Whether a result that is zero, or rounds to it, may have either sign, by convention: where f is 0 on an interval,
    as max(x, 0), and where terms of both signs vanish, as in a derivative. Else it has the sign of f near there."""
    lower: str | None = None
    """The greatest lower bound; None without one, or where it is not asked."""
    upper: str | None = None
    symmetry: Literal["", "odd", "even"] = ""
    """Whether f(-x) = -f(x), or f(-x) = f(x), for every x."""
    at_most_x: bool = False
    """Whether |f(x)| <= |x| for every x."""
    nan_at: tuple[Literal["-inf", "inf"], ...] = ()
    """The infinities at which the formula as it is written is no number, x Phi(x) at -inf is -inf * 0: NaN there is a
    convention, told apart. Elsewhere it is a defect."""
    landmarks: dict[str, str] = field(default_factory=dict)
    """Named x whose neighbourhoods every plan takes: "root" (a simple root away from zero; errors near it are also
    given as absolute ones), "farthest from ..." (where implementations of variants differ most), any other name."""
    constants: tuple[Constant, ...] = ()
    """The numbers in the formula, which the check `constants` fits."""
    parameters: tuple[Parameter, ...] = ()
    """What it depends on beside x. The other facts are those of the default values."""
    general: str = ""
    """The formula in the parameters."""
    with_values: Callable[[Values], Function] | None = None
    """The function with given values of all parameters, and its facts; its name is set by who asks for it."""
    inner: str | None = None
    """Of a function with a second input: the function of x alone that it multiplies, or takes at a sum."""
    arb: Callable[[Any], Any] | None = None
    """f once more, written from the formula without a look at `terms`: of an `arb` of python-flint, in its arithmetic.
    Tests hold `terms` against it; nothing else reads it."""
    owner: str = OWNER
    """The distribution that it is of; who registers it sets this."""

    def __post_init__(self) -> None:
        """UsageError where facts cannot be: they may come from somebody else's file."""
        turns = [self._decimal("turning_points", text) for text in self.turning_points or ()]
        plain = base_name(self.name)
        if not plain.isascii() or not plain.isidentifier() or plain != plain.lower():
            raise self._wrong("name", self.name, "lower-case letters, digits and _")
        if self.group not in GROUPS:
            raise self._wrong("group", self.group, ", ".join(GROUPS))
        if set(self.nan_at) - {"-inf", "inf"}:
            raise self._wrong("nan_at", self.nan_at, '"-inf", "inf"')
        if self.symmetry not in ("", "odd", "even"):
            raise self._wrong("symmetry", self.symmetry, '"", "odd", "even"')
        if self.sign not in ("", "+", "-", "x", "-x"):
            raise self._wrong("sign", self.sign, '"", "+", "-", "x", "-x"')
        if turns != sorted(set(turns)) or len(turns) > MOST_TURNS:
            raise self._wrong("turning_points", self.turning_points, f"at most {MOST_TURNS}, ascending, or None")
        for what in ("lower", "upper", "slope_at_zero"):
            if (text := getattr(self, what)) is not None:
                self._decimal(what, text)
        for text, infinity in zip(self.domain, ("-inf", "inf"), strict=True):
            if text != infinity:
                self._decimal("domain", text)
        for label, text in self.landmarks.items():
            self._decimal(f"landmarks[{label!r}]", text)
        for what in ("at_minus_infinity", "at_plus_infinity", "at_zero"):
            self._limit(what, getattr(self, what), at_zero=what == "at_zero")
        for text, limit in self.at.items():
            if not self._decimal("at", text):
                raise self._wrong("at", text, "a point that is not 0, of which at_zero says it")
            self._limit(f"at[{text!r}]", limit)
        for text, limits in self.also.items():
            self._decimal("also", text)
            for limit in limits:
                self._limit(f"also[{text!r}]", limit)

    def _limit(self, what: str, limit: Limit, at_zero: bool = False) -> None:
        if reason := check_limit(limit, at_zero):
            raise self._wrong(what, limit, reason)

    def _decimal(self, what: str, text: str) -> Fraction:
        try:
            return Fraction(text)
        except (ValueError, TypeError, ZeroDivisionError):
            raise self._wrong(what, text, "a decimal as a string") from None

    def _wrong(self, what: str, value: object, accepted: str) -> UsageError:
        return UsageError(f"function {self.name}: {what} is {value!r} (accepted: {accepted})")

    @property
    def values(self) -> dict[str, Fraction]:
        """Its parameters, in their order: those that its name says, the default ones of the others."""
        base, texts = split_name(self.name)
        return checked_values(base, self.parameters, texts)

    @property
    def floats(self) -> dict[str, float]:
        """Its parameters as doubles, infinite beyond them: what most libraries take."""
        found = {}
        for name, value in self.values.items():
            try:
                found[name] = float(value)
            except OverflowError:
                found[name] = math.inf if value > 0 else -math.inf
        return found

    @cached_property
    def _stated(self) -> dict[Fraction, Limit]:
        """What is stated of f at finite points."""
        return {Fraction(0): self.at_zero, **{Fraction(text): limit for text, limit in self.at.items()}}

    @cached_property
    def points(self) -> tuple[Fraction, ...]:
        """Single points at which something is stated, and ends of the domain: every plan takes them."""
        ends = (text for text in self.domain if "inf" not in text)
        return tuple(sorted({Fraction(text) for text in (*self.at, *self.also, *ends)}))

    def enclosed(self, c: Enclosure, x: Dyadic) -> Terms:
        """`terms`, or what is stated at x; its own errors are told by function and x (OracleError)."""
        limit = self._stated.get(fraction(x)) if self.at else None
        if limit in (*POLES, "nan"):
            raise OracleError(f"{self.name} at {shown(x)} is {limit}")
        return as_interval(c, self._own_terms(c, x)) if limit is None else terms_of(limit, c.precision)

    def _own_terms(self, c: Enclosure, x: Dyadic) -> Terms:
        try:
            leading, correction = self.terms(c, x)
            return Terms(leading, correction)
        except GeluVerifyError:
            raise
        except Exception as error:  # the formula may be anybody's: whatever it raises is named
            whose = "" if self.owner == OWNER else f" of {self.owner}"
            raised = " ".join(f"{type(error).__name__}: {message_of(error)}".split())
            raise OracleError(f"{self.name}{whose} at {shown(x)}: terms raised {raised}") from error

    def rational_at(self, x: Dyadic) -> Fraction | None:
        """f(x), where `terms` says that it is a rational number."""
        leading, correction = self._own_terms(Enclosure(64), x)
        if correction is None:
            return fraction(leading)
        return fraction(leading) + correction if isinstance(correction, Fraction) else None

    @property
    def is_zero_at_zero(self) -> bool:
        """Whether f(0) = 0."""
        return self.at_zero in ("x", "-x") or (self.at_zero not in (*POLES, "nan") and not any(self.bounds_at_zero(8)))

    @property
    def has_pole_at_zero(self) -> bool:
        """Whether f(0) is infinite."""
        return self.at_zero in POLES

    @property
    def double_at_zero(self) -> float | None:
        """f(0), where it is a double, and the only right result: what native code takes."""
        if Fraction(0) in map(Fraction, self.also):
            return None
        if self.at_zero in ("x", "-x"):
            return 0.0
        if self.at_zero in (*POLES, "nan"):
            return float(str(self.at_zero))
        value = None if callable(self.at_zero) else Fraction(self.at_zero)
        return float(value) if value is not None and Fraction(float(value)) == value else None

    def ordinals(self, fmt: Format) -> tuple[int, int]:
        """The ordinals between which f is defined, ends included."""
        low, high = self.domain
        first = -1 - fmt.infinity if low == "-inf" else fmt.ordinal(fmt.round(Fraction(low), "up", negative_zero=True))
        return first, fmt.infinity if high == "inf" else fmt.ordinal(fmt.round(Fraction(high), "down"))

    def is_defined(self, fmt: Format, x_bits: int) -> bool:
        """Whether x, which is not NaN, lies in the domain."""
        first, last = self.ordinals(fmt)
        return first <= fmt.ordinal(x_bits) <= last and not (
            self.at and fmt.is_finite(x_bits) and self._stated.get(fmt.fraction(x_bits)) == "nan"
        )

    def is_defined_at(self, x: Dyadic) -> bool:
        """The same of an exact number."""
        low, high = self.domain
        value = fraction(x) if self.at or (low, high) != ("-inf", "inf") else Fraction(0)
        inside = (low == "-inf" or Fraction(low) <= value) and (high == "inf" or value <= Fraction(high))
        return inside and not (self.at and self._stated.get(value) == "nan")

    def is_stated(self, fmt: Format, x_bits: int) -> bool:
        """Whether `limit_bits` says what f(x) is: at zeros, infinities and NaN, at stated points, and outside of the
        domain."""
        return self.limit(fmt, x_bits) is not None

    def has_value(self, fmt: Format, x_bits: int) -> bool:
        """Whether f(x) is a number: not at infinities, NaN and poles, and not outside of the domain."""
        return fmt.is_finite(x_bits) and self.limit(fmt, x_bits) not in (*POLES, "nan")

    def stretched(self, factor: Fraction, **facts: Any) -> Function:
        """This shape with every x `factor` times as large; `facts` are those that do not follow from that.

        How far it is from another function does not, and so is not said.
        """
        landmarks = {label: times(text, factor) for label, text in self.landmarks.items() if "farthest" not in label}
        turns = all_times(self.turning_points, factor)
        return replace(self, landmarks=landmarks, turning_points=turns, constants=(), approximates=None, **facts)

    def limit(self, fmt: Format, x_bits: int) -> Limit | None:
        """What is stated of f at x; None where `terms` says what it is."""
        if fmt.is_nan(x_bits):
            return "nan"
        if not fmt.is_finite(x_bits):
            return self.at_minus_infinity if fmt.is_negative(x_bits) else self.at_plus_infinity
        if not self.is_defined(fmt, x_bits):
            return "nan"
        return self.stated_at(fmt.fraction(x_bits)) if self.at or fmt.magnitude(x_bits) == 0 else None

    def stated_at(self, x: Fraction) -> Limit | None:
        """The same at a finite number in the domain."""
        return self._stated.get(x)

    def may_be_nan(self, fmt: Format, x_bits: int) -> bool:
        """Whether NaN at this infinity is a convention."""
        return not fmt.is_nan(x_bits) and ("-inf" if fmt.is_negative(x_bits) else "inf") in self.nan_at

    def limit_bits(self, fmt: Format, x_bits: int, mode: Mode = "nearest") -> int:
        """Bits required where `is_stated` (policy `limit`)."""
        limit = self.limit(fmt, x_bits)
        assert limit is not None
        if limit in ("x", "-x"):
            return x_bits if limit == "x" else x_bits ^ fmt.sign_mask
        return bits_of(limit, fmt, mode)

    def others_at(self, fmt: Format, x_bits: int) -> tuple[Limit, ...]:
        """What is as right as f(x) (`also`)."""
        if not self.also or not fmt.is_finite(x_bits):
            return ()
        x = fmt.fraction(x_bits)
        return tuple(limit for text, limits in self.also.items() if Fraction(text) == x for limit in limits)

    def jumps(self, fmt: Format) -> list[int]:
        """Bits of the inputs at which there is more than one right result."""
        found = {fmt.round(Fraction(text)) | sign for text in self.also for sign in (0, fmt.sign_mask)}
        return [bits for bits in found if self.others_at(fmt, bits)]

    def is_due(self, fmt: Format, x_bits: int, got_bits: int) -> bool:
        """Whether an output, which is no NaN, is what is stated at x, or another result that is as right."""
        due = [self.limit_bits(fmt, x_bits), *(bits_of(limit, fmt) for limit in self.others_at(fmt, x_bits))]
        is_zero = self.either_zero and fmt.magnitude(got_bits) == 0
        return got_bits in due or (is_zero and any(fmt.magnitude(bits) == 0 for bits in due))

    def bounds_at_zero(self, bits: int) -> tuple[Fraction, Fraction]:
        """Exact bounds of f(0), narrower than 2^-bits relative to it; equal where it is a decimal."""
        return bounds_of("0" if self.at_zero in ("x", "-x") else self.at_zero, bits)


def parameterized(make: Callable[[Values], Function], *parameters: Parameter) -> Function:
    """The function that `make` makes of the default values of all parameters, and of others where they are given."""
    entry = make({parameter.name: parameter.default for parameter in parameters})
    return replace(entry, parameters=parameters, with_values=make)
