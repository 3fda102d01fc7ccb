"""tools/gpu_session.sh without a GPU: its commands exist, and what fails does not end it."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from repository import ROOT

from gelu_verify.cli import main
from gelu_verify.errors import TargetUnavailable
from gelu_verify.gpu import cuda

SCRIPT = ROOT / "tools" / "gpu_session.sh"


def stages():
    """(name, seconds, command) of each."""
    listed = subprocess.run(
        ["bash", SCRIPT, "out"],
        env={**os.environ, "DRY_RUN": "1"},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return [line.split("\t") for line in listed.stdout.splitlines()]


STAGES = stages()
OURS = [
    pytest.param(shlex.split(part)[1:], id=f"{name}: {part}"[:60])
    for name, _, command in STAGES
    for part in re.findall(r"gelu-verify [^&|]+", command)
]
TESTS = [
    pytest.param(shlex.split(command[command.index("-m pytest") :])[2:], id=name)
    for name, _, command in STAGES
    if "-m pytest" in command
]
TOOLS = [
    pytest.param(shlex.split(command[command.index("tools/") :]), id=name)
    for name, _, command in STAGES
    if "python tools/" in command
]


def test_every_stage_has_a_name_of_its_own_and_a_limit():
    names = [name for name, _, _ in STAGES]
    assert len(set(names)) == len(names) > 15
    assert all(int(seconds) <= 900 for _, seconds, _ in STAGES)
    assert min(map(len, (OURS, TESTS, TOOLS))) > 2


@pytest.mark.parametrize("words", OURS)
def test_commands_are_understood(words):
    command = main.commands[words[0]]
    with command.make_context(words[0], list(words[1:]), help_option_names=["-h", "--help"]) as context:
        assert context.params


@pytest.mark.nightly
@pytest.mark.parametrize("words", TESTS)
def test_tests_that_are_named_exist(words):
    found = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "--noconftest", "--collect-only", "-q", *words],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout
    assert "tests/gpu/test_cuda_device.py::" in found.stdout


@pytest.mark.few(2)
@pytest.mark.parametrize("words", TOOLS)
def test_tools_understand_their_arguments(words):
    try:
        cuda.device()
    except TargetUnavailable as reason:
        expected = f"TargetUnavailable: {reason}"
    else:
        words, expected = [words[0], "--help"], "usage:"
    done = subprocess.run([sys.executable, "-P", *words], capture_output=True, text=True, cwd=ROOT, check=False)
    assert expected in done.stdout + done.stderr


def test_it_goes_on_after_failures(tmp_path):
    """With every command a stub, of which ours fail."""
    stubs = tmp_path / "bin"
    stubs.mkdir()
    for name in ("nvidia-smi", "nvcc", "pip", "python", "python3", "compute-sanitizer", "gelu-verify"):
        ends = "exit 1" if name == "gelu-verify" else "exit 0"
        (stubs / name).write_text(f"#!/bin/bash\necho {name} $*\n{ends}\n")
        (stubs / name).chmod(0o755)
    out = tmp_path / "out"
    env = {**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}", "PYTHON": "python3"}
    env.pop("DRY_RUN", None)
    done = subprocess.run(["bash", SCRIPT, out], env=env, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0
    rows = [line.split("\t") for line in (out / "summary.tsv").read_text().splitlines()]
    assert [row[0] for row in rows] == [name for name, _, _ in STAGES]
    failed = {row[0] for row in rows if row[1] != "0"}
    assert failed == {name for name, _, command in STAGES if "gelu-verify " in command or "tools/approx" in command}
    assert f"{len(failed)} stages failed" in done.stdout
    assert "compute-sanitizer --tool racecheck" in (out / "racecheck.log").read_text()
