"""Two branches that changed one file of budgets, settled row by row: the rows are independent, and git merges lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .budgets import budgets_in
from .changes import is_looser
from .rows import Budgets, Row, key_of


@dataclass(frozen=True)
class Settled:
    """What both branches say together; what is `undecided` (target/function/dtype) is to be measured."""

    budgets: Budgets
    undecided: Mapping[str, tuple[Row, Row]]  # with the rows of both
    lines: tuple[str, ...]  # what was decided, for people
    command: str  # that wrote our file


def settled(base: str | None, ours: str | None, theirs: str | None, file: Path) -> Settled:
    """From the texts that git has of the file: as it was, as it is here, and as the other branch has it.

    Raises
    ------
    UsageError : it is in no conflict, or a text is no file of budgets
    """
    if ours is None or theirs is None:
        raise UsageError(f"git has no conflict of two branches in {file}")
    names = ("where the branches parted", "ours", "theirs")
    before, own, other = (
        budgets_in(text, f"{file}, {name},").rows if text is not None else {}
        for name, text in zip(names, (base, ours, theirs), strict=True)
    )
    rows: dict[str, Row] = {}
    undecided, lines = dict[str, tuple[Row, Row]](), list[str]()
    for name in sorted({*own, *other}):
        row, said = _row(name, before.get(name), own.get(name), other.get(name))
        lines += [f"{name}: {said}"] if said else []
        if row is not None:
            rows[name] = row
        elif said:
            undecided[key_of(name, own[name])] = own[name], other[name]
    return Settled(Budgets(rows), undecided, tuple(lines), ours.partition("`")[2].partition("`")[0])


def _row(name: str, base: Row | None, ours: Row | None, theirs: Row | None) -> tuple[Row | None, str]:
    """The row that both branches mean, and why, where both changed it; none where it is gone, or is to be measured."""
    if ours == theirs or theirs == base:
        return ours, ""
    if ours == base:
        return theirs, ""
    if ours is None or theirs is None:
        return ours or theirs, "changed on one branch, removed on the other: kept"
    if ours.conditions == theirs.conditions:
        for row, other, whose in ((ours, theirs, "ours"), (theirs, ours, "theirs")):
            if not is_looser(key_of(name, row), other, row):
                return row, f"changed on both branches: {whose} is stricter"
    return None, "changed on both branches, and neither is stricter: measured"
