"""What changes between two sets of budgets: which rows get looser, and in what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..fenv import in_default_environment
from ..formats import get_format
from ..records.grades import ORDER
from .rows import COVERAGE, MOST_NAMED, SHARES, Budgets, Row, and_more, is_earlier, key_of


@dataclass(frozen=True)
class Change:
    """One line of the difference between two sets of budgets; `looser` needs --allow-looser."""

    text: str
    looser: bool


@in_default_environment
def changes(old: Budgets, new: Budgets) -> list[Change]:
    """What the new budgets change, looser ones first."""
    found = []
    for key in sorted({*old.rows, *new.rows}):
        before, after = old.rows.get(key), new.rows.get(key)
        if after is None:
            found.append(Change(f"- {key}: no budget any more", True))
        elif before is None:
            found.append(Change(f"+ {key}: {_limit(after)}", False))
        else:
            found += _compare_rows(key, before, after)
    return sorted(found, key=lambda change: not change.looser)


def _limit(row: Row) -> str:
    fails = f", fails {', '.join(row.fails)}" if row.fails else ""
    return f"{row.max_ulp:g} ULP {row.bound} on {row.n} inputs{fails}"


def _compare_rows(key: str, old: Row, new: Row) -> Iterable[Change]:
    looser = list(_looser(key_of(key, new).rpartition("/")[2], old, new))
    if looser or _limit(old) != _limit(new):
        why = f" (looser: {'; '.join(looser)})" if looser else ""
        yield Change(f"~ {key}: {_limit(old)} -> {_limit(new)}{why}", bool(looser))
    elif old.fails != new.fails:
        yield Change(f"~ {key}: {_limit(new)}, other reasons", False)
    elif old.bits != new.bits:
        yield Change(f"~ {key}: {_limit(new)}, other results", False)
    elif old != replace(new, date=old.date):
        yield Change(f"~ {key}: {_limit(new)}, tighter in a part of x", False)


def _includes(dtype: str, wide: tuple[str, str], narrow: tuple[str, str]) -> bool:
    """Whether a range, of bits, has all of another in it."""
    (low, high), (least, most) = (
        [get_format(dtype).fraction(int(bits, 16)) for bits in ends] for ends in (wide, narrow)
    )
    return low <= least and most <= high


def _looser(dtype: str, old: Row, new: Row) -> Iterator[str]:
    """What the new row allows and the old one did not, or no longer limits."""
    if not new.max_ulp <= old.max_ulp:
        yield "larger limit"
    if (old.bound == "=" and new.bound != "=") or new.n < COVERAGE * old.n:
        yield "fewer inputs"
    if old.grade is not None and (new.grade is None or ORDER[new.grade] > ORDER[old.grade]):
        yield "worse grade"
    if old.max_abs is not None and not (new.max_abs is not None and new.max_abs <= old.max_abs):
        yield "larger absolute error"
    if old.accurate is not None and not (new.accurate is not None and _includes(dtype, new.accurate, old.accurate)):
        yield "smaller accurate range"
    if set(new.fails) - set(old.fails):
        yield f"newly fails {', '.join(sorted(set(new.fails) - set(old.fails)))}"
    for kind in ("regions", "intervals"):
        before, after = getattr(old, kind), getattr(new, kind)
        if before is None:
            continue
        larger = [name for name in (after or {}) if not after[name] <= before.get(name, 0.0)]
        gone = [name for name in before if name not in (after or {})]
        if larger or gone:
            yield f"more in {', '.join((larger + gone)[:MOST_NAMED])}{and_more(larger + gone)}"
    for name in ("correct", "faithful"):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and (after is None or after * old.n < before * new.n):
            yield f"fewer {SHARES[name]}"
    for name, reason in (
        ("nonfinite", "more that are not finite"),
        ("zero_sign", "more zeros of the wrong sign"),
        ("mean_ulp", "larger mean"),
        ("p99_ulp", "larger p99"),
    ):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and (after is None or not after <= before):
            yield reason
    if old.zero_from is not None and (new.zero_from is None or is_earlier(new.zero_from, old.zero_from)):
        yield "zero nearer to 0"
