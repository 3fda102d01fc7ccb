"""The gate: results of our kernels, held against their budgets.

A budget row is what a run measured on the recorded machine. Kernels call the system's libm, whose
results differ between versions and instruction sets, so a limit is exact only where it was
measured:

- same libm, architecture, FMA and inputs as the row: no error of all inputs, of a region or of an interval is
  above that of the row, no fewer results are correctly rounded or faithful, and no check fails
  that is not listed in `fails`; other bits than the row's are told in a note;
- anything else: max(HEADROOM_RATIO * max_ulp, max_ulp + HEADROOM_ULP), in a part of x REGION_RATIO; shares of the
  results may be less by SHARE; a check that looks at last bits (LAST_BIT_CHECKS) may fail with a note.

A row all of whose results were correctly rounded leaves none that could be another: there the bits must be the same on
every machine.

Comparisons are written so that a NaN is over every limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..fenv import in_default_environment
from ..formats import get_format
from .budgets import (
    FAMILY,
    HEADROOM_RATIO,
    HEADROOM_ULP,
    REGION_RATIO,
    Budgets,
    Row,
    budgets_text,
    conditions_of,
    counts_of,
    default_path,
    failing,
    key_of,
    make_budgets,
    maxima,
    read_budgets,
    round_up,
    write_budgets,
)

__all__ = [
    "Budgets",
    "Change",
    "Row",
    "Verdict",
    "budgets_text",
    "check",
    "compare",
    "conditions_of",
    "default_path",
    "make_budgets",
    "read_budgets",
    "required",
    "round_up",
    "write_budgets",
]
LAST_BIT_CHECKS = frozenset({"monotone", "range"})
COVERAGE = 0.9  # a sampled row is measured by at least this share of its inputs: seeds differ a little in size
SHARE = 0.1  # of the results, that may be rounded otherwise on another machine
MOST = 3  # parts of x that are named


@dataclass(frozen=True)
class Verdict:
    """What the gate says of one row: "ok", "over" or "missing", why, of which RESULT, shown by which input."""

    key: str
    outcome: str
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    result: Mapping[str, Any] | None = None
    witness: Mapping[str, str | None] | None = None


# ---- comparing two files -------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """One line of the difference between two sets of budgets; `looser` needs --allow-looser."""

    text: str
    looser: bool


@in_default_environment
def compare(old: Budgets, new: Budgets) -> list[Change]:
    """What the new budgets change, looser ones first."""
    changes = []
    for key in sorted({*old.rows, *new.rows}):
        before, after = old.rows.get(key), new.rows.get(key)
        if after is None:
            changes.append(Change(f"- {key}: no budget any more", True))
        elif before is None:
            changes.append(Change(f"+ {key}: {_limit(after)}", False))
        else:
            changes += _compare_rows(key, before, after)
    return sorted(changes, key=lambda change: not change.looser)


def _limit(row: Row) -> str:
    fails = f", fails {', '.join(row.fails)}" if row.fails else ""
    return f"{row.max_ulp:g} ULP {row.bound} on {row.n} inputs{fails}"


def _compare_rows(key: str, old: Row, new: Row) -> Iterable[Change]:
    looser = list(_looser(old, new))
    if looser or _limit(old) != _limit(new):
        why = f" (looser: {'; '.join(looser)})" if looser else ""
        yield Change(f"~ {key}: {_limit(old)} -> {_limit(new)}{why}", bool(looser))
    elif old.bits != new.bits:
        yield Change(f"~ {key}: {_limit(new)}, other results", False)
    elif old != replace(new, date=old.date):
        yield Change(f"~ {key}: {_limit(new)}, tighter in a part of x", False)


def _looser(old: Row, new: Row) -> Iterator[str]:
    """What the new row allows and the old did not, or no longer limits."""
    if not new.max_ulp <= old.max_ulp:
        yield "larger limit"
    if (old.bound == "=" and new.bound != "=") or new.n < COVERAGE * old.n:
        yield "fewer inputs"
    if set(new.fails) - set(old.fails):
        yield f"newly fails {', '.join(sorted(set(new.fails) - set(old.fails)))}"
    for kind in ("regions", "intervals"):
        before, after = getattr(old, kind), getattr(new, kind)
        if before is None:
            continue
        larger = [name for name in (after or {}) if not after[name] <= before.get(name, 0.0)]
        gone = [name for name in before if name not in (after or {})]
        if larger or gone:
            yield f"more in {', '.join((larger + gone)[:MOST])}{_and_more(larger + gone)}"
    for name in ("correct", "faithful"):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and (after is None or after * old.n < before * new.n):
            yield f"fewer {_SHARES[name]}"
    for name, said in (
        ("nonfinite", "more that are not finite"),
        ("mean_ulp", "larger mean"),
        ("p99_ulp", "larger p99"),
    ):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and (after is None or not after <= before):
            yield said
    if old.zero_from is not None and (new.zero_from is None or _is_earlier(new.zero_from, old.zero_from)):
        yield "zero nearer to 0"


_SHARES = {"correct": "correctly rounded", "faithful": "faithful"}


def _and_more(names: Sequence[str]) -> str:
    return f" and {len(names) - MOST} more" if len(names) > MOST else ""


def _is_earlier(zero: str, other: str) -> bool:
    """Whether the first zero of the tail comes at a smaller |x| than the other; "" is none. Both are negative."""
    return bool(zero) and (not other or int(zero, 16) < int(other, 16))


# ---- the verdict ---------------------------------------------------------------------------------


@in_default_environment
def check(results: Sequence[Mapping[str, Any]], machine: Mapping[str, Any], budgets: Budgets) -> list[Verdict]:
    """One verdict per budget row, in the order of the file; results without a row are not judged.

    Of two results with one key the first counts. One that was recorded says so in a note; one that is stale is missing.
    """
    measured = {key_of(result): result for result in reversed(results)}
    same_machine = conditions_of(machine) == budgets.conditions
    return [
        _judge(key, row, measured[key], same_machine)
        if key in measured
        else Verdict(key, "missing", ("not in this run",))
        for key, row in budgets.rows.items()
    ]


def required(families: Iterable[str], results: Sequence[Mapping[str, Any]], absent: Mapping[str, str]) -> list[Verdict]:
    """What is missing of families that must be measured, budgets or not: all of it, or results that are stale."""
    verdicts = []
    for family in families:
        found = [result for result in results if result["family"] == family]
        stale = [r for r in found if r.get("stale")]
        if not found:
            reason = absent.get(family, "not in this run")
            verdicts.append(Verdict(family, "missing", (f"required, but not measured and not recorded: {reason}",)))
        verdicts += [Verdict(key_of(r), "missing", (r["recorded"], r["stale"]), result=r) for r in stale]
    return verdicts


@dataclass
class _Judgement:
    """A result against its row, while reasons are found. `exact`: measured where, and on what, the row was."""

    row: Row
    result: Mapping[str, Any]
    exact: bool
    same_inputs: bool
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    witness: Mapping[str, str | None] | None = None

    def over(self, reason: str, witness: Mapping[str, str | None] | None = None) -> None:
        """The row is exceeded; the first reason that has an input shows it."""
        self.reasons.append(reason)
        self.witness = self.witness or witness

    def limit(self, budget: float, ratio: float = HEADROOM_RATIO) -> float:
        return budget if self.exact else max(ratio * budget, budget + HEADROOM_ULP)

    def said(self, budget: float, limit: float) -> str:
        return f"{budget:g}" if self.exact else f"{limit:g} ({budget:g} and the headroom)"


def _judge(key: str, row: Row, result: Mapping[str, Any], same_machine: bool) -> Verdict:
    if result.get("stale"):
        return Verdict(key, "missing", (result["recorded"], result["stale"]), result=result)
    if result["failure"] is not None:
        return Verdict(key, "over", (result["failure"],), result=result)
    if reason := _unmeasured(row, result):
        return Verdict(key, "missing", (reason,), result=result)
    same = same_machine if result["family"] == FAMILY else result.get("device", "") == row.device
    same_inputs = row.bound == "=" or _on_the_same_inputs(row, result)
    found = _Judgement(row, result, same and same_inputs, same_inputs)
    _judge_errors(found)
    _judge_shares(found)
    _judge_bits(found)
    _judge_checks(found)
    found.notes += [result["recorded"]] if result.get("recorded") else []
    outcome = "over" if found.reasons else "ok"
    return Verdict(key, outcome, tuple(found.reasons), tuple(found.notes), result, found.witness)


def _on_the_same_inputs(row: Row, result: Mapping[str, Any]) -> bool:
    """By name and seed, and by what these choose in this version, where that is told."""
    named = (row.plan, row.seed) == (result["plan"], result["seed"])
    return named and (row.inputs is None or row.inputs == result.get("inputs_sha256"))


def _unmeasured(row: Row, result: Mapping[str, Any]) -> str:
    """What the budget asks for and the result does not tell; empty where it tells all."""
    if (row.bound == "=" and result["bound"] != "=") or not result["n"] >= COVERAGE * row.n:
        return f"measured on {result['n']} inputs, the budget asks for {row.n} ({row.bound})"
    if row.intervals is not None and result.get("intervals") is None:
        return "measured by an earlier version, which recorded no intervals of x: measure it again"
    return ""


def _judge_errors(found: _Judgement) -> None:
    row, result = found.row, found.result
    limit = found.limit(row.max_ulp)
    if result["max_ulp"] is None:
        found.over("no finite result")
    elif not result["max_ulp"] <= limit:
        said = found.said(row.max_ulp, limit)
        found.over(f"{result['max_ulp']:.6g} ULP {result['bound']}, budget {said}", result["witness"])
    for kind, budgets in (("region", row.regions), ("interval", row.intervals)):
        if budgets is None or (kind == "interval" and found.reasons):
            continue  # intervals say more closely what a region has said already
        parts = {part[kind]: part for part in result[f"{kind}s"]}
        limits = {name: found.limit(budget, REGION_RATIO) for name, budget in budgets.items()}
        larger = [n for n, e in maxima(result, kind).items() if not e <= limits.get(n, found.limit(0.0, REGION_RATIO))]
        larger.sort(key=lambda name: -parts[name]["max_ulp"] / max(budgets.get(name, 0.0), 0.5))
        for name in larger[:MOST]:
            budget = budgets.get(name, 0.0)
            said = found.said(budget, limits.get(name, found.limit(0.0)))
            found.over(
                f"{parts[name]['max_ulp']:.6g} ULP in {name}, budget {said}", parts[name].get("witness", parts[name])
            )
        if len(larger) > MOST:
            found.over(f"larger errors in {len(larger) - MOST} more parts of x")


def _judge_shares(found: _Judgement) -> None:
    """How many results are right, and the measures of all of them."""
    row, result = found.row, found.result
    if row.intervals is None:
        return
    slack = 0.0 if found.exact else SHARE
    for name, count in counts_of(result).items():
        budget = getattr(row, name)
        if not count * row.n >= (budget - slack * row.n) * result["n"]:
            found.over(f"{count} of {result['n']} results {_SHARES[name]}, budget {budget} of {row.n}{_slack(slack)}")
    count, allowed = result["nonfinite"]["count"], row.nonfinite or 0
    if not count * row.n <= (allowed if found.exact else HEADROOM_RATIO * allowed) * result["n"]:
        found.over(
            f"{count} finite inputs give inf or NaN, budget {allowed}", {"x_bits": result["nonfinite"]["x_bits"]}
        )
    for name, said in (("mean_ulp", "mean error"), ("p99_ulp", "99th percentile of the errors")):
        value, budget = result[name], getattr(row, name)
        limit = found.limit(budget, REGION_RATIO)
        if value is not None and not abs(value) <= limit:
            found.over(f"{said} {abs(value):.6g} ULP, budget {found.said(budget, limit)}")
    _judge_zero(found)


def _slack(slack: float) -> str:
    return f" (less {100 * slack:g} %)" if slack else ""


def _judge_zero(found: _Judgement) -> None:
    """Where the tail turns to zero; on another machine |x| may be a tenth smaller."""
    zero, budget = found.result["zero_from"], found.row.zero_from
    if zero is None or budget is None or not _is_earlier(zero["x_bits"], budget):
        return
    fmt = get_format(found.result["dtype"])
    if not found.exact and budget and abs(zero["x"]) >= 0.9 * abs(float(fmt.fraction(int(budget, 16)))):
        return
    said = f"{float(fmt.fraction(int(budget, 16))):.6g}" if budget else "none"
    found.over(f"zero from {zero['x']:.6g}, budget {said}", {"x_bits": zero["x_bits"]})


def _judge_bits(found: _Judgement) -> None:
    row, result = found.row, found.result
    if row.bits is None:
        return
    correct = counts_of(result)["correct"]
    if row.is_fixed and correct < result["n"]:
        found.over(f"{result['n'] - correct} results are not correctly rounded; of the budget's run all were")
    elif found.same_inputs and result["bits_sha256"] != row.bits:
        if row.is_fixed:
            found.over("other results than the budget's run, all of which were correctly rounded")
        elif found.exact:
            found.notes.append("other results than the budget's run, with the same libm and inputs")


def _judge_checks(found: _Judgement) -> None:
    row, result = found.row, found.result
    for name in sorted(set(failing(result)) - set(row.fails)):
        finding = result["findings"].get(name) or {}
        reason = f"check {name} fails: {finding.get('detail') or 'no detail'}"
        if not found.exact and name in LAST_BIT_CHECKS:
            found.notes.append(reason)
        else:
            found.over(reason, finding)
    passing = [name for name in row.fails if result["checks"].get(name) == "pass"]
    found.notes += [f"check {name} passes now, the budget still excuses it" for name in passing]
