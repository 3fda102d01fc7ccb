"""An auditor: every clause of a sentence, read again, and held against all outputs of the implementation.

What a clause says of all inputs is asked of all inputs that the result stands on: every one, or those that were tried,
where the clause says of how many. What it says of one x is asked of the outputs that were seen for that x.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from outputs import Outputs, errors

from gelu_verify.formats import buckets, from_ordinals, ordinals, to_float64
from gelu_verify.functions import get_function
from gelu_verify.inputs.plans import make_plan
from gelu_verify.records.result import Record
from gelu_verify.truth.values import reference_bits

NUMBER = r"(-?(?:[0-9.]+(?:e[+-]?\d+)?|inf))"
COUNT = r"([0-9][0-9,]*)"
INTERVAL = rf"(every finite x|(?:{NUMBER} <= )?x(?: (<=|>=) {NUMBER})?)"
AMONG = rf"(?: of {COUNT} tried)?"
SIZE = rf"(up to|at least) {NUMBER}"
ALONE = "(?:, which stands out)?"
LOST = "((?: but for| and|,) subnormal numbers(?: and results up to [0-9.]+e-[0-9]+)?)?"
SLACK = 2.0**-12  # ULP: how well an error is known here
ARRAYS = ("x", "got", "y", "error")  # of Outputs
FEW = 1 << 22  # inputs whose outputs are asked for again

Claim = Callable[..., None]
CLAIMS: list[tuple[re.Pattern[str], Claim]] = []


def claim(pattern: str) -> Callable[[Claim], Claim]:
    """What a clause of that form says; it raises AssertionError where that is false."""

    def add(function: Claim) -> Claim:
        CLAIMS.append((re.compile(pattern), function))
        return function

    return add


@dataclass
class Audit:
    """A record, and all outputs; `also(x)`: outputs for x in other calls (bits), where they differ."""

    record: Record
    outputs: Outputs
    answer: Callable[[np.ndarray], np.ndarray]
    also: Callable[[int], list[int]] = field(default=lambda x_bits: [])

    def __post_init__(self) -> None:
        self.fmt, self.function = self.outputs.fmt, get_function(self.record.function)

    # ---- inputs that were tried ----

    @cached_property
    def plan(self) -> tuple[np.ndarray, np.ndarray]:
        """(buckets that were tried whole, other ordinals), both ascending."""
        record = self.record
        if record.bound == "=":
            return np.arange(1 << 16), np.empty(0, np.int64)
        plan = make_plan(record.plan, record.function, record.dtype, record.seed)
        own = np.concatenate([ordinals(self.fmt, chunk.x_bits()) for chunk in plan.chunks])
        ends = [
            buckets(self.fmt, np.array([int(bits, 16) for bits in text.split(":")], self.fmt.uint)).tolist()
            for text in (record.coverage and record.coverage.whole) or ()
        ]
        whole = np.concatenate([np.arange(first, last + 1) for first, last in ends] or [np.empty(0, np.int64)])
        return whole, own[~np.isin((own >> (self.fmt.width - 16)) + 0x8000, whole)]

    @cached_property
    def n(self) -> int:
        """How many they are."""
        whole, own = self.plan
        return len(whole) * (1 << max(self.fmt.width - 16, 0)) + len(own)

    def is_tried(self, x: np.ndarray) -> np.ndarray:
        whole, own = self.plan
        return np.asarray(np.isin(buckets(self.fmt, x), whole) | np.isin(ordinals(self.fmt, x), own))

    def among(self, count: str | None) -> None:
        """Said of so many tried; of all only where all were tried."""
        assert count is not None or self.record.bound == "=", "of all inputs, after a sample"
        assert count is None or _count(count) == self.n == self.record.n

    def count(self, rows: np.ndarray, said: str, others: np.ndarray | None = None) -> None:
        """So many are said to be of a kind: `rows`, in which those of other calls may count or not; `others`: which
        are so as well as it is known here."""
        least = int((rows & ~self.is_beside).sum())
        most = int((rows if others is None else others).sum())
        assert least <= _count(said) <= most, f"{least} to {most}, such as {self.values[rows][:3]}"

    # ---- outputs ----

    @cached_property
    def is_beside(self) -> np.ndarray:
        """Rows of inputs that the record has another call of."""
        return np.isin(self.tried.x, [int(each.x_bits, 16) for each in self.record.beside or ()])

    @cached_property
    def tried(self) -> Outputs:
        """Of the kept outputs, those that were tried, and the record's own of other calls: of each input the worst."""
        out = self.outputs
        beside = [(int(each.x_bits, 16), int(each.got_bits, 16)) for each in self.record.beside or ()]
        x, got = np.array(beside, self.fmt.uint).reshape(-1, 2).T
        also = Outputs.of(out.function, out.fmt.name, x, got)
        rows = np.flatnonzero(self.is_tried(out.x))
        arrays = [np.concatenate([getattr(out, name)[rows], getattr(also, name)]) for name in ARRAYS]
        order = np.lexsort((-arrays[3], ordinals(self.fmt, arrays[0])))
        first = order[np.unique(arrays[0][order], return_index=True)[1]]
        return replace(out, **{name: each[first] for name, each in zip(ARRAYS, arrays, strict=True)})

    @cached_property
    def others(self) -> Outputs | None:
        """With the outputs that are not kept: all, or those that were tried; None where these are too many."""
        if self.record.bound == "=":
            return self.outputs
        if self.n > FEW:
            return None
        whole, own = self.plan
        count = 1 << max(self.fmt.width - 16, 0)
        inputs = ((whole[:, None] - 0x8000) * count + np.arange(count)).ravel()
        x = from_ordinals(self.fmt, np.concatenate([own, inputs]))
        return Outputs.of(self.outputs.function, self.fmt.name, x, self.answer(x))

    @property
    def rest(self) -> float:
        """The largest error of what is not kept."""
        return self.others.rest if self.others else 0.0

    @property
    def is_correct(self) -> bool:
        return self.others is None or self.others.is_correct

    @cached_property
    def values(self) -> np.ndarray:
        return to_float64(self.fmt, self.tried.x)

    @cached_property
    def got(self) -> np.ndarray:
        return to_float64(self.fmt, self.tried.got)

    @cached_property
    def misfits(self) -> np.ndarray:
        """Rows that are NaN or infinite where they should not be, or the contrary."""
        return np.isinf(self.tried.error)

    @cached_property
    def scored(self) -> np.ndarray:
        """Finite errors, near a root in ulps of 1/8."""
        return np.where(self.misfits, 0.0, self.tried.error) * self.near_root(self.values, self.tried.y)

    @cached_property
    def counted(self) -> np.ndarray:
        """The same without subnormal numbers that are no better than flushed."""
        return np.where(self.is_lost, 0.0, self.scored)

    def near_root(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        root = float(self.function.landmarks.get("root", "nan"))
        unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(y), 1e-300))) + 3)
        return np.where(np.abs(x - root) <= abs(root) / 2 * 1.02, np.minimum(unit, 1.0), 1.0)

    @cached_property
    def is_lost(self) -> np.ndarray:
        """Subnormal inputs or results, and what is said to be beside them, whose error is at most that of a zero."""
        x, y, least = np.abs(self.values), np.abs(self.tried.y), 2.0**self.fmt.emin
        beside = re.search("subnormal numbers and results up to ([0-9.]+e-[0-9]+)", self.record.sentence or "")
        largest = float(beside[1]) if beside else least
        assert largest < 16 * least, "more than subnormal numbers and a bucket"
        size = y / 2.0 ** (np.floor(np.log2(np.maximum(y, least))) - self.fmt.precision + 1)
        small = (y <= largest) | ((x < least) & self.function.is_zero_at_zero)
        return small & (self.tried.error <= np.ceil(size * (1 + 2.0**-7)) + 0.5)

    @cached_property
    def is_early_zero(self) -> np.ndarray:
        return (self.got == 0) & (self.tried.y != 0) & (self.values <= -1)

    def bits(self, text: str) -> int:
        """Of an input that is named."""
        return self.fmt.parse(text)

    def answers(self, x_bits: int) -> np.ndarray:
        """Every output (bits) that was seen for an input: alone, among others, and of the record's own other calls."""
        x = np.array([x_bits], self.fmt.uint)
        found = {int(each) for n in (1, 67) for each in self.answer(np.resize(x, n))} | {*self.also(x_bits)}
        found |= {int(each.got_bits, 16) for each in self.record.beside or () if int(each.x_bits, 16) == x_bits}
        return np.array(sorted(found), self.fmt.uint)

    def seen(self, text: str) -> list[tuple[float, float, float]]:
        """(got, exact value, error) of every output that was seen for that x."""
        x = np.array([self.bits(text)], self.fmt.uint)
        got = self.answers(int(x[0]))
        y, error = errors(self.outputs.function, self.fmt, np.repeat(x, len(got)), got)
        return list(zip(to_float64(self.fmt, got).tolist(), y.tolist(), error.tolist(), strict=True))

    def error_at(self, text: str) -> float:
        """The largest error that was seen at that x."""
        return max(error for _, _, error in self.seen(text))

    def value(self, text: str) -> float:
        """Of an input that is named."""
        return float(self.fmt.fraction(self.bits(text)))

    def inside(self, low: float | None, relation: str | None, high: float | None) -> np.ndarray:
        """Which of the kept outputs lie in an interval as sentences have them."""
        found = np.ones(len(self.values), bool)
        if low is not None:
            found &= self.values >= low
        if relation and high is not None:
            found &= (self.values <= high) if relation == "<=" else (self.values >= high)
        return found

    # ---- the audit ----

    def false(self) -> Iterator[str]:
        """Clauses that are false, or that cannot be read, and why."""
        for clause in (self.record.sentence or "").removesuffix(".").split("; "):
            match, check = next(((m, f) for p, f in CLAIMS if (m := p.fullmatch(clause))), (None, None))
            if match is None or check is None:
                yield f"{clause!r} cannot be read"
                continue
            try:
                check(self, *match.groups())
            except AssertionError as error:
                yield f"{clause!r} is false: {error}"

    @property
    def clauses(self) -> int:
        return len((self.record.sentence or "").split("; "))


