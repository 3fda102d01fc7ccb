"""The examples in C, Rust, JavaScript and Python: each fetches inputs, computes, posts, and prints a grade."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import requiring

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import ROOT

CLIENTS = ROOT / "examples" / "clients"


def printed(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_c(server, tmp_path):
    built = tmp_path / "client"
    subprocess.run(
        [requiring.program("cc"), "-O2", "-Wall", "-Wextra", "-Werror", CLIENTS / "client.c", "-o", built, "-lm"],
        check=True,
    )
    assert "upload.c gelu float32 is " in printed(built, "127.0.0.1", server.port)


def test_rust(server, tmp_path):
    built = tmp_path / "client"
    subprocess.run(
        [requiring.program("rustc"), "--edition", "2021", "-O", "-D", "warnings", CLIENTS / "client.rs", "-o", built],
        check=True,
    )
    assert "upload.rust silu float32 is " in printed(built, f"127.0.0.1:{server.port}")


def test_javascript(server):
    assert "upload.javascript gelu_tanh float32 is " in printed(
        requiring.program("node"), CLIENTS / "client.mjs", server.url
    )


def test_python(server):
    """erfc in double is right but at -inf: half an ulp."""
    said = printed(sys.executable, CLIENTS / "client.py", server.url)
    assert "upload.python gelu float32 is faithful (from a sample): within 1 ULP" in said
    assert "the largest 0.500 at x = " in said


COMMANDS = {  # of the programs on the page
    "C": ["cc", "-O2", "-Wall", "gelu.c", "-o", "gelu", "-lm"],
    "C++": ["c++", "-O2", "-Wall", "gelu.cpp", "-o", "gelu"],
    "Rust": ["rustc", "--edition", "2021", "-O", "gelu.rs"],
    "Go": ["go", "run", "gelu.go"], "JavaScript": ["node", "gelu.cjs"],
    "Python": [sys.executable, "gelu.py"], "Julia": ["julia", "gelu.jl"],
}  # fmt: skip


@pytest.mark.service
@pytest.mark.parametrize("language", COMMANDS)
def test_the_programs_on_the_page(tmp_path, language):
    """Each computes what it says on inputs that are sent to it as they are to anybody."""
    page = ROOT / "gelu_verify" / "service" / "page" / "snippets.js"
    script = f"import('{page}').then((m) => process.stdout.write(JSON.stringify(m.snippets[{language!r}])))"
    file, _, text = json.loads(printed(requiring.program("node"), "-e", script))
    (tmp_path / file).write_text(text)
    x = np.array([0, 1, -1, 2.5, -np.inf, np.inf], "<f4")
    x.tofile(tmp_path / "x.bin")
    command = COMMANDS[language]
    if shutil.which(command[0]) is None and language in ("Go", "Julia"):
        pytest.skip(f"needs {command[0]}")
    for each in (command, ["./gelu"] if "gelu" in command or language == "Rust" else ["true"]):
        subprocess.run(each, cwd=tmp_path, check=True)
    y = np.fromfile(tmp_path / "y.bin", "<f4")
    assert np.allclose(y[:4], [0, 0.8413, -0.1587, 2.4845], atol=0.03)
