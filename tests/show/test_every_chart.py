"""Every chart that the product makes has a title and names of its axes, differs without colour, and covers no text."""

import re

import pytest
from chart_rules import faults
from graded_runs import FEW, graded_run
from marking import nightly
from mutants import faulty, rounded, where
from repository import ROOT, tool
from synthetic_history import write_history

import gelu_verify
from gelu_verify.attribution import attribute
from gelu_verify.compare.trend import trend
from gelu_verify.functions import FUNCTIONS
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.report.attribution_page import write_attribution
from gelu_verify.report.figures import figures
from gelu_verify.report.trend import trend_document
from gelu_verify.report.versions_files import versions_files
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.show.chart import Chart, Curve, Mark, ReferenceLine, linear
from gelu_verify.show.drawing import DASHES, svg
from gelu_verify.show.html import page
from gelu_verify.targets import select

COMMITTED = sorted((ROOT / "docs").rglob("*.svg"))
NARROW = 480  # of a figure that a page shows whole: its letters are 8.7 pixels high at a width of 420


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_of_the_documentation(path):
    text = path.read_text(encoding="utf-8")
    assert not list(faults(text))
    assert 'class="title"' in text
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1]) <= NARROW


@pytest.mark.parametrize("functions", [FEW, *nightly((tuple(FUNCTIONS),))], ids=["few", "all"])
def test_of_a_report(functions):
    for name, chart in figures([graded_run(functions)]).items():
        for text in (svg(chart), svg(chart, alone=True)):
            assert not list(faults(text)), name


def charts_of(html):
    """Those of a page that are not drawn from parts that another one has."""
    found = re.findall(r'<svg class="chart[^"]*"[^>]*>.*?</svg>', html, re.DOTALL)
    return [each for each in found if "<use " not in each and "<defs>" not in each]


def test_of_a_trend(tmp_path):
    plan = make_plan("landmarks", "gelu", "float16")
    results = [sweep(faulty("gelu", where(lambda x: x < -4, "-0")), plan), sweep(rounded("gelu", "down"), plan)]
    facts = {"versions": {}, "machine": {"cpu": "x", "isa": []}, "git": None, "copy_bytes_per_s": 1e9}
    manifest = {"command": "x", "seed": 0, "plan": "landmarks", "absent": {}, "facts": facts}
    targets = [each.record.target for each in results]
    swapped = [each.updated(target=name) for each, name in zip(results, targets[::-1], strict=True)]
    runs = [read_run(write_run(each, root=tmp_path, **manifest)) for each in (results, swapped)]
    found = charts_of(page(trend_document(trend(runs))))
    assert len(found) >= 3
    for text in found:
        assert not list(faults(text))


def test_of_an_attribution(tmp_path):
    found = attribute(select(["kernels.gelu_erfc"])[0][0], "float32", "quick")
    (written,) = [path for path in write_attribution(found, tmp_path / "new") if path.suffix == ".html"]
    charts = charts_of(written.read_text(encoding="utf-8"))
    assert len(charts) == 2
    for text in charts:
        assert not list(faults(text))


def test_of_releases(tmp_path):
    files = dict(versions_files(write_history(tmp_path / "versions")))
    frames = re.findall(r'<svg class="chart"[^>]*id="frame-.*?</svg>', files["torch.html"].decode(), re.DOTALL)
    assert frames
    for text in frames:
        assert not list(faults(text))


def test_of_the_page_of_each_function():
    pages = tool("site/pages")
    for name in FUNCTIONS:
        assert not list(faults(svg(pages.picture(FUNCTIONS[name]), alone=True))), name


def test_of_a_result_in_a_notebook():
    text = gelu_verify.verify(lambda x: x, "gelu", "float16", plan="quick")._repr_html_()
    assert re.findall(r">(x, in the order of the floats|largest error in ULP)\b", text)


# ---- the rules themselves ------------------------------------------------------------------------


def test_colours_have_dashes_of_their_own_on_the_page_too():
    assert len(set(DASHES)) == len(DASHES) == 7
    script = (ROOT / "gelu_verify" / "report" / "web" / "colours.js").read_text(encoding="utf-8")
    listed = re.search(r"DASHES = \[(.*)\];", script)[1]
    assert [" ".join(each.split(", ")) for each in re.findall(r"\[([^\]]*)\]", listed)] == list(DASHES)


def chart(**parts):
    return Chart(**{"title": "one", "x": linear(0, 10, "x"), "y": linear(-1, 1, "height"), **parts})


LEVEL = [Curve(label=str(k), points=[(0, k / 2), (10, k / 2)], colour=k) for k in range(2)]


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (chart(x=linear(0, 10)), "names of axes"),
        (chart(curves=[LEVEL[0], Curve(label="2", points=[(0, 1), (10, -1)])]), "2 curves are drawn as k0 line"),
        (chart(title="long " * 30), "the title is cut off"),
    ],
)
def test_a_fault_is_found(bad, fault):
    assert any(found.startswith(fault) for found in faults(svg(bad, alone=True)))


def test_a_text_on_a_line_a_point_or_a_text_is_found():
    text = str(svg(chart(curves=LEVEL, marks=[Mark(x=5, y=0.25, label="here")])))
    assert not list(faults(text))
    x, y = re.search(r'class="label" x="([\d.]+)" y="([\d.]+)"', text).groups()
    moved = text.replace(f'class="label" x="{x}" y="{y}"', f'class="label" x="{x}" y="{chart().y_of(0.5) + 3:g}"')
    assert list(faults(moved)) == ["a line goes through 'here'"]
    twice = f'<text class="label" x="{x}" y="{y}">there</text></g>\n</svg>'.join(text.rsplit("</g>\n</svg>", 1))
    assert "'there' covers 'here'" in list(faults(twice))


def test_labels_keep_off_curves_and_each_other():
    marks = [Mark(x=x, y=0.01 * x, label=f"point {x}", side="below") for x in (2, 3, 4)]
    rules = [ReferenceLine(0.75, label="a limit", at_end=True)]
    curves = [*LEVEL, Curve(label="2", points=[(8, -1), (10, 1)], colour=2)]
    text = svg(chart(curves=curves, marks=marks, rules=rules))
    assert not list(faults(text))
    assert text.count("point") == 3
    assert "a limit" in text


def test_a_label_without_room_is_left_out():
    crowded = [Mark(x=5, y=0, label=f"the same place, name {k}") for k in range(40)]
    text = svg(chart(marks=crowded))
    assert 0 < text.count("the same place") < 40
    assert not list(faults(text))
