"""Results over many runs: in order of time, and never called the same without a digest."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from mutants import correct, faulty, moved

from gelu_verify.cli import main
from gelu_verify.compare.runs import compare_runs
from gelu_verify.compare.trend import trend
from gelu_verify.errors import MissingMeasurement
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.parts import Throughput
from gelu_verify.records.serialize import to_json
from gelu_verify.runs.store import read_run, write_run

FACTS = {"versions": {"numpy": "2"}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "landmarks", "absent": {}, "facts": FACTS}
SPEEDS = (1e8, 2e8, None, 5e8)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Four runs: correct, the same again, wrong at one input, and on other inputs."""
    place = tmp_path_factory.mktemp("trend") / "reports"
    plans = [make_plan("landmarks", "gelu", "float16")] * 3 + [
        make_plan("landmarks", "gelu", "float16", 0, ("0x3c00:0x4000",))
    ]
    wrong = faulty("gelu", moved(1.5, 3))
    for plan, one, speed in zip(plans, (correct("gelu"), correct("gelu"), wrong, wrong), SPEEDS, strict=True):
        timed = Throughput(speed, spread=0.1, copy_ratio=None, n=100) if speed else None
        write_run([sweep(one, plan).updated(throughput=timed)], root=place, **MANIFEST)
    return place


def runs(root):
    return [read_run(path) for path in sorted(root.glob("*Z-*"))]


def test_runs_are_in_order_and_changes_are_told(root):
    found = trend(list(reversed(runs(root))))
    (series,) = found.series
    assert [point.run for point in series.points] == [0, 1, 2, 3]
    assert [point.results for point in series.points] == ["first", "same", "changed", "unknown"]
    pairs = pairwise(runs(root))
    assert [point.verdict for point in series.points[1:]] == [compare_runs(*pair).results[0].verdict for pair in pairs]
    assert [point.verdict for point in series.points] == [None, "same", "worse", "unknown"]
    assert [point.elements_per_s for point in series.points] == list(SPEEDS)
    assert series.changes == 2
    with pytest.raises(MissingMeasurement, match=r"has such a result \(accepted: gelu\)"):
        trend(runs(root), functions=["silu"])


def test_without_a_digest_nothing_is_the_same(root):
    first, second, *_ = runs(root)
    bare = replace(second, results=[replace(second.results[0], bits_sha256=None, buckets=None)])
    assert [point.results for point in trend([first, bare]).series[0].points] == ["first", "unknown"]


def invoke(root, *words):
    return CliRunner().invoke(main, ["trend", "--runs", str(root), *words])


def test_every_form_has_every_run(root, tmp_path):
    done = invoke(root, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == to_json(trend([replace(run, path=root / run.path.name) for run in runs(root)]))
    rows = list(csv.DictReader(io.StringIO(invoke(root, "--format", "csv").stdout)))
    assert [row["results"] for row in rows] == ["first", "same", "changed", "unknown"]
    text = invoke(root).stdout
    assert "test.mutant gelu float16" in text
    assert ", 2 runs" in text  # those that are the same share a row
    page = tmp_path / "trend.html"
    assert invoke(root, "--format", "html", "--out", str(page)).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<circle") == 4 + 4 + 3 + 3  # errors, grades, where ranges end, speeds
    assert len(re.findall(r'<path class="mark \w+ k1"', text)) == 3  # where they begin


def test_runs_with_names_of_their_own_are_in_it_and_links_are_not(root, tmp_path):
    other = Path(shutil.copytree(root, tmp_path / "reports", symlinks=True))
    first = sorted(other.glob("*Z-*"))[0]
    first.rename(other / "mine")
    (other / "link").symlink_to("mine")
    names = [Path(run["name"]).name for run in json.loads(invoke(other, "--json").stdout)["runs"]]
    assert (len(names), "mine" in names, "link" in names) == (4, True, False)


def test_a_damaged_run_is_left_out_and_told_unless_it_was_named(root, tmp_path):
    other = Path(shutil.copytree(root, tmp_path / "reports", symlinks=True))
    damaged = sorted(other.glob("*Z-*"))[0]
    (damaged / "manifest.json").write_text("{}")
    done = invoke(other, "--json")
    assert (done.exit_code, "left out: " in done.stderr) == (0, True)
    assert len(json.loads(done.stdout)["runs"]) == 3
    assert invoke(other, str(damaged)).exit_code == 2
    for each in other.glob("*Z-*"):
        (each / "manifest.json").write_text("{}")
    assert "there is no stored run that can be read" in invoke(other).stderr