def _count(text: str) -> int:
    return int(text.replace(",", ""))


# ---- accuracy ------------------------------------------------------------------------------------


@claim(
    rf"within {NUMBER} ULP at every (other )?finite input{AMONG}{LOST}"
    rf"(, near its root in ULP of 1/8)?, the largest (?:{NUMBER} )?at x = {NUMBER}{ALONE}"
)
def within(audit: Audit, limit: str, other: str, count: str, lost: str, root: str, largest: str, x: str) -> None:
    audit.among(count)
    error = np.where(audit.misfits, 0.0, audit.tried.error)
    if lost:
        error = np.where(audit.is_lost, 0.0, error)
    if root:
        error = error * audit.near_root(audit.values, audit.tried.y)
    assert error.max(initial=0.0) <= float(limit) + SLACK, f"{error.max():.6g} ULP"
    rest = audit.rest
    assert rest <= float(limit) + SLACK, f"{rest:.6g} ULP"
    seen = audit.seen(x)
    scale = float(audit.near_root(np.array([float(x)]), np.array([seen[0][1]]))[0]) if root else 1.0
    at = max(each for _, _, each in seen) * scale
    assert at <= float(limit) + SLACK, f"{at} there"
    assert largest is None or at >= float(largest) - SLACK, f"{at} there"
    largest_of_all = max(rest, error.max(initial=0.0))
    assert root or audit.record.bound != "=" or at >= largest_of_all - SLACK, f"{at} is not the largest"
    assert bool(other) == audit.misfits.any()


