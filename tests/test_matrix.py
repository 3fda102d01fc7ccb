"""The published matrix is what its record says, and the record holds every re-implementation."""

import csv
import importlib.util
import json
from pathlib import Path

import pytest
from synthetic_runs import manifest, result

from gelu_verify.kernels.published import PUBLISHED
from gelu_verify.results import MANIFEST_KEYS, RESULT_KEYS

ROOT = Path(__file__).parent.parent
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


def stored(place, *records):
    """A stored run of made-up results, without buckets."""
    place.mkdir()
    results = [{key: record.get(key) for key in RESULT_KEYS} for record in records]
    whole = dict.fromkeys(MANIFEST_KEYS) | manifest(machine=MACHINE) | {"schema": 1, "results": results}
    (place / "manifest.json").write_text(json.dumps(whole), encoding="utf-8")
    return str(place)


def test_a_later_run_replaces_results_of_an_earlier_one(elsewhere):
    first = stored(elsewhere / "a", result("torch.gelu", "gelu", "float16"), result("jax.gelu", "gelu", "float16"))
    second = stored(elsewhere / "b", result("torch.gelu", "gelu", "float16") | {"max_ulp": 77.0})
    assert matrix.main([first, second]) == 0
    kept = {row["target"]: row["max_ulp"] for row in rows(max(matrix.RUNS.glob("zoo-*")))}
    assert set(kept) == {"torch.gelu", "jax.gelu"}
    assert kept["torch.gelu"] == "77.0"
    assert "| `torch.gelu` | =77" in matrix.PAGE.read_text(encoding="utf-8")
    assert matrix.main(["--check"]) == 0
    matrix.PAGE.write_text("edited", encoding="utf-8")
    assert matrix.main(["--check"]) == 1


def test_a_run_of_some_targets_is_added_to_the_record(elsewhere):
    names = [("torch.gelu", "float16"), ("jax.gelu", "float16"), ("jax.gelu", "bfloat16")]
    whole = stored(elsewhere / "a", *(result(name, "gelu", dtype) for name, dtype in names))
    part = stored(elsewhere / "b", result("jax.gelu", "gelu", "float16") | {"max_ulp": 77.0})
    assert matrix.main([whole]) == matrix.main(["--add", part]) == 0
    kept, told = matrix.recorded(matrix.newest())
    assert [(row["target"], row["dtype"]) for row in kept] == [("jax.gelu", "float16"), ("torch.gelu", "float16")]
    assert kept[0]["max_ulp"] == "77.0"
    assert len(told) == 2


def test_what_raised_and_what_was_lost_is_said():
    row = dict.fromkeys(matrix.COLUMNS, "")
    assert matrix._cell(row | {"failure": "raised ValueError"}) == "raised"
    assert matrix._cell(row | {"bound": ">=", "max_ulp": "2.5", "nonfinite": "3"}) == ">=2.50, 3 lost"
    assert matrix._failed(
        {"float16": row | {"failed_checks": "nan sign"}, "float32": row | {"failed_checks": "nan"}}
    ) == ("nan, sign (f16)")
