"""Throughput from the first cache to memory: what is measured and told; never how fast."""

import itertools
import json
import re
import time

import pandas as pd
import pytest
from click.testing import CliRunner
from mutants import correct, target
from repository import TESTS
from synthetic_runs import SyntheticRun, manifest, result

from gelu_verify import machine, timing
from gelu_verify.cli import main
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.records.serialize import to_json
from gelu_verify.report import write_report
from gelu_verify.report.size_charts import LINE, size_chart
from gelu_verify.runs.store import read_run
from gelu_verify.speed import cache_levels as sizes

SMALL = {"L1": 1 << 11, "L2": 1 << 12, "L3": 1 << 13}
OLD = TESTS / "data" / "one_size"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Tiny caches and the least number of rounds."""
    monkeypatch.setattr(sizes, "caches", lambda: dict(SMALL))
    monkeypatch.setattr(sizes, "LEAST_MEMORY", 1 << 14)
    monkeypatch.setattr(sizes, "SAMPLE", 1e-6)
    monkeypatch.setattr(sizes, "BUDGET", 0.0)
    monkeypatch.setattr(sizes, "cores", lambda: 2)


def doubled(seen=None):
    def answer(dtype, x):
        if seen is not None:
            seen.append(len(x))
        return x + x

    return target("gelu", answer)


@pytest.mark.parametrize("dtype", DTYPES)
def test_input_and_output_fill_half_of_each_cache(dtype):
    item = get_format(dtype).width // 8
    found = sizes.elements(dtype)
    assert list(found) == ["L1", "L2", "L3", "memory"]
    for level, size in SMALL.items():
        assert size // 2 - 256 * item < 2 * item * found[level] <= size // 2
    assert 2 * item * found["memory"] >= 2 * SMALL["L3"]
    both = sizes.elements(dtype, 2)
    assert [both[level] // found[level] for level in found] == [2, 2, 1, 1]


def test_what_is_reported():
    found = sizes.measure_sizes(doubled(), "float32", 0.0)["sizes"]
    assert [row["level"] for row in found] == ["L1", "L2", "L3", "memory"]
    for row in found:
        assert set(row) == {"level", "n", "threads", "elements_per_s", "bytes_per_s", "spread", "copy_ratio",
                            "copy_bytes_per_s", "repeats"}  # fmt: skip
        assert row["threads"] == 1
        assert row["repeats"] >= timing.REPEATS >= 9
        assert row["bytes_per_s"] == pytest.approx(8 * row["elements_per_s"])
        assert row["copy_bytes_per_s"] == pytest.approx(row["bytes_per_s"] / row["copy_ratio"])
    json.dumps(found, allow_nan=False)


def test_all_threads_where_the_target_allows_it():
    import dataclasses

    seen = []
    safe = dataclasses.replace(doubled(seen), safe_in_threads=True)
    found = sizes.measure_sizes(safe, "float32", 0.0)["sizes"]
    assert [row["threads"] for row in found] == [1] * 4 + [2] * 4
    memory = found[-1]["n"]
    assert memory // 2 in seen  # each thread has its own half


def test_what_would_take_too_long_is_left_out_and_reported(monkeypatch):
    monkeypatch.setattr(sizes, "BLOCK", 1 << 10)
    monkeypatch.setattr(sizes, "TOO_LONG", 0.05)

    def slow(dtype, x):
        time.sleep(len(x) * 2e-5)
        return x

    found = sizes.measure_sizes(target("gelu", slow), "float32", 0.0)["sizes"]
    assert "elements_per_s" in found[0]
    assert re.fullmatch(r"it would take about \d+ s", found[-1]["left_out"])
    assert "elements_per_s" not in found[-1]


def test_a_target_that_raises_is_a_target_failure():
    def raises(dtype, x):
        raise RuntimeError("out of luck")

    with pytest.raises(TargetFailure, match="raised RuntimeError while it was timed"):
        sizes.measure_sizes(target("gelu", raises), "float32", 0.0)


def test_caches_are_read_from_the_machine(tmp_path, monkeypatch):
    for index, (kind, level, size) in enumerate([("Data", 1, "48K"), ("Instruction", 1, "32K"), ("Unified", 2, "2M")]):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in (("type", kind), ("level", level), ("size", size)):
            (folder / name).write_text(f"{value}\n")
    monkeypatch.setattr(machine, "CACHES", tmp_path)
    monkeypatch.setattr(machine.sys, "platform", "linux")
    assert machine.caches() == {"L1": 48 << 10, "L2": 2 << 20}
    monkeypatch.setattr(machine, "CACHES", tmp_path / "nothing")
    assert machine.caches() == machine.TYPICAL


# ---- the command and the record ------------------------------------------------------------------


def run(tmp_path, *arguments):
    command = ["run", "kernels.silu_exp", "--dtype", "float16", "--plan", "landmarks", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, [*command, *arguments])
    assert done.exit_code == 0, done.output
    return read_run(tmp_path / "run").results[0].throughput


def test_the_full_throughput_of_a_run_is_stored_and_shown(tmp_path):
    found = run(tmp_path, "--throughput", "full")
    assert {"elements_per_s", "spread", "copy_ratio", "n", "sizes"} == set(to_json(found))
    assert len(found.sizes) == 8  # our kernels may be called by several threads
    table = pd.read_csv(tmp_path / "run" / "sizes.csv")
    assert list(table["level"][:4]) == ["L1", "L2", "L3", "memory"]
    page = (tmp_path / "run" / "index.html").read_text()
    assert "float16, 2 threads" in page
    assert re.search(r'class="curve dashes k6" d="M[\d.]+ [\d.]+L', page)
    assert re.search(r'class="rule" d="M[\d.]+ [\d.]+V[\d.]+"/><text [^>]*>copy<', page)
    assert "Throughput from cache to memory" in (tmp_path / "run" / "report.md").read_text()


@pytest.mark.parametrize(("arguments", "keys"), [([], 4), (["--throughput", "none"], 0), (["--no-throughput"], 0)])
def test_one_size_or_none_otherwise(tmp_path, arguments, keys):
    found = run(tmp_path, *arguments)
    assert (0 if found is None else len(to_json(found))) == keys


def test_a_run_from_before_there_were_sizes_still_opens(tmp_path):
    old = read_run(OLD)
    assert old.results[0].throughput.sizes is None
    assert "caches" not in old.manifest["machine"]
    write_report([old], tmp_path)
    assert len(pd.read_csv(tmp_path / "sizes.csv")) == 0
    assert len(pd.read_csv(tmp_path / "throughput.csv")) == 1
    assert "kernels.silu_exp" in (tmp_path / "index.html").read_text()


def test_what_was_left_out_is_in_the_report(tmp_path):
    timing = {"elements_per_s": 1e6, "spread": 0.01, "copy_ratio": 0.1, "n": 1000}
    here = {"level": "L1", "n": 10, "threads": 1, "bytes_per_s": 8e6, "copy_bytes_per_s": 8e7, "repeats": 9, **timing}
    gone = {"level": "memory", "n": 1 << 24, "threads": 1, "left_out": "it would take about 99 s"}
    rows = [result("a.b", "gelu", "float32", throughput={**timing, "sizes": [here, gone]})]
    write_report([SyntheticRun(manifest(), rows)], tmp_path)
    for name in ("index.html", "report.md", "sizes.csv"):
        assert "it would take about 99 s" in (tmp_path / name).read_text()


# ---- charts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 7, 40])
def test_labels_of_a_size_chart_do_not_overlap_and_stay_inside(count):
    levels = {"L1": 2048, "L2": 1 << 15, "L3": 1 << 21, "memory": 1 << 24}
    lines = {k: dict.fromkeys(levels, 1e8 * (1 + k / 100)) for k in range(1, count + 1)}
    chart = size_chart("", levels, lines, dict.fromkeys(levels, 9e9), {k: k for k in lines}, dict.fromkeys(lines, "a"))
    places = sorted(label.y - 3.5 for label in chart.labels)
    assert all(b - a >= LINE - 0.11 for a, b in itertools.pairwise(places))
    assert places[0] >= 0
    assert places[-1] <= chart.height - chart.bottom
    numbers = [int(n) for label in chart.labels for n in label.text.split(", ")]
    assert sorted(numbers) == sorted(lines)


def test_a_line_without_memory_ends_where_it_ends():
    levels = {"L1": 2048, "memory": 1 << 24}
    lines = {1: {"L1": 1e6}, 2: {"L1": 1e8, "memory": 2e8}}
    chart = size_chart("", levels, lines, {"L1": 1e9, "memory": 1e9}, {1: 5, 2: 7}, {1: "a", 2: "b"})
    assert [len(curve.points) for curve in chart.curves] == [2, 1, 2]
    assert [mark.attributes["data-c"] for mark in chart.marks] == [5, 7, 7]


def test_a_correct_target_is_timed_too():
    assert len(sizes.measure_sizes(correct("gelu"), "bfloat16", 0.0)["sizes"]) == 4
