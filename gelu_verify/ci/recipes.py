"""The files by which CI systems run a gate, as `gelu-verify init --ci` writes them and docs/ci.md has them.

They run as they are. What a project's own kernels import is to be added where gelu-verify is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..atomic_files import replace_file
from ..errors import cannot

HISTORY = "where compiler or libm are not those of the budgets, their code is measured here"


@dataclass(frozen=True)
class Recipe:
    """A file in the root of a repository; from the line `part` on it can be added to one that is there."""

    file: str
    text: str
    part: str = ""
    is_of_root: bool = True  # CI systems do not look for it elsewhere


RECIPES = {
    "github": Recipe(
        ".github/workflows/accuracy.yml",
        f"""\
name: accuracy
on: [push, pull_request]
permissions:
  contents: read

jobs:
  gate:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
        with:
          persist-credentials: false
          fetch-depth: 0  # {HISTORY}
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065 # v5.6.0
        with:
          python-version: "3.13"
      # add what your kernels import
      - run: pip install gelu-verify
      - run: gelu-verify gate --junit gate.xml --sarif gate.sarif
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02 # v4.6.2
        if: always()
        with:
          name: accuracy
          path: gate.*
""",
    ),
    "gitlab": Recipe(
        ".gitlab-ci.yml",
        f"""\
gelu-verify-gate:
  image: python:3.13
  variables:
    GIT_DEPTH: 0  # {HISTORY}
  script:
    # add what your kernels import
    - pip install gelu-verify
    - gelu-verify gate --junit gate.xml
  artifacts:
    when: always
    reports:
      junit: gate.xml
""",
    ),
    "tox": Recipe(
        "tox.ini",
        """\
[tox]
env_list = gate

[testenv:gate]
skip_install = true
# add what your kernels import
deps = gelu-verify
commands = gelu-verify gate {posargs}
# CC: the compiler; the others: where GitHub and GitLab want to be told
pass_env =
    CC
    CI_PROJECT_DIR
    GITHUB_ACTIONS
    GITHUB_STEP_SUMMARY
    GITHUB_WORKSPACE
""",
        part="[testenv:gate]\n",
        is_of_root=False,
    ),
    "pre-commit": Recipe(
        ".pre-commit-config.yaml",
        r"""repos:
  - repo: local
    hooks:
      - id: gelu-verify-gate
        name: gelu-verify gate
        entry: gelu-verify gate
        language: python
        additional_dependencies: [gelu-verify]  # add what your kernels import
        files: \.(c|cc|cpp|cxx|cu|cuh|h|hh|hpp|hxx|inc|onnx|ptx|py|so(\.\d+)*|dylib|toml)$|(^|/)gelu-hard-cases\.csv$
        pass_filenames: false
""",
        part="  - repo: local\n",
    ),
}


def write_recipe(folder: Path, recipe: Recipe) -> list[str]:
    """Write the file where there is none; lines that say what was done, and what else is to be added to one that is."""
    file = folder / recipe.file
    with cannot(f"write {recipe.file}"):
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(file, recipe.text.encode())
            return [f"written: {recipe.file}", *_where_it_belongs(folder, recipe)]
        there = file.read_text(encoding="utf-8", errors="replace")
    part = recipe.text[recipe.text.index(recipe.part) :]
    if part in there:
        return [f"is there already: {recipe.file}"]
    return [f"{recipe.file} is there and stays as it is; add this to it:", *part.splitlines()]


def _where_it_belongs(folder: Path, recipe: Recipe) -> list[str]:
    root = next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
    if root == folder or not recipe.is_of_root:
        return []
    return [f"it is read in {root}: move it there, and let it run the gate in {folder.relative_to(root)}"]