@claim(
    rf"correctly rounded at every finite input{AMONG}, but for the sign of {COUNT} zeros? "
    rf"\((-?0) instead of (-?0) at x = {NUMBER}\)"
)
def correct_but_signs(audit: Audit, count: str, signs: str, got: str, want: str, x: str) -> None:
    audit.among(count)
    assert not len(audit.tried.error)
    assert audit.is_correct
    assert audit.record.bound != "=" or audit.outputs.signs == _count(signs), f"{audit.outputs.signs}"
    bits = np.array([audit.bits(x)], audit.fmt.uint)
    assert int(audit.answer(bits)[0]) == audit.fmt.parse(got)
    assert int(reference_bits(audit.record.function, audit.fmt.name, bits)[0]) == audit.fmt.parse(want)


@claim(rf"correctly rounded at every (other )?finite input{AMONG}{LOST}")
def correct(audit: Audit, other: str, count: str, lost: str) -> None:
    audit.among(count)
    bad = audit.tried.error[~(audit.misfits & bool(other))]
    assert not len(bad), f"{len(bad)} are not"
    assert other or audit.is_correct


@claim(
    rf"within 4 ULP for {INTERVAL}{AMONG}(?:, but for {COUNT} inputs?(?: \({SIZE} ULP at x = {NUMBER}{ALONE}\))?)?"
    rf"{LOST}"
)
def on_a_range(audit: Audit, interval: str, low: str, relation: str, high: str, count: str, exceptions: str,
               bound: str, worst: str, x: str, lost: str) -> None:  # fmt: skip
    found = audit.record.accurate_range
    if count is None:  # then all of the interval were tried
        whole, _ = audit.plan
        ends = [np.array([int(bits, 16)], audit.fmt.uint) for bits in (found.low_bits, found.high_bits)]
        first, last = (int(buckets(audit.fmt, end)[0]) for end in ends)
        assert np.isin(np.arange(first, last + 1), whole).all() or audit.fmt.width < 16, "not all tried"
    else:
        audit.among(count)
    here = audit.inside(low and audit.value(low), relation, high and audit.value(high))
    assert not (here & audit.misfits).any()
    above, near = here & (audit.counted > 4 + SLACK), here & ((audit.scored if lost else audit.counted) > 4 - SLACK)
    audit.count(above, exceptions or "0", near)
    if x:
        error = audit.error_at(x)
        largest = audit.tried.error[above].max()
        assert (error >= float(worst) - SLACK) if bound == "at least" else (largest <= float(worst) + SLACK)
        assert error >= largest * (1 - 2.0**-12), f"{error}, not {largest}"


