"""The published matrix is what the committed runs say, and they have every re-implementation."""

from dataclasses import replace

import pytest
from forged import edited, relabelled
from mutants import at, correct, faulty
from repository import tool
from synthetic_runs import manifest

from gelu_verify.errors import ResultsError
from gelu_verify.inputs.plans import make_plan
from gelu_verify.kernels.published import PUBLISHED
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.grades import graded
from gelu_verify.records.parts import NonFinite, Pair
from gelu_verify.runs.committed import matrix_runs
from gelu_verify.runs.store import write_run

matrix = tool("make_matrix")
MACHINE = {"cpu": "a processor", "isa": ["avx2"], "libm": "glibc 2.36", "python": "3.11.7"}


def kept():
    return matrix.records(matrix_runs(matrix.RUNS))


def test_the_page_is_what_the_committed_runs_give():
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page()


def test_the_committed_runs_have_every_reimplementation():
    asked = {*matrix.FUNCTIONS, *(f"{function}_grad" for function in matrix.FUNCTIONS)}
    found = {(record.target, record.dtype) for record in kept()}
    assert {(f"published.{k.name}", k.dtype) for k in PUBLISHED if k.function in asked} <= found


@pytest.mark.parametrize(("pattern", "most"), [("matrix-*", 3 << 20), ("[!m]*", 2 << 20)])
def test_the_committed_runs_are_small(pattern, most):
    assert 0 < sum(path.stat().st_size for path in matrix.RUNS.glob(f"{pattern}/**/*")) < most


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(matrix, "ROOT", tmp_path)
    monkeypatch.setattr(matrix, "RUNS", tmp_path / "data" / "runs")
    monkeypatch.setattr(matrix, "PAGE", tmp_path / "matrix.md")
    return tmp_path


def stored(place, *results):
    facts = {key: manifest()[key] for key in ("versions", "git", "copy_bytes_per_s")} | {"machine": MACHINE}
    return str(write_run(results, place, command="gelu-verify run", seed=0, plan="default", absent={}, facts=facts))


def measured(name, fault=None, dtype="float16"):
    implementation = correct("gelu") if fault is None else faulty("gelu", fault)
    found = sweep(implementation, make_plan("landmarks", "gelu", dtype))
    return relabelled(found, target=name, family=name.partition(".")[0])


def test_a_later_run_replaces_results_of_an_earlier_one(elsewhere):
    first = stored(elsewhere / "a", measured("torch.gelu"), measured("jax.gelu"))
    worse = measured("torch.gelu", at(1.0, "2"))
    second = stored(elsewhere / "b", worse)
    assert matrix.main([first, second]) == 0
    found = {record.target: record.max_ulp for record in kept()}
    assert set(found) == {"torch.gelu", "jax.gelu"}
    assert found["torch.gelu"] == worse.max_ulp
    assert "| `torch.gelu` | **● broken**, >=" in matrix.PAGE.read_text(encoding="utf-8")
    assert matrix.main(["--check"]) == 0
    matrix.PAGE.write_text("edited", encoding="utf-8")
    assert matrix.main(["--check"]) == 1


def test_what_repeats_the_library_s_own_choice_is_left_out(elsewhere):
    """At an instruction-set level: the same bits, grade and checks; not where one of them differs."""
    same = Pair("torch.gelu", inputs=9, differ=0, floats=0, witness=None, max_ulp=0.5, alike=True)

    def at_level(level, pair, fault=None):
        found = measured("torch.gelu", fault)
        return found.updated(target=f"torch.gelu@{level}", pair=pair)

    results = (
        measured("torch.gelu"),
        at_level("sse4_2", same),
        at_level("avx2", replace(same, alike=False)),
        at_level("avx512", same, at(1.0, "2")),  # says that it is the same, and is not
        relabelled(measured("jax.gelu"), target="jax.gelu@avx2", pair=replace(same, first="jax.gelu")),
    )
    matrix.main([stored(elsewhere / "a", *results)])
    names = ["jax.gelu@avx2", "torch.gelu", "torch.gelu@avx2", "torch.gelu@avx512"]
    assert [record.target for record in kept()] == names
    matrix.main(["--add", stored(elsewhere / "b", measured("torch.gelu"))])
    assert [record.target for record in kept()] == ["jax.gelu@avx2", "torch.gelu"]


def test_what_changed_is_listed(elsewhere):
    """Between the two newest runs, of results that both have."""
    first = stored(elsewhere / "a", measured("torch.gelu"), measured("jax.gelu"), measured("scipy.gelu"))
    matrix.main([first])
    assert "What changed" not in matrix.PAGE.read_text(encoding="utf-8")
    matrix.main(["--add", stored(elsewhere / "b", measured("torch.gelu", at(1.0, "2")), measured("jax.gelu"))])
    text = matrix.PAGE.read_text(encoding="utf-8").partition("## What changed since ")[2].partition("## gelu")[0]
    assert "| `torch.gelu` | gelu | float16 | >=0.499 | **● broken**, >=" in text
    assert "jax" not in text
    assert "The other 1 results that both have are the same" in text


def test_a_run_of_some_targets_is_added(elsewhere):
    whole = stored(
        elsewhere / "a", measured("torch.gelu"), measured("jax.gelu"), measured("jax.gelu", dtype="bfloat16")
    )
    worse = measured("jax.gelu", at(1.0, "2"))
    part = stored(elsewhere / "b", worse)
    assert matrix.main([whole]) == matrix.main(["--add", part]) == 0
    assert [(record.target, record.dtype) for record in kept()] == [("jax.gelu", "float16"), ("torch.gelu", "float16")]
    assert kept()[0].max_ulp == worse.max_ulp
    assert len(matrix_runs(matrix.RUNS)) == 2
    assert matrix.main([part]) == 0
    assert [record.target for record in kept()] == ["jax.gelu"]


def test_a_condensed_run_that_was_edited_is_refused(elsewhere):
    matrix.main([stored(elsewhere / "a", measured("torch.gelu", at(1.0, "2")))])
    (run,) = matrix_runs(matrix.RUNS)
    manifest = (run.path / "manifest.json").read_text()
    for key, value, why in (
        ("max_ulp", 0.5, "witness is not one of its error"),
        ("witness", None, "witness does not fit max_ulp"),
        ("regions", [], "regions are not all there"),
        ("checks", {"nan": "pass"}, "has one that did not fail"),
        ("intervals", [], "has intervals, which a condensed run has not"),
    ):
        edited(run.path, lambda document: document["results"][0].update({key: value}))  # noqa: B023
        with pytest.raises(ResultsError, match=why):
            matrix_runs(matrix.RUNS)
        (run.path / "manifest.json").write_text(manifest)


def test_what_raised_and_what_was_lost_is_reported():
    record = measured("torch.gelu").record
    failed = graded(replace(record, failure="raised ValueError", failure_kind="exception", max_ulp=None), None)
    assert matrix.cell(failed) == "**● broken**, failed"
    lost = replace(record, bound=">=", max_ulp=2.5, nonfinite=NonFinite(3, None))
    assert matrix.cell(lost) == "○ correctly rounded, >=2.50, 3 lost"
    assert matrix.cell(replace(lost, grade=None)) == ">=2.50, 3 lost"
    failing = [replace(record, checks=dict.fromkeys(names, "fail")) for names in (("nan", "sign"), ("nan",))]
    assert matrix._failed(dict(zip(("float16", "float32"), failing, strict=True))) == "nan, sign (f16)"
