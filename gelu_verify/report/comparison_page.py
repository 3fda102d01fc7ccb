"""A comparison as one HTML page: no network, no script."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..compare.comparison import Comparison, ResultComparison
from ..functions.regions import REGIONS
from ..judge.sides import Change
from .comparison_text import (
    FROM_TO,
    LISTED,
    WORDS,
    bits_text,
    difference_text,
    errors_text,
    grades_text,
    names,
    run_text,
    speed_text,
    summary,
    title,
    witness_text,
)
from .files import environment, inline

Row = dict[str, Any]
_REGIONS = tuple(region.name for region in REGIONS)


def comparison_page(found: Comparison) -> str:
    """The page as one string."""
    shown = [each for each in found.results if each.status not in LISTED]
    return environment().get_template("comparison.html").render(
        version=__version__,
        headline=summary(found),
        old=run_text(found.old),
        new=run_text(found.new),
        commands=[(side, run.command) for side, run in (("old", found.old), ("new", found.new))],
        differences=[difference_text(each) for each in found.differences],
        results=[_result(place, each) for place, each in enumerate(shown)],
        regions=_REGIONS,
        listed=[(WORDS[status], len(m), names(m)) for status in LISTED if (m := found.of_status(status))],
        style=inline("page.css") + inline("comparison.css"),
    )  # fmt: skip


def _result(place: int, result: ResultComparison) -> Row:
    by_region = {change.where: change for change in result.changes if change.what == "region"}
    return {
        "id": f"r{place}",
        "word": WORDS[result.status],
        "status": result.status,
        "title": title(result),
        "target": result.target,
        "of": f"{result.function} {result.dtype}",
        "grades": grades_text(result).split(FROM_TO),
        "errors": errors_text(result).removesuffix(" ULP").split(FROM_TO),
        "bits": bits_text(result.bits),
        "regions": [_cell(by_region.get(name)) for name in _REGIONS],
        "changes": [_change(result, change) for change in result.changes],
        "speed": speed_text(result),
        "repeat": result.repeat,
    }


def _cell(change: Change | None) -> Row | None:
    return (
        None if change is None else {"old": change.old_number, "new": change.new_number, "direction": change.direction}
    )


def _change(result: ResultComparison, change: Change) -> Row:
    witness = witness_text(result.dtype, change.witness) if change.witness else ""
    return {"direction": change.direction, "text": change.text, "witness": witness}
