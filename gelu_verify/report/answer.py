"""What a run found, in a few sentences and one small matrix: the first thing on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from ..functions import FUNCTIONS
from ..isa import at_level, split_level
from ..records.accuracy import ACCURATE
from ..records.claims import grade_text, interval, marked
from ..records.grades import GRADES, MARKS
from ..records.ranking import best_first
from ..records.result import Record
from .ranking import UNGRADED, RankedResult
from .verdicts import dtype_rank, function_rank, group_of, headline, main_results

Cell = dict[str, Any]


def answers(items: Sequence[RankedResult]) -> list[str]:
    """What is broken, which is best of the first function, how all others stand."""
    records = [item.record for item in items]
    first, _, others = headline(records).partition(". ")
    if not others:
        return [first]
    return [f"{first}.", *filter(None, (_best(main_results(records)), others))]


def _best(records: Sequence[Record]) -> str:
    """The best path for the first function, by dtype."""
    function = min((record.function for record in records), key=lambda name: (function_rank(name), name))
    parts = []
    for dtype in sorted({r.dtype for r in records if r.function == function}, key=dtype_rank):
        graded = [r for r in records if (r.function, r.dtype) == (function, dtype) and r.grade]
        if graded:
            best = best_first(graded)[0]
            parts.append(f"{best.target} in {dtype} ({_short(best)})")
    return f"Most accurate {function}: {', '.join(parts)}." if parts else ""


def _short(record: Record) -> str:
    """The grade, or the range that it is of, with what that stands on."""
    found = record.accurate_range if record.grade == "accurate_range" else None
    if found is None:
        return grade_text(record.grade, record.grade_bound)
    return marked(f"within {ACCURATE:g} ULP for {interval(record.dtype, found)}", found.bound or record.bound)


# ---- the matrix ----------------------------------------------------------------------------------


def overview(items: Sequence[RankedResult]) -> list[dict[str, Any]]:
    """Families by function and dtype: grade of the best path, and of the worst where it is another.

    Activations in the first matrix; what they are compared with and made of in a second one.
    """
    activations = [item for item in items if _is_activation(item.record.function)]
    others = [item for item in items if not _is_activation(item.record.function)]
    return [_matrix(part) for part in (activations, others) if part]


def _is_activation(name: str) -> bool:
    return name not in FUNCTIONS or FUNCTIONS[name].group == "activation"


def _matrix(items: Sequence[RankedResult]) -> dict[str, Any]:
    columns = sorted(
        {(item.record.function, item.record.dtype) for item in items},
        key=lambda key: (function_rank(key[0]), key[0], dtype_rank(key[1]), key[1]),
    )
    functions: dict[str, list[str]] = {}
    for function, dtype in columns:
        functions.setdefault(function, []).append(dtype)
    families = list(dict.fromkeys(_family(item.record) for item in _by_group(items)))
    return {
        "functions": list(functions.items()),
        "starts": [place == 0 for dtypes in functions.values() for place in range(len(dtypes))],
        "rows": [(family, [_cell(items, family, *column) for column in columns]) for family in families],
    }


def _by_group(items: Iterable[RankedResult]) -> list[RankedResult]:
    return sorted(items, key=lambda item: (group_of(item.record) != "library", _family(item.record)))


_APART = {"formula": " (formulas)", "ours": " (ours)", "specimen": " (textbook)"}  # a family may be two rows


def _family(record: Record) -> str:
    """Its family, with the instruction-set level that it was limited to: `torch@avx2`; of what we ship, what it is."""
    return at_level(record.family, split_level(record.target)[1]) + _APART.get(group_of(record), "")


def _cell(items: Sequence[RankedResult], family: str, function: str, dtype: str) -> Cell | None:
    records = (item.record for item in items if (item.record.function, item.record.dtype) == (function, dtype))
    found = best_first(record for record in records if _family(record) == family)
    if not found:
        return None
    best, worst = found[0], found[-1]
    grades = [record.grade or UNGRADED for record in (best, worst)]
    worse = f"; worst {grade_text(worst.grade, worst.grade_bound)}: {worst.target}" if grades[0] != grades[1] else ""
    paths = f", best of {len(found)}" if len(found) > 1 else ""
    level = split_level(best.target)[1]
    words = f"@{level}" if level else "correctly rounded" if group_of(best) == "ours" else ""
    wanted = {"family": best.family, "function": function, "dtype": dtype} | ({"q": words} if words else {})
    return {
        "best": grades[0],
        "worst": grades[1] if worse else "",
        "letter": GRADES[best.grade].letter if best.grade else "?",
        "mark": MARKS[best.grade_bound],
        "title": f"{function} {dtype}: {best.target} {grade_text(best.grade, best.grade_bound)}{paths}{worse}",
        "link": urlencode(wanted),
    }
