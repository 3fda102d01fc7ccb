"""Clients that generators make of the OpenAPI document: each is built, and used by a program of examples/clients."""

import json
import shutil
import subprocess
import sys
from urllib.request import urlopen

import pytest
import requiring
from repository import ROOT

pytestmark = pytest.mark.service
PROGRAMS = ROOT / "examples" / "clients" / "generated"
PACKAGES = ("openapi-typescript@7", "openapi-fetch@0.17", "typescript@5")
SAID = """\
look-up 0xaf8f821f 42.2
batch 0x3f57625f 0xaf8f821f
raw 0x3f57625f 0xaf8f821f
arrow 0x3f57625f 0xaf8f821f
upload correctly_rounded
error 404
"""


@pytest.fixture(scope="module")
def document(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    with urlopen(f"{server.url}/v1/openapi.json", timeout=60) as answer:
        path.write_bytes(answer.read())
    return path


def printed(folder, *command):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(said, *, arrow=False):
    """The results, with kappa to three digits: languages print numbers in their own ways."""
    lines = [line for line in SAID.splitlines() if arrow or not line.startswith("arrow")]
    first, *rest = said.splitlines()
    assert rest == lines[1:]
    assert (first.split()[1], f"{float(first.split()[2]):.3g}") == tuple(lines[0].split()[1:])


def test_python(server, document, tmp_path):
    program = requiring.program("openapi-python-client")
    config = PROGRAMS / "python.yaml"
    made = printed(tmp_path, program, "generate", "--path", document, "--output-path", "gelu", "--meta", "none",
                   "--config", config, "--fail-on-warning")  # fmt: skip
    assert "WARNING" not in made
    shutil.copy(PROGRAMS / "use.py", tmp_path)
    check(printed(tmp_path, sys.executable, "use.py", server.url), arrow=True)


def test_typescript(server, document, tmp_path):
    npm = requiring.program("npm")
    (tmp_path / "package.json").write_text(json.dumps({"type": "module"}))
    if subprocess.run([npm, "install", *PACKAGES], cwd=tmp_path, capture_output=True, check=False).returncode:
        requiring.missing(f"npm packages {', '.join(PACKAGES)}")
    binaries = tmp_path / "node_modules" / ".bin"
    printed(tmp_path, binaries / "openapi-typescript", document, "-o", "gelu.d.ts")
    shutil.copy(PROGRAMS / "use.ts", tmp_path)
    printed(tmp_path, binaries / "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "use.ts")
    check(printed(tmp_path, requiring.program("node"), "use.js", server.url))


def test_go(server, document, tmp_path):
    go, generator = requiring.program("go"), requiring.program("openapi-generator-cli")
    requiring.program("java")
    printed(tmp_path, generator, "generate", "-i", document, "-g", "go", "-o", "gelu",
            "--additional-properties=packageName=gelu")  # fmt: skip
    for name in ("go.mod", "go.sum"):  # it is a package of the module that uses it, and needs no other
        (tmp_path / "gelu" / name).unlink()
    shutil.rmtree(tmp_path / "gelu" / "test", ignore_errors=True)
    shutil.copy(PROGRAMS / "use.go", tmp_path)
    (tmp_path / "go.mod").write_text("module example.org/use\n\ngo 1.19\n")
    check(printed(tmp_path, go, "run", ".", server.url))
