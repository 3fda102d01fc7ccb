"""Every place that shows a grade, a range or a largest error says whether all inputs were tried, or a sample."""

import re
from dataclasses import replace

import pytest
from mutants import faulty, rounded, where
from repository import tool

from gelu_verify.ci.cases import cases_of_run
from gelu_verify.ci.changes import cases_of_comparison
from gelu_verify.ci.outputs import junit
from gelu_verify.ci.summary import summary
from gelu_verify.cli.comparison import comparison_lines
from gelu_verify.cli.terminal import result_lines
from gelu_verify.compare.runs import compare_runs
from gelu_verify.compare.trend import trend
from gelu_verify.inputs.plans import make_plan
from gelu_verify.judge.demands import Demands, exceeded
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.grades import MARKS
from gelu_verify.report import report_text
from gelu_verify.report.comparison import comparison_document
from gelu_verify.report.trend import trend_document
from gelu_verify.report.verdicts import headline
from gelu_verify.report.write import _contents
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.show.html import page
from gelu_verify.show.markdown import markdown

matrix = tool("make_matrix")
FACTS = {"versions": {}, "machine": {"cpu": "x", "isa": []}, "git": None, "copy_bytes_per_s": 1e9}
LIMITS = Demands(min_grade="correctly_rounded")
OTHER = {"=": ">=", ">=": "="}


@pytest.fixture(scope="module")
def sampled():
    """One that is accurate on a range, and one that is faithful."""
    plan = make_plan("landmarks", "gelu", "float16")
    of_range, of_all = faulty("gelu", where(lambda x: x < -4, "-0")), rounded("gelu", "down")
    return [sweep(replace(each, name=f"test.{name}"), plan) for each, name in ((of_range, "one"), (of_all, "two"))]


@pytest.fixture(scope="module", params=OTHER)
def bound(request):
    return request.param


@pytest.fixture(scope="module")
def runs(sampled, bound, tmp_path_factory):
    """Two runs with that bound; from the first to the second each target changed its grade."""
    second = [a.updated(target=b.record.target) for a, b in zip(sampled, sampled[::-1], strict=True)]
    manifest = {"command": "x", "seed": 0, "plan": "landmarks", "absent": {}, "facts": FACTS}
    root = tmp_path_factory.mktemp("runs")
    stored = [read_run(write_run(each, root=root, **manifest)) for each in (sampled, second)]
    return [replace(run, results=[with_bound(each, bound) for each in run.results]) for run in stored]


def with_bound(record, bound):
    found = replace(record.accurate_range, bound=bound)
    return replace(record, bound=bound, grade_bound=bound, accurate_range=found, sentence="It is so.")


def records(runs):
    return runs[0].results


def compared(runs):
    return compare_runs(*runs)


def judged(runs):
    return cases_of_run(records(runs), LIMITS, {})


def text_of(lines):
    return "\n".join("".join(text for text, _ in line) for line in lines)


RENDERERS = {
    "terminal": lambda runs: text_of(result_lines(records(runs), width=80)),
    "wide terminal": lambda runs: text_of(result_lines(records(runs), width=140)),
    "terminal, each library's best": lambda runs: text_of(result_lines(records(runs) * 20, width=80)),
    "terminal, details": lambda runs: text_of(result_lines(records(runs), details=True)),
    "one result": lambda runs: "\n".join(headline([each]) for each in records(runs)),
    "headline": lambda runs: headline(records(runs)),
    "Markdown": lambda runs: report_text(runs[:1], "markdown"),
    "LaTeX": lambda runs: report_text(runs[:1], "latex"),
    "page": lambda runs: str(_contents(runs[:1])["index.html"]),
    "comparison, terminal": lambda runs: text_of(comparison_lines(compared(runs), width=100, height=60)),
    "comparison, Markdown": lambda runs: markdown(comparison_document(compared(runs))),
    "comparison, page": lambda runs: page(comparison_document(compared(runs))),
    "trend, Markdown": lambda runs: markdown(trend_document(trend(runs))),
    "trend, page": lambda runs: page(trend_document(trend(runs))),
    "limits": lambda runs: "\n".join(
        text for _, text in exceeded(records(runs), Demands(min_grade="correctly_rounded"))
    ),
    "GitHub": lambda runs: summary("gate", judged(runs)),
    "JUnit": lambda runs: junit("gate", judged(runs)).decode(),
    "GitHub, comparison": lambda runs: summary("compare", cases_of_comparison(compared(runs), "worse")),
    "matrix": lambda runs: "\n".join(map(matrix.cell, records(runs))),
}


PROSE = ("one result", "headline")  # that a claim is of all inputs is not said
_SIGNS = {"&gt;": ">", "≥": ">=", "\N{MINUS SIGN}": "-", r"$\bullet$": "●", r"$\circ$": "○", r"$\ge$": ">=", "$-$": "-"}
_GRADE = re.compile(r"([●○]|)(?:faithful|accurate on a range|range|F|R)\b( \(from a sample|)")


@pytest.mark.parametrize("name", RENDERERS)
def test_a_claim_has_the_mark_of_what_it_stands_on(name, runs, bound):
    text = re.sub(r"<[^>]*>", " ", RENDERERS[name](runs))
    for old, new in _SIGNS.items():
        text = text.replace(old, new)
    text = " ".join(text.split()).replace("● ", "●").replace("○ ", "○")
    ranges, grades = set(re.findall(r"(.)x ?>= ?-4\b", text)), set(_GRADE.findall(text))
    assert ranges <= {MARKS[bound]}
    assert not {each for each in grades if MARKS[OTHER[bound]] in each or (bound == "=" and each[1])}
    assert (name in PROSE and bound == "=") or grades & {(MARKS[bound], ""), ("", " (from a sample")}
