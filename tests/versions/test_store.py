"""What is kept of releases comes back as it was, and files stay small."""

import json
import math
from dataclasses import replace

import pytest

from gelu_verify.buckets.bins import layout
from gelu_verify.errors import MissingMeasurement, ResultsError, UsageError
from gelu_verify.verification import verify
from gelu_verify.versions import recorded, since
from gelu_verify.versions.changes import changes_between, last_before, steps, unchanged_since
from gelu_verify.versions.store import (
    CURVE,
    STEPS,
    History,
    MeasuredRelease,
    keep,
    libraries_in,
    output_of,
    read_history,
)
from gelu_verify.versions.timeline import timeline

KEY = "numpy.silu/silu/float16"


@pytest.fixture(scope="module")
def outputs():
    """What NumPy gives, and the same with another digest and an error of 3 ULP."""
    found = verify("numpy.silu", "silu", "float16")
    intervals = {part.interval: f"{place:08x}" for place, part in enumerate(found.record.intervals)}
    first = output_of("a" * 16, found.record, found.table.flat, intervals)
    worse = replace(found.record, max_ulp=found.max_ulp + 3, bits_sha256="b" * 64)
    other = dict(intervals, **{found.record.intervals[5].interval: "ffffffff"})
    return first, output_of("b" * 16, worse, found.table.flat, other)


def release_of(version, digest=None, **facts):
    results = {KEY: {"avx2": digest}} if digest else {}
    return MeasuredRelease(
        version=version, measured="2026-11-26", released=f"2024-0{version[0]}-01", results=results, **facts
    )


@pytest.fixture
def root(tmp_path, outputs):
    a, b = outputs
    keep(tmp_path, "numpy", release_of("2.0", a.digest), [a])
    keep(tmp_path, "numpy", release_of("3.0", b.digest, packages={"numpy": "3.0"}), [b])
    keep(tmp_path, "numpy", release_of("1.0", a.digest), [a])
    keep(tmp_path, "numpy", release_of("2.5", failure="withdrawn"), [])
    return tmp_path


def test_everything_comes_back(root, outputs):
    history = read_history(root, "numpy")
    assert [each.version for each in history.releases] == ["1.0", "2.0", "2.5", "3.0"]
    assert history.release("2.0") == release_of("2.0", outputs[0].digest)
    assert history.release("2.5").failure == "withdrawn"
    for output in outputs:
        found = history.outputs[output.digest]
        assert (found.digest, found.curve, found.intervals) == (output.digest, output.curve, dict(output.intervals))
        for name in (
            "grade",
            "sentence",
            "max_ulp",
            "witness",
            "n",
            "bound",
            "accurate_range",
            "zero_from",
            "conventions",
        ):
            assert getattr(found.record, name) == getattr(output.record, name)
        assert found.record.failed_checks == output.record.failed_checks
        assert {*found.record.findings} == {*output.record.failed_checks}
        limits = {part.interval: part.max_ulp for part in output.record.intervals if part.max_ulp is not None}
        assert {part.interval: part.max_ulp for part in found.record.intervals} == pytest.approx(limits, rel=1e-5)


def test_a_curve_is_an_upper_bound_of_the_buckets(outputs):
    record = outputs[0].record
    bins = layout(record.dtype, CURVE)
    assert len(outputs[0].curve) == bins.size
    assert max(filter(None, outputs[0].curve)) >= STEPS * math.log2(outputs[0].record.max_ulp) - 1e-9


def test_a_release_is_small(root):
    assert (root / "numpy/3.0.json").stat().st_size < 400
    assert (root / "numpy/outputs.json").stat().st_size < 8_000


def test_keeping_it_again_changes_no_byte(root, outputs):
    before = {each: each.read_bytes() for each in root.glob("*/*")}
    keep(root, "numpy", release_of("2.0", outputs[0].digest), [outputs[0]])
    assert {each: each.read_bytes() for each in root.glob("*/*")} == before


def test_what_is_kept_later_is_added(root, outputs):
    keep(root, "numpy", replace(release_of("2.0"), results={KEY: {"avx512": outputs[1].digest}}), [outputs[1]])
    assert read_history(root, "numpy").release("2.0").results == {KEY: {"avx2": "a" * 16, "avx512": "b" * 16}}
    keep(root, "numpy", release_of("2.0", failure="no network"), [])
    assert not read_history(root, "numpy").release("2.0").failure


def test_what_has_no_results_at_one_level_has_its_reason(tmp_path, outputs):
    release = replace(release_of("2.0", outputs[0].digest), absent={f"{KEY}@avx512": "no such instruction"})
    keep(tmp_path, "numpy", release, [outputs[0]])
    found = read_history(tmp_path, "numpy").release("2.0")
    assert found.absent == {f"{KEY}@avx512": "no such instruction"}
    assert found.has([KEY], ["avx2", "avx512"])
    assert not found.has([KEY], ["sse4_2"])
    (series,) = timeline(History("numpy", (found,), {outputs[0].digest: outputs[0]})).series
    assert series.levels == ("avx2",)
    keep(tmp_path, "numpy", replace(release_of("2.0"), results={KEY: {"avx512": outputs[0].digest}}), [])
    assert read_history(tmp_path, "numpy").release("2.0").absent == {}


