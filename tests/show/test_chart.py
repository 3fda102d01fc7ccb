"""The chart: everything is inside of it, gaps stay gaps, and what is thinned out lies on the line."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gelu_verify.show.chart import (
    Axis,
    Chart,
    Curve,
    Mark,
    ReferenceLine,
    decades,
    linear,
    octave_ticks,
    octaves,
    rate_ticks,
    round_ticks,
)
from gelu_verify.show.drawing import svg, thinned

KINDS = ("line", "area", "dashes", "stairs", "dots")
SHAPES = ("dot", "ring", "cross", "bar")


def chart(**parts):
    return Chart(**{"title": "a <title>", "x": linear(0, 10), "y": linear(-1, 1, "height"), **parts})


@pytest.mark.parametrize("alone", [False, True])
def test_every_kind_of_curve_and_mark_is_drawn(alone):
    points = [(0, -1), (2, 0.5), (4, math.nan), (6, 0.2), (8, 1), (10, 1)]
    curves = [Curve(label=f"<{kind}>", points=points, kind=kind, colour=place) for place, kind in enumerate(KINDS)]
    curves.append(Curve(label="band", points=points[:2], band=[(0, -1, 0), (2, 0, 1)]))
    marks = [Mark(x=1, y=0, shape=shape, text="<m>", label="here", reach=(0, 2), link="r1") for shape in SHAPES]
    text = svg(chart(curves=curves, marks=marks, rules=[ReferenceLine(0.5, label="half")]), alone=alone)
    root = ElementTree.fromstring(text)
    styles = {part for each in root.iter() for part in (each.get("class") or "").split()}
    assert {*KINDS, *SHAPES, "band", "reach", "rule", "grid"} - {"dots", "dot"} <= styles | {"dot"}
    assert "<m>" not in text
    assert ("<style>" in text) == alone


def test_a_line_has_gaps_and_an_area_stands_on_the_axis():
    points = [(0.0, 1.0), (1.0, 1.0), (2.0, math.nan), (3.0, -1.0), (4.0, 1.0), (5.0, math.nan)]
    for kind, pieces in (("line", 2), ("area", 2), ("stairs", 2)):
        text = svg(chart(curves=[Curve(points=points, kind=kind)]))
        (data,) = re.findall(rf'class="(?:curve )?{kind} k0" d="([^"]*)"', text)
        assert data.count("M") == pieces, kind


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=2, max_size=20))
def test_nothing_leaves_the_chart(points):
    one = chart(curves=[Curve(points=points)], marks=[Mark(x=x, y=y) for x, y in points])
    root = ElementTree.fromstring(svg(one))
    for circle in root.iter("circle"):
        assert one.left <= float(circle.get("cx")) <= one.width - one.right
        assert one.top <= float(circle.get("cy")) <= one.height - one.bottom


@given(st.lists(st.floats(0, 100), min_size=2, max_size=60))
def test_what_is_thinned_out_lies_on_the_line(heights):
    points = [(float(x), y) for x, y in enumerate(heights)]
    kept = thinned(points)
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    for (x0, y0), (x1, y1) in pairwise(kept):
        for x, y in points[int(x0) : int(x1) + 1]:
            assert abs(y - (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) <= 0.15 + 1e-9


@given(st.floats(1e-3, 1e9), st.floats(1.01, 1e6))
def test_ticks_are_inside_and_round(low, factor):
    high = low * factor
    assert all(low <= at * (1 + 1e-9) and at <= high * (1 + 1e-9) for at in round_ticks(low, high))
    assert all(
        low <= 10**at * (1 + 1e-9) and 10**at <= high * (1 + 1e-9)
        for at, _ in rate_ticks((math.log10(low), math.log10(high)))
    )


def test_axes_hold_what_they_are_made_of():
    axis = decades([2e6, 3e6])
    assert axis.span[1] - axis.span[0] == pytest.approx(1)
    assert axis.place(2e6) > axis.span[0]
    assert [label for _, label in rate_ticks((6, 9.3))] == ["1M", "10M", "100M", "1G"]
    assert [label for _, label in rate_ticks((7.9, 9.1))] == ["100M", "200M", "500M", "1G"]
    assert all(len(rate_ticks(span)) >= 1 for span in ((8.1, 8.9), (5.0, 9.9), (6.5, 7.6)))
    two = octaves((-2, 30))
    assert (two.place(0.5), two.place(0.0), two.place(math.inf)) == (-1, -2, math.inf)
    assert (-1.0, "0.5") in octave_ticks((-6, 24))
    assert Chart(title="", x=Axis((0, 1)), y=two, top=10).y_of(math.inf) == 10
