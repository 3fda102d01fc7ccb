"""The report: numbers that never flatter, envelopes that never hide a peak, files that stand alone."""

import dataclasses
import hashlib
import io
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_runs import ALL, SyntheticRun, bucket_table, failed, large_run, manifest, result

import gelu_verify.report
from gelu_verify.buckets.bins import envelope, layout
from gelu_verify.errors import ResultsError
from gelu_verify.formats import buckets, get_format
from gelu_verify.records.grades import GRADES
from gelu_verify.report import legend, write_report
from gelu_verify.report.axis import edge_values, ticks
from gelu_verify.report.frames import FRAMES, run_letter
from gelu_verify.report.markdown import markdown
from gelu_verify.report.text import rate_text, share_text, short_value, ulp_text, value_text
from gelu_verify.report.verdicts import by_grade, headline

HOME = Path(gelu_verify.report.__file__).parent
VENDORED = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


# ---- numbers -----------------------------------------------------------------------------------


@given(st.floats(0, 1e16), st.sampled_from([2, 3]))
def test_errors_are_rounded_to_the_side_that_stays_true(error, digits):
    assert float(ulp_text(error, "=", digits)) >= error
    assert float(ulp_text(error, ">=", digits)) <= error


@pytest.mark.parametrize(
    ("error", "bound", "text"),
    [
        (0.5, "=", "0.500"),
        (0.5 + 2**-30, "=", "0.501"),
        (0.5 + 2**-30, ">=", "0.500"),
        (0.5 + 2**-10, ">=", "0.5009"),
        (1 + 2**-10, ">=", "1.0009"),
        (4 + 2**-12, ">=", "4.0002"),
        (4 - 2**-12, ">=", "3.99"),
        (0.0, "=", "0.000"),
        (999.96, "=", "1000"),
        (16777215.0, ">=", "1.67e7"),
        (9999.5, "=", "10000"),
        (99999999.0, "=", "1.00e8"),
        (math.inf, "=", "inf"),
        (None, None, "\N{EN DASH}"),
    ],
)
def test_ulp_text(error, bound, text):
    assert ulp_text(error, bound) == text


@given(st.floats(0, 1))
def test_only_a_full_share_reads_100_per_cent(share):
    shown = float(share_text(share).removesuffix(" %"))
    assert (shown == 100) == (share == 1)
    assert shown / 100 <= share + 1e-12


