"""A figure as a file: it needs no style sheet, and a PDF has its fonts."""

import re
import sys
from xml.etree import ElementTree

import pytest
import requiring

from gelu_verify.errors import MissingMeasurement
from gelu_verify.show.chart import Chart, Curve, Mark, Note, ReferenceLine, linear, octaves
from gelu_verify.show.figure import figure_pdf, figure_svg

KINDS = ("line", "area", "dashes", "stairs")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def chart():
    points = [(0.0, 1.0), (5.0, 2.0**20), (10.0, 4.0)]
    curves = [Curve(label=kind, points=points, kind=kind, colour=colour) for colour, kind in enumerate(KINDS)]
    marks = [Mark(x=1, y=2, shape=shape, link="r=A-1", attributes={"data-r": "A-1"}) for shape in ("ring", "cross")]
    return Chart(
        title="a <title>", x=linear(0, 10, "x"), y=octaves((-3, 24), "error, ULP"), curves=curves, marks=marks,
        rules=[ReferenceLine(4.0)], labels=[Note(9, 9, "here")],
    )  # fmt: skip


def test_a_file_needs_no_style_sheet_and_leads_nowhere(chart):
    text = figure_svg(chart, "how it was made")
    assert not re.search(r"class=|style|var\(|href|data-|system-ui", text)
    root = ElementTree.fromstring(text)
    paper = root.find(f"{SVG}rect")
    assert (paper.get("fill"), paper.get("width")) == ("#fff", "100%")
    assert {"a <title>", "error, ULP", "x", "here"} <= {each.text for each in root.iter(f"{SVG}text")}
    for tag in ("path", "circle"):
        assert all(each.get("stroke") or each.get("fill") != "none" for each in root.iter(SVG + tag)), tag


def test_curves_differ_in_colour_and_in_dashes_where_they_are_lines():
    points = [(0.0, 1.0), (5.0, 2.0)]
    curves = [Curve(label=str(k), points=points, colour=k) for k in range(5)]
    root = ElementTree.fromstring(figure_svg(Chart(title="t", x=linear(0, 5, "x"), y=linear(0, 3, "y"), curves=curves)))
    drawn = {(each.get("stroke"), each.get("stroke-dasharray")) for each in root.iter(f"{SVG}path")
             if each.get("stroke-width") == "1.6"}  # fmt: skip
    assert len({colour for colour, _ in drawn}) == len({dashes for _, dashes in drawn}) == 5


def test_a_pdf_has_its_fonts_and_is_the_same_each_time(chart):
    requiring.module("svglib")
    found = figure_pdf(chart)
    assert found == figure_pdf(chart)
    fonts = re.findall(rb"/BaseFont /(\S+)", found)
    assert fonts
    assert all(b"BitstreamVera" in name for name in fonts)
    assert found.count(b"/FontFile2") == len(fonts)


def test_without_the_extra_the_command_that_installs_it_is_named(chart, monkeypatch):
    monkeypatch.setitem(sys.modules, "svglib.svglib", None)
    with pytest.raises(MissingMeasurement, match=r"pip install 'gelu-verify\[pdf\]'"):
        figure_pdf(chart)
