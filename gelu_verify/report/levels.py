"""What differs between the instruction-set levels of one library, in a line for each level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..formats import get_format, value_text
from ..isa import at_level, split_level
from ..records.parts import Pair
from ..records.result import Record


def level_lines(records: Sequence[Record]) -> list[str]:
    """One line for each family and level that was compared with another one: how many results differ, and where most.

    Results are compared with those of the same path at the first level that was measured, mostly without a switch.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        level = split_level(record.target)[1]
        if level and record.pair is not None and split_level(record.pair.first)[0] == split_level(record.target)[0]:
            groups.setdefault(at_level(record.family, level), []).append(record)
    return [line for name, members in groups.items() for line in _lines(name, members)]


def _lines(name: str, members: list[Record]) -> Iterator[str]:
    pairs = [(record, record.pair) for record in members if record.pair is not None]
    other = sum(not pair.alike for _, pair in pairs)
    yield f"{name}: {other} of {len(pairs)} results are not those of {_compared_with(pairs[0][1].first)}"
    record, pair = max(pairs, key=lambda each: _distance(*each))
    if pair.witness is not None:
        fmt = get_format(record.dtype)
        bits = (pair.witness.x_bits, pair.witness.got_bits, pair.witness.other_bits)
        x, got, before = (value_text(fmt, int(each, 16)) for each in bits)
        yield (
            f"  most: {record.target} {record.dtype} gives {got} at x = {x} ({pair.witness.x_bits}), "
            f"{pair.first} gives {before}; {pair.differ} of {pair.inputs} fixed inputs differ"
        )


def _compared_with(first: str) -> str:
    level = split_level(first)[1]
    return f"@{level}" if level else "the code that it chooses itself"


def _distance(record: Record, pair: Pair) -> float:
    """How far apart, as a share of all numbers of the dtype."""
    return pair.floats / 2.0 ** get_format(record.dtype).width
