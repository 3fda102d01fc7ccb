"""What of a result is not as an assertion asks, in words: which limit, the input that shows it, how many others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..buckets.table import HIST_EDGES
from ..formats import get_format, ordinals
from ..functions.regions import REGIONS, region_edges
from ..judge.demands import Demands
from ..measure.budget import OF_ALL_INPUTS
from ..records.accuracy import ACCURATE
from ..records.claims import grade_title, said
from ..records.grades import GRADES, ORDER, graded
from ..records.parts import Witness
from ..records.result import Record, Result
from .text import value_text

LARGEST = {"correctly_rounded": 0.5, "faithful": 1.0, "accurate": ACCURATE}  # error of a result with that grade, in ULP
OF_FORMULA = ("variant", "gradient_variant")  # checks that ask which function it computes
BY_POSITION = ("lane", "lengths")  # checks that find outputs beside those that regions are measured on


@dataclass(frozen=True)
class Unmet:
    """A paragraph, and whether the formula that the target computes may explain it."""

    text: str
    of_formula: bool = True


def unmet(result: Result, limits: Demands) -> Iterator[Unmet]:
    """A failure, failed checks, errors, the grade."""
    record = result.record
    if record.has_failed:
        at = f"\n    {span_text(record.dtype, record.failure_range)}" if record.failure_range else ""
        yield Unmet(f"it failed: {record.failure}{at}", False)
    for fault in record.own_faults or ():
        yield Unmet(f"not known: {fault}", False)
    yield from _failed_checks(result, limits)
    if result.table is None:
        return
    if record.max_ulp is None:
        yield Unmet("no output could be scored: nothing was measured", False)
        return
    yield from map(Unmet, _errors(result, limits))
    if limits.min_grade is not None and not _is_graded(result, limits):
        yield Unmet(_grade(result, record.max_ulp, limits.min_grade))
    elif limits.min_grade in OF_ALL_INPUTS and _is_short_of_all(record):
        share = record.n / 2.0 ** get_format(record.dtype).width
        text = f"{limits.min_grade} speaks of all inputs, and a share of {share:.2g} was tried: ask without budget"
        yield Unmet(text, False)


def _is_short_of_all(record: Record) -> bool:
    """Whether a budget was too small for all inputs; a plan or ranges that were named say which are meant."""
    is_meant = record.ranges is not None or record.plan != "default"
    return record.bound != "=" and not is_meant and get_format(record.dtype).width <= 32


def _failed_checks(result: Result, limits: Demands) -> Iterator[Unmet]:
    """Defects and conventions; of losses those that regions cannot judge, as they measure the calls of the plan."""
    record = result.record
    failed = [(name, record.findings[name]) for name in record.failed_checks if name not in limits.allow]
    for severity in ("defect", "convention", "loss"):
        for name, finding in failed:
            if finding.severity != severity or (severity == "loss" and not (limits.regions and name in BY_POSITION)):
                continue
            other = f"\n    or   {_value(record.dtype, finding.other_bits)}" if finding.other_bits else ""
            shown = f"{witness_lines(record.dtype, finding)}{other}"
            text = f"check {name} fails ({severity}): {finding.detail}{shown}\n    accept it: allow={{{name!r}: 'why'}}"
            yield Unmet(text, name in OF_FORMULA)


def _is_graded(result: Result, limits: Demands) -> bool:
    """Whether the grade is good enough; defects that are allowed count as what the errors say."""
    record = result.record
    allowed = [name for name in record.failed_checks if name in limits.allow]
    accepted = {name: replace(record.findings[name], severity="loss") for name in allowed}
    found = graded(replace(record, findings={**record.findings, **accepted}), result.table).grade
    return found is not None and limits.min_grade is not None and ORDER[found] <= ORDER[limits.min_grade]


def _grade(result: Result, max_ulp: float, asked: str) -> str:
    record, limit = result.record, LARGEST.get(asked)
    now = said(grade_title(record.grade), record.grade_bound)
    found = f"the grade is {now}, worse than {GRADES[asked].title} ({max_ulp:.6g} ULP)"  # type: ignore[index]
    found += witness_lines(record.dtype, record.witness)
    if limit is not None and max_ulp > limit:
        found += f"\n    {_extent(result, limit, [region.name for region in REGIONS])}"
    return found


# ---- errors ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Largest:
    """The largest error of a region, and what shows it; None where no output was scored."""

    n: int
    error: float | None
    witness: Witness | None


def _errors(result: Result, limits: Demands) -> Iterator[str]:
    """Each region that has a limit of its own, then the worst of all others against `max_ulp`."""
    found = _by_region(result)
    for name, limit in limits.regions.items():
        part = found[name]
        if part.error is None:
            what = "could be scored" if part.n else "was measured: the inputs are elsewhere"
            yield f"no output in {name} {what}, so its limit of {limit:g} ULP was not tested"
        elif not part.error <= limit:
            what = f"regions[{name!r}]={limit:g}"
            yield _over(result, part, limit, what, [name])
    if limits.max_ulp is None:
        return
    rest = [name for name in found if name not in limits.regions]
    scored = [found[name] for name in rest if found[name].error is not None]
    worst = max(scored, key=lambda part: part.error or 0.0, default=None)
    if worst is None:
        named = ", ".join(limits.regions)
        yield f"no output outside of {named} was scored, so max_ulp={limits.max_ulp:g} was not tested"
    elif worst.error is not None and not worst.error <= limits.max_ulp:
        yield _over(result, worst, limits.max_ulp, f"max_ulp={limits.max_ulp:g}", rest)


def _by_region(result: Result) -> dict[str, _Largest]:
    """The regions of the record; the largest error of all may come from another call than theirs."""
    record = result.record
    parts = {part.region: _Largest(part.n or 0, part.max_ulp, part.witness) for part in record.regions or ()}
    if record.witness is not None and record.max_ulp is not None:
        place = _region_of(record.dtype, np.array([int(record.witness.x_bits, 16)]))[0]
        name = REGIONS[place].name
        part = parts[name]
        if part.error is None or record.max_ulp > part.error:
            parts[name] = _Largest(part.n, record.max_ulp, record.witness)
    return parts


def _region_of(dtype: str, x_bits: np.ndarray) -> np.ndarray:
    """Index in REGIONS of each finite input."""
    fmt = get_format(dtype)
    place = np.searchsorted(region_edges(dtype), ordinals(fmt, x_bits.astype(fmt.uint)), side="right") - 1
    return np.asarray(place)


def _over(result: Result, part: _Largest, limit: float, what: str, names: list[str]) -> str:
    assert part.error is not None
    where = f" in {names[0]}" if len(names) == 1 else ""
    return (
        f"{_digits(part.error, limit)} ULP{where}, more than {what}{witness_lines(result.record.dtype, part.witness)}"
        f"\n    {_extent(result, limit, names)}"
    )


def _digits(error: float, limit: float) -> str:
    """Six digits, or more where these would not show that it is more than the limit."""
    short = f"{error:.6g}"
    return short if float(short) > limit else repr(error)


def _extent(result: Result, limit: float, names: list[str]) -> str:
    """At how many inputs of these regions the error is larger, and from where to where."""
    table, dtype = result.table, result.record.dtype
    assert table is not None
    columns, fmt = table.columns, table.fmt
    error = columns["max_error"]
    finite = ~np.isnan(error)
    inside = np.zeros(len(error), bool)
    chosen = [index for index, region in enumerate(REGIONS) if region.name in names]
    inside[finite] = np.isin(_region_of(dtype, columns["max_error_x"][finite]), chosen)
    rows = np.flatnonzero(inside & (error > limit))
    if not len(rows):
        return "only in another call than those of the plan: see check lane"
    edge = int(np.searchsorted(HIST_EDGES, limit))  # errors in the bins above are larger for certain
    certain = int(table.hist[edge + 1 :, inside].sum(dtype=np.int64))
    count, total = max(certain, len(rows)), int(columns["n"][inside].sum(dtype=np.int64))
    exact = fmt.width <= 16 or HIST_EDGES[edge] == limit  # a bucket of 16 bits is one input
    at = f"{'' if exact else 'at least '}{count:,} of {total:,} inputs"
    ends = [value_text(dtype, fmt.bits_text(int(columns["max_error_x"][row]))) for row in (rows[0], rows[-1])]
    where = f"x = {ends[0]}" if len(rows) == 1 else f"x from {ends[0]} to {ends[1]}"
    return f"above {limit:g} ULP: {at}, {where}"


# ---- values ----------------------------------------------------------------------------------------


def witness_lines(dtype: str, holder: Any) -> str:
    """x, got and want of what has bits of them, a line each: bits, hex float, decimal."""
    names = [name for name in ("x", "got", "want") if getattr(holder, f"{name}_bits", None)]
    return "".join(f"\n    {name:4s} {_value(dtype, getattr(holder, f'{name}_bits'))}" for name in names)


def _value(dtype: str, bits: str) -> str:
    return f"{bits}  {get_format(dtype).hex_float(int(bits, 16))}  ({value_text(dtype, bits)})"


def span_text(dtype: str, span: str) -> str:
    """A range of bits with its ends as numbers, a line each."""
    ends = dict.fromkeys(span.split(":"))
    return "\n    ".join(f"{name:4s} {_value(dtype, bits)}" for name, bits in zip(("x", "to"), ends, strict=False))
