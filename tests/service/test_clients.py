"""The examples in C, Rust, JavaScript and Python: each fetches inputs, computes, posts, and prints a grade."""

import subprocess
import sys

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
