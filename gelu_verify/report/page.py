"""The HTML page: one file, no network, useful without JavaScript.

Here the frames become the nested lists that the template walks; the template (and the parts of it in `web/`) holds all
markup and escapes every text. Scripts add sorting, filters, plots and the panel of one result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

import jinja2
import pandas as pd
from jinja2 import meta
from markupsafe import Markup, escape

from .. import __version__
from ..errors import printable
from ..functions import FUNCTIONS
from ..records.claims import grade_title
from ..records.grades import GRADES, MARKS
from ..show.drawing import STYLE
from ..show.html import read
from .answer import answers, overview
from .axis import strip_ticks
from .calls import page_blocks
from .charts import strip
from .citation import citation_texts
from .details import curves_of, page_data
from .evidence import evidence
from .files import environment, inline
from .folds import strip_layout
from .frames import RunLike, run_letter
from .gallery import gallery
from .landmarks import FUNCTIONS as WITH_FACTS
from .landmarks import fact_rows
from .legend import check_rows, grade_rows, tolerance_rows
from .levels import level_lines
from .questions import FILES, questions
from .ranking import UNGRADED, RankedResult, items_of, places, ranked, short_exponent, up_text
from .rows import rows_of
from .speed import speed_groups
from .text import MINUS
from .verdicts import GROUPS, absences

LIMIT = 2_920_000  # bytes of the whole page, but for what names its blocks
SCRIPTS = ("dom", "numbers", "data", "colours", "columns", "table", "save", "plot", "at", "compare", "charts",
           "result", "ask", "main")  # fmt: skip
STYLES = ("web/grades.css", "web/ranking.css", "web/plots.css", "web/result.css", "web/print.css")
SECTIONS = {
    "calls": "calls", "results": "results", "plots": "error against x", "speed": "accuracy and speed",
    "gallery": "functions", "questions": "questions", "legend": "legend", "witnesses": "worst inputs",
    "provenance": "provenance",
}  # fmt: skip
FEW = 40  # worst inputs that are shown at once
_SHORT_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}

Group = dict[str, Any]


def render(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """The page as one string."""
    items = items_of(runs)
    curves = curves_of(runs, items)
    groups = ranked(items, {name: each.strip for name, each in curves.items()}, len(runs) > 1)
    witnesses, texts = _witnesses(frames)
    page = template().render(
        **_head(runs, items),
        **_choices(items),
        version=__version__,
        sections=SECTIONS,
        questions=questions(runs, [item.record for item in items]),
        files=FILES,
        citations=citation_texts(runs),
        groups=groups,
        total=len(items),
        speed=speed_groups([row for _, rows in groups for row in rows], frames["throughput"], frames["sizes"]),
        witnesses=witnesses,
        few=len(witnesses) <= FEW,
        formulas={name: FUNCTIONS[name].formula for name in _functions(items) if name in FUNCTIONS},
        gallery=gallery(),
        with_facts=WITH_FACTS,
        facts=list(fact_rows()),
        grades=grade_rows(),
        checks=check_rows(),
        tolerances=tolerance_rows(),
        axis=strip_ticks(strip_layout("float32")),  # that of all dtypes
        style=inline("vendor/uPlot.min.css")
        + read("page.css")
        + Markup(STYLE + _paper())
        + Markup("").join(map(inline, STYLES)),
        script=_script(),
        plot_data=Markup(_PLACE),
    )
    room = LIMIT - len(page.encode(errors="replace"))
    return page.replace(_PLACE, _json(page_data(items, curves, texts, _attributions(frames), places(items), room)), 1)


def _attributions(frames: Mapping[str, pd.DataFrame]) -> dict[str, dict[str, Any]]:
    """{id: what the largest error of a result is made of}, as its table has it."""
    parts = ("constants", "formula", "flushing", "rest")
    return {
        f"{row['run']}-{row['result']}": {
            **{name: row[name] for name in ("form", "working", "known", "main")},
            **{name: row[f"{name}_ulp"] for name in parts},
        }
        for row in rows_of(frames["attribution"])
    }


_PLACE = "@plot-data@"


def template() -> jinja2.Template:
    """The page, compiled."""
    made = environment()
    made.globals.update(
        drawn=strip,
        group_titles=GROUPS,
        short_dtype=lambda name: _SHORT_DTYPES.get(name, name.removeprefix("float8_")),
        up=up_text,
    )
    made.filters.update(typographic=typographic, plain_code=plain_code, by_function=_by_function)
    return made.get_template("template.html")


def load(name: str = "template.html") -> None:
    """Compile the page and all parts of it, as the first report would."""
    made = template().environment
    made.get_template(name)
    assert made.loader
    for part in meta.find_referenced_templates(made.parse(made.loader.get_source(made, name)[0])):
        if part:
            load(part)


def _paper() -> str:
    """What a figure that is saved has for colours, on a dark screen, too: those of a light one."""
    light = (css.partition("@media")[0] for css in (read("page.css"), STYLE))
    return "".join(re.sub(r"^(:root|\.chart)", ".chart.paper", rule) for rule in light)


def _script() -> Markup:
    """All scripts as one, which leaves no names behind."""
    parts = Markup("").join(inline(f"web/{name}.js") for name in SCRIPTS)
    return inline("vendor/uPlot.iife.min.js") + Markup('(() => {\n"use strict";\n') + parts + Markup("})();\n")


def typographic(sentence: str) -> Markup:
    """A sentence of a record with its signs as they are printed: minus signs, infinities, 'not less than', and marks
    on the line of their claim."""
    shown = str(escape(short_exponent(printable(sentence))))
    shown = re.sub(f"([{''.join(MARKS.values())}]) ", "\\1\N{NO-BREAK SPACE}", shown)
    for typed, sign in (("&lt;=", "\N{LESS-THAN OR EQUAL TO}"), ("&gt;=", "\N{GREATER-THAN OR EQUAL TO}")):
        shown = shown.replace(typed, sign)
    shown = re.sub(r"(?<![\w.)])-(?=[\d.]|inf)|(?<=\de)-(?=\d)", MINUS, shown)
    return Markup(re.sub(r"(?<=[+\N{MINUS SIGN}])inf\b", "\N{INFINITY}", shown))


def plain_code(sentence: str) -> Markup:
    """Words between backquotes as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(typographic(sentence))))


