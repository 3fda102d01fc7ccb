"""The published matrix is what its record says, and the record holds every re-implementation."""

import csv
import importlib.util

import pytest
from forged import relabelled
from mutants import at, correct, faulty
from repository import ROOT
from synthetic_runs import manifest

from gelu_verify.inputs.plans import make_plan
from gelu_verify.kernels.published import PUBLISHED
from gelu_verify.measure.sweep import sweep
from gelu_verify.runs.store import write_run

spec = importlib.util.spec_from_file_location("make_matrix", ROOT / "tools" / "make_matrix.py")
matrix = importlib.util.module_from_spec(spec)
spec.loader.exec_module(matrix)


MACHINE = {"cpu": "a processor", "isa": ["avx2"], "libm": "glibc 2.36", "python": "3.11.7"}


def rows(place):
    with (place / "matrix.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_page_is_what_the_record_gives():
    assert matrix.PAGE.read_text(encoding="utf-8") == matrix.page()


def test_the_record_holds_every_reimplementation():
    asked = {*matrix.FUNCTIONS, *(f"{function}_grad" for function in matrix.FUNCTIONS)}
    kept = {(row["target"], row["dtype"]) for row in rows(max(matrix.RUNS.glob("zoo-*")))}
    assert {(f"published.{k.name}", k.dtype) for k in PUBLISHED if k.function in asked} <= kept


def test_the_record_is_small():
    assert sum(path.stat().st_size for path in matrix.RUNS.rglob("*")) < 3 << 20


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
    kept = {row["target"]: row["max_ulp"] for row in rows(max(matrix.RUNS.glob("zoo-*")))}
    assert set(kept) == {"torch.gelu", "jax.gelu"}
    assert kept["torch.gelu"] == str(worse.max_ulp)
    assert "| `torch.gelu` | >=" in matrix.PAGE.read_text(encoding="utf-8")
    assert matrix.main(["--check"]) == 0
    matrix.PAGE.write_text("edited", encoding="utf-8")
    assert matrix.main(["--check"]) == 1


def test_a_run_of_some_targets_is_added_to_the_record(elsewhere):
    whole = stored(
        elsewhere / "a", measured("torch.gelu"), measured("jax.gelu"), measured("jax.gelu", dtype="bfloat16")
    )
    worse = measured("jax.gelu", at(1.0, "2"))
    part = stored(elsewhere / "b", worse)
    assert matrix.main([whole]) == matrix.main(["--add", part]) == 0
    kept, told = matrix.recorded(matrix.newest())
    assert [(row["target"], row["dtype"]) for row in kept] == [("jax.gelu", "float16"), ("torch.gelu", "float16")]
    assert kept[0]["max_ulp"] == str(worse.max_ulp)
    assert len(told) == 2


def test_what_raised_and_what_was_lost_is_said():
    row = dict.fromkeys(matrix.COLUMNS, "")
    assert matrix._cell(row | {"failure": "raised ValueError"}) == "raised"
    assert matrix._cell(row | {"bound": ">=", "max_ulp": "2.5", "nonfinite": "3"}) == ">=2.50, 3 lost"
    assert matrix._failed(
        {"float16": row | {"failed_checks": "nan sign"}, "float32": row | {"failed_checks": "nan"}}
    ) == ("nan, sign (f16)")
