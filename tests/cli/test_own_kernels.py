"""Our correctly rounded kernels beside what was named, where that is asked for, and in the way of nothing."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from commands import call

from gelu_verify import targets
from gelu_verify.buckets.bins import is_folded
from gelu_verify.cli import main
from gelu_verify.cli.run import _own
from gelu_verify.formats import DTYPES
from gelu_verify.measure.jobs import find_jobs, is_brief, is_timed, was_added
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import _kept, measure_one
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.measuring import measure_run
from gelu_verify.runs.store import read_run
from gelu_verify.truth.correctly_rounded import FUNCTIONS
from gelu_verify.work.journal import Journal

MINE = """
import numpy as np

def gelu_tanh_float32(x):
    return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.7978846) * (x + np.float32(0.044715) * x * x * x)))

def relu_float32(x):
    return np.maximum(x, 0)

def gelu_sigmoid_float32(x):
    raise ValueError("not written yet")
"""
OURS = "kernels.gelu_tanh_cr"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)


def run(*words):
    """(what --json prints, what is stored, exit code)"""
    done = CliRunner().invoke(main, ["run", *words, "--plan", "quick", "--out", "stored", "--json"])
    return [each["target"] for each in json.loads(done.stdout)], read_run("stored").results, done.exit_code


def test_they_are_measured_beside_what_is_named():
    printed, stored, code = run("mine.py:gelu_tanh_float32", "--dtype", "float32", "--own")
    assert code == 0
    assert printed == ["mine.py:gelu_tanh_float32"]
    assert [record.target for record in stored] == ["mine.py:gelu_tanh_float32", OURS]
    ours = stored[1]
    assert ours.correctly_rounded == 1
    assert ours.throughput is not None
    assert (ours.plan, ours.seed, ours.inputs_sha256) == (stored[0].plan, stored[0].seed, stored[0].inputs_sha256)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        ("mine.py:relu_float32", "--dtype", "float32", "--own"),  # of which we have no correctly rounded kernel
        ("mine.py:gelu_tanh_float32", "--dtype", "float32"),
        ("mine.py:gelu_tanh_float32", "--dtype", "float32", "--record", "kept"),
        ("kernels.gelu_tanh_tanh", "--dtype", "float32", "--own"),  # which budgets are made from
    ],
)
def test_where_they_are_not_wanted_there_are_none(words):
    printed, stored, _ = run(*words)
    assert [record.target for record in stored] == printed == [words[0]]


@pytest.mark.parametrize(
    ("names", "added"),
    [
        ((), False),
        (("torch",), True),
        (("mine.py:gelu", "kernels.gelu_erf"), True),
        (("torch", OURS), False),
        (("torch", f"{OURS}@avx2"), False),
        (("torch", "kernels"), False),
    ],
)
def test_what_nobody_named_is_not_judged(names, added):
    request = SimpleNamespace(targets=names, own="beside")
    assert was_added(OURS, request) is added
    assert not was_added(OURS, SimpleNamespace(targets=names, own="none"))
    assert not was_added("kernels.gelu_erf", request)
    assert not was_added("mine.py:gelu_cr", request)


def test_the_exit_code_is_that_of_what_was_named():
    assert run("mine.py:gelu_sigmoid_float32", "--dtype", "float32", "--own")[2] == 1


def test_how_mine_is_called_is_not_how_ours_is():
    (mine, ours), _ = run("mine.py:gelu_tanh_float32", "--dtype", "float32", "--array", "numpy", "--own")[1:]
    assert mine.repeat.endswith("--array numpy")
    assert ours.repeat.startswith(f"gelu-verify run {OURS} ")
    assert "--array" not in ours.repeat


def test_a_request_has_none_unless_it_asks():
    assert measure_one(Request(targets=("kernels.gelu_tanh_tanh",), functions=("gelu_tanh",), dtypes=("float16",)))


def test_every_function_has_one_in_every_dtype():
    found = {each.name: each for each in targets.find(["kernels"])[0] if each.name.endswith("_cr")}
    assert set(found) == {f"kernels.{function}_cr" for function in FUNCTIONS}
    for function in FUNCTIONS:
        each = found[f"kernels.{function}_cr"]
        assert (each.function, each.dtypes, each.family) == (function, DTYPES, "kernels")
        assert each.version


def find(names, **_):
    """numpy.silu, and two kernels of ours."""
    found, _ = targets.find(["numpy", "kernels"], function="silu", dtype="float32")
    return [each for each in found if each.function == "silu" and not each.name.endswith("-f32")], {}


@pytest.mark.parametrize("budget", [None, 0.0, 60.0])
def test_where_nothing_is_named_ours_come_last_on_few_inputs_and_only_the_correctly_rounded_ones_are_timed(budget):
    """Whatever time there is for more inputs than the plan's own: ours get none of it."""
    request = Request(functions=("silu",), dtypes=("float32",), own="briefly", budget=budget)
    jobs = find_jobs(request, find).jobs
    assert [job.target.name for job in jobs] == ["numpy.silu", "kernels.silu_exp", "kernels.silu_cr"]
    assert [job.plan.name for job in jobs] == ["default", "quick", "quick"]
    assert [is_brief(job.target, request) for job in jobs] == [False, True, True]
    assert [is_timed(job, request) for job in jobs] == [True, False, True]
    none = find_jobs(Request(functions=("silu",), dtypes=("float32",), own="none"), find).jobs
    assert [job.target.name for job in none] == ["numpy.silu"]
    as_any = find_jobs(Request(functions=("silu",), dtypes=("float32",)), find).jobs
    assert {job.plan.name for job in as_any} == {"default"}


