"""`gelu-verify search`, as a user meets it."""

import json
import shlex

import pytest
from click.testing import CliRunner

from gelu_verify.cli import main
from gelu_verify.records.serialize import keys_of
from gelu_verify.search.record import SearchRecord

CODE = """
import numpy as np

def relu_f64(x):
    return np.where((x > 3) & (x < 3.0625), x * (1 + 2**-51), np.maximum(x, 0))

def raises(x):
    raise ValueError("no such kernel")

def raises_late(x):
    if ((x > 3) & (x < 3.0001)).any():
        raise ValueError("near 3")
    return np.maximum(x, 0)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(main, ["search", *arguments], prog_name="gelu-verify")


def searched(*arguments):
    done = call("mine.py:relu_f64", "--function", "relu", "--in-process", "--no-seeds", "--json", *arguments)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_the_command_of_a_search_repeats_it(home):
    first = searched("--evaluations", "150000", "--seed", "5", "--out", "found", "--workers", "1")
    assert set(first) == {each.key for each in keys_of(SearchRecord)}
    assert json.loads((home / "found" / "search.json").read_text()) == first
    assert (first["bound"], first["bound_kind"], first["ended"]) == (">=", "searched", "budget")
    assert first["max_ulp"] == 3
    words = shlex.split(first["repeat"])
    assert words[:2] == ["gelu-verify", "search"]
    again = json.loads(call(*words[2:], "--json").stdout)
    assert {**again, "seconds": 0} == {**first, "seconds": 0}
    assert first["witness"]["x_bits"] in first["repeat_witness"]


@pytest.mark.parametrize("name", ["raises", "raises_late"])
def test_the_command_of_a_search_that_failed_fails_again(home, name):
    words = (f"mine.py:{name}", "--function", "relu", "--in-process", "--no-seeds", "--dtype", "float64", "--json")
    first = json.loads(call(*words, "--evaluations", "400000").stdout)
    again = call(*shlex.split(first["repeat"])[2:], "--json")
    assert first["failure"] is not None
    assert json.loads(again.stdout)["failure"] == first["failure"]


def test_own_code_may_be_called_by_several_threads(home):
    found = searched("--evaluations", "150000", "--thread-safe", "--workers", "2")
    assert "--thread-safe" in found["repeat"]
    few = call("mine.py:relu_f64", "--function", "relu", "--in-process", "--no-seeds", "--evaluations", "1000")
    assert (few.exit_code, "--evaluations 1000 is below " in few.stderr) == (2, True)
    assert "--thread-safe is for " in call("numpy.silu", "--thread-safe").stderr


def test_the_text_says_how_much_was_tried(home):
    done = call("mine.py:relu_f64", "--function", "relu", "--in-process", "--no-seeds", "--evaluations", "140000")
    assert done.exit_code == 0
    assert "searched" in done.stdout
    assert ">= 3.00000 ULP" in done.stdout
    assert "repeat: gelu-verify search mine.py:relu_f64 --function relu --dtype float64 --evaluations" in done.stdout


def test_a_target_that_raises_is_a_result_and_exits_with_1(home):
    done = call("mine.py:raises", "--function", "relu", "--dtype", "float64", "--in-process", "--budget", "5s")
    assert done.exit_code == 1
    assert "FAILED" in done.stdout
    assert "no such kernel" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--budget", "soon"], "--budget 'soon' is not a time (accepted: 90s, 10m, 8h; up to 1e+06 s)"),
        (["--budget", "0"], "--budget '0' is out of range"),
        (["--evaluations", "7"], "--evaluations '7' is below 1000"),
        (["--param", "mu=1"], "--param needs --function"),
    ],
)
def test_bad_arguments_are_named(home, arguments, error):
    given = [] if "--param" in arguments else ["--function", "relu"]
    done = call("mine.py:relu_f64", *given, "--in-process", *arguments)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert error in done.stderr
