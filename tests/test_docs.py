"""What is written is true: commands exist, examples run, links lead somewhere, nothing private is left in."""

import ast
import doctest
import importlib
import json
import math
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pandas as pd
import pytest
from repository import ROOT, tool

import gelu_verify
from gelu_verify.cli import main
from gelu_verify.cli.program import BROKEN_PIPE, INTERRUPTED, MISSING, OVER_BUDGET, USAGE
from gelu_verify.formats import get_format
from gelu_verify.isa import level_of_machine
from gelu_verify.machine import machine

OUTPUT = {"capture_output": True, "text": True}
PAGES = [path for path in sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")) if path.is_file()]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(text):
    """Command lines of ours in indented blocks, where "\\" continues a line, and in backticks."""
    for line in re.sub(r"\\\n +", "", text).splitlines():
        if line.startswith("    ") and "gelu-verify " in line:
            yield line[line.index("gelu-verify ") :].strip()
    yield from re.findall(r"`(gelu-verify [^`]+)`", text)


FOUND = [(page, text) for page in PAGES for text in commands(page.read_text())]
COMMANDS = [pytest.param(page, text, id=f"{page.name}: {text}") for page, text in FOUND]


@pytest.mark.parametrize(("page", "text"), COMMANDS)
def test_commands_in_the_docs_exist(page, text):
    words = shlex.split(text)[1:]
    if words[0].startswith("-") or words[0].endswith(":"):  # an error message, or --version
        return
    command = main.commands[words[0]]
    if isinstance(command, click.Group):
        command = command.commands[words[1]]
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
    used = {word for word in words[1:] if word.startswith("--") and word != "--help"}
    assert used <= options, f"{page.name}: no such option: {used - options}"


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_is_in_the_list_of_commands(name):
    assert f"| `gelu-verify {name}" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_every_page_is_in_the_contents():
    listed = set(re.findall(r"\]\(([^)#]+)\)", (ROOT / "docs" / "contents.md").read_text(encoding="utf-8")))
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"contents.md"}
    assert pages <= listed
    assert len(listed) == len(re.findall(r"^- \[", (ROOT / "docs" / "contents.md").read_text(), re.MULTILINE))


def test_the_readme_is_one_screen():
    assert len(README.splitlines()) <= 100


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_says_what_it_does(name):
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]}"


def test_the_json_contract_names_every_exit_code():
    text = (ROOT / "docs" / "json.md").read_text()
    for code in (0, OVER_BUDGET, USAGE, MISSING, INTERRUPTED, BROKEN_PIPE):
        assert f"| {code} |" in text


TESTED_ELSEWHERE = {
    "CONTRIBUTING.md",
    "ci.md",
    "targets.md",
    "findings",
}  # of the package, a project, a pipe, libraries


def examples():
    """(files of a page, one of them): a block that follows "`name.py`:" is that file, any other one a program."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        files = {}
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            named = re.search(r"`(\w+\.py)`:\s*\Z", text[: match.start()])
            files[named[1] if named else f"example_{len(files)}.py"] = match[1]
        for name, code in files.items() if not {page.name, page.parent.name} & TESTED_ELSEWHERE else ():
            marks = [pytest.mark.frameworks] if "import torch" in code else []
            yield pytest.param(files, name, id=f"{page.name} {name}", marks=marks)


@pytest.mark.parametrize(("files", "name"), list(examples()))
def test_python_examples_run(files, name, tmp_path):
    for each, code in files.items():
        (tmp_path / each).write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-P", name], cwd=tmp_path, env=os.environ | {"PYTHONPATH": "."}, **OUTPUT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "lookup gelu float32 -6.5",
        "ask scipy.gelu float32 -6",
        pytest.param("ask torch.gelu float32 -6", marks=pytest.mark.frameworks),
    ],
)
def test_an_example_is_what_is_printed(words):
    if "torch" in words and level_of_machine(machine()) != "avx512":
        pytest.skip("its output is that with AVX-512")
    text = (ROOT / "docs" / "values.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^    gelu-verify {re.escape(words)}\n\n```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    done = subprocess.run([sys.executable, "-P", "-m", "gelu_verify", *words.split()], check=True, **OUTPUT)
    assert done.stdout == block


def test_picture_and_table_of_the_readme_are_those_of_the_measured_errors():
    picture = tool("make_picture")
    stale = [path.name for path, text in picture.files().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale}: run python tools/make_picture.py"
    versions = json.loads(picture.KEPT.read_text(encoding="utf-8"))["versions"]
    assert "torch {torch}, jax {jax} and onnxruntime {onnxruntime}".format(**versions) in README


def test_an_error_is_drawn_at_the_x_that_has_it():
    picture = tool("make_picture")
    fmt = get_format("float32")
    x = [fmt.parse(text) for text in ("-6", "-1e-40", "1e-40", "4.9", "5", "-15.1")]
    table = pd.DataFrame({"n": 1, "max_error": [3.0, 7.0, 0.25, math.nan, 9.0, 9.0], "max_error_x": x, "nonfinite": 0})
    found = picture.largest(SimpleNamespace(table=lambda index, columns: table), 0)
    assert {k: error for k, error in enumerate(found) if error is not None} == {72: 3.0, 119: 7.0, 120: 0.25}


def modules():
    found = pkgutil.walk_packages(gelu_verify.__path__, "gelu_verify.")
    return sorted(m.name for m in found if ".targets." not in m.name and ">>> " in source_of(m))


def source_of(module):
    file = Path(module.module_finder.path, *module.name.split(".")[-1:])
    return next((path.read_text() for path in (file.with_suffix(".py"), file / "__init__.py") if path.exists()), "")


@pytest.mark.parametrize("name", modules())
def test_docstring_examples(name):
    if name == "gelu_verify.torch":
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)  # code has no links
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_the_walk_names_files_that_exist():
    walk = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|pyx|h|c))`", walk))
    assert len(named) > 60
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_docstrings_name_files_that_exist():
    """Python files beside the module, or by their path in the package or the project; headers by their name."""
    package = Path(gelu_verify.__path__[0])
    headers = {path.name for path in (ROOT / "src").rglob("*.h")}
    missing = []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                for name in re.findall(r"`([\w/.]+\.(?:py|h))`", ast.get_docstring(node) or ""):
                    if not any((each / name).exists() for each in (path.parent, package, ROOT)) and name not in headers:
                        missing.append(f"{path.relative_to(ROOT)} names {name}")
    assert not missing


def test_ci_runs_what_the_readme_says():
    (command,) = re.findall(r"## Test it\n\n {4}(.+)\n", README)
    script = (ROOT / ".ci" / "run").read_text()
    assert script.splitlines()[-1] == command
    assert "set -euo pipefail" in script


def test_the_version_is_one():
    assert f'\nversion = "{gelu_verify.__version__}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"## {gelu_verify.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def tracked_texts():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    for name in listed.stdout.splitlines() if listed.returncode == 0 else ():
        path = ROOT / name
        if path.is_file() and path.stat().st_size < 1 << 20:
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def test_no_page_names_a_private_path():
    private = re.compile("|".join(("/home/" + r"\w", "/root" + "/", "/wor" + "k/", "/tm" + "p/[a-z]")))
    lines = [(name, line.strip()) for name, text in tracked_texts() for line in text.splitlines()]
    found = [f"{name}: {line[:100]}" for name, line in lines if private.search(line)]
    assert not found, "\n".join(found)
