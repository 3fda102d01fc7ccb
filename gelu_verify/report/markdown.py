"""The report as GitHub-flavoured Markdown: for a pull request or a CI step summary (under 1 MB)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..records.claims import grade_text
from ..records.grades import GRADES, MARKS, MARKS_SAY, ORDER
from . import text
from .citation import bibtex, citation_texts
from .columns import TAIL_CHECKS
from .frames import SPECIALS, RunLike, run_letter
from .markdown_blocks import LIMIT
from .markdown_blocks import escape as _escape
from .markdown_blocks import folded as _folded
from .markdown_blocks import size_of as _bytes
from .markdown_blocks import table as _table
from .matrix import Cells, matrices, target_name
from .rows import rows_of
from .verdicts import absences, headline

_WORST = 20
_KEYS = ["target", "function", "dtype"]

Row = dict[str, Any]


def markdown(runs: Sequence[RunLike], frames: Mapping[str, pd.DataFrame]) -> str:
    """Headline and matrix of grades first; long tables are folded, and left out where they do not fit."""
    results = [result for run in runs for result in run.results]
    summary = frames["summary"]
    whole = [
        "# gelu-verify: accuracy report\n",
        f"**{_escape(headline(results))}**\n",
        "Largest error in ULP (`=`: of all inputs, `>=`: the largest found), and the grade or where it is accurate.\n",
        _table(["grade", "when"], ([found.title, found.text] for found in GRADES.values())),
        "; ".join(f"{MARKS[bound]} {text}" for bound, text in MARKS_SAY.items()) + ".",
    ]
    sections = [
        _recorded(summary),
        _executed(summary),
        *(_matrix(*each) for each in matrices(summary)),
        _folded("Every result in a sentence, the worst first", _sentences(summary)),
        _worst(summary),
        _raised(summary, absences(run.manifest for run in runs)),
        _folded("Tail", _tail(frames["tail"])),
        _folded("Special values", _specials(frames["special"])),
        _folded("Regions", _regions(frames["regions"])),
        _folded("Where the largest error comes from", _attribution(frames["attribution"])),
        _folded("Throughput", _throughput(frames["throughput"])),
        _folded("Throughput from cache to memory", _sizes(frames["sizes"])),
        _provenance(runs),
        _citation(runs),
    ]
    size, left_out = sum(_bytes(part) for part in whole), 0
    for section in sections:
        size += _bytes(section)
        if size > LIMIT:
            left_out += 1
            size -= _bytes(section)
        elif section:
            whole.append(section)
    if left_out:
        whole.append(f"_{left_out} sections were left out because of their size: see the CSV files and index.html._\n")
    return "\n".join(whole)


def _executed(summary: pd.DataFrame) -> str:
    """What was not executed on the device that it is for, and on what it was."""
    found = summary[summary["executed"].fillna("") != ""]
    lines = [
        "- " + _escape(f"{', '.join(dict.fromkeys(map(target_name, rows_of(rows))))}: {what}, no GPU")
        for what, rows in found.groupby("executed")
    ]
    return "\n".join(("## Executed\n", *lines, "")) if lines else ""


def _recorded(summary: pd.DataFrame) -> str:
    """Date and device of the recorded runs, and which of their results are stale."""
    lines = [f"- [{run}] {origin}" for run, origin in summary.groupby("run")["recorded"].first().items() if origin]
    stale = summary[summary["stale"] != ""]
    lines += ["- " + _escape(f"{target_name(row)} {row['dtype']}: {row['stale']}") for row in rows_of(stale)]
    return "\n".join(("## Recorded\n", *lines, "")) if lines else ""


def _keys(row: Row) -> list[str]:
    return [target_name(row), row["function"], row["dtype"]]


def _short(row: Row, name: str) -> str:
    """The shortest decimal that names a value in its dtype, for readers; the files of data have the exact one."""
    return text.value_text(row["dtype"], row[f"{name}_bits"]) or ""


def _error(row: Row) -> str:
    return f"{row['bound']} {text.ulp_text(row['max_ulp'], row['bound'])}"


def _matrix(function: str, dtypes: Sequence[str], rows: Cells) -> str:
    table = _table(["target", *dtypes], ([name, *(_graded(by.get(d)) for d in dtypes)] for name, by in rows.items()))
    return f"## {_escape(function)}\n\n{table}"


def _graded(row: Row | None) -> str:
    """The largest error, and the grade or its range; of a target that failed, how."""
    if row is None:
        return ""
    grade = f" {row['claim']}" if row["grade"] else ""
    return f"**{row['failure_kind'] or 'crashed'}**" if row["max_ulp"] is None else f"{_error(row)}{grade}"


def _sentences(summary: pd.DataFrame) -> str:
    """Every result in a sentence, the worst first."""
    known = summary[summary["grade"].notna()]
    order = known["grade"].map(ORDER).sort_values(ascending=False, kind="stable")
    head = [*_KEYS, "grade", "in a sentence", "by convention"]
    rows = (
        [*_keys(r), grade_text(r["grade"], r["grade_bound"]), r["sentence"], r["conventions"]]
        for r in rows_of(known.loc[order.index])
    )
    return _table(head, rows)


def _worst(summary: pd.DataFrame) -> str:
    worst = rows_of(summary.dropna(subset=["max_ulp"]).nlargest(_WORST, "max_ulp"))
    if not worst:
        return ""
    head = [*_KEYS, "ULP", "x", "x bits", "got", "want", "failed checks"]
    rows = (
        [
            *_keys(r),
            _error(r),
            _short(r, "x"),
            r["x_bits"] or "",
            _short(r, "got"),
            _short(r, "want"),
            r["failed_checks"],
        ]
        for r in worst
    )
    table = _table(head, rows)
    repeat = "\n".join(row["repeat"] for row in worst)
    return f"## The {len(worst)} largest errors\n\n{table}\n```\n{repeat}\n```\n"


def _raised(summary: pd.DataFrame, absent: Mapping[str, str]) -> str:
    rows = rows_of(summary[summary["failure"].notna()])
    raised = _table([*_KEYS, "what happened"], ([*_keys(r), r["failure"]] for r in rows))
    missing = _table(["framework", "why it was not run"], absent.items())
    parts = [f"## {title}\n\n{table}" for title, table in (("Crashed", raised), ("Not run", missing)) if table]
    return "\n".join(parts)


def _tail(tail: pd.DataFrame) -> str:
    ends = ("zero_from_x", "zero_threshold_x")
    head = [*_KEYS, "returns zero from x", "zero is correct from x", *TAIL_CHECKS]
    rows = (
        [*_keys(r), *(_short(r, name) for name in ends), *(r[name] or "" for name in TAIL_CHECKS)]
        for r in rows_of(tail)
    )
    return _table(head, rows)


def _specials(special: pd.DataFrame) -> str:
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for r in rows_of(special):
        wrong = f"✗ {_short(r, 'got')}, want {_short(r, 'want')}"
        shown = wrong if r["outcome"] == "fail" else _short(r, "got") or r["outcome"]
        rows.setdefault(tuple(_keys(r)), {})[r["input"]] = shown
    inputs = list(SPECIALS.values())
    head = [*_KEYS, *(f"f({i})" for i in inputs)]
    return _table(head, ([*key, *(by.get(i, "") for i in inputs)] for key, by in rows.items()))


def _regions(regions: pd.DataFrame) -> str:
    names = list(dict.fromkeys(regions["region"]))
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for r in rows_of(regions):
        rows.setdefault(tuple(_keys(r)), {})[r["region"]] = _error(r)
    head = [*_KEYS, *(f"`{n}`" for n in names)]
    return _table(head, ([*key, *(by.get(n, "") for n in names)] for key, by in rows.items()))


def _throughput(throughput: pd.DataFrame) -> str:
    rows = []
    for r in rows_of(throughput):
        speed = [text.rate_text(r["elements_per_s"]), _spread(r["spread"]), text.number_text(r["copy_ratio"])]
        rows.append([*_keys(r), *speed, _error(r)])
    return _table([*_KEYS, "elements/s", "IQR", "ratio to copy", "ULP"], rows)


def _attribution(attribution: pd.DataFrame) -> str:
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


def _sizes(sizes: pd.DataFrame) -> str:
    rows = []
    for r in rows_of(sizes):
        speed = [r["left_out"] or text.rate_text(r["elements_per_s"]), _spread(r["spread"])]
        gigabytes = text.number_text(r["bytes_per_s"] / 1e9) if r["bytes_per_s"] else text.NONE
        rows.append([*_keys(r), r["level"], r["n"], r["threads"], *speed, gigabytes, text.number_text(r["copy_ratio"])])
    return _table([*_KEYS, "level", "array size", "threads", "elements/s", "IQR", "GB/s", "ratio to copy"], rows)


def _spread(spread: float | None) -> str:
    return text.NONE if spread is None else f"{100 * spread:.1f} %"


def _provenance(runs: Sequence[RunLike]) -> str:
    rows = []
    for index, run in enumerate(runs):
        m = run.manifest
        versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
        source = "not a git checkout"
        if m["git"]:
            source = m["git"]["commit"][:12] + (" with local changes" if m["git"]["dirty"] else "")
        recorded = [m["created"], m["command"], m["plan"], m["seed"], m["machine"].get("cpu", "")]
        rows.append([run_letter(index), *recorded, source, versions])
    table = _table(["run", "created", "command", "plan", "seed", "CPU", "source", "versions"], rows)
    return f"## Provenance\n\n{table}" if table else ""


def _citation(runs: Sequence[RunLike]) -> str:
    if not runs:
        return ""
    lines = "\n".join(f"- {_escape(line)}" for line in citation_texts(runs))
    return f"## Citation\n\n{lines}\n\n```bibtex\n{bibtex(runs)}```\n"