def test_steps_skip_a_release_that_failed(root):
    found = {
        step.release.version: [each.verdict for each in step.changes] for step in steps(read_history(root, "numpy"))
    }
    assert found == {"1.0": [], "2.0": ["same"], "2.5": [], "3.0": ["worse"]}


def test_intervals_with_other_bits_are_named(root, outputs):
    history = read_history(root, "numpy")
    (change,) = changes_between(history, history.release("2.0"), history.release("3.0"))
    assert change.intervals == (outputs[0].record.intervals[5].interval,)


def test_other_bits_of_nan_are_no_change(tmp_path, outputs):
    a = outputs[0]
    b = replace(a, digest="c" * 16, intervals={**a.intervals, "inf or NaN": "ffffffff"})
    c = replace(a, digest="d" * 16, intervals={**a.intervals, "[1,1.5)": "ffffffff"})
    for version, output in (("1.0", a), ("2.0", b), ("3.0", c)):
        keep(tmp_path, "numpy", release_of(version, output.digest), [output])
    history = read_history(tmp_path, "numpy")
    assert [[each.verdict for each in step.changes] for step in steps(history)] == [[], ["same"], ["changed"]]
    assert "other bits for x in [1,1.5)" in steps(history)[2].changes[0].changes[0].text
    assert unchanged_since(history, KEY, "avx2", history.release("2.0")).version == "1.0"
    assert unchanged_since(history, KEY, "avx2", history.release("3.0")).version == "3.0"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 9, "outputs": {}}', '{"schema": 1}'])
def test_a_file_that_is_none_is_an_error_that_names_it(root, content):
    (root / "numpy/outputs.json").write_text(content)
    with pytest.raises((ResultsError, KeyError), match="outputs"):
        read_history(root, "numpy").outputs["a" * 16]


def test_an_output_that_was_cut_is_an_error_that_names_it(root):
    path = root / "numpy/outputs.json"
    document = json.loads(path.read_text())
    del document["outputs"]["a" * 16]["curve"]
    path.write_text(json.dumps(document))
    with pytest.raises(ResultsError, match="aaaa"):
        read_history(root, "numpy").outputs["a" * 16]


# ---- on record -------------------------------------------------------------------------------------


@pytest.fixture
def on_record(root, monkeypatch, tmp_path):
    """These releases as those that come with the package, and a folder without others."""
    monkeypatch.setattr(recorded, "default_root", lambda: root)
    monkeypatch.setattr(since, "default_root", lambda: root)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    recorded._read.cache_clear()
    return root


def test_which_release_is_meant(on_record):
    history = recorded.history_of("numpy")
    assert recorded.release_of(history, "2", is_old=True).version == "2.0"
    assert recorded.release_of(history, None, is_old=False).version == "3.0"
    with pytest.raises(MissingMeasurement, match=r"numpy 2\.5 could not be measured: withdrawn"):
        recorded.release_of(history, "2.5", is_old=True)
    with pytest.raises(UsageError, match="accepted: numpy"):
        recorded.history_of("torch")
    assert libraries_in(on_record) == ["numpy"]


def test_since_when(on_record, outputs):
    def said(version):
        return since.since_when(replace(outputs[0].record, version=version, target="numpy.silu@avx2"))

    assert said("2.0") == (
        "It gives these outputs in every release on record that has it, from numpy 1.0 (2024-01-01) on."
    )
    assert said("3.0").startswith(
        "It gives these outputs since numpy 3.0 (2024-03-01); 2.0, the release before it on record, was "
    )
    assert said("2.5") == said("7.7") == ""
    other = replace(outputs[0].record, version="2.0", target="numpy.silu@avx2", grade="broken")
    assert since.since_when(other) == ""  # here it gives something else
    assert since.since_when(replace(outputs[0].record, family="kernels")) == ""
    history = recorded.history_of("numpy")
    assert last_before(history, KEY, "avx2", history.release("3.0")).version == "2.0"


@pytest.mark.parametrize(
    "document", [{}, {"version": "abc"}, {"version": "0.3"}, {"absent": []}, {"results": []}, {"results": {"k": []}}]
)
def test_a_file_that_is_no_release_is_named(tmp_path, document):
    (tmp_path / "lib").mkdir()
    whole = {"schema": 1, "version": "0.2", "measured": "2026-01-01", **document} if document else {"schema": 1}
    (tmp_path / "lib" / "0.2.json").write_text(json.dumps(whole))
    with pytest.raises(ResultsError, match=r"0\.2\.json is no measured release"):
        read_history(tmp_path, "lib")
