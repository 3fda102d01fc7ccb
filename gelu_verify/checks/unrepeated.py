"""Outputs of the sweep that the same call does not give again: faults of a moment, and not of what a check asks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..buckets.table import Columns
from ..formats import differ
from .base import Evidence, Finding

FACTS = ("nonfinite", "wrong_sign", "zero_from", "rises", "beyond_x", "nan_wrong", "zero_sign")
# Checks that look at the sweep.
FOUND_BY = ("finite", "lane", "monotone", "nan", "outlier", "range", "sign", "tail_zero", "zero_sign")


def without_unrepeated(evidence: Evidence, findings: Mapping[str, Finding]) -> dict[str, Finding]:
    """The findings, where what was not repeated counts for `repeatable` alone."""
    asked = {name: shown for name in FOUND_BY if (shown := _shown(findings[name]))}
    if "monotone" in asked and (key := evidence.table.facts.rises) is not None:
        asked["monotone"].add((evidence.fmt.from_ordinal(key[3]), key[4]))  # the neighbour below
    worst = evidence.table.worst()
    columns, of_facts = evidence.table.columns, _of_facts(evidence)
    pairs = {pair for some in asked.values() for pair in some if pair in of_facts or _is_worst(columns, *pair)}
    if worst is not None:
        pairs.add((int(columns["max_error_x"][worst]), int(columns["max_error_got"][worst])))
    again = {} if evidence.target.judges_on_device else _unrepeated(evidence, sorted(pairs))
    if not again:
        return dict(findings)
    result = dict(findings)
    for name, some in asked.items():
        if not some.isdisjoint(again):
            result[name] = Finding(
                "not applicable", f"{findings[name].detail}; not reproduced when it was called again"
            )
    if result["repeatable"].status != "fail":
        (x, once), now = next(iter(again.items()))
        detail = f"f({evidence.digits(x)}) = {evidence.digits(once)} in the sweep, "
        detail += f"but {evidence.digits(now)} when the same call is made again"
        result["repeatable"] = evidence.two_outputs(detail, x, (once, now))
    return result


def _shown(finding: Finding) -> set[tuple[int, int]]:
    """(x, got) bits that show a failure."""
    if finding.status != "fail" or finding.x_bits is None or finding.got_bits is None:
        return set()
    return {(finding.x_bits, finding.got_bits)}


def _of_facts(evidence: Evidence) -> set[tuple[int, int]]:
    """(x, got) bits that the facts of the sweep have."""
    rises = evidence.table.facts.rises
    pairs = {pair for name in FACTS if (pair := evidence.witness(name)) is not None}
    return pairs | ({(evidence.fmt.from_ordinal(rises[3]), rises[4])} if rises else set())


def _is_worst(columns: Columns, x_bits: int, got_bits: int) -> bool:
    """Whether that is the worst output of a bucket."""
    return bool(((columns["max_error_x"] == x_bits) & (columns["max_error_got"] == got_bits)).any())


def _unrepeated(evidence: Evidence, pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Those pairs whose x has another output now, in any call: with the output that the same call gives now."""
    if not pairs:
        return {}
    x, once = (np.array(side, dtype=evidence.fmt.uint) for side in zip(*pairs, strict=True))
    found: dict[tuple[int, int], int] = {}
    for at in np.flatnonzero(differ(evidence.fmt, evidence.call(x), once)):
        now = _same_call(evidence, int(x[at]))
        if len(now) and differ(evidence.fmt, now, np.full_like(now, once[at])).all():
            found[int(x[at]), int(once[at])] = int(now[0])
    return found


def _same_call(evidence: Evidence, x_bits: int) -> np.ndarray:
    """Outputs for x in the call of the sweep that had it, made again."""
    chunk = evidence.plan.call_of(evidence.fmt.ordinal(x_bits))
    if chunk is None:
        return np.array([], evidence.fmt.uint)
    x = chunk.x_bits()[chunk.order()]
    return np.asarray(evidence.target.evaluate(evidence.fmt.name, x)[x == x_bits])
