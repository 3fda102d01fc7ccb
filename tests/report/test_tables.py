"""The files of a report that are data: numbers that are exact, columns that say what they are, tables for papers."""

import io
import json
import math
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import requiring
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly
from repository import ROOT
from synthetic_runs import ALL, SyntheticRun, failed, manifest, result

from gelu_verify.formats import FORMATS, get_format
from gelu_verify.functions.regions import region_edges
from gelu_verify.measure.request import Request
from gelu_verify.records.grades import GRADES
from gelu_verify.records.parts import Dispatch
from gelu_verify.report import frames, report_text, write_report
from gelu_verify.report.citation import AUTHOR, bibtex, citation_texts
from gelu_verify.report.columns import KEYS, RESULT, RESULTS, SUMMARY
from gelu_verify.report.frames import FRAMES, regions_frame, summary_frame
from gelu_verify.report.results import results_parquet
from gelu_verify.report.rows import json_text
from gelu_verify.report.text import exact_text
from gelu_verify.runs.committed import committed_runs
from gelu_verify.runs.measuring import measure_run
from gelu_verify.truth.distance import distance

# as reports/README.md says
EXACTLY: dict[str, Any] = {} if int(pd.__version__.partition(".")[0]) >= 3 else {"float_precision": "round_trip"}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A small run of NumPy's functions as it is stored, with its report beside it."""
    request = Request(
        targets=("numpy",), functions=("gelu_tanh", "silu"), dtypes=("float16", "bfloat16", "float32"), plan="quick",
        throughput="none",
    )  # fmt: skip
    run = measure_run(request, tmp_path_factory.mktemp("runs") / "run", command="gelu-verify run")
    write_report([run], run.path)
    return run


# ---- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FORMATS)
@given(data=st.data())
def test_a_number_reads_back_to_the_value_of_its_bits(dtype, data):
    fmt = get_format(dtype)
    bits = data.draw(st.integers(0, (1 << fmt.width) - 1))
    value = float(exact_text(dtype, fmt.bits_text(bits)))
    if fmt.is_finite(bits):
        assert Fraction(value) == fmt.fraction(bits)
        assert math.copysign(1, value) == (-1 if fmt.is_negative(bits) else 1)
    else:
        assert math.isnan(value) if fmt.is_nan(bits) else value == (-math.inf if fmt.is_negative(bits) else math.inf)


def test_a_difference_of_two_columns_is_exact(stored):
    summary = pd.read_csv(stored.path / "summary.csv", **EXACTLY)
    for row in summary.itertuples():
        fmt = get_format(row.dtype)
        got, want = (fmt.fraction(int(bits, 16)) for bits in (row.got_bits, row.want_bits))
        assert row.got - row.want == float(got - want)


def test_errors_are_those_against_the_exact_value(stored):
    summary = pd.read_csv(stored.path / "summary.csv", **EXACTLY)
    assert len(summary) == len(stored.results)
    for row in summary.itertuples():
        found = distance(row.function, row.dtype, int(row.x_bits, 16), int(row.got_bits, 16))
        assert (row.abs_error, row.rel_error) == pytest.approx(found, rel=1e-15)
        unit = float(get_format(row.dtype).ulp(get_format(row.dtype).fraction(int(row.want_bits, 16))))
        units = row.abs_error / unit  # of want, which may be the first number of the binade above y's
        assert pytest.approx(row.max_ulp, rel=1e-3) in (units, 2 * units)


def test_regions_have_their_ends_as_numbers(stored):
    frame = regions_frame([stored])
    for (_, dtype), rows in frame.groupby(["result", "dtype"]):
        fmt, edges = get_format(dtype), region_edges(dtype)
        assert rows["lower"].iloc[0] == -math.inf
        assert rows["upper"].iloc[-1] == math.inf
        assert list(rows["lower"])[1:] == list(rows["upper"])[:-1]
        for k, lower in enumerate(list(rows["lower"])[1:], 1):
            first = fmt.from_ordinal(int(edges[k]))
            assert float(fmt.fraction(first)) == lower


