"""Files and folders of any name: they work, and the command that repeats it does, or one line says why not."""

import json
import os
import shlex
import subprocess

import pytest
from click.testing import CliRunner
from program import PROGRAM

from gelu_verify import verify
from gelu_verify.cli import main
from gelu_verify.errors import UsageError
from gelu_verify.runs.store import read_run
from gelu_verify.targets.kinds._names import includable, usable

PY = "import numpy as np\ndef relu(x):\n    return np.maximum(x, 0)\n"
C = "float relu(float x) { return x < 0 ? 0.0f : x; }\n"
BYTES = os.fsdecode(b"\xff\xfe")  # no text in UTF-8
WORKING = ["a b", "$(touch pwned)", "it's", "%s{}", "a;b&c|d", "#h", "..dots", "a.b", "a,b", "*?", "<b>&", "é漢"]


def run(folder, *args):
    return subprocess.run([*PROGRAM, *args], cwd=folder, capture_output=True, text=True)


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", ["c", "py"])
def test_files_of_odd_names_work_and_so_does_the_command_that_repeats_it(tmp_path, suffix):
    names = [f"{name}.{suffix}:relu" for name in [*WORKING, *(['my "q"', "a:b"] if suffix == "py" else [])]]
    for name in names:
        (tmp_path / name.removesuffix(":relu")).write_text(PY if suffix == "py" else C)
    options = ["--function", "relu", "--dtype", "float32", "--plan", "landmarks", "--no-throughput", "--json"]
    found = json.loads(run(tmp_path, "run", *names, *options).stdout)
    assert [record["target"] for record in found] == names
    assert [record["max_ulp"] for record in found] == [0] * len(names)
    for record in found[:2]:
        again = run(tmp_path, *shlex.split(record["repeat"])[1:], "--no-throughput", "--json")
        assert json.loads(again.stdout)[0]["target"] == record["target"]
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("k\nl.c:relu", "control characters"),
        ("\x1b[31m.py:relu", "control characters"),
        (f"{BYTES}.py:relu", "is not text in UTF-8"),
        (f"pipe:./{BYTES}", "is not text in UTF-8"),
        ("-lead.py:relu", "reads as an option (accepted: ./-lead.py:relu)"),
        ("a:b.c:relu", "'a:b.c' has a ':'"),
        ("f:g/k.so:relu:scalar", "'f:g/k.so' has a ':'"),
        ('my "q".c:relu', "cannot be included by C"),
    ],
)
def test_others_are_refused_in_one_line(name, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for file in ("a:b.c", "f:g/k.so", 'my "q".c'):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(C)
    done = CliRunner().invoke(main, ["run", "--function", "relu", "--dtype", "float32", "--", name])
    assert done.exit_code == 2
    (line,) = done.stderr.strip().splitlines()
    assert why in line
    assert line.isprintable()
    with pytest.raises(UsageError):
        verify(name, "relu")


def test_a_script_of_several_lines_is_a_command():
    assert usable("pipe:sh -c 'read x\necho y'") == "pipe:sh -c 'read x\necho y'"


def test_a_source_in_a_folder_that_c_cannot_name(tmp_path):
    for folder in ("a\nb", BYTES, '"'):
        with pytest.raises(UsageError, match="cannot be included by C"):
            includable(tmp_path / folder / "k.c")
    assert includable(tmp_path / "k.c") == tmp_path / "k.c"


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["a b", "k\nl", BYTES, "a:b", '"q"', "$(touch pwned)", "%s{}", "\x1b[31m", "<b>"])
def test_folders_of_any_name(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["run", "kernels.gelu_erf", "--dtype", "float16", "--plan", "landmarks", "--no-throughput"]
    done = CliRunner().invoke(main, [*command, "--out", name, "--record", f"{name}-recorded"])
    assert done.exit_code == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert read_run(tmp_path / name).results[0].target == "kernels.gelu_erf"
    for command in (["report", name], ["gate", name, "--own"]):
        done = CliRunner().invoke(main, command)
        assert done.exit_code in (0, 3), done.stderr
        assert done.exception is None or isinstance(done.exception, SystemExit)
    assert not (tmp_path / "pwned").exists()
