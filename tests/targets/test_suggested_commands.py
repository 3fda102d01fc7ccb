"""Every command that is offered works as it stands: with the flags, from the working folder, of every kind."""

import re
import shlex
import subprocess
import sys

import pytest
import requiring
from foreign import CC, needs_cc, shared_library
from marking import nightly
from program import PROGRAM

from gelu_verify import targets, verify
from gelu_verify.errors import UsageError
from gelu_verify.records.asking import ask_command

pytestmark = needs_cc
C = """
#include "scale.h"
#ifndef FACTOR
#error "no factor"
#endif
void silu(const float *x, float *y, long n, int k)
{ for (long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] * FACTOR * k : 0; }
float relu_f32(float x) { return x > 0 ? x * FACTOR * SCALE : 0; }
"""
FILES = {
    "a folder/kernel.c": C,
    "a folder/kernel.cpp": "namespace my { template <class T> T relu(T x) { return x > 0 ? x * T(FACTOR) : 0; } }",
    "a folder/kernel.hpp": "namespace my { template <class T> T relu(T x) { return x > 0 ? x * T(FACTOR) : 0; } }",
    "a folder/scale.h": "#define SCALE 1.0f\n",
    "mine.py": "def relu(x, scale):\n    return x.clip(0) * scale\n",
    "relu.py": (
        "import os, sys\n"
        "while head := sys.stdin.buffer.read(8):\n"
        "    x = sys.stdin.buffer.read(4 * int.from_bytes(head, 'little'))\n"
        "    sys.stdout.buffer.write(head + x); sys.stdout.buffer.flush()\n"
    ),
    "k.cu": "__global__ void relu(const float *x, float *y, int n, float s)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] > 0 ? x[i] * s * FACTOR : 0.0f; }\n",
}
FLAGS = {"cflags": "-O1 -DFACTOR=1"}
NAMED = {
    "c": ("a folder/kernel.c:silu", {"call": "f(x, y, n, k=1)", **FLAGS}),
    "scalar": ("a folder/kernel.c:relu_f32", FLAGS),
    "cpp": ("a folder/kernel.cpp:my::relu<float>", FLAGS),
    "hpp": ("a folder/kernel.hpp:my::relu", FLAGS),
    "library": ("./libmine.so:relu_f32:scalar", {}),
    "python": ("mine.py:relu", {"call": "f(x, scale=1)", "array": "numpy"}),
    "pipe": (f"pipe:{shlex.quote(sys.executable)} relu.py", {}),
    "cuda": (
        "k.cu:relu",
        {"call": "f<<<(n + 127) / 128, 128>>>(x, y, n, s=1.0f)", "device": "ptx", "cflags": "-DFACTOR=1"},
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a folder").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    library = "float relu_f32(float x) { return x > 0 ? x : 0; }"
    shared_library(tmp_path, library, "libmine.so")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, *more):
    """What a command of ours prints, in a process of its own; it must end as a run that was made, good or bad."""
    program, *words = shlex.split(command)
    assert program == "gelu-verify"
    done = subprocess.run([*PROGRAM, *words, *more], capture_output=True, text=True)
    assert done.returncode in (0, 1), f"{command}: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("kind", ["c", *nightly("python", "scalar", "cpp", "hpp", "library", "pipe", "cuda")])
def test_repeating_and_asking(folder, kind):
    if kind == "cuda":
        requiring.nvcc()
    name, options = NAMED[kind]
    record = verify(name, "relu", "float32", "landmarks", isolate=True, **options).record
    assert record.failure is None
    assert '"max_ulp"' in run(record.repeat, "--no-throughput", "--no-report", "--json")
    assert "0x3f800000" in run(ask_command(record, "0x3f800000"))


@pytest.mark.parametrize("kind", nightly("c", "python", "library"))
def test_what_a_search_offers(folder, kind):
    name, options = NAMED[kind]
    words = [word for key, value in options.items() for word in (f"--{key}={value}",)]
    found = run(shlex.join(["gelu-verify", "search", name, "--function", "gelu", "--dtype", "float32", *words]),
                "--evaluations", "200000")  # fmt: skip
    offered = re.findall(r"^(every float32|worst input|repeat): (gelu-verify .*)$", found, re.MULTILINE)
    commands = dict(offered)
    assert set(commands) == {"every float32", "worst input", "repeat"}
    for what, command in commands.items():
        if what == "every float32":  # of 2^32 inputs: only that it is understood
            assert "--plan exhaustive" in command
            command = command.replace("--plan exhaustive", "--plan landmarks")
        run(command, *(["--no-report", "--no-throughput"] if " run " in command else []))


@pytest.mark.parametrize(
    ("file", "flags"),
    [
        ("a folder/kernel.c", "-DSCALE_ -Werror"),
        ("a folder/kernel.c", "-DFACTOR=1 -lno_such"),
        ("a folder/kernel.hpp", ""),
    ],
)
def test_the_command_that_shows_all_errors_fails_as_ours_did(folder, file, flags):
    """And with the flags that are missing it does not."""
    symbol = "my::relu<float>" if file.endswith("hpp") else "relu_f32"
    with pytest.raises(UsageError, match="to see all: ") as raised:
        targets.select([f"{file}:{symbol}"], cflags=flags)
    command = str(raised.value).partition("to see all: ")[2]
    assert shlex.split(command)[0].endswith(("cc", "c++"))
    assert subprocess.run(command, shell=True, capture_output=True).returncode != 0
    better = command.replace("-lno_such", "").replace("-o /dev/null", "-DFACTOR=1 -o /dev/null")
    done = subprocess.run(better, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_calls_that_are_offered_run(folder):
    (folder / "ask.c").write_text(
        "void relu_f32(float *a, float *b, int n, int k) { while (n--) b[n] = a[n] * (a[n] > 0) * k; }"
    )
    with pytest.raises(UsageError, match="--call") as raised:
        targets.select(["ask.c:relu_f32"])
    lines = re.findall(r"--call '(.*?)'", str(raised.value))
    assert lines == ["f(x, y, n, k=1)", "f(y, x, n, k=1)"]
    assert CC
    printed = run(shlex.join(["gelu-verify", "run", "ask.c:relu_f32", "--call", lines[0], "--plan", "landmarks"]),
                  "--no-report", "--no-throughput", "--json")  # fmt: skip
    assert '"max_ulp": 0' in printed
