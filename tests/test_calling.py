"""One declaration of how a target is called: every command, the configuration, Python and docs have all of it."""

import inspect
import re
from dataclasses import fields

import pytest
from click.testing import CliRunner
from repository import ROOT

from gelu_verify import verify
from gelu_verify.calling import OPTIONS, READINGS, Calling
from gelu_verify.cli import main
from gelu_verify.errors import UsageError
from gelu_verify.gate.measurements import measure_budgeted
from gelu_verify.gate.project import read_project
from gelu_verify.gate.rows import Budgets
from gelu_verify.measure.request import Request
from gelu_verify.stochastic.request import TAKEN, MapRequest

TAKING = ("run", "ask", "search", "attribute", "compare", "init")
OTHERS = {
    "stochastic": "a random function is called otherwise, as its own arguments say",
    **dict.fromkeys(("trend", "gate", "budget", "upgrade"), "--target is of stored runs, or of rows"),
    "versions": "--target is of a library's own paths, or a function in an environment that has nothing of ours",
}
SLEEPING = """
import time
import numpy as np

def sleeps(x: np.ndarray):
    time.sleep(20)
    return x

def relu(x: np.ndarray):
    return np.maximum(x, 0)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(SLEEPING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gelu_verify.isolation.limits.SEARCH", 0.1)  # seconds in which the inputs of a hang are found
    return tmp_path


def call(*words):
    return CliRunner().invoke(main, words, prog_name="gelu-verify")


# ---- every way to say it ---------------------------------------------------------------------------


def test_every_command_that_takes_a_target_is_known():
    named = {
        name for name, command in main.commands.items() for each in command.params if each.name in ("target", "targets")
    }
    assert named == {*TAKING, *OTHERS}


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", TAKING)
def test_every_command_that_takes_a_target_has_every_option(name, option):
    taken = {each.name: each for each in main.commands[name].params}
    assert option.name in taken, f"{name} has no {option.typed}"
    assert (taken[option.name].opts, taken[option.name].help) == ([option.typed], option.text)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_option_says_what_it_does_in_the_docs(option):
    page = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    row = f"| `{option.typed}` | `{option.name}` | "
    assert page.count(row) == 1, f"docs/targets.md has no row {row}"
    assert re.search(rf"^{re.escape(row)}.{{20}}", page, re.MULTILINE)


def test_python_takes_every_option():
    taken = inspect.signature(verify).parameters
    assert list(taken)[-len(OPTIONS) :] == [each.name for each in fields(Calling)]
    assert taken["isolate"].default is None
    with pytest.raises(UsageError, match="unknown argument 'time_limits'; did you mean 'time_limit'"):
        verify("numpy.silu", "silu", time_limits=5)
    with pytest.raises(UsageError, match="unknown argument 'demand'"):
        verify("numpy.silu", "silu", demand="accurate")


VALUES = {"text": '"x"', "flags": '"-O3"', "literals": "{a = 1}", "names": "[]", "yes": "true", "no": "false",
          "count": "7", "seconds": "5", "bytes": '"512M"'}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_a_configuration_takes_every_option(option, tmp_path):
    assert VALUES.keys() == READINGS.keys()
    file = tmp_path / "gelu-verify.toml"
    value = f'"{option.choices[0]}"' if option.choices else VALUES[option.reading]
    file.write_text(f'[[target]]\nname = "m.py:f"\n{option.name} = {value}\n')
    (entry,) = read_project(file).entries
    assert getattr(entry.request, option.name) not in (None, {}, "")
    file.write_text(f'targets = ["torch"]\n{option.name} = {value}\n')
    if option.taken == "any":
        assert read_project(file).entries
    else:  # of all targets at once it would be refused for the libraries among them
        with pytest.raises(UsageError, match=f"unknown key of .* '{option.name}'"):
            read_project(file)
    file.write_text(f'[[target]]\nname = "m.py:f"\n{option.name} = 1979-05-27\n')
    with pytest.raises(UsageError, match=f"{option.name} = .* cannot be used .accepted: "):
        read_project(file)


# ---- what was missing ------------------------------------------------------------------------------


def test_a_random_map_takes_some_and_refuses_the_others_by_name():
    assert {each.name for each in main.commands["stochastic"].params} & set(OPTIONS) == set(TAKEN)
    with pytest.raises(UsageError, match=r"--cflags is not for a random map .accepted: --kwarg, --array"):
        MapRequest(target="gelu", cflags="-O3")


def test_python_limits_the_time_of_a_call(home):
    found = verify("mine.py:sleeps", "relu", "float16", "landmarks", time_limit=0.1)
    assert found.record.failure_kind == "hang"
    assert "--time-limit 0.1" in found.repeat


def test_attribution_limits_the_time_of_a_call(home):
    done = call("attribute", "mine.py:sleeps", "--function", "relu", "--dtype", "float16", "--time-limit", "0.1")
    assert done.exit_code == 1
    assert "did not return within" in done.stderr


@pytest.mark.parametrize("command", ["search", "attribute"])
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--approximations", "lowest"], "--approximations is for a CUDA source or PTX file, and none was named"),
        (["--contract", "aligned=64"], "--contract is for "),
        (["--thread-safe"], "--thread-safe is for "),
    ],
)
def test_what_was_no_option_is_one_and_is_refused_by_name(command, words, error):
    done = call(command, "numpy.silu", "--in-process", *words)
    assert (done.exit_code, error in done.stderr) == (2, True), done.stderr


def test_a_callable_is_refused_what_is_not_for_it():
    with pytest.raises(UsageError, match=r"--cflags is for a C or C\+\+ source or CUDA source, and none was named"):
        verify(lambda x: x, cflags="-O3")


def test_a_search_and_an_attribution_keep_to_a_length(home):
    (home / "short.py").write_text(
        "import numpy as np\ndef silu(x: np.ndarray):\n"
        "    assert len(x) in (1, 2, 4, 101), len(x)\n    return x / (1 + np.exp(-x))\n"
    )
    words = ["short.py:silu", "--dtype", "float16", "--in-process", "--length", "101", "--json"]
    found = call("search", *words, "--evaluations", "3000", "--no-seeds")
    assert (found.exit_code, "--length 101" in found.stdout) == (0, True), found.output
    found = call("attribute", *words, "--plan", "landmarks")
    assert (found.exit_code, "--length 101" in found.stdout) == (0, True), found.output


def gated(home, text):
    (home / "gelu-verify.toml").write_text(text)
    return measure_budgeted(Budgets({}), (), 1, project=read_project(home / "gelu-verify.toml"))


def test_a_gate_keeps_to_a_length_and_a_time_limit(home):
    shared = 'plan = "landmarks"\nfunctions = ["relu"]\ndtypes = ["float16"]\nlength = 31\ntime_limit = 0.1\n'
    tables = '[[target]]\nname = "mine.py:sleeps"\n[[target]]\nname = "mine.py:relu"\ntime_limit = 9.5\n'
    found = {record.target: record for record in gated(home, shared + tables).records}
    assert found["mine.py:sleeps"].failure_kind == "hang"
    relu = found["mine.py:relu"]
    assert (relu.failure, "--length 31" in relu.repeat) == (None, True)
    assert relu.repeat.endswith("--time-limit 9.5")


def test_a_gate_keeps_to_a_device_and_to_levels(home):
    shared = 'plan = "landmarks"\ntargets = ["kernels.silu_cr"]\ndtypes = ["float16"]\n'
    (record,) = gated(home, shared + 'device = "cpu"\nisa = ["sse4_2"]\n').records
    assert record.target == "kernels.silu_cr@sse4_2"
    assert read_project(home / "gelu-verify.toml").has(record)
    assert (
        "kernels.silu_cr runs on cpu, not on cuda"
        in gated(home, shared + 'device = "cuda"\n').absent["kernels.silu_cr"]
    )


def test_a_configuration_that_is_made_has_what_was_said(home):
    words = ["--target", "mine.py:relu", "--target", "numpy.relu", "--dtype", "float16", "--array", "numpy"]
    assert call("init", *words, "--in-process", "--length", "31").exit_code == 0
    of_all, of_code = (entry.request for entry in read_project(home / "gelu-verify.toml").entries)
    assert (of_all.targets, of_all.array, of_all.length, of_all.isolate) == (("numpy.relu",), None, 31, False)
    assert (of_code.targets, of_code.array, of_code.length) == (("mine.py:relu",), "numpy", 31)


def test_a_request_is_the_same_however_it_was_said():
    assert Request(isa="avx2", memory_limit="1G") == Request(isa=["avx2"], memory_limit=1 << 30)
