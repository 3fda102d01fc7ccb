"""One result where it is looked at interactively: five lines of text, and the HTML that a notebook shows.

The HTML is inline throughout (no script, no style sheet, no id), takes the colours of the page around it, and escapes
every text: a notebook may hold many results, in a light or a dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import jinja2
import numpy as np
from markupsafe import Markup

from ..buckets.bins import envelope
from ..errors import printable
from ..formats import get_format
from ..records.accuracy import ACCURATE
from ..records.claims import grade_text
from ..records.grades import MARKS_SAY
from ..records.result import Record, Result
from ..show.chart import Axis, Chart, Curve, ReferenceLine, octaves
from ..show.drawing import svg, without_style
from .axis import octaves_of, ticks
from .files import environment
from .text import short_value, ulp_text, value_text

PER_BINADE = 12
SPAN = (-3, 64)  # octaves of the axis at most
DIGITS = 9  # of a number in the table; its bits are in the tooltip
COLOURS = {  # of a badge with white text: a contrast of 4.5 or more
    "correctly_rounded": "#1a7f37", "faithful": "#1a7f37", "accurate": "#1a7f37", "accurate_range": "#8a5a00",
    "absolute": "#8a5a00", "coarse": "#b3261e", "broken": "#b3261e",
}  # fmt: skip


_OF_PAGE = {
    "class": "", "style": "width:100%;max-width:720px;height:auto;display:block;background:transparent",
    "fill": "currentColor", "font-size": "11",
}  # fmt: skip


def five_lines(result: Result) -> Iterator[str]:
    """The same five in every case, each printable."""
    record = result.record
    yield printable(f"{record.target} as {record.function} in {record.dtype}: {_title(record)}")
    for name, value in (
        ("largest error", _largest(record)),
        ("summary", _summary(record)),
        ("checks", _checks(record)),
        ("inputs", _inputs(record)),
    ):
        yield printable(f"  {name:<14} {value}")


def html(result: Result) -> str:
    """What a notebook shows."""
    return _template().render(
        record=result.record,
        title=_title(result.record),
        colour=COLOURS[result.record.grade or "broken"],
        largest=_largest(result.record),
        summary=_summary(result.record),
        inputs=_inputs(result.record),
        plot=None if result.table is None else _plot(result),
        worst=list(_worst(result.record)),
        failed=[(name, result.record.findings[name]) for name in result.record.failed_checks],
    )


@cache
def _template() -> jinja2.Template:
    return environment().get_template("notebook.html")


def _title(record: Record) -> str:
    says = f" ({MARKS_SAY['>=']})" if record.grade_bound == ">=" else ""
    return grade_text(record.grade or "broken", record.grade_bound) + says


def _largest(record: Record) -> str:
    if record.failure is not None and record.max_ulp is None:
        return f"not measured: {record.failure}"
    if record.max_ulp is None or record.witness is None:
        return "not measured: no output could be scored"
    witness = record.witness
    x, got, want = (
        f"{value_text(record.dtype, bits)} ({bits})" for bits in (witness.x_bits, witness.got_bits, witness.want_bits)
    )
    return f"{record.bound} {ulp_text(record.max_ulp, record.bound)} ULP at x = {x}: got {got}, want {want}"


def _summary(record: Record) -> str:
    conventions = f" [{', '.join(record.conventions)}]" if record.conventions else ""
    return f"{record.sentence}{conventions}"


def _checks(record: Record) -> str:
    failed = [f"{name} ({record.findings[name].severity})" for name in record.failed_checks]
    if not record.checks:
        return "none could be made"
    return f"failed: {', '.join(failed)}" if failed else "none failed"


def _inputs(record: Record) -> str:
    if record.max_ulp is None:
        kind = "nothing was measured"
    elif record.ranges:
        kind = f"only from {', '.join(record.ranges)}"
    else:
        kind = "every value of the dtype" if record.bound == "=" else "a sample: errors elsewhere may be larger"
    return f"{record.n:,}, {kind} (plan {record.plan}, seed {record.seed})"


def _plot(result: Result) -> Markup:
    """The largest error of each bin of x."""
    found = envelope(Result.frame(result), result.record.dtype, PER_BINADE)
    low, high = octaves_of([found.max_error], *SPAN)
    curves = [_area("largest error", found.max_error, 0)]
    if found.nonfinite.any():
        curves.append(_area("NaN or an infinity for finite x", np.where(found.nonfinite, math.inf, math.nan), 1))
    chart = Chart(
        title=f"Largest error in ULP over x. {_largest(result.record)}", curves=curves, width=720, height=210,
        x=Axis((0, found.layout.size), ticks(found.layout), "x, in the order of the floats"),
        y=octaves((min(low, SPAN[0]), max(high, 3)), "largest error in ULP", 5),
        rules=[ReferenceLine(0.5), ReferenceLine(ACCURATE)], attributes=_OF_PAGE,
    )  # fmt: skip
    return without_style(svg(chart))


def _area(label: str, values: np.ndarray, colour: int) -> Curve:
    return Curve(label=label, points=list(enumerate([*values.tolist(), math.nan])), kind="area", colour=colour)


def _worst(record: Record) -> Iterator[dict[str, str]]:
    """The worst input of each region that has one."""
    fmt = get_format(record.dtype)
    for part in record.regions or ():
        if part.witness is None:
            continue
        row = {"region": part.region, "ulp": f"{record.bound} {ulp_text(part.max_ulp, record.bound)}"}
        for name in ("x", "got", "want"):
            bits = getattr(part.witness, f"{name}_bits")
            row[name] = short_value(record.dtype, bits, DIGITS)
            row[f"{name}_bits"] = f"{bits} {fmt.hex_float(int(bits, 16))}"
        yield row
