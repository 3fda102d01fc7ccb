"""What differs between the instruction-set levels of one library, in a few lines for each level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..formats import get_format, texts_apart, value_text
from ..isa import at_level, split_level
from ..records.claims import grade_text
from ..records.parts import Pair
from ..records.result import Record

MOST_NAMED = 3  # results in one line

Compared = tuple[Record, Pair, Record]  # a result, its comparison, and what it was compared with


def level_lines(records: Sequence[Record]) -> list[str]:
    """For each family and level: how many results differ from those without a switch, in bits and in grade, and where.

    Results are compared with those of the same path at the first level that was measured, mostly without a switch.
    """
    known = {record.key: record for record in records}
    groups: dict[tuple[str, str], list[Compared]] = {}
    for record in records:
        if compared := _compared(record, known):
            level, first = split_level(record.target)[1], split_level(compared[2].target)[1]
            groups.setdefault((at_level(record.family, level), at_level(record.family, first)), []).append(compared)
    return [line for names, members in groups.items() for line in _lines(*names, members)]


def _compared(record: Record, known: Mapping[str, Record]) -> Compared | None:
    """The same path at another level, which a result was compared with; None where it was not."""
    if record.pair is None:
        return None
    first = known.get(f"{record.pair.first}/{record.function}/{record.dtype}")
    same_path = first is not None and split_level(first.target)[0] == split_level(record.target)[0]
    return (record, record.pair, first) if first is not None and same_path else None


def _lines(name: str, first: str, members: list[Compared]) -> Iterator[str]:
    other = [each for each in members if not each[1].alike]
    yield f"{name}: {len(other)} of {len(members)} results differ from those of {first}"
    changed = [f"{r.target} {r.dtype} {_grade(f)} -> {_grade(r)}" for r, _, f in other if r.grade != f.grade]
    if changed:
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        yield f"  grades: {'; '.join(changed[:MOST_NAMED])}{more}"
    if other:
        yield from _largest(*max(other, key=lambda each: each[1].floats / 2.0 ** get_format(each[0].dtype).width))


def _grade(record: Record) -> str:
    return grade_text(record.grade, record.grade_bound) if record.grade else "failed"


def _largest(record: Record, pair: Pair, first: Record) -> Iterator[str]:
    """Where the fixed inputs show the largest difference."""
    if pair.witness is not None:
        fmt = get_format(record.dtype)
        x = int(pair.witness.x_bits, 16)
        got, before = texts_apart(fmt, int(pair.witness.got_bits, 16), int(pair.witness.other_bits, 16))
        yield f"  most: {record.target} {record.dtype} at x = {value_text(fmt, x)}: {got}, {first.target}: {before}"
