"""Two results whose budgets reached different buckets: what each says of the inputs that both tried.

A budget of seconds tries more inputs than those of the plan, how many depends on the speed of the machine. Where plan
and seed are the same, so are the plan's own inputs, which are derived here again; so two buckets of as many inputs hold
the same ones where both are whole, or hold the plan's own. Records of these alone are derived from their rows, so that
nothing else counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..buckets.table import bucket_inputs
from ..checks import CHECKS
from ..formats import buckets, get_format
from ..functions import get_function
from ..functions.regions import INTERVALS, interval_edges
from ..inputs.plans import Plan, make_plan
from ..inputs.widened import chunks_of, widened
from ..judge.rules import KNOWN_TO, RELATIVE, RuleVerdict
from ..judge.sides import Change, ChangeWitness
from ..records.claims import grade_text
from ..records.grades import graded
from ..records.measures import measured
from ..records.result import Record
from ..runs.bucket_files import read_columns
from ..runs.integrity import COUNTED, table_of
from ..runs.store import Run
from .comparison import BothTried

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class TriedByBoth:
    """Both results on the inputs that both tried, the numbers of their buckets, and how many these are."""

    old: Record
    new: Record
    buckets: np.ndarray
    share: BothTried
    certain: tuple[Change, ...]
    """What is certain of other buckets: an input that both tried has a larger error than the other has in all of it."""


def tried_by_both(old: tuple[Run, int], new: tuple[Run, int]) -> TriedByBoth | None:
    """None where budgets are not what makes their inputs different, or a run did not keep its buckets."""
    records = [run.results[index] for run, index in (old, new)]
    if not _have_one_plan(*records) or any("recorded" in run.manifest for run, _ in (old, new)):
        return None
    sides = [read_columns(run.buckets(index)) for run, index in (old, new)]
    rows = _common(records, sides)
    if not len(rows[0]):
        return None
    first, second = ({name: column[at] for name, column in side.items()} for side, at in zip(sides, rows, strict=True))
    _without_other_neighbours(first, second)
    same_checks = _with_checks_of_both(records[0], records[1], first, second)
    a, b = _of_rows(records[0], first, sides), _of_rows(same_checks, second, sides)
    share = BothTried(
        inputs=int(first["n"].sum(dtype=np.int64)),
        buckets=len(first["bucket"]),
        of=len(np.union1d(*(side["bucket"] for side in sides))),
        outside=_outside(records, [a, b]),
    )
    return TriedByBoth(a, b, first["bucket"], share, tuple(_certain(records, sides)))


def _have_one_plan(old: Record, new: Record) -> bool:
    """Whether both took more inputs, or might have, than those of one plan."""
    named = all(getattr(old, name) == getattr(new, name) for name in ("function", "dtype", "plan", "seed"))
    usable = all(
        each.coverage is not None and each.buckets is not None and each.failure is None and not each.ranges
        for each in (old, new)
    )
    more = any(each.coverage is not None and each.coverage.buckets for each in (old, new))
    return named and usable and more and get_format(old.dtype).width > 16


# ---- which buckets ---------------------------------------------------------------------------------


def _common(records: list[Record], sides: list[dict[str, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of either side whose buckets have the same inputs."""
    function, fmt, seed = records[0].function, get_format(records[0].dtype), records[0].seed
    bucket, left, right = np.intersect1d(
        sides[0]["bucket"], sides[1]["bucket"], assume_unique=True, return_indices=True
    )
    n = sides[0]["n"][left]
    same = n == bucket_inputs(fmt)
    if all(_has_own_inputs(*each) for each in zip(records, sides, strict=True)):
        same |= n == _own_counts(records[0].plan, function, fmt.name, seed)[bucket]
    same &= n == sides[1]["n"][right]
    return left[same], right[same]


@cache
def _plan(plan: str, function: str, dtype: str, seed: int) -> Plan:
    return make_plan(plan, function, dtype, seed)


@cache
def _own(plan: str, function: str, dtype: str, seed: int) -> np.ndarray:
    """The plan's own inputs as bits, ascending."""
    return np.sort(np.concatenate([chunk.x_bits() for chunk in _plan(plan, function, dtype, seed).chunks]))


@cache
def _own_counts(plan: str, function: str, dtype: str, seed: int) -> np.ndarray:
    """How many of them lie in each bucket."""
    return np.bincount(buckets(get_format(dtype), _own(plan, function, dtype, seed)), minlength=1 << 16)


def _has_own_inputs(record: Record, columns: Columns) -> bool:
    """Whether the plan's own inputs are those of this version: by their digest, with those of the whole buckets.

    Inputs that were drawn in float64 cannot be derived again: there, every bucket has as many as the plan gives it, or
    more, and the worst of those with as many is one of the plan's.
    """
    named = record.plan, record.function, record.dtype, record.seed
    plan, coverage, fmt = _plan(*named), record.coverage, get_format(record.dtype)
    if coverage is None or not coverage.buckets:
        return record.inputs_sha256 == plan.inputs_sha256
    if fmt.width <= 32:
        whole = columns["bucket"][columns["n"] == bucket_inputs(fmt)].astype(np.int64).tolist()
        return record.inputs_sha256 == widened(plan, chunks_of(plan, whole), coverage.buckets).inputs_sha256
    own, inputs = _own_counts(*named)[columns["bucket"]], _own(*named)
    as_many = (columns["n"] == own) & ~np.isnan(columns["max_error"])
    return bool((columns["n"] >= own).all() and np.isin(columns["max_error_x"][as_many], inputs).all())


