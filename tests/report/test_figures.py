"""The figures of a report: each has a title and names of its axes, and differs without colour."""

import math

import pytest
from graded_runs import FEW, graded_run

from gelu_verify.report import write_figures
from gelu_verify.report.figures import MOST, figures
from gelu_verify.report.pareto import pareto_chart
from gelu_verify.show.labels import overlap


@pytest.fixture(scope="module")
def drawn():
    return figures([graded_run(FEW)])


def test_errors_speed_and_functions_are_drawn(drawn):
    assert {"error-gelu-float32", "speed-gelu-float32", "drawn-functions"} <= set(drawn)


def test_each_has_a_title_and_says_what_its_axes_are(drawn):
    for name, chart in drawn.items():
        assert chart.title, name
        assert chart.x.title, name
        assert chart.y.title, name


def test_errors_are_those_of_one_path_of_each_library(drawn):
    labels = [curve.label for curve in drawn["error-gelu-float32"].curves]
    assert "torch.gelu" in labels
    assert 1 < len(labels) <= MOST
    assert len({label.partition(".")[0] for label in labels}) == len(labels)


def test_the_largest_error_of_a_result_is_on_its_curve(drawn):
    run = graded_run()
    curve = next(each for each in drawn["error-gelu-float32"].curves if each.label == "torch.gelu")
    record = next(each for each in run.results if (each.target, each.dtype) == ("torch.gelu", "float32"))
    assert max(y for _, y in curve.points if not math.isnan(y)) == pytest.approx(record.max_ulp)


def test_no_line_goes_through_a_name():
    rows = [
        {"target": f"torch.gelu-{k}", "id": f"A-{k}", "rate": 1e8 * 1.5**k, "spread": 0.4, "units": 0.5 * 1.3**k,
         "grade": "accurate", "order": 2, "title": "", "max_ulp": 1.0, "bound": "=", "place": k}
        for k in range(6)
    ]  # fmt: skip
    chart = pareto_chart("gelu, float32", rows, [5e9])
    assert chart.labels
    half = chart.y_of(-1)
    lines = [(chart.left, half, chart.width, half)]
    lines += [(*(chart.x_of(mark.reach[0]), chart.y_of(mark.y)), chart.x_of(mark.reach[1]), chart.y_of(mark.y))
              for mark in chart.marks]  # fmt: skip
    for label in chart.labels:
        box = (label.x, label.y - 8, label.x + 5 * len(label.text), label.y + 1)
        assert not any(overlap(box, line) for line in lines), label.text


def test_they_are_written_as_files(tmp_path):
    written = write_figures([graded_run(("gelu",))], tmp_path, "svg")
    assert {path.name for path in written} == {path.name for path in tmp_path.iterdir()}
    assert all(path.read_text().startswith("<!-- Made by") for path in written)
