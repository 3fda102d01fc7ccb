"""What changes between two sets of budgets: which rows get looser, and in what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..judge.changes import changes_of_limits, named
from ..judge.sides import Change, Sides
from .rows import COVERAGE, Budgets, Row, key_of

_OF_ONE_INPUT = ("max_ulp", "region", "interval", "max_abs_error", "grade", "check")


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
    elif old.severities != new.severities:
        yield RowChange(f"~ {key}: {_limit(new)}, other severities", False)
    elif old != replace(new, date=old.date):
        yield RowChange(f"~ {key}: {_limit(new)}, tighter in a part of x", False)


def is_looser(key: str, old: Row, new: Row) -> bool:
    """Whether the new row allows what the old one did not."""
    return any(_looser(key, old, new))


def looser_than_each(key: str, olds: Sequence[Row], new: Row) -> list[str]:
    """What the new row allows and none of the others did, of limits that are no counts or means: code that has the
    errors of two branches has those of neither at one input."""
    found = [{(each.what, each.where): each.text for each in _worse(key, old, new)} for old in olds]
    in_each = set.intersection(*(set(each) for each in found))
    return [text for (what, _), text in found[0].items() if what in _OF_ONE_INPUT and (what, _) in in_each]


def _looser(key: str, old: Row, new: Row) -> Iterator[str]:
    """What the new row allows and the old one did not, or no longer limits."""
    if (old.bound == "=" and new.bound != "=") or new.n < COVERAGE * old.n:
        yield "fewer inputs"
    before, after = old.record(key), new.record(key)
    if gone := sorted(after.lacking - before.lacking):
        yield f"no limit any more of {', '.join(gone)}"
    few, more = named(_worse(key, old, new))
    yield from (*(change.text for change in few), *more)


def _worse(key: str, old: Row, new: Row) -> list[Change]:
    before, after = old.record(key), new.record(key)
    sides = Sides(before, after, old_lists_failures=True, new_lists_failures=True, comparable=True, tolerance="none")
    return [change for change in changes_of_limits(sides) if change.verdict in ("worse", "unknown")]
