"""The first sentence about a result that got worse: what, where, how many times, and the probable cause.

`gate`, `compare` and `run` with limits begin with it on a terminal, in JUnit, SARIF, annotations and summaries.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ..functions.regions import region_of
from ..records.numbers import ulp_text
from ..records.parts import FindingRecord
from ..records.result import Record
from .rules import RULES, SMALL
from .sides import Change, ChangeWitness

CAUSES = (  # checks whose finding explains errors, the most exact explanation first
    *("constants", "variant", "gradient_variant", "incoming_gradient", "precision", "lane", "lengths", "tail_zero"),
    "rounding",
)
_OF_ONE_PART = ("tail_zero",)  # explains errors of the part of x that its input is in, and no others
FIRST = ("minus_infinity", "plus_infinity", "nan")  # a wrong value there says more than how many times an error grew
_LISTED = 3  # intervals
_Limit = Callable[[Change], tuple[float | None, str]]
"""The number that an error of a change may have, or had, and how that is said: "budget 0.52"."""


def leading(changes: Sequence[Change]) -> Change | None:
    """The change that says most: a failure, NaN, a wrong value at an infinity, or the error that grew most times."""
    clear = [each for each in changes if not each.is_small] or changes
    first = (
        each for each in clear if each.what in ("failure", "nonfinite") or (each.what, each.where) in _SPECIAL_CHECKS
    )
    errors = [
        each for what in ("region", "interval", "max_ulp") for each in clear if each.what == what and _is_grown(each)
    ]
    parts = [each for each in errors if each.what != "interval"] or errors
    return next(first, None) or max(parts, key=_times, default=None) or next(iter(clear), None)


_SPECIAL_CHECKS = {("check", name) for name in FIRST}


def sentence(changes: Sequence[Change], record: Record, had: str, limit: _Limit, text: Callable[[Change], str]) -> str:
    """Of the changes that are worse.

    Parameters
    ----------
    had : "had", or "may have"
    text : a change that is no larger error
    """
    lead = leading(changes)
    if lead is None:
        return ""
    failing = {each.where for each in changes if each.what == "check"}
    said = error_sentence(lead, record, had, *limit(lead)) if _is_grown(lead) else text(lead)
    return with_cause(said, record, failing, lead)


def error_sentence(change: Change, record: Record, had: str, limit: float | None, limit_text: str) -> str:
    """ "16 times the error it may have in [-5,-3): 8.4 ULP, budget 0.52"."""
    new = change.new_number
    assert new is not None
    place = change.where or _part(record, change.witness)
    grown = f"an error where it {had} none"
    if limit:
        times = new / limit
        grown = (
            f"{ulp_text(times, '>=', 2)} times the error it {had}" if times >= 1.1 else f"more than the error it {had}"
        )
    shown, where = f"{_beyond(new, limit, record.bound)} ULP", f" in {place}" if place else ""
    if change.where is None and had == "had":  # the old error may be of another part
        return f"{grown}: {shown}{where}, {limit_text}"
    return f"{grown}{where}: {shown}, {limit_text}"


def with_cause(said: str, record: Record, failing: Collection[str | None], lead: Change | None = None) -> str:
    """The sentence, and what the checks that fail found as its cause; `lead`: the change that it is about."""
    part = None
    if lead and _is_grown(lead):
        part = lead.where if lead.what == "region" else _part(record, lead.witness)
    found = ((name, record.findings[name]) for name in CAUSES if name in failing and name in record.findings)
    causes = (each.detail for name, each in found if name not in _OF_ONE_PART or part in (None, _part(record, each)))
    cause = next(causes, "")
    return f"{said.removesuffix('.')}; {cause}" if cause and cause not in said else said


def _part(record: Record, shown: ChangeWitness | FindingRecord | None) -> str | None:
    """The region of x that an input is in."""
    return region_of(record.dtype, shown.x_bits) if shown and shown.x_bits else None


def small_losses(changes: Sequence[Change]) -> str:
    """Where a result that is better is worse by little; empty where it is not."""
    places = [each.where or "" for each in changes if each.verdict == "worse"]
    more = f" and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
    return f"worse by less than {SMALL:g} ULP in buckets of {', '.join(places[:_LISTED])}{more}" if places else ""


def _is_grown(change: Change) -> bool:
    """Whether it is of an error in ULP that is known to be larger: an interval may be worse in a bucket alone."""
    measure, old, new = RULES[change.what].measure, change.old_number, change.new_number
    return measure is not None and measure.is_maximum and new is not None and (old is None or not new <= old)


def _times(change: Change) -> float:
    """How many times one error is the other."""
    low, high = sorted((change.old_number or 0.0, change.new_number or 0.0))
    return high / low if low else float("inf")


def _beyond(error: float, limit: float | None, bound: str) -> str:
    """Three digits, or as many more as show that it is beyond the limit."""
    texts = (ulp_text(error, bound, digits) for digits in range(3, 18))
    return next((text for text in texts if limit is None or float(text) > limit), repr(error))