def test_rates():
    assert [rate_text(v) for v in (1.1e9, 6.3e8, 2.345e7, 512.0)] == ["1.10 G/s", "630 M/s", "23.4 M/s", "512 /s"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_values_read_back_to_their_bits(dtype):
    fmt = get_format(dtype)
    for bits in range(0, 1 << 16, 37):
        again = fmt.parse(value_text(dtype, fmt.bits_text(bits)))
        assert fmt.is_nan(again) if fmt.is_nan(bits) else again == bits


def test_special_and_short_values():
    texts = {"0x80000000": "-0", "0x00000000": "0", "0xff800000": "-inf", "0x7fc00000": "nan"}
    assert {bits: value_text("float32", bits) for bits in texts} == texts
    assert value_text("float32", "0xc0b147ae") == "-5.54"
    assert short_value("float64", "0xc0434a42c8f45c50") == "-38.5802"
    assert value_text("float32", None) is None


# ---- what a report says first -------------------------------------------------------------------


def test_headlines():
    sound = result("scipy.gelu", "gelu", "float32")
    on_a_range = result("torch.gelu", "gelu", "float32", cancels=True)
    broken = failed("torch.gelu", "gelu", "float64", "torch.gelu raised")
    assert headline([]) == "Nothing was measured."
    assert headline([broken]) == "torch.gelu gelu float64 is broken: raises an exception."
    assert (
        headline([sound])
        == "scipy.gelu gelu float32 is accurate (from a sample): within 1.2 ULP at every finite input."
    )
    assert headline([on_a_range]).startswith(
        "torch.gelu gelu float32 is accurate on a range (from a sample): within 4 ULP for x >= -1.1"
    )
    assert headline([on_a_range]).endswith(" By convention: NaN at -inf.")
    assert headline([sound, on_a_range, broken]) == (
        "1 of 3 results is broken: torch.gelu float64 (raises an exception). "
        "1 is accurate on a range (from a sample; torch.gelu float32, ○ x >= -1.11); 1 is accurate (from a sample)."
    )
    assert headline([sound, on_a_range]).startswith("None of 2 results is broken. 1 is accurate on a range")
    assert headline([on_a_range, dataclasses.replace(on_a_range, grade=None)]).startswith("The result is not broken.")


def test_a_headline_names_the_worst_results_and_counts_the_others():
    broken = [failed(f"torch.gelu-{k}", "gelu", "float32", "raised") for k in range(5)]
    worse = failed("jax.gelu", "gelu", "float32", "raised", sentence="crashes.")
    named = "jax.gelu float32 (crashes), torch.gelu-0 float32, torch.gelu-1 float32 (raises an exception) and 3 more"
    assert headline([*broken, worse]) == f"6 of 6 results are broken: {named}."


def test_among_equal_errors_the_headline_names_the_plain_path_of_a_framework():
    names = ["kernels.gelu_erf", "scipy.gelu-erf", "torch.gelu", "torch.gelu-strided"]
    results = [result(n, "gelu", "float32", cancels=True) for n in names]
    assert "(from a sample; the narrowest: torch.gelu float32, ○ x >=" in headline(results)
    assert "3 are accurate on a range" in headline(results)  # ours are not counted


def test_grades_come_the_worst_first():
    run = large_run().results
    found = by_grade(run)
    assert list(found) == [g for g in reversed(GRADES) if any(r.grade == g for r in run)]
    assert sum(map(len, found.values())) == len(run)


def test_run_letters():
    assert [run_letter(i) for i in (0, 1, 25, 26, 701, 702)] == ["A", "B", "Z", "AA", "ZZ", "AAA"]


# ---- envelopes and charts ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("per_binade", [8, 16, 32])
def test_bins_are_symmetric_and_cover_every_finite_bucket(dtype, per_binade):
    bins = layout(dtype, per_binade)
    fmt = get_format(dtype)
    assert np.all(np.diff(bins.edges) > 0)
    assert np.array_equal(bins.edges, 0x10000 - bins.edges[::-1])
    ends = np.array([fmt.max_finite, fmt.max_finite | fmt.sign_mask], fmt.uint)
    assert np.all((buckets(fmt, ends) >= bins.edges[0]) & (buckets(fmt, ends) < bins.edges[-1]))
    for at, label in ticks(bins):
        assert float(edge_values(bins)[at]) == float(label.replace("\N{MINUS SIGN}", "-"))


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ALL)
@given(data=st.data())
def test_an_envelope_keeps_every_peak(dtype, data):
    table = bucket_table(dtype, 1.2, True, -math.inf).copy()
    place = data.draw(st.integers(0, len(table) - 1))
    table.loc[place, "max_error"] = 2.0**60
    table.loc[place, "nonfinite"] = 1
    shape = envelope(table, dtype, 16)
    here = np.searchsorted(shape.layout.edges, table["bucket"][place], side="right") - 1
    assert shape.max_error[here] == np.nanmax(shape.max_error) == 2.0**60
    assert np.flatnonzero(shape.nonfinite).tolist() == [here]


# ---- files -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    return large_run()


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("report") / "new"
    return {path.name: path for path in write_report([run], out)}


def test_every_file_is_there(report):
    others = {"index.html", "report.md", "tables.tex", "citation.bib", "results.parquet"}
    assert set(report) == others | {f"{name}.csv" for name in FRAMES}
    assert all(path.is_file() for path in report.values())


def test_nothing_can_break_out_of_its_place(tmp_path):
    nasty = "evil.py:</script><xx-target>&|`*_"
    results = [
        result(nasty, "gelu", "float32", form="<xx-form>", note="<xx-note>", repeat="run '<xx-repeat>'"),
        failed(nasty, "gelu", "float16", "raised </td><xx-failure> | & `a`\nsecond line"),
    ]
    write_report([SyntheticRun(manifest(command="<xx-command>", absent={"<xx-family>": "</xx>"}), results)], tmp_path)
    table = [line for line in (tmp_path / "report.md").read_text().splitlines() if line.startswith("| evil")]
    assert table
    assert not any("<" in line for line in table)


def test_the_copy_beside_the_rate_of_a_gpu_is_its_own():
    own = {"elements_per_s": 2e11, "bytes_per_s": 1.6e12, "spread": 0.01, "copy_ratio": 0.6, "copy_bytes_per_s": 2.8e12}
    timed = result("cuda.gelu_cr", "gelu", "float32", throughput={**own, "n": 1 << 26})
    rows = FRAMES["throughput"]([SyntheticRun(manifest(), [timed, result("a.b", "gelu", "float32")])])
    copies = dict(zip(rows["target"], rows["copy_bytes_per_s"], strict=True))
    assert copies == {"cuda.gelu_cr": 2.8e12, "a.b": manifest()["copy_bytes_per_s"]}


