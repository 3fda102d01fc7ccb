"""What a library cannot do at an instruction-set level that nobody named: a line, and no result.

It says nothing of the library on this processor. A crash is a result everywhere, and so is whatever happens at a level
that the user named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..formats import DTYPES
from ..isa import at_level, split_level
from ..records.result import Record
from .levels import ALL
from .minimize import WHATEVER
from .request import Request


def is_unsupported(record: Record, request: Request) -> bool:
    """Whether the library raises an exception whatever it is called with, at a level of `all`."""
    level = split_level(record.target)[1]
    named = {split_level(name)[1] for name in request.targets if isinstance(name, str)}
    raises = record.failure_kind == "exception" and (record.failure or "").endswith(WHATEVER)
    return raises and request.isa == (ALL,) and bool(level) and level not in named


def with_unsupported(absent: Mapping[str, str], records: Sequence[Record]) -> dict[str, str]:
    """`absent`, and of each level and dtype how many results there are not, with the library's own reason."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in sorted(records, key=lambda record: DTYPES.index(record.dtype)):
        found.setdefault((at_level(record.family, split_level(record.target)[1]), record.dtype), []).append(record)
    lines = dict(absent)
    for (unit, dtype), members in found.items():
        reason = (members[0].failure or "").partition(" raised ")[2]
        text = f"results missing in {dtype}, where it raises: {len(members)} ({reason})"
        lines[unit] = "; ".join(filter(None, (lines.get(unit), text)))
    return lines
