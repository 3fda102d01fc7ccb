"""Comments of the C sources name files, functions and macros that exist: a reader who follows them arrives."""

import re

import pytest
from repository import ROOT

FOLDERS = ("arrays", "buckets", "cr", "cuda", "enclosure", "export", "fenv", "isolation", "math", "truth")
SOURCES = sorted(
    path for folder in FOLDERS for path in (ROOT / "src" / folder).iterdir() if path.suffix in (".h", ".c", ".cu")
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FILE = re.compile(r"(?<![\w.<>/])[\w/]+\.(?:h|c|cu|py|pyx|md|toml|cpp)\b")
NAME = re.compile(r"\b(?:gv|GV)_\w+\b")
PASTED = re.compile(r"\b(?:gv|GV)_\w*(?:##\w+)+")
WRITTEN_ELSEWHERE = {"test_table.h"}  # by `gelu-verify export headers`


def comments(path):
    return "\n".join(COMMENT.findall(path.read_text(encoding="utf-8")))


def code_of(path):
    return COMMENT.sub(" ", path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def defined():
    """A pattern of every name in the code, those that macros paste together with any word for a parameter."""
    text = "\n".join(code_of(path) for path in [*(ROOT / "src").rglob("*.[ch]"), *(ROOT / "src").rglob("*.cu")])
    parts = {tuple(name.split("##")) for name in PASTED.findall(text)}
    pasted = {"".join(p if p.startswith(("gv_", "GV_", "_")) else r"\w+" for p in name) for name in parts}
    return re.compile("|".join([*set(NAME.findall(text)), *pasted]))


@pytest.fixture(scope="module")
def files():
    """Paths, and their ends: `cr/float32.h` and `float32.h` are found too."""
    folders = ("src", "gelu_verify", "tests", "tools", "docs")
    paths = [path.relative_to(ROOT).parts for folder in folders for path in (ROOT / folder).rglob("*.*")]
    return {"/".join(parts[k:]) for parts in paths for k in range(len(parts))} | WRITTEN_ELSEWHERE


def test_files_that_comments_name_exist(files):
    named = {(path.name, name.lstrip("/")) for path in SOURCES for name in FILE.findall(comments(path))}
    assert {(path, name) for path, name in named if name not in files} == set()


def test_names_in_comments_exist(defined):
    named = {(path.name, name) for path in SOURCES for name in NAME.findall(comments(path))}
    assert {(path, name) for path, name in named if not defined.fullmatch(name)} == set()


def test_tests_that_comments_name_exist():
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    existing = set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    named = {name for path in SOURCES for name in re.findall(r"(?<![\w/])test_\w+\b(?!\.)", comments(path))}
    assert named >= {"test_outputs_are_judged_as_the_reference_judges"}
    assert named - existing == set()