@claim(rf"of {COUNT} bits {NUMBER} are right on average for x ~ N\(0,1\)")
def mean_bits(audit: Audit, precision: str, bits: str) -> None:
    assert int(precision) == audit.fmt.precision
    right = audit.outputs.mean_bits()
    assert abs(right - float(bits)) < 0.6, f"{right:.2f}"


@claim(rf"absolute error {SIZE} \(at x = {NUMBER}\) for \|x\| <= 8")
def absolute(audit: Audit, bound: str, size: str, x: str) -> None:
    got, y, _ = max(audit.seen(x), key=lambda each: each[2])
    away = abs(got - y)
    body = (np.abs(audit.values) <= 8) & (audit.counted > 0)
    largest = np.abs(audit.got - audit.tried.y)[body].max(initial=0.0)
    if bound == "up to":
        assert audit.record.bound == "="
        assert largest <= float(size) * (1 + 1e-9), f"{largest}"
    else:
        assert audit.record.bound != "=", "at least, where all inputs were tried"
        assert away >= float(size) * (1 - 1e-9), f"{away} there"


@claim(rf"absolute error {NUMBER}(, zero)? at x = {NUMBER} \({SIZE} ULP( of 1, {NUMBER} of y)?{ALONE}\)")
def coarse(audit: Audit, size: str, zero: str, x: str, bound: str, units: str, of_1: str, of_y: str) -> None:
    got, y, error = max(audit.seen(x), key=lambda each: each[2])
    assert bool(of_1) == (abs(y) < 1)
    assert not zero or got == 0
    sign = 1 if bound == "at least" else -1
    assert of_y is None or abs(float(of_y) - error) <= error * 0.06
    assert of_y is None or sign * error >= sign * float(of_y) * (1 - sign * 1e-9)
    if bound == "up to":
        away = np.where(audit.misfits | audit.is_lost, 0.0, np.abs(audit.got - audit.tried.y))
        largest = (away / 2.0 ** np.maximum(np.floor(np.log2(np.maximum(np.abs(audit.tried.y), 1.0))), 0)).max()
        assert largest * 2.0 ** (audit.fmt.precision - 1) <= float(units) * (1 + 1e-9), f"{largest}"
    unit = 2.0 ** (min(max(np.floor(np.log2(abs(y) or 1)), 0), audit.fmt.emax) - audit.fmt.precision + 1)
    assert sign * abs(got - y) >= sign * float(size) * (1 - sign * 1e-9), f"{abs(got - y)} there"
    assert sign * abs(got - y) / unit >= sign * float(units) * (1 - sign * 1e-9), f"{abs(got - y) / unit} units"
    assert abs(got - y) / unit > 8