def _without_other_neighbours(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> None:
    """Where all outputs of a bucket are the same, it rises as often: the first input has another neighbour tried."""
    same = first["bits_hash"] == second["bits_hash"]
    least = same & (first["rises"] < second["rises"])
    for side, other, which in ((second, first, least), (first, second, same & (second["rises"] < first["rises"]))):
        for name in ("rises", "rises_x"):
            side[name] = np.where(which, other[name], side[name])


# ---- other buckets ---------------------------------------------------------------------------------


def _certain(records: list[Record], sides: list[dict[str, np.ndarray]]) -> Iterator[Change]:
    """Where one tried more of a bucket: the largest change of either verdict that its worst input shows."""
    if not all(_has_own_inputs(*each) for each in zip(records, sides, strict=True)):
        return
    fmt, named = get_format(records[0].dtype), (records[0].plan, records[0].function, records[0].dtype, records[0].seed)
    bucket, *rows = np.intersect1d(sides[0]["bucket"], sides[1]["bucket"], assume_unique=True, return_indices=True)
    differ = sides[0]["n"][rows[0]] != sides[1]["n"][rows[1]]
    bucket, rows = bucket[differ], [each[differ] for each in rows]
    verdicts: tuple[RuleVerdict, RuleVerdict] = ("better", "worse")  # where the old error, or the new one, is larger
    for k, verdict in enumerate(verdicts):
        own, other = (
            {name: column[at] for name, column in sides[i].items()} for i, at in ((k, rows[k]), (1 - k, rows[1 - k]))
        )
        error, least = own["max_error"], np.nan_to_num(other["max_error"], nan=np.inf)
        both = (other["n"] == bucket_inputs(fmt)) | np.isin(own["max_error_x"], _own(*named))
        larger = np.where(both & (error > least + KNOWN_TO + RELATIVE * least), error - least, 0.0)
        if not larger.any():
            continue
        row = int(np.argmax(larger))
        interval = INTERVALS[int(np.searchsorted(interval_edges(fmt.name), bucket[row], side="right")) - 1]
        x, got, want = (fmt.bits_text(int(own[f"max_error_{name}"][row])) for name in ("x", "got", "want"))
        numbers = float(error[row]), float(least[row])
        old, new = numbers if verdict == "better" else numbers[::-1]
        shown = ChangeWitness(x, got if verdict == "better" else None, got if verdict == "worse" else None, want)
        text = f"{interval}: {old:.6g} -> {new:.6g} ULP in the bucket of an input that both tried"
        yield Change(
            what="interval", where=interval, verdict=verdict, old=f"{old:.6g}", new=f"{new:.6g}", old_number=old,
            new_number=new, text=text, witness=shown,
        )  # fmt: skip


# ---- records of these buckets ----------------------------------------------------------------------


def _of_rows(record: Record, columns: Columns, sides: list[dict[str, np.ndarray]]) -> Record:
    """The record with the measures of these rows."""
    table, _ = table_of(get_function(record.judged_as), get_format(record.dtype), columns)
    largest = max((float(np.nanmax(s["max_error"])) for s in sides if not np.isnan(s["max_error"]).all()), default=0.0)
    beside = tuple(each for each in record.beside or () if each.ulp is None or each.ulp > largest)
    found = measured(replace(record, beside=beside, bound=">="), table)
    return graded(replace(found, regions=None), table)


def _with_checks_of_both(old: Record, new: Record, first: Columns, second: Columns) -> Record:
    """The new record, in which a check of the inputs that were tried finds what it found in the old one, where no
    output of an input that both tried makes it differ."""
    checks, findings = dict(new.checks), dict(new.findings)
    for name in (check.name for check in CHECKS.values() if check.of_inputs_tried):
        if any(_fails_inside(record, name, first, second) for record in (old, new)):
            continue
        checks = _with_one_of(checks, old.checks, name)
        findings = _with_one_of(findings, old.findings, name)
    return replace(new, checks=checks, findings=findings)


def _with_one_of(own: dict[str, Any], others: Mapping[str, Any], name: str) -> dict[str, Any]:
    """`own` with that key of `others`, or without it."""
    return {key: each for key, each in own.items() if key != name} | {
        key: each for key, each in others.items() if key == name
    }


def _fails_inside(record: Record, name: str, first: Columns, second: Columns) -> bool:
    """Whether a check fails by an output that differs, as far as it says by which."""
    if record.checks.get(name) != "fail":
        return False
    if name in COUNTED:
        return bool((first[COUNTED[name]] != second[COUNTED[name]]).any())
    finding, fmt = record.findings.get(name), get_format(record.dtype)
    if finding is None or finding.x_bits is None:
        return True
    bucket = buckets(fmt, np.array([int(finding.x_bits, 16)], fmt.uint))
    return bool(np.isin(bucket, first["bucket"][first["bits_hash"] != second["bits_hash"]]).all())


def _outside(records: list[Record], narrow: list[Record]) -> str | None:
    """What a result is beside the inputs that both tried, where that is more, or worse; nobody compared it."""
    parts = []
    for side, record, inside in zip(("old", "new"), records, narrow, strict=True):
        told = []
        if record.max_ulp is not None and record.max_ulp > (inside.max_ulp or 0.0) and record.witness:
            told.append(f"{record.max_ulp:.6g} ULP at {record.witness.x_bits}")
        if record.grade != inside.grade and record.grade:
            told.append(grade_text(record.grade, record.grade_bound))
        others = records[side == "old"]
        told += [f"check {name} fails" for name in record.failed_checks if others.checks.get(name) == "pass"]
        parts += [f"{side} {', '.join(told)}"] if told else []
    return "; ".join(parts) or None
