"""Which outputs of other calls than the plan's own decide a measure: the record keeps them, and no others.

Every output that a target returned beside the plan is judged here, once, whatever call it came from: timed, of other
lengths, of a check, or while a failure was narrowed down. It can only make a verdict worse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..buckets.reducer import Outcome
from ..buckets.table import NOISE, Table
from ..checks import CHECKS, Evidence, Finding
from ..errors import TargetFailure
from ..formats import buckets, is_finite, is_negative, is_zero, ordinals, to_float64
from ..records.accuracy import Accuracy, Span
from ..records.beside import joined, part, with_outputs
from ..records.bucket_errors import Output
from ..records.parts import Beside
from ..targets.extra_outputs import AllOutputs
from ..truth.values import Judgement

# Checks that look at nothing but the facts of a table.
OF_FACTS = ("finite", "nan", "range", "sign", "tail_zero", "zero_sign")
NOTHING = Span(0, 0, 0, 0, 0, True), Span(0, 0, 0, 0, 0, True)
Chosen = list[int]  # places in the candidates
MOST = 6  # outputs that are looked for one by one: each takes some ten evaluations of all measures


def deciding(evidence: Evidence) -> tuple[Beside, ...]:
    """The outputs beside the plan without which a measure, the grade or a check would be another one."""
    seen = evidence.others.all(evidence.fmt)
    outputs = _judged(evidence, seen)
    rows = _worse_than_their_bucket(evidence, outputs)
    rows = rows[_first_of_each(outputs, rows)]
    if not len(rows):
        return ()
    rows = rows[_by_damage(part(outputs, rows))]
    candidates = part(outputs, rows)

    def measures(chosen: Chosen) -> Any:
        some = part(candidates, np.array(chosen, np.intp))
        return _measures(evidence, with_outputs(evidence.table, evidence.function, some))

    chosen = _needed(evidence, measures, candidates)
    return tuple(_recorded(evidence, candidates, k, seen.where(int(rows[k]))) for k in chosen)


def _judged(evidence: Evidence, seen: AllOutputs) -> Outcome:
    """Those of calls, which come first, and then the others."""
    of_calls = evidence.judged_calls()
    others = slice(sum(len(each.faithful) for each in of_calls), None)
    parts = [*of_calls, evidence.judgement(seen.x[others], seen.got[others])]
    judgement = Judgement(*map(np.concatenate, zip(*parts, strict=True)))
    return Outcome.of(evidence.fmt, seen.x, seen.got, judgement)


def with_beside(evidence: Evidence, findings: Mapping[str, Finding], beside: tuple[Beside, ...]) -> dict[str, Finding]:
    """The findings, where checks that look at facts also see those outputs."""
    found = dict(findings)
    if beside:
        seen = replace(evidence, table=joined(evidence.table, evidence.function, beside))
        places = {(each.x_bits, each.got_bits): each.where for each in beside}
        for name in OF_FACTS:
            if found[name].status == "pass" and (again := _finding(seen, name)).status == "fail":
                x, got = (evidence.fmt.bits_text(int(each or 0)) for each in (again.x_bits, again.got_bits))
                where = places.get((x, got))
                found[name] = replace(again, detail=f"{again.detail} ({where})") if where else again
    return found


def _finding(evidence: Evidence, name: str) -> Finding:
    try:
        return CHECKS[name].run(evidence)
    except TargetFailure as reason:  # of a call that the check makes itself, or would: said where it is run
        return Finding("not applicable", str(reason))


# ---- candidates ----------------------------------------------------------------------------------


def _worse_than_their_bucket(evidence: Evidence, outputs: Outcome) -> np.ndarray:
    """Places of outputs that the plan's outputs in the same bucket do not stand for; those in the plan's ranges."""
    fmt, columns = evidence.fmt, evidence.table.columns
    max_error = np.nan_to_num(columns["max_error"], nan=-1.0)
    beyond = _exceeds(np.abs(outputs.error), max_error.max())
    if (columns["correct"] == columns["n"]).all():
        zeros = is_zero(fmt, outputs.got) & is_zero(fmt, outputs.want) & evidence.function.either_zero
        beyond |= (outputs.got != outputs.want) & ~zeros & is_finite(fmt, outputs.want)
    rows = np.flatnonzero(~outputs.faithful | beyond)
    outputs, beyond = part(outputs, rows), beyond[rows]
    error, bucket = np.abs(outputs.error), buckets(fmt, outputs.x)
    row_of = np.zeros(1 << 16, np.intp)  # a search in the rows takes ten times as long
    row_of[columns["bucket"]] = np.arange(len(columns["bucket"]))
    place = row_of[bucket]
    own = columns["bucket"][place] == bucket
    known = np.where(own, max_error[place], -1.0)
    unlike = (is_negative(fmt, outputs.got) != is_negative(fmt, outputs.want)) | is_zero(fmt, outputs.got)
    worse = beyond | (~outputs.faithful & (_exceeds(error, known) | ~np.isfinite(error) | unlike))
    worst_x, worst_got = (columns[f"max_error_{name}"][place].astype(fmt.uint) for name in ("x", "got"))
    worse &= ~(own & (outputs.x == worst_x) & (outputs.got == worst_got))
    if evidence.plan.spans is not None:
        x = ordinals(fmt, outputs.x)
        worse &= np.any([(x >= first) & (x <= last) for first, last in evidence.plan.spans], axis=0)
    return np.asarray(rows[worse])


def _exceeds(error: np.ndarray, known: np.ndarray | float) -> np.ndarray:
    """By more than two ways of judging differ."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(error > known + (NOISE + 2.0**-40 * np.abs(known)))


