"""Two commands that edit one file of a project at once: none loses what the other wrote, and lines end as they did."""

import subprocess
import sys
from pathlib import Path

import pytest
from commands import call

from gelu_verify.gate.budgets import read_budgets
from gelu_verify.gate.project import read_project
from gelu_verify.inputs.found import read_found

TARGETS = ["a", "b"]
FUNCTIONS = "\n\n".join(f"def {name}(x):\n    return np.maximum(x, 0) + 0" for name in TARGETS)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(f"import numpy as np\n\n\n{FUNCTIONS}\n")
    return tmp_path


def at_once(folder, commands):
    started = [
        subprocess.Popen([sys.executable, "-P", "-m", "gelu_verify", *words], cwd=folder, stdout=-1, stderr=-2)
        for words in commands
    ]
    for each in started:
        said, _ = each.communicate()
        assert each.returncode == 0, said.decode()


def test_none_loses_what_another_wrote(project):
    names = [f"ops.py:{name}" for name in TARGETS]
    at_once(project, [["init", name, "--function", "relu", "--dtype", "float16"] for name in names])
    made = read_project(Path("gelu-verify.toml"))
    assert sorted(str(name) for entry in made.entries for name in entry.request.targets) == names
    at_once(project, [["budget", "--target", name, "--accept-existing"] for name in names])
    assert read_budgets(Path("gelu-budgets.toml")).keys == [f"{name}/relu/float16" for name in names]
    at_once(project, [["keep", "relu", "float16", f"0x3c0{each}"] for each in range(2)])
    assert len(read_found(Path("gelu-hard-cases.csv"))) == 2


def test_lines_end_as_they_did(project):
    assert call("init", "ops.py:a", "--function", "relu", "--dtype", "float16")[0] == 0
    file = project / "gelu-verify.toml"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert call("init", "ops.py:b", "--function", "relu", "--dtype", "float16")[0] == 0
    assert b"ops.py:b" in file.read_bytes()
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n")