@claim(rf"above 4 ULP as near to zero as at x = {NUMBER}")
def first_above(audit: Audit, x: str) -> None:
    assert audit.error_at(x) > 4
    nearer = (audit.counted > 4 + SLACK) & (np.abs(audit.values) < abs(float(x)) * (1 - 2.0**-6))
    assert audit.record.bound != "=" or not nearer.any(), f"also at {audit.values[nearer][0]}"


@claim(rf"(outside it )?{SIZE} ULP \((zero )?at x = {NUMBER}{ALONE}\)")
def worst(audit: Audit, outside: str, bound: str, size: str, zero: str, x: str) -> None:
    error = audit.error_at(x)
    counted = ~audit.misfits & ~audit.is_lost
    if outside:
        found = audit.record.accurate_range
        counted &= ~audit.inside(found.low, "<=", found.high)
    largest = np.where(counted, audit.tried.error, 0).max(initial=0.0)
    assert bound == ("up to" if audit.record.bound == "=" else "at least")
    if bound == "up to":
        assert min(largest, 1e300) <= float(size) * (1 + 1e-9), f"{largest}"
    assert error >= float(size) * 0.99, f"{error} there"
    assert error >= largest * 0.9999 or audit.record.bound != "=", f"{largest} elsewhere"
    assert not zero or any(got == 0 for got, _, _ in audit.seen(x))


@claim(
    rf"returns 0 (?:at x = {NUMBER}|at {COUNT} x( tried)? from {NUMBER} down|for {NUMBER} <= x <= {NUMBER}"
    rf"(?: and at x = {NUMBER})?|at all {COUNT} x tried from {NUMBER} to {NUMBER}(?: and at x = {NUMBER})?), "
    rf"where the true value is not 0(?: \({SIZE} ULP at x = {NUMBER}\))?"
)
def zeros(audit: Audit, one: str, some: str, among: str, nearest: str, last: str, first: str, also: str,
          all_tried: str, tried_first: str, tried_last: str, tried_also: str, bound: str, size: str,
          at: str) -> None:  # fmt: skip
    tail = audit.is_early_zero & (audit.values <= (audit.value(nearest) if nearest else -1))
    for x in (one, nearest, last, first, also, tried_first, tried_last, tried_also):
        assert x is None or any(got == 0 != y for got, y, _ in audit.seen(x)), f"not at {x}"
    if one:
        assert tail.sum() <= 1, f"at {tail.sum()} x"
    if some:
        assert (among is not None) == (audit.record.bound != "="), "a count of a sample"
        audit.count(tail, some)
        assert not audit.misfits[tail].any()
    if last:
        expected = _between(audit, last, first)
        lost = (audit.got == 0) & (audit.tried.y != 0) & audit.inside(audit.value(last), "<=", audit.value(first))
        assert lost.sum() == expected, f"{lost.sum()} of {expected}"
    if all_tried:
        span = audit.inside(audit.value(tried_last), "<=", audit.value(tried_first))
        audit.count(tail & span, all_tried)
    if at:
        error = audit.error_at(at)
        assert error >= float(size) * 0.99, f"{error} there"


def _between(audit: Audit, low: str, high: str) -> int:
    first, last = (audit.fmt.ordinal(audit.bits(text)) for text in (low, high))
    return last - first + 1


@claim(rf"subnormal numbers are lost at every (?:other )?finite input{AMONG}{LOST}")
def all_lost(audit: Audit, count: str, lost: str) -> None:
    audit.among(count)


# ---- what is not finite, and what has no correct bit ----------------------------------------------


@claim(f"(NaN|infinite) at x = {NUMBER}")
def one_nonfinite(audit: Audit, what: str, x: str) -> None:
    got = [each for each, y, _ in audit.seen(x) if not np.isfinite(each) and np.isfinite(y)]
    assert any(np.isnan(each) == (what == "NaN") for each in got)
    assert audit.misfits.sum() <= 1, f"at {audit.misfits.sum()} inputs"


