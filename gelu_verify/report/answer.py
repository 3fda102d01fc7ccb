"""What a run found, in a few sentences and one small matrix: the first thing on the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..functions import FUNCTIONS
from ..records.grades import ORDER
from ..records.result import Record
from .ranking import LETTERS, Item, grade_title, group_of
from .verdicts import dtype_rank, function_rank

Cell = dict[str, Any]
_NAMED = 3  # broken targets that a sentence names


def answers(items: Sequence[Item]) -> list[str]:
    """Sentences: what is broken, which is best of the first function, how all others stand."""
    tested = [item.record for item in items if group_of(item.record) == "library"]
    records = tested or [item.record for item in items]
    if not records:
        return ["Nothing was measured."]
    return [sentence for sentence in (_broken(records), _best(records), _others(records)) if sentence]


def _broken(records: Sequence[Record]) -> str:
    broken = [record for record in records if record.grade == "broken"]
    if not broken:
        return f"None of the {len(records)} results is broken." if len(records) > 1 else ""
    by_target: dict[str, list[Record]] = {}
    for record in sorted(broken, key=lambda r: (function_rank(r.function), len(r.target), dtype_rank(r.dtype))):
        by_target.setdefault(record.target, []).append(record)
    named = [
        f"{target} {' and '.join(dict.fromkeys(r.dtype for r in found))} ({_first_phrase(found[0])})"
        for target, found in list(by_target.items())[:_NAMED]
    ]
    more = len(by_target) - len(named)
    verb = "is" if len(broken) == 1 else "are"
    rest = f", and {more} more" if more else ""
    return f"{len(broken)} of {len(records)} results {verb} broken: {', '.join(named)}{rest}."


def _first_phrase(record: Record) -> str:
    return (record.sentence or "").partition(";")[0].rstrip(".")


def _best(records: Sequence[Record]) -> str:
    """The best path for the first function, by dtype."""
    function = min((record.function for record in records), key=lambda name: (function_rank(name), name))
    parts = []
    for dtype in sorted({r.dtype for r in records if r.function == function}, key=dtype_rank):
        graded = [r for r in records if (r.function, r.dtype) == (function, dtype) and r.grade]
        if graded:
            best = min(graded, key=merit)
            parts.append(f"{best.target} in {dtype} ({_short(best)})")
    return f"Most accurate {function}: {', '.join(parts)}." if parts else ""


def _short(record: Record) -> str:
    if record.grade != "accurate_range" or record.accurate_range is None:
        return grade_title(record.grade or "")
    within = (record.sentence or "").partition(";")[0]
    return within.removesuffix(".") if within.startswith("within") else grade_title(record.grade)


def merit(record: Record) -> tuple[Any, ...]:
    """Sort key, the best first: grade, then how far the accurate range reaches, then the errors."""
    found = record.accurate_range
    reach = min(-found.low, 1e3) + min(found.high, 1e3) if found else 0.0
    units = record.max_abs_error.units if record.max_abs_error else float("inf")
    return ORDER.get(record.grade, 99) if record.grade else 99, -reach, units, record.max_ulp or 0.0, len(record.target)


def _others(records: Sequence[Record]) -> str:
    whole = sum(record.grade in ("correctly_rounded", "faithful", "accurate") for record in records)
    if not whole:
        return "" if all(record.grade is None for record in records) else "None is within 4 ULP everywhere."
    part = sum(record.grade == "accurate_range" for record in records)
    return f"{whole} are within 4 ULP at every input tried, {part} only on a range around 0."


# ---- the matrix ----------------------------------------------------------------------------------


def overview(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Families by function and dtype: grade of the best path, and of the worst where it is another.

    Activations in the first matrix; what they are compared with and made of in a second one.
    """
    activations = [item for item in items if _is_activation(item.record.function)]
    others = [item for item in items if not _is_activation(item.record.function)]
    return [_matrix(part) for part in (activations, others) if part]


def _is_activation(name: str) -> bool:
    return name not in FUNCTIONS or FUNCTIONS[name].group == "activation"


def _matrix(items: Sequence[Item]) -> dict[str, Any]:
    columns = sorted(
        {(item.record.function, item.record.dtype) for item in items},
        key=lambda key: (function_rank(key[0]), key[0], dtype_rank(key[1]), key[1]),
    )
    functions: dict[str, list[str]] = {}
    for function, dtype in columns:
        functions.setdefault(function, []).append(dtype)
    families = list(dict.fromkeys(item.record.family for item in _by_group(items)))
    return {
        "functions": list(functions.items()),
        "starts": [place == 0 for dtypes in functions.values() for place in range(len(dtypes))],
        "rows": [(family, [_cell(items, family, *column) for column in columns]) for family in families],
    }


def _by_group(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=lambda item: (group_of(item.record) != "library", item.record.family))


def _cell(items: Sequence[Item], family: str, function: str, dtype: str) -> Cell | None:
    found = sorted(
        (i.record for i in items if (i.record.family, i.record.function, i.record.dtype) == (family, function, dtype)),
        key=merit,
    )
    if not found:
        return None
    best, worst = found[0], found[-1]
    grades = [record.grade or "ungraded" for record in (best, worst)]
    worse = f"; worst {grade_title(grades[1])}: {worst.target}" if grades[0] != grades[1] else ""
    paths = f", best of {len(found)}" if len(found) > 1 else ""
    return {
        "best": grades[0],
        "worst": grades[1] if worse else "",
        "letter": LETTERS.get(grades[0], "?"),
        "title": f"{function} {dtype}: {best.target} {grade_title(grades[0])}{paths}{worse}",
        "link": f"family={family}&function={function}&dtype={dtype}",
    }