def test_a_target_that_crashed_stands_out_in_markdown(tmp_path):
    write_report([SyntheticRun(manifest(), [failed("a.b", "gelu", "float32", "raised ValueError: no")])], tmp_path)
    assert re.search(r"^\| a\.b \| \*\*\w+\*\* \|$", (tmp_path / "report.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    "runs",
    [
        [],
        [SyntheticRun(manifest(git=None, absent={}, copy_bytes_per_s=None))],
        [SyntheticRun(manifest(), [failed("torch.gelu", "gelu", "float32", "torch.gelu raised ValueError: no")])],
        [
            SyntheticRun(manifest(), [result("a.b", "gelu", "float32", max_ulp=m, throughput=None)])
            for m in (None, math.inf)
        ],
        [
            SyntheticRun(
                manifest(), [result("a.b" + 40 * "_long_name", "from_another_version", "float64", zero_from=None)]
            )
        ],
    ],
    ids=["no run", "empty", "only failures", "no finite error", "long name, unknown function"],
)
def test_sparse_runs_make_whole_reports(runs, tmp_path):
    files = write_report(runs, tmp_path)
    assert all(path.stat().st_size > 0 for path in files)


def test_runs_side_by_side_carry_letters(tmp_path):
    live = SyntheticRun(manifest(), [result("torch.gelu", "gelu", "float32", cancels=True)])
    recorded = SyntheticRun(manifest(created="2026-01-01T00:00:00Z"), [result("torch.gelu", "gelu", "float32")])
    write_report([live, recorded], tmp_path)
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert list(summary["run"]) == ["A", "B"]


def test_markdown_fits_a_step_summary(run, report, monkeypatch):
    assert report["report.md"].stat().st_size < 1_000_000
    monkeypatch.setattr("gelu_verify.report.markdown.LIMIT", 60_000)
    text = markdown([run], {name: build([run]) for name, build in FRAMES.items()})
    assert 50_000 < len(text.encode()) < 61_000
    assert re.search(r"\d+ sections were left out", text)
    assert "## Provenance" in text


def test_csv_keeps_bits_and_integers_exact(run, report):
    summary = pd.read_csv(report["summary.csv"], dtype=str, keep_default_na=False)
    for row in summary.to_dict("records"):
        stored = run.results[int(row["result"])]
        assert row["target"] == stored.target
        assert row["max_rank"] == ("" if stored.max_rank is None else str(stored.max_rank))
        assert row["n"] == ("" if stored.n is None else str(stored.n))
        if stored.witness:
            assert row["x_bits"] == stored.witness.x_bits
            fmt = get_format(row["dtype"])
            assert fmt.parse(row["x"]) == int(row["x_bits"], 16)
            assert float(row["max_ulp"]) == stored.max_ulp


def test_an_unwritable_folder_is_one_clear_error_and_loses_nothing(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ResultsError, match="cannot write the report to"):
        write_report([SyntheticRun(manifest())], tmp_path / "file" / "report")
    assert (tmp_path / "file").read_text() == "kept"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_report_can_be_made_again_in_its_place(tmp_path):
    first = write_report([SyntheticRun(manifest())], tmp_path)
    assert write_report([SyntheticRun(manifest())], tmp_path) == first
    assert sorted(tmp_path.iterdir()) == sorted(first)


@pytest.mark.parametrize("name", VENDORED)
def test_vendored_files_are_what_was_published(name):
    comment, _, body = (HOME / "vendor" / name).read_bytes().partition(b"*/\n")
    assert comment.startswith(b"/* uPlot 1.6.32, dist/" + name.encode() + b" of https://registry.npmjs.org/")
    assert b"MIT License" in comment
    assert hashlib.sha256(body).hexdigest() == VENDORED[name]


def test_frames_of_nothing_have_their_columns():
    for build in FRAMES.values():
        frame = build([])
        assert len(frame) == 0
        assert list(frame.columns[:5]) == ["run", "family", "target", "function", "dtype"]
        assert pd.read_csv(io.StringIO(frame.to_csv(index=False))).columns.equals(frame.columns)


def test_the_legend_says_how_each_check_is_mended():
    page = legend.check_rows()
    assert page
    assert all(row["remedy"].endswith(".") for row in page)
