"""`gelu-verify attribute`: what is printed, the page that stands alone, the CSV beside it; the section of a report."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from repository import ROOT
from synthetic_runs import SyntheticRun, manifest

from gelu_verify.attribution import attribute
from gelu_verify.cli import main
from gelu_verify.formats import DTYPES
from gelu_verify.report import write_report
from gelu_verify.report.attribution_page import curve_frame, headline, render, write_attribution
from gelu_verify.report.axis import octaves_of
from gelu_verify.show.chart import Axis, Chart, octave_ticks, octaves
from gelu_verify.targets import select
from gelu_verify.verification import verify


def kernel(name):
    return select([f"kernels.{name}"])[0][0]


@pytest.fixture(scope="module")
def found():
    return attribute(kernel("gelu_erfc"), "float32", "quick")


@pytest.fixture(scope="module")
def files(found, tmp_path_factory):
    return {path.name: path for path in write_attribution(found, tmp_path_factory.mktemp("page") / "new")}


# ---- curves --------------------------------------------------------------------------------------


def test_heights_of_a_log_axis():
    chart = Chart(title="", x=Axis((0, 1)), y=octaves((-1, 2)), height=90, top=0, bottom=0)
    assert [chart.y_of(value) for value in (0.0, 0.5, 1.0, 4.0, 1e9)] == [90, 90, 60, 0, 0]


def test_a_line_goes_on_over_bins_without_a_value_and_an_area_does_not(found):
    curves = curve_frame(found)
    values = [1.0, math.nan, 4.0, *[math.nan] * (len(curves) - 3)]
    page = render(found, curves.assign(**dict.fromkeys(curves.columns[2:], values)))
    assert all(line.count("M") == 1 for line in re.findall(r'class="curve line k\d" d="(M\d[^"]*\dL[^"]*)"', page))
    assert re.search(r'class="area k6" d="([^"]*)"><title>', page)[1].count("M") == 2


def test_spans_hold_what_is_drawn():
    assert octaves_of([np.array([3.0, np.nan, 0.0, np.inf])], -6, 64) == (1, 5)
    assert octaves_of([np.array([1e-30, 1e30])], -6, 64) == (-6, 64)
    assert octaves_of([], -6, 64) == (-6, -2)
    places = [place for place, _ in octave_ticks((-6, 24))]
    assert places == sorted(places)
    assert all(-6 <= place <= 24 for place in places)


# ---- the page ------------------------------------------------------------------------------------


def test_the_page_stands_alone_and_is_complete(found, files):
    page = files["index.html"].read_text()
    assert not re.search(r"<script|url\(|@import|\bsrc=|href=", page)
    assert "default-src 'none'" in page
    for rung in found.record["rungs"]:
        assert rung["title"] in page
    for row in found.record["operations"]:
        assert row["operation"] in page
    assert found.repeat in page
    assert page.count("(x)|</t") == 2  # in the plot and in its key
    assert headline(found.record).endswith("main cause: formula.")


def test_the_curves_hold_every_maximum(found, files):
    curve = pd.read_csv(files["curve.csv"])
    for rung in found.record["rungs"]:
        assert curve[f"{rung['name']}_ulp"].max() == pytest.approx(rung["max_ulp"])
    assert curve["kappa"].min() >= 0
    assert (curve["x_from"] < curve["x_to"]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_kappa_stands_under_the_right_x(dtype):
    curve = curve_frame(attribute(kernel("gelu_erfc"), dtype, "quick"))
    middle = (curve["x_from"].astype(float) + curve["x_to"].astype(float)) / 2
    tail = (middle > -5) & (middle < -3)
    assert tail.sum() > 3
    assert np.allclose(curve["kappa"][tail], middle[tail] ** 2, rtol=0.1)  # x f'/f is about -x^2 there


def test_tables_beside_the_page(found, files):
    rungs, operations = pd.read_csv(files["rungs.csv"]), pd.read_csv(files["operations.csv"])
    assert len(rungs) == len(found.record["rungs"]) * 7
    assert list(operations["max_ulp"]) == sorted(operations["max_ulp"], reverse=True)
    assert json.loads(files["attribution.json"].read_text()) == found.record


def test_names_cannot_break_out_of_the_page(found, tmp_path):
    nasty = "evil.py:</style><xx-target>&"
    record = found.record
    try:
        found.__dict__["record"] = {**record, "target": nasty, "version": nasty}
        write_attribution(found, tmp_path)
    finally:
        found.__dict__["record"] = record
    assert "<xx" not in (tmp_path / "index.html").read_text()


# ---- the command ---------------------------------------------------------------------------------


def call(*arguments):
    return CliRunner().invoke(main, ["attribute", *arguments])


def test_the_command_prints_rungs_parts_and_operations():
    done = call("kernels.gelu_erf", "--dtype", "float16", "--plan", "quick")
    assert done.exit_code == 0, done.output
    for text in (
        "0.5*x*(1 + erf(x*sqrt(1/2)))",
        "<- main cause",
        "cost of each operation",
        "[-5,-3)",
        "repeat: gelu-verify",
    ):
        assert text in done.stdout
    assert done.stdout.isascii()


def test_the_command_as_json_and_as_files(tmp_path):
    done = call("kernels.silu_exp", "--dtype", "bfloat16", "--plan", "quick", "--json", "--out", str(tmp_path / "o"))
    record = json.loads(done.stdout)
    assert record["form"] == "silu_exp"
    assert (tmp_path / "o" / "index.html").is_file()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options", [[], ["--form", "tanh+fma", "--working", "float32", "--constant", "0.044715=0.0447"]]
)
def test_what_it_repeats_is_what_it_did(options):
    import shlex

    command = ["kernels.gelu_tanh_tanh", "--dtype", "float16", "--plan", "quick", "--json", *options]
    first = json.loads(call(*command).stdout)
    again = json.loads(call(*shlex.split(first["repeat"])[2:], "--json").stdout)
    for row in (*first["rewrites"], *again["rewrites"]):
        del row["time"]
    assert again == first


def test_a_callable_with_a_form_that_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef quick(x, slope=1):\n    return x / (1 + np.exp(x.dtype.type(-slope) * x))\n"
    )
    command = ["mine.py:quick", "--function", "gelu_sigmoid", "--form", "exp", "--kwarg", "slope=1.702"]
    done = call(*command, "--dtype", "float32", "--block", "exp=numpy.exp", "--plan", "quick", "--json")
    record = json.loads(done.stdout)
    assert record["blocks"] == {"exp": "exp of numpy.exp"}
    assert record["family"] == "callable"
    assert record["repeat"].endswith("--block exp=numpy.exp --kwarg slope=1.702")
    assert record["worst"]["main"] == "formula"  # exp overflows where the result is still a number


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kernels"], "matches"),
        (["kernels.gelu_erf", "--form", "sine"], "form of gelu"),
        (["kernels.gelu_erf", "--constant", "pi"], "--constant 'pi' cannot be used"),
        (["kernels.gelu_erf", "--block", "erf=nobody.erf"], "unknown target"),
        (["kernels.gelu_erf", "--block", "erf=numpy.tanh"], "computes erf"),
        (["numpy.relu"], "no formula of relu is known"),
    ],
)
def test_what_the_command_does_not_accept(arguments, message):
    done = call(*arguments, "--plan", "quick")
    assert done.exit_code == 2
    assert message in done.stderr


def test_the_json_contract_names_every_key(found):

    text = (ROOT / "docs" / "json.md").read_text()
    section = text[text.index("## `attribute --json`") :].partition("\n## ")[0]
    for part in (found.record, found.record["rungs"][0], found.record["worst"], found.record["operations"][0]):
        for key in part:
            assert f"`{key}`" in section or f'"{key}"' in section, key


# ---- the section of a report ---------------------------------------------------------------------


def test_a_report_says_where_the_largest_errors_come_from(tmp_path):
    records = [verify(kernel(name), "gelu", "bfloat16", "quick").record for name in ("gelu_erf", "gelu_erfc-f32")]
    write_report([SyntheticRun(manifest(), records)], tmp_path)
    table = pd.read_csv(tmp_path / "attribution.csv")
    assert list(table["form"]) == ["gelu_erf", "gelu_erfc"]
    assert list(table["working"]) == ["bfloat16", "float32"]
    total = table["constants_ulp"] + table["formula_ulp"] + table["flushing_ulp"] + table["rest_ulp"]
    assert np.allclose(np.abs(total), table["max_ulp"], rtol=1e-6)
    assert "Where the largest error comes from" in (tmp_path / "index.html").read_text()
    assert "Where the largest error comes from" in (tmp_path / "report.md").read_text()
