"""What the tests of target kinds share: naming a target, bits, compiling C."""

import shutil
import subprocess

import numpy as np
import pytest

from gelu_verify import targets
from gelu_verify.formats import get_format
from gelu_verify.targets.kinds import _compiler

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")


def chosen(name, **options):
    """The one target that a name stands for."""
    (target,), absent = targets.select([name], **options)
    assert not absent
    return target


def compile_apart(tmp_path, monkeypatch, *variables):
    """A folder of this test's own for what is compiled, by the compilers that are found without these variables."""
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(_compiler.tempfile, "tempdir", str(tmp_path / "cache"))
    for variable in ("CC", "CXX", *variables):
        monkeypatch.delenv(variable, raising=False)


def bits(dtype, *texts):
    fmt = get_format(dtype)
    return np.array([fmt.parse(text) for text in texts], fmt.uint)


def some_bits(dtype, n, seed=0):
    """Any patterns: NaNs with payload, subnormals, infinities."""
    fmt = get_format(dtype)
    return np.random.default_rng(seed).integers(0, 1 << fmt.width, n, fmt.uint, endpoint=False)


def shared_library(folder, source, name="libplanted.so", *flags):
    """`source`, compiled into a shared library in `folder`."""
    path = folder / f"{name}.c"
    path.write_text(source, encoding="utf-8")
    library = folder / name
    subprocess.run([CC, "-O1", "-shared", "-fPIC", str(path), "-o", str(library), "-lm", *flags], check=True)
    return library