@pytest.mark.nightly
def test_where_nothing_is_named_a_run_keeps_of_our_wide_tables_what_its_report_draws(tmp_path, monkeypatch):
    monkeypatch.setattr("gelu_verify.runs.measuring.find_jobs", lambda request, _: find_jobs(request, find))
    request = Request(functions=("silu",), dtypes=("float16", "float32"), own="briefly", throughput="none")
    stored = verified(measure_run(request, tmp_path / "run", command="run"))
    folded = {(each.target, each.dtype): is_folded(stored.table(k)) for k, each in enumerate(stored.results)}
    ours = ("kernels.silu_exp", "kernels.silu_cr")
    assert folded == {
        ("numpy.silu", "float16"): False,
        ("numpy.silu", "float32"): False,
        **{(name, "float16"): False for name in ours},
        **{(name, "float32"): True for name in ours},
    }
    assert all(len(stored.buckets(k)) < 8000 for k, each in enumerate(stored.results) if each.target in ours)
    assert call("report", tmp_path / "run")[0] == 0
    shutil.copytree(tmp_path / "run", tmp_path / "same")
    code, text = call("compare", tmp_path / "run", tmp_path / "same", "--json")
    assert (code, {each["status"] for each in json.loads(text)["results"]}) == (0, {"same"})


@pytest.mark.parametrize("asked", [{"plan": "landmarks"}, {"demand": "coarse"}, {"max_ulp": 8.0}, {"own": "found"}])
def test_who_asks_for_inputs_or_for_a_limit_gets_them_of_ours_too(asked):
    def find(names, **_):
        return targets.find(["kernels"], function="silu", dtype="float32")

    request = Request(**{"functions": ("silu",), "dtypes": ("float32",), "own": "briefly"} | asked)
    jobs = find_jobs(request, find).jobs
    assert {job.plan.name for job in jobs} == {asked.get("plan", "default")}
    assert not any(is_brief(job.target, request) for job in jobs)


@pytest.mark.parametrize("record", [None, Path("kept")])
@pytest.mark.parametrize("names", [(), ("torch",)])
def test_what_is_recorded_has_all_inputs(names, record):
    assert _own(None, names, record) == ("none" if names else "found" if record else "briefly")


def test_what_nobody_asked_for_is_not_kept_but_what_a_part_has_is_used(tmp_path):
    bare, named = Request(own="briefly"), Request(targets=(OURS,), dtypes=("float16",))
    (job,) = find_jobs(named).jobs
    with Journal(tmp_path / "journal", {"a": "b"}) as journal:
        assert is_brief(job.target, bare)
        assert _kept(journal, job, bare) is None
        assert _kept(journal, job, named) is not None
        assert _kept(None, job, named) is None
        journal.append(job.key, 0, b"of a part")
        assert _kept(journal, job, bare) is not None