@claim(rf"NaN or infinite at {COUNT} finite inputs( tried)?, the smallest in size x = {NUMBER}")
def some_nonfinite(audit: Audit, count: str, among: str, x: str) -> None:
    assert (among is not None) == (audit.record.bound != "="), "a count of a sample"
    audit.count(audit.misfits, count)
    assert any(not np.isfinite(got) for got, _, _ in audit.seen(x))
    assert np.abs(audit.values[audit.misfits]).min(initial=np.inf) >= abs(audit.value(x))


@claim(
    rf"(NaN or infinite|.* instead of .*) for (all {COUNT} tried of )?x (<=|>=) {NUMBER}"
    rf"(?: \((NaN|infinite) at x = {NUMBER}\))?(?:, the first at x = {NUMBER})?"
)
def all_nonfinite(audit: Audit, what: str, tried: str, count: str, relation: str, end: str, at: str, x: str,
                  first: str) -> None:  # fmt: skip
    side = audit.inside(None, relation, audit.value(end))
    assert audit.misfits[side].all()
    all_there = audit.fmt.infinity - audit.fmt.magnitude(audit.bits(end))
    if tried:
        audit.count(side, count)
    else:
        assert side.sum() == all_there, f"{side.sum()} of {all_there}"
    for named in (x, first):
        assert named is None or any(error == np.inf for _, _, error in audit.seen(named))
    assert at is None or any(np.isnan(got) == (at == "NaN") for got, _, _ in audit.seen(x))


@claim(
    rf"(?:a number|{NUMBER}) instead of (?:NaN|nan|{NUMBER}) at x = {NUMBER}, the smallest in size of {COUNT} finite "
    "inputs( tried)? of such a kind"
)
def other_kinds(audit: Audit, got: str, want: str, x: str, count: str, tried: str) -> None:
    assert (tried is not None) == (audit.record.bound != "="), "a count of a sample"
    audit.count(audit.misfits, count)
    assert any(error == np.inf for _, _, error in audit.seen(x))
    assert np.abs(audit.values[audit.misfits]).min(initial=np.inf) >= abs(audit.value(x))


@claim(rf"(?:a number|{NUMBER}) instead of (?:nan|NaN|{NUMBER}) at x = {NUMBER}(?: \(.*\))?")
def instead(audit: Audit, got: str, want: str, x: str) -> None:
    seen = audit.seen(x)
    right = np.array(reference_bits(audit.record.function, audit.fmt.name, np.array([audit.bits(x)], audit.fmt.uint)))
    due = float(to_float64(audit.fmt, right)[0])
    assert any(_reads(value, got) and (_reads(y, want) or _reads(due, want)) for value, y, _ in seen), f"{seen}"


def _reads(value: float, text: str | None) -> bool:
    """Whether a number of the dtype, or the exact value beside it, reads as that: to three digits, or more."""
    return text is None or bool(value == float(text) or abs(value - float(text)) <= 0.006 * abs(float(text)))


@claim(rf"(NaN|infinite|{NUMBER}) at ([-+]inf)")
def at_infinity(audit: Audit, what: str, number: str, where: str) -> None:
    fmt = audit.fmt
    values = to_float64(fmt, audit.answers(fmt.infinity | (fmt.sign_mask if where[0] == "-" else 0)))
    assert any(
        np.isnan(value) if what == "NaN" else np.isinf(value) if what == "infinite" else _reads(value, number)
        for value in values.tolist()
    ), f"{values}"


@claim("NaN gives a number")
def of_nan(audit: Audit) -> None:
    x = int((audit.record.findings["nan"].x_bits or "0"), 16)
    assert audit.fmt.is_nan(x)
    assert not np.isnan(to_float64(audit.fmt, audit.answer(np.array([x], audit.fmt.uint)))[0])


@claim(rf"wrong sign at x = {NUMBER}")
def sign(audit: Audit, x: str) -> None:
    assert any(np.sign(got) == -np.sign(y) or (np.signbit(got) != np.signbit(y)) for got, y, _ in audit.seen(x))


# ---- how it computes: the checks have mutants of their own ----------------------------------------


@claim(r"(?:depends|rounds|computes|results|equal calls|called in place|inputs are|.*incoming gradient).*")
def manner(audit: Audit) -> None:
    pass
