"""What changes between two sets of budgets: which rows get looser, and in what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..judge.changes import changes_of_limits, named
from ..judge.sides import Sides
from .rows import COVERAGE, Budgets, Row, key_of


@dataclass(frozen=True)
class RowChange:
    """One line of the difference between two sets of budgets; `looser` needs --allow-looser."""

    text: str
    looser: bool


def changes(old: Budgets, new: Budgets) -> list[RowChange]:
    """What the new budgets change, looser ones first."""
    found = []
    for key in sorted({*old.rows, *new.rows}):
        before, after = old.rows.get(key), new.rows.get(key)
        if after is None:
            found.append(RowChange(f"- {key}: no budget any more", True))
        elif before is None:
            found.append(RowChange(f"+ {key}: {_limit(after)}", False))
        else:
            found += _compare_rows(key, before, after)
    return sorted(found, key=lambda change: not change.looser)


def _limit(row: Row) -> str:
    fails = f", fails {', '.join(row.fails)}" if row.fails else ""
    return f"{row.max_ulp:g} ULP {row.bound} on {row.n} inputs{fails}"


def _compare_rows(key: str, old: Row, new: Row) -> Iterable[RowChange]:
    looser = list(_looser(key_of(key, new), old, new))
    if looser or _limit(old) != _limit(new):
        why = f" (looser: {'; '.join(looser)})" if looser else ""
        yield RowChange(f"~ {key}: {_limit(old)} -> {_limit(new)}{why}", bool(looser))
    elif old.fails != new.fails:
        yield RowChange(f"~ {key}: {_limit(new)}, other reasons", False)
    elif old.bits != new.bits:
        yield RowChange(f"~ {key}: {_limit(new)}, other results", False)
    elif old != replace(new, date=old.date):
        yield RowChange(f"~ {key}: {_limit(new)}, tighter in a part of x", False)


def is_looser(key: str, old: Row, new: Row) -> bool:
    """Whether the new row allows what the old one did not."""
    return any(_looser(key, old, new))


def _looser(key: str, old: Row, new: Row) -> Iterator[str]:
    """What the new row allows and the old one did not, or no longer limits."""
    if (old.bound == "=" and new.bound != "=") or new.n < COVERAGE * old.n:
        yield "fewer inputs"
    before, after = old.record(key), new.record(key)
    if gone := sorted(after.lacking - before.lacking):
        yield f"no limit any more of {', '.join(gone)}"
    sides = Sides(before, after, old_lists_failures=True, new_lists_failures=True, comparable=True, tolerance="none")
    found = [change for change in changes_of_limits(sides) if change.verdict in ("worse", "unknown")]
    few, more = named(found)
    yield from (*(change.text for change in few), *more)
