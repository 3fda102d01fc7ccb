"""The report as GitHub-flavoured Markdown: for a pull request or a CI step summary (under 1 MB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..inputs.special import SPECIALS
from ..records.claims import grade_text
from ..records.grades import GRADES, MARKS, MARKS_SAY, ORDER
from ..show import markdown as writer
from ..show.document import Block, Details, Document, Heading, Items, Listing, Marked, Section, Text, TextTable
from . import text
from .citation import bibtex, citation_texts
from .columns import TAIL_CHECKS
from .frames import RunLike, run_letter
from .matrix import Cells, matrices, target_name
from .rows import rows_of
from .verdicts import absences, headline

_WORST = 20
LIMIT, LEFT_OUT = writer.LIMIT, "{} sections were left out because of their size: see the CSV files and index.html."
_KEYS = ["target", "function", "dtype"]

Row = dict[str, Any]


def markdown(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """Headline and matrix of grades first; long tables are folded, and left out where they do not fit."""
    results = [result for run in runs for result in run.results]
    document = Document(title="accuracy report", headline=headline(results), blocks=list(_blocks(runs, frames)))
    return writer.markdown(document, LIMIT, LEFT_OUT)


def _blocks(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> Iterator[Block]:
    summary = frames["summary"]
    bounds = Marked("=", "code"), ": of all inputs, ", Marked(">=", "code"), ": the largest found"
    yield Text(("Largest error in ULP (", *bounds, "), and the grade or where it is accurate."))
    yield _table(["grade", "when"], ([found.title, found.text] for found in GRADES.values()))
    yield Text("; ".join(f"{MARKS[bound]} {text}" for bound, text in MARKS_SAY.items()) + ".")
    yield Section("Recorded", [Items(list(_recorded(summary)))])
    yield Section("Executed", [Items(list(_executed(summary)))])
    yield from (_matrix(*each) for each in matrices(summary))
    yield Details("Every result in a sentence, the worst first", [_sentences(summary)])
    worst = rows_of(summary.dropna(subset=["max_ulp"]).nlargest(_WORST, "max_ulp"))
    repeat = Listing("\n".join(row["ask"] or row["repeat"] for row in worst))
    yield Section(f"The {len(worst)} largest errors", [_worst(worst), repeat])
    yield Section("Crashed", [_raised(summary)])
    missing = absences(run.manifest for run in runs).items()
    yield Section("Not run", [_table(["framework", "why it was not run"], missing)])
    yield Details("Tail", [_tail(frames["tail"])])
    yield Details("Special values", [_specials(frames["special"])])
    yield Details("Regions, in the plan's calls alone", [_regions(frames["regions"])])
    yield Details("Where the largest error comes from", [_attribution(frames["attribution"])])
    yield Details("Throughput", [_throughput(frames["throughput"])])
    yield Details("Throughput from cache to memory", [_sizes(frames["sizes"])])
    yield Section("Provenance", [_provenance(runs)])
    if runs:
        yield Section("Citation", [Items(citation_texts(runs)), Listing(bibtex(runs), "bibtex")])


def _table(head: Sequence[str | Heading], rows: Iterable[Sequence[Any]]) -> TextTable:
    return TextTable(
        head, [[cell if isinstance(cell, Marked) else " ".join(str(cell).split()) for cell in row] for row in rows]
    )


def _executed(summary: pd.DataFrame) -> Iterator[str]:
    """What was not executed on the device that it is for, and on what it was."""
    for what, rows in summary[summary["executed"].fillna("") != ""].groupby("executed"):
        yield f"{', '.join(dict.fromkeys(map(target_name, rows_of(rows))))}: {what}, no GPU"


def _recorded(summary: pd.DataFrame) -> Iterator[str]:
    """Date and device of the recorded runs, and which of their results are stale."""
    for run, origin in summary.groupby("run")["recorded"].first().items():
        if origin:
            yield f"[{run}] {origin}"
    yield from (
        f"{target_name(row)} {row['dtype']}: {row['stale']}" for row in rows_of(summary[summary["stale"] != ""])
    )


def _keys(row: Row) -> list[str]:
    return [target_name(row), row["function"], row["dtype"]]


def _short(row: Row, name: str) -> str:
    """The shortest decimal that names a value in its dtype, for readers; the files of data have the exact one."""
    return text.value_text(row["dtype"], row[f"{name}_bits"]) or ""


def _error(row: Row) -> str:
    return f"{row['bound']} {text.ulp_text(row['max_ulp'], row['bound'])}"


def _matrix(function: str, dtypes: Sequence[str], rows: Cells) -> Section:
    cells = ([name, *(_graded(by.get(dtype)) for dtype in dtypes)] for name, by in rows.items())
    return Section(function, [_table(["target", *dtypes], cells)])


def _graded(row: Row | None) -> str | Marked:
    """The largest error, and the grade or its range; of a target that failed, how."""
    if row is None:
        return ""
    grade = f" {row['claim']}" if row["grade"] else ""
    return Marked(row["failure_kind"] or "crashed", "bold") if row["max_ulp"] is None else f"{_error(row)}{grade}"


def _sentences(summary: pd.DataFrame) -> TextTable:
    """Every result in a sentence, the worst first."""
    known = summary[summary["grade"].notna()]
    order = known["grade"].map(ORDER).sort_values(ascending=False, kind="stable")
    head = [*_KEYS, "grade", "in a sentence", "by convention"]
    rows = (
        [*_keys(r), grade_text(r["grade"], r["grade_bound"]), r["sentence"], r["conventions"]]
        for r in rows_of(known.loc[order.index])
    )
    return _table(head, rows)


def _worst(worst: Sequence[Row]) -> TextTable:
    head = [*_KEYS, "ULP", "x", "x bits", "got", "want", "failed checks"]
    rows = (
        [
            *(*_keys(r), _error(r), _short(r, "x"), r["x_bits"] or "", _short(r, "got"), _short(r, "want")),
            r["failed_checks"],
        ]
        for r in worst
    )
    return _table(head, rows)


def _raised(summary: pd.DataFrame) -> TextTable:
    rows = rows_of(summary[summary["failure"].notna()])
    return _table([*_KEYS, "what happened"], ([*_keys(r), r["failure"]] for r in rows))


def _tail(tail: pd.DataFrame) -> TextTable:
    ends = ("zero_from_x", "zero_threshold_x")
    head = [*_KEYS, "returns zero from x", "zero is correct from x", *TAIL_CHECKS]
    rows = (
        [*_keys(r), *(_short(r, name) for name in ends), *(r[name] or "" for name in TAIL_CHECKS)]
        for r in rows_of(tail)
    )
    return _table(head, rows)


def _specials(special: pd.DataFrame) -> TextTable:
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for r in rows_of(special):
        wrong = f"✗ {_short(r, 'got')}, want {_short(r, 'want')}"
        shown = wrong if r["outcome"] == "fail" else _short(r, "got") or r["outcome"]
        rows.setdefault(tuple(_keys(r)), {})[r["input"]] = shown
    inputs = list(SPECIALS.values())
    head = [*_KEYS, *(f"f({i})" for i in inputs)]
    return _table(head, ([*key, *(by.get(i, "") for i in inputs)] for key, by in rows.items()))


def _regions(regions: pd.DataFrame) -> TextTable:
    names = list(dict.fromkeys(regions["region"]))
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for r in rows_of(regions):
        rows.setdefault(tuple(_keys(r)), {})[r["region"]] = _error(r)
    head: list[str | Heading] = [*_KEYS, *(Heading(Marked(name, "code")) for name in names)]
    return _table(head, ([*key, *(by.get(n, "") for n in names)] for key, by in rows.items()))


def _throughput(throughput: pd.DataFrame) -> TextTable:
    rows = []
    for r in rows_of(throughput):
        speed = [text.rate_text(r["elements_per_s"]), _spread(r["spread"]), text.number_text(r["copy_ratio"])]
        rows.append([*_keys(r), *speed, _error(r)])
    return _table([*_KEYS, "elements/s", "IQR", "ratio to copy", "ULP"], rows)


def _attribution(attribution: pd.DataFrame) -> TextTable:
    rows = []
    for r in rows_of(attribution):
        names = ("constants", "formula", "flushing", "rest")
        parts = [text.number_text(r[f"{name}_ulp"], 3, signed=True) for name in names]
        rows.append([*_keys(r), _error(r), _short(r, "x"), *parts, r["main"], f"{r['form']}, {r['working']}"])
    head = [
        *_KEYS,
        "ULP",
        "x",
        "constants",
        "formula",
        "flushing",
        "building blocks and unexplained",
        "main cause",
        "form, computed in",
    ]
    return _table(head, rows)


def _sizes(sizes: pd.DataFrame) -> TextTable:
    rows = []
    for r in rows_of(sizes):
        speed = [r["left_out"] or text.rate_text(r["elements_per_s"]), _spread(r["spread"])]
        gigabytes = text.number_text(r["bytes_per_s"] / 1e9) if r["bytes_per_s"] else text.NONE
        rows.append([*_keys(r), r["level"], r["n"], r["threads"], *speed, gigabytes, text.number_text(r["copy_ratio"])])
    return _table([*_KEYS, "level", "array size", "threads", "elements/s", "IQR", "GB/s", "ratio to copy"], rows)


def _spread(spread: float | None) -> str:
    return text.NONE if spread is None else f"{100 * spread:.1f} %"


def _provenance(runs: Sequence[RunLike]) -> TextTable:
    rows = []
    for index, run in enumerate(runs):
        m = run.manifest
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        source = "not a git checkout"
        if m["git"]:
            source = m["git"]["commit"][:12] + (" with local changes" if m["git"]["dirty"] else "")
        recorded = [m["created"], m["command"], m["plan"], m["seed"], m["machine"].get("cpu", "")]
        rows.append([run_letter(index), *recorded, source, versions])
    return _table(["run", "created", "command", "plan", "seed", "CPU", "source", "versions"], rows)
