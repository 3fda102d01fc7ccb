"""What is written is true: commands exist, examples run, links lead somewhere, nothing private is left in."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from repository import ROOT

import gelu_verify
from gelu_verify.cli import main
from gelu_verify.cli.program import BROKEN_PIPE, INTERRUPTED, MISSING, OVER_BUDGET, USAGE

PAGES = [path for path in sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")) if path.is_file()]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands(text):
    """Command lines of ours in indented blocks and in backticks."""
    for line in text.splitlines():
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
def test_every_command_is_in_the_readme(name):
    assert f"gelu-verify {name}" in README


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_option_says_what_it_does(name):
    for parameter in main.commands[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]}"


def test_the_json_contract_names_every_exit_code():
    text = (ROOT / "docs" / "json.md").read_text()
    for code in (0, OVER_BUDGET, USAGE, MISSING, INTERRUPTED, BROKEN_PIPE):
        assert f"| {code} |" in text


def test_readme_python_examples_run():
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        subprocess.run([sys.executable, "-P", "-c", block], check=True, capture_output=True)


@pytest.mark.parametrize(
    "words",
    ["lookup gelu float32 -6.5", pytest.param("ask torch.gelu float32 -6", marks=pytest.mark.frameworks)],
    ids=["lookup", "ask"],
)
def test_an_example_is_what_is_printed(words):
    (block,) = re.findall(rf"^    gelu-verify {re.escape(words)}\n\n```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gelu_verify", *words.split()], check=True, capture_output=True, text=True
    )
    assert done.stdout == block


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