# ---- columns -----------------------------------------------------------------------------------


def test_words_are_those_of_the_grades(stored):
    summary = pd.read_csv(stored.path / "summary.csv", **EXACTLY)
    assert set(summary["grade"]) <= set(GRADES)
    assert list(summary["grade"]) == [stored.results[number].grade for number in summary["result"]]
    for name in FRAMES:
        assert "verdict" not in pd.read_csv(stored.path / f"{name}.csv", nrows=0)
    special = pd.read_csv(stored.path / "special.csv", **EXACTLY)
    assert set(special["outcome"]) <= {"pass", "fail", "not applicable"}
    assert set(special.loc[special["outcome"] == "fail", "severity"]) <= {"defect", "loss", "convention"}


def test_json_has_what_csv_has(stored):
    for name, build in FRAMES.items():
        frame = build([stored])
        rows = json.loads(json_text(name, frame))
        again = pd.read_csv(stored.path / f"{name}.csv", dtype=str, keep_default_na=False).to_dict("records")
        assert len(rows) == len(again)
        for row, other in zip(rows, again, strict=True):
            assert {key: "" if value is None else str(value) for key, value in row.items()} == other


@pytest.mark.parametrize("name", sorted(FRAMES.keys() - {"sizes"}))  # of these no run here has a row
def test_every_column_has_values_and_every_value_a_column(stored, name, monkeypatch):
    runs, made = [stored, *(each.run for each in committed_runs())], frames.frame_of

    def checked(runs, rows, table):
        found = {key for run in runs for record in run.results for row in rows(record, run.manifest) for key in row}
        named = {column.name for column in table.columns}
        assert found == named, f"report/columns.py has {named - found} alone, report/frames.py {found - named}"
        return made(runs, rows, table)

    monkeypatch.setattr(frames, "frame_of", checked)
    assert len(FRAMES[name](runs))


def test_every_column_of_the_parquet_file_is_described(stored):
    schema = pq.read_schema(stored.path / "results.parquet")
    whole = (*KEYS, *RESULTS.columns, RESULT)
    assert schema.names == [column.name for column in whole]
    for column in whole:
        field = schema.field(column.name)
        assert field.metadata == {b"description": column.text.encode(), b"unit": column.unit.encode()}
        assert column.text
    assert str(schema.field("max_rank").type) == "uint64"
    assert {str(schema.field(name).type) for name in ("x", "got", "abs_error", "max_ulp")} == {"double"}


def test_the_parquet_file_has_the_results(stored):
    results = pd.read_parquet(stored.path / "results.parquet")
    summary = summary_frame([stored])
    for column in (*KEYS, *SUMMARY.columns):
        if column.kind == "value":
            expected = [None if text is None else float(text) for text in summary[column.name]]
            assert np.array_equal(results[column.name], np.array(expected, float), equal_nan=True)
        else:
            assert results[column.name].isna().equals(summary[column.name].isna()), column.name
            there = results[column.name].notna()
            assert results[column.name][there].tolist() == summary[column.name][there].tolist()
    for row in results.itertuples():
        record = stored.results[row.result]
        assert row.check_minus_infinity == record.checks["minus_infinity"]
        assert (stored.path / row.buckets).is_file()
        assert (row.created, row.gelu_verify) == (
            stored.manifest["created"],
            stored.manifest["versions"]["gelu-verify"],
        )


def test_what_was_dispatched_has_columns():
    dispatch = Dispatch("avx2", {"ATEN_CPU_CAPABILITY": "avx2", "A": "b=c"}, {"ATen": "AVX2", "oneDNN": "avx2"})
    limited = replace(result("a.b@avx2", "gelu", "float32"), dispatch=dispatch)
    records = [limited, replace(result("a.b", "gelu", "float32"), dispatch=None)]
    frame = summary_frame([SyntheticRun(manifest(), records)])
    columns = ["dispatch_level", "dispatch_switches", "dispatch_seen"]
    rows = {row.target: [getattr(row, name) for name in columns] for row in frame.itertuples()}
    assert rows["a.b@avx2"] == ["avx2", "ATEN_CPU_CAPABILITY=avx2; A=b=c", "ATen=AVX2; oneDNN=avx2"]
    assert rows["a.b"] == [None, "", ""]