def _first_of_each(outputs: Outcome, rows: np.ndarray) -> np.ndarray:
    """Of equal outputs to one input the first."""
    pairs = np.stack([outputs.x[rows], outputs.got[rows]])
    return np.sort(np.unique(pairs, axis=1, return_index=True)[1])


def _by_damage(outputs: Outcome) -> np.ndarray:
    """What is not finite first, then by the error."""
    return np.argsort(-np.nan_to_num(np.abs(outputs.error), nan=np.inf), kind="stable")


def _extremes(evidence: Evidence, outputs: Outcome) -> Chosen:
    """Few of them that most often decide all: the largest errors, and the nearest to zero on either side."""
    fmt, error = evidence.fmt, np.nan_to_num(np.abs(outputs.error), nan=np.inf)
    x, want = (np.nan_to_num(to_float64(fmt, bits)) for bits in (outputs.x, outputs.want))
    size = np.abs(x)
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.nan_to_num(np.abs(to_float64(fmt, outputs.got) - want), nan=np.inf)
        relative = away / np.maximum(np.abs(want), 1.0)
    found = {0, int(np.argmax(away)), int(np.argmax(relative)), int(np.argmax(np.where(size <= 8, away, -1.0)))}
    zero, finite = is_zero(fmt, outputs.got), np.isfinite(error)
    other_sign = ~zero & (is_negative(fmt, outputs.got) != (want < 0))
    kinds = (error > 4, error > 8, ~finite, finite & zero, relative > 0.5, other_sign)
    for kind in kinds:
        for side in (x < 0, x >= 0):
            if (kind & side).any():
                found.add(int(np.argmin(np.where(kind & side, size, np.inf))))
    return sorted(found)


def _needed(evidence: Evidence, measures: Callable[[Chosen], Any], outputs: Outcome) -> Chosen:
    """As few of the candidates as have the measures of all of them: those that the measures name, where these have.

    Else of those that most often do, where these have; where more than MOST would be needed, as where counts go into a
    measure, these are added and decide.
    """
    candidates = list(range(len(outputs.x)))
    nothing, everything = measures([]), measures(candidates)
    if everything == nothing:
        return []
    if (named := _named(evidence, everything, outputs)) and measures(named) == everything:
        return named
    likely = _extremes(evidence, outputs)
    if measures(likely) == everything:
        candidates = likely
    kept: Chosen = []
    while not kept or measures(kept) != everything:
        if len(kept) == MOST:
            return sorted({*kept, *likely})
        low, high = 0, len(candidates)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if measures(kept + candidates[:middle]) == everything else (middle, high)
        kept.append(candidates[high - 1])
        candidates = candidates[: high - 1]
    return sorted(kept)


def _named(evidence: Evidence, measures: Any, outputs: Outcome) -> Chosen:
    """The first output, which is the worst, to each input that the measures name."""
    (accuracy, interval), spans, _, *keys, _ = measures
    texts = accuracy.absolute and accuracy.absolute.x_bits, interval and interval[2]
    x = {each.x_bits for each in vars(accuracy).values() if isinstance(each, Output)}
    x |= {x_bits for _, x_bits, _ in spans} | {int(text, 16) for text in texts if text}
    x |= {evidence.fmt.from_ordinal(key[1]) for key in keys if key}
    places = [k for k, bits in enumerate(outputs.x.tolist()) if bits in x]
    first = {int(outputs.x[k]): k for k in reversed(places)}
    return sorted(first.values())


def _measures(evidence: Evidence, table: Table) -> Any:
    """All that outputs beside the plan can decide."""
    worst, facts = table.worst(), table.facts
    is_whole = evidence.plan.spans is None
    found = Accuracy.of_errors(table, evidence.function, is_whole, evidence.table)
    spans = [(side.count > 0, side.x_bits, side.is_all) for side in (*found.nonfinite, found.zeros)]
    interval = found.range and (found.range.low_bits, found.range.high_bits, found.range.exception_x_bits)
    without_counts = replace(found, nonfinite=NOTHING, zeros=NOTHING[0], range=None, incorrect=not found.correct)
    largest = None if worst is None else float(table.columns["max_error"][worst])
    statuses = [_finding(replace(evidence, table=table), name).status for name in OF_FACTS]
    keys = facts.nonfinite, facts.wrong_sign, facts.zero_from, facts.zero_sign
    return (without_counts, interval), spans, largest, *keys, statuses


def _recorded(evidence: Evidence, outputs: Outcome, k: int, where: str) -> Beside:
    error = abs(float(outputs.error[k]))
    x, got, want = (evidence.fmt.bits_text(int(each[k])) for each in (outputs.x, outputs.got, outputs.want))
    return Beside(x, got, want, error if np.isfinite(error) else None, where)