def _by_function(rows: Iterable[Group]) -> list[tuple[str, list[Group]]]:
    return [(name, list(members)) for name, members in groupby(rows, key=lambda row: row["function"])]


def _json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _head(runs: Sequence[RunLike], items: Sequence[RankedResult]) -> Group:
    return {
        "answers": answers(items),
        "levels": (lines := level_lines([item.record for item in items])),
        "regraded": [line.partition(":")[0] for line, after in pairwise(lines) if after.startswith("  grades")],
        "calls": page_blocks([item.record for item in items]),
        "overview": overview(items),
        "runs": [
            {"letter": run_letter(i), "recorded": None, "device": None, **run.manifest} for i, run in enumerate(runs)
        ],
        "several": len(runs) > 1,
        "absent": absences(run.manifest for run in runs),
    }


def _functions(items: Sequence[RankedResult]) -> list[str]:
    return list(dict.fromkeys(item.record.function for item in items))


def _choices(items: Sequence[RankedResult]) -> Group:
    """What the filters offer: [(name, [(value, label)])]."""

    def values(name: str) -> list[str]:
        return list(dict.fromkeys(getattr(item.record, name) for item in items))

    grades = {item.grade: grade_title(item.record.grade).partition(" (")[0] for item in items}
    found = [
        *((name, [(value, value) for value in values(name)]) for name in ("function", "dtype", "family")),
        ("grade", [(grade, grades[grade]) for grade in (*GRADES, UNGRADED) if grade in grades] + _or_better(grades)),
    ]
    return {"filters": found}


def _or_better(grades: Mapping[str, str]) -> list[tuple[str, str]]:
    """What stands for a grade and all above it: of those that occur, neither the best nor the worst."""
    found = [grade for grade in GRADES if grade in grades][1:-1]
    return [(f"{grade}-or-better", f"{grades[grade]} or better") for grade in found]


def _witnesses(frames: Mapping[str, pd.DataFrame]) -> tuple[list[Group], dict[str, str]]:
    """Rows of the appendix, and the text of each result for a bug report by its id."""
    findings: dict[tuple[str, int], list[Group]] = {}
    for finding in rows_of(frames["findings"]):
        findings.setdefault((finding["run"], finding["result"]), []).append(finding)
    rows = rows_of(frames["summary"])
    texts = {f"{r['run']}-{r['result']}": evidence(r, findings.get((r["run"], r["result"]), [])) for r in rows}
    return rows, texts
