"""The build runs a step again when its command or a file that it reads has changed, and only then."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT
from requiring import module, program

spec = importlib.util.spec_from_file_location("incremental", ROOT / "tools" / "incremental.py")
incremental = importlib.util.module_from_spec(spec)
spec.loader.exec_module(incremental)

SOURCES = {
    "a.c": '#include "a.h"\n#include "common.h"\n',
    "b.c": '#include "common.h"\n',
    "a.h": "int a;\n",
    "common.h": "int c;\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def compiled(folder, flags=(), version="1", releases=None, meanwhile=lambda: None):
    """Which of a.c and b.c were compiled."""
    found = []
    for name in ("a.c", "b.c"):
        source, output = folder / name, folder / "build" / f"{name}.o"

        def compile_(source=source, output=output):
            included = [source.parent / each for each in re.findall('include "(.*)"', source.read_text())]
            read = [source, *included, *(path for flag in flags for path in Path(flag[2:]).glob("*.h"))]
            output.write_text("".join(path.read_text() for path in read))
            output.with_suffix(".d").write_text(f"{output}: " + " \\\n  ".join(map(str, read)) + "\n")
            meanwhile()

        command = ["cc", *flags, str(source)]
        if incremental.make(output, command, compile_, output.with_suffix(".d"), releases or {}, version):
            found.append(name)
    return found


def test_what_is_unchanged_is_not_compiled(folder):
    assert compiled(folder) == ["a.c", "b.c"]
    assert compiled(folder) == []
    for name in SOURCES:
        os.utime(folder / name)  # as a fresh clone, or another branch and back
    assert compiled(folder) == []


def test_a_header_that_changed_compiles_what_includes_it(folder):
    compiled(folder)
    (folder / "a.h").write_text("int a, b;\n")
    assert compiled(folder) == ["a.c"]
    (folder / "common.h").write_text("int c, d;\n")
    os.utime(folder / "common.h", (0, 0))  # an old file from somewhere else
    assert compiled(folder) == ["a.c", "b.c"]
    assert compiled(folder) == []


def test_another_flag_or_compiler_compiles_everything(folder):
    compiled(folder)
    assert compiled(folder, flags=["-O2"]) == ["a.c", "b.c"]
    assert compiled(folder, flags=["-O2"], version="2") == ["a.c", "b.c"]
    assert compiled(folder, flags=["-O2"], version="2") == []


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("half")])
@pytest.mark.parametrize("name", ["a.c.o", "a.c.o.made"])
def test_what_was_cut_short_is_compiled(folder, damage, name):
    compiled(folder)
    damage(folder / "build" / name)
    assert compiled(folder) == ["a.c"]


def test_a_failure_leaves_nothing_that_serves(folder):
    compiled(folder)
    before = (folder / "a.h").read_text()
    (folder / "a.h").write_text("int wrong;\n")

    def fails():
        raise RuntimeError

    with pytest.raises(RuntimeError):
        compiled(folder, meanwhile=fails)
    (folder / "a.h").write_text(before)
    assert compiled(folder) == ["a.c"]


def test_an_edit_while_it_is_compiled_compiles_again(folder):
    compiled(folder, meanwhile=lambda: (folder / "a.h").write_text("int later;\n"))
    assert compiled(folder) == ["a.c"]
    assert compiled(folder) == []


def test_a_release_in_another_place_is_the_same(folder):
    """Build isolation installs Cython and NumPy in a new folder each time."""
    expected = {"one": ("x 1.0", ["a.c", "b.c"]), "two": ("x 1.0", []), "three": ("x 1.1", ["a.c", "b.c"])}
    for place, (release, names) in expected.items():
        installed = folder / place
        installed.mkdir()
        (installed / "x.h").write_text(place)
        assert compiled(folder, [f"-I{installed}"], releases={str(installed): release}) == names
        shutil.rmtree(installed)


def test_a_depfile_of_a_compiler_is_understood(tmp_path):
    names = ["plain.h", "a space.h", "#.h", "$dollar.h"]
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "a.c").write_text("".join(f'#include "{name}"\n' for name in names))
    subprocess.run([program("cc"), "-c", "a.c", "-o", "a.o", "-MD", "-MF", "a.d"], cwd=tmp_path, check=True)
    read = incremental.prerequisites((tmp_path / "a.d").read_text())
    assert [path for path in read if not path.startswith("/")] == ["a.c", *names]


COMPILER = """#!{python}
import subprocess, sys
from pathlib import Path
words = sys.argv[1:]
if words == ["--version"]:
    sys.exit(print("a compiler that only reads"))
Path(words[words.index("-o") + 1]).write_text("")
if "-c" in words:
    with open({log!r}, "a") as log:
        print(Path(words[words.index("-c") + 1]).name, file=log)
    subprocess.run(["cc", *words, "-w", "-fsyntax-only"], check=True)
"""


def includers(header):
    """The files of src/ that include it."""

    def included(path, seen):
        if path in seen or not path.exists():
            return seen
        seen.add(path)
        for name in re.findall(r'(?:#include|cdef extern from|include) "(.*)"', path.read_text()):
            for place in (path.parent, ROOT / "src"):
                included((place / name).resolve(), seen)
        return seen

    units = [*(ROOT / "src").glob("*/*.c"), *(ROOT / "src" / "cython").glob("*.pyx")]
    return {path.with_suffix(".c").name for path in units if header in included(path, set())}


@pytest.mark.nightly
def test_the_extensions_of_the_package(tmp_path):
    """Built again nothing is compiled, with a header that has another comment what includes it."""
    module("Cython"), module("setuptools")
    for name in ("src", "tools", "gelu_verify"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.c.dep"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    log, compiler = tmp_path / "log", tmp_path / "compiler"
    compiler.write_text(COMPILER.format(python=sys.executable, log=str(log)))
    compiler.chmod(0o755)

    def built():
        log.write_text("")
        command = [sys.executable, "setup.py", "build_ext", "--inplace"]
        environment = {**os.environ, "CC": str(compiler), "LDSHARED": str(compiler)}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        return log.read_text().split()

    first = built()
    assert len(first) == len(set(first)) > 20  # what two extensions have is compiled once
    assert built() == []
    for header in ("cr/cr.h", "truth/find.h", "kernels/half.h", "stochastic/sampler.h"):
        with (tmp_path / "src" / header).open("a") as file:
            file.write("/* more */\n")
        assert set(built()) == includers(ROOT / "src" / header) & set(first), header
    pyx = tmp_path / "src" / "cython" / "trampoline.pyx"
    pyx.write_text(pyx.read_text() + "\nMORE = 1\n")
    assert built() == ["trampoline.c"]
