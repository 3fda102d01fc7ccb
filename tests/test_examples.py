"""Every example runs as examples/README.md says it, and there is one for every kind of target."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from program import PROGRAM
from repository import ROOT

from gelu_verify.cli import main
from gelu_verify.cli.program import MISSING
from gelu_verify.targets.kinds import kind_of, kinds

README = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
HEAVY = {"torch"}  # not in the plain test environment
# the other kinds of target have tests of their own
OFTEN = ("C source",)

# title, what it needs ("cc", "python: onnx onnxruntime"), its block of commands
SECTIONS = re.findall(r"^## (.+?)(?: \((.+)\))?\n\n((?: {4}.+\n)+)", README, re.MULTILINE)
VERDICTS = {  # target: the function that it really computes, in every dtype that its block asks for
    "python/gelu_numpy.py:gelu_tanh": "gelu_tanh",
    "python/gelu_calls.py:gelu_scalar": "gelu",
    "c/gelu.c:gelu_f32": "gelu",
    "c/gelu_forms.h:gelu_bytes": "gelu",
    "c/gelu_forms.h:gelu_output_first": "gelu",
    "c/gelu_forms.h:gelu_in_place": "gelu",
    "cuda/gelu_sigmoid.ptx:gelu_sigmoid": "gelu_sigmoid",
    "./libgelu.so:gelu_sigmoid_bf16": "gelu_sigmoid",
    "./libgelu.so:gelu_tanh_f64:scalar": "gelu_tanh",
    "pipe:./gelu": "gelu",
    "pipe:node adapter.js 'x.map((x) => x / (1 + Math.exp(-1.702 * x)))'": "gelu_sigmoid",
    "pipe:Rscript adapter.R 'x * pnorm(x)'": "gelu",
    "pipe:octave-cli adapter.m 'x / 2 .* erfc(-x / sqrt(2))'": "gelu",
    "pipe:sh adapter.go 'x / 2 * math.Erfc(-x / math.Sqrt2)' math": "gelu",
    "pipe:sh adapter.rs 'x / (1.0 + (-x).exp())'": "silu",
    "models/gelu_tanh_by_tanh.onnx:onnxruntime": "gelu_tanh",
    "models/gelu_sigmoid_by_sigmoid.onnx:onnxruntime": "gelu_sigmoid",
}


def commands(block):
    return [line.strip() for line in block.splitlines()]


def named(command):
    """Targets that a command of ours names."""
    words = iter(shlex.split(command)[2:])
    for word in words:
        if word.startswith("--"):
            next(words)  # its value
        else:
            yield word


def sections():
    for title, needs, block in SECTIONS:
        heavy = [package for package in HEAVY if f"python: {package}" in needs]
        marks = [pytest.mark.frameworks] if heavy else [] if title in OFTEN else [pytest.mark.nightly]
        yield pytest.param(needs, block, id=title, marks=marks)


def missing(needs):
    """What a block needs and this machine has not."""
    if needs.startswith("python: "):
        packages = needs.removeprefix("python: ").split()
        return [package for package in packages if importlib.util.find_spec(package) is None]
    return [needs.partition(";")[0]] if needs and not shutil.which(needs.partition(";")[0]) else []


@pytest.fixture
def folder(tmp_path):
    """A copy of examples/, and a PATH on which `python` and `gelu-verify` are those under test."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, command in (("python", [sys.executable]), ("gelu-verify", PROGRAM)):
        (programs / name).write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        (programs / name).chmod(0o755)
    return tmp_path / "examples"


@pytest.mark.parametrize(("needs", "block"), list(sections()))
def test_an_example_runs_as_written(folder, needs, block):
    if absent := missing(needs):
        pytest.skip(f"needs {', '.join(absent)}")
    environment = {
        **os.environ,
        "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}",
        "TMPDIR": str(folder.parent),
    }
    for command in commands(block):
        done = subprocess.run(
            ["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if "nvcc" in needs and done.returncode == MISSING:
            assert "there is no CUDA device" in done.stderr
            continue
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        if not command.startswith("gelu-verify run"):
            continue
        latest = max((folder / "reports").glob("*/manifest.json"), key=lambda path: path.stat().st_mtime_ns)
        results = json.loads(latest.read_text())["results"]
        assert {name for name in named(command) if ".onnx" not in name} <= {r["target"] for r in results}
        for result in results:
            assert result["failure"] is None, result
            if result["target"] in VERDICTS:
                assert result["variant"] == VERDICTS[result["target"]] == result["function"], result


def test_every_kind_has_an_example():
    lines = [line for _, _, block in SECTIONS for line in commands(block) if line.startswith("gelu-verify run")]
    assert {kind_of(name).name for line in lines for name in named(line)} == set(kinds())


def test_every_file_of_an_example_is_run():
    folders = {"analysis", "c", "cuda", "onnx", "program", "python"}
    files = [path for folder in folders for path in (ROOT / "examples" / folder).iterdir() if path.is_file()]
    assert len(files) >= len(folders)
    for path in files:
        assert f"{path.parent.name}/{path.name}" in README, path


def test_every_verdict_is_of_an_example():
    every = [name for _, _, block in SECTIONS for line in commands(block) for name in named(line)]
    for target in VERDICTS:
        assert target in every or target.removesuffix(":onnxruntime") in every, target


def test_options_exist():
    options = {option for parameter in main.commands["run"].params for option in parameter.opts}
    for _, _, block in SECTIONS:
        for line in commands(block):
            if line.startswith("gelu-verify"):
                assert {word for word in shlex.split(line) if word.startswith("--")} <= options


def test_the_program_in_the_docs_keeps_the_protocol(tmp_path):
    """The protocol's page has a program in Python, which is judged as it stands there."""
    from gelu_verify import verify

    (source,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "targets.md").read_text(), re.DOTALL)
    (tmp_path / "quick.py").write_text(source)
    result = verify(f"pipe:{shlex.quote(sys.executable)} {tmp_path}/quick.py", "gelu_sigmoid", "float32", "landmarks")
    assert result.record.variant == "gelu_sigmoid", result.failure