def test_an_output_of_nan_is_not_missing():
    nan = {"x_bits": "0x7f000000", "got_bits": "0x7fc00000", "want_bits": "0x7f000000"}
    records = [result("a.b", "gelu", "float32", witness=nan), result("a.c", "gelu", "float32", witness=None)]
    table = pq.read_table(io.BytesIO(results_parquet([SyntheticRun(manifest(), records)])))
    assert table.column("got").null_count == 1
    assert math.isnan(table.column("got").to_pylist()[0])


def test_results_of_nothing_and_of_failures_have_all_columns():
    broken = failed("evil\udcff", "gelu", "float32", "evil\udcff raised")
    for results in ([], [broken]):
        frame = pd.read_parquet(io.BytesIO(results_parquet([SyntheticRun(manifest(), results)])))
        assert len(frame) == len(results)
        assert len(frame.columns) == len(KEYS) + len(RESULTS.columns) + 1


# ---- tables for papers -------------------------------------------------------------------------


NAMES = ["torch.gelu", 'evil_&%$#{}~^\\\\<>|"name', "naïve-ε.gelu"]
MANY = [f"x.path_{k}" for k in range(60)]
SHAPES = {
    "all": [result(name, "gelu", dtype, grade="faithful") for name in NAMES for dtype in ALL],
    "one": [result("a.b", "gelu", "float32")],
    "long": [result(name, function, "float16") for name in MANY for function in ("gelu", "silu")],
    "failed": [failed("evil", "gelu", "float32", "evil raised")],
    "none": [],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_latex_has_every_target_and_balances(shape):
    results = SHAPES[shape]
    text = report_text([SyntheticRun(manifest(), results)], "latex")
    assert text.isascii()
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", "\n".join(lines)):
        assert kind == "begin" or opened.pop() == name
        opened += [name] if kind == "begin" else []
    assert not opened
    functions = {record.function for record in results}
    tables = re.findall(r"\\begin\{(tabular|longtable)\}\{(\w+)\}(.*?)\\end\{\1\}", text, re.DOTALL)
    assert len(tables) == len(functions)
    for kind, columns, body in tables:
        rows = [
            line for line in body.splitlines() if re.search(r"(\d\$|--) & \$\\(bullet|circ|times)\$\S+ \\\\$", line)
        ]
        assert len(rows) == len({record.target for record in results})
        assert (kind == "longtable") == (len(rows) == len(MANY))
        for row in rows:
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1
            assert not re.search(r"(?<!\\)[%#_~]", row)
    bare = re.sub(r"\\[{}]", "", "\n".join(lines))
    assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize("shape", nightly(*SHAPES))
def test_latex_compiles(shape, tmp_path):
    """Where pdflatex and its booktabs are installed."""
    pdflatex, finds = requiring.program("pdflatex"), requiring.program("kpsewhich")
    if not subprocess.run([finds, "booktabs.sty"], capture_output=True, check=False).stdout:
        requiring.missing("booktabs.sty")
    (tmp_path / "tables.tex").write_text(report_text([SyntheticRun(manifest(), SHAPES[shape])], "latex"))
    head = r"\documentclass{article}\usepackage{booktabs,longtable}\begin{document}"
    (tmp_path / "paper.tex").write_text(head + r"Text.\input{tables}\end{document}")
    done = subprocess.run(
        [pdflatex, "-halt-on-error", "-interaction=nonstopmode", "paper.tex"], cwd=tmp_path, capture_output=True,
        text=True, errors="replace", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
    assert "too large" not in done.stdout


def test_citations_name_the_run_and_balance():
    runs = [SyntheticRun(manifest(machine={"cpu": "{evil} %"}), [result("torch.gelu", "gelu", "float32")])] * 2
    text = bibtex(runs)
    keys = re.findall(r"@misc\{(\S+),", text)
    assert len(set(keys)) == 2
    assert text.count("{") == text.count("}")
    for fact in ("2026-09-21T10:12:13Z", "0.1.0", "plan default"):
        assert fact in text
    markdown = report_text(runs, "markdown")
    assert AUTHOR in markdown
    assert text in markdown


def test_the_citation_file_is_of_this_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    for line in (f"version: {project['version']}", f"license: {project['license']}", f"  - name: {AUTHOR}"):
        assert line in lines


IDENTIFIED = """\
identifiers:
  - type: swh
    value: "swh:1:rel:0"
  - type: doi
    value: "10.5281/zenodo.1234567"
    description: all versions
"""


@pytest.mark.parametrize(
    ("more", "number"),
    [(IDENTIFIED, "10.5281/zenodo.1234567"), ("doi: 10.5281/zenodo.7\n", "10.5281/zenodo.7"), ("", "")],
)
def test_a_citation_has_the_doi_of_the_citation_file(monkeypatch, tmp_path, more, number):
    runs = [SyntheticRun(manifest(), [result("torch.gelu", "gelu", "float32")])]
    if not more:  # as it ships: a DOI is not issued yet
        assert "doi" not in bibtex(runs)
        return
    (tmp_path / "CITATION.cff").write_text((ROOT / "CITATION.cff").read_text(encoding="utf-8") + more)
    monkeypatch.setattr("gelu_verify.report.citation.resource", lambda path: tmp_path / path.removeprefix("data/"))
    assert f"  doi = {{{number}}}," in bibtex(runs).splitlines()
    assert citation_texts(runs)[0].endswith(f". https://doi.org/{number}.")


# ---- the example -------------------------------------------------------------------------------


def test_ten_questions_are_answered(stored, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ten_questions.py", str(stored.path)])
    found = runpy.run_path(str(ROOT / "examples" / "analysis" / "ten_questions.py"))
    answers = {int(question.partition(".")[0]): table for question, table in found["answers"].items()}
    assert list(answers) == list(range(1, 11))
    printed = capsys.readouterr().out
    assert all(question in printed for question in found["answers"])
    records = stored.results
    assert len(answers[1]) == len({(r.function, r.dtype) for r in records})
    assert set(answers[2]["target"]) == {r.target for r in records if r.grade == "broken"}
    assert len(answers[3]) == sum(r.zero_from is not None for r in records)
    worst = {r.key: max(part.max_ulp for part in r.regions if part.max_ulp is not None) for r in records}
    for row in answers[4].itertuples():
        assert row.max_ulp == worst[f"{row.target}/{row.function}/{row.dtype}"]
    digests = [(r.function, r.dtype, r.inputs_sha256, r.bits_sha256) for r in records]
    assert sorted(answers[5]["size"]) == sorted(n for d in set(digests) if (n := digests.count(d)) > 1)
    assert len(answers[6]) == 0  # nothing was timed
    assert len(answers[7]) == len(records)
    assert len(answers[8]) == len({(r.function, r.target) for r in records if r.dtype == "float32"})
    assert answers[9]["results"].sum() == sum(len(r.failed_checks) for r in records)
    assert (answers[10]["max_ulp"] > 1000).all()


def test_the_normal_distribution_weighs_every_float16(stored, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["ten_questions.py", str(stored.path)])
    probability = runpy.run_path(str(ROOT / "examples" / "analysis" / "ten_questions.py"))["probability"]
    for dtype in ALL:
        weights = probability(dtype)
        assert len(weights) == 1 << 16
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert weights[: 1 << 15].sum() == pytest.approx(0.5, abs=1e-12)
    one = get_format("float16").ordinal(get_format("float16").one) + 0x8000
    assert probability("float16")[one:].sum() == pytest.approx(math.erfc(math.sqrt(0.5)) / 2)
