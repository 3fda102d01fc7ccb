"""Results of 16-bit formats looked up in arrays (src/cr/lookup.h), with SSE2 and without."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from emulated import COMPILER, Emulated, call
from marking import nightly
from repository import ROOT, SUPPORT

TABLE = np.random.default_rng(1).permutation(1 << 16).astype(np.uint16)


@pytest.fixture(scope="module", params=["cc", "cc -U__SSE2__", *nightly(COMPILER)])
def library(request, tmp_path_factory):
    compiler, *flags = request.param.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    path = tmp_path_factory.mktemp("look_up") / "look_up.so"
    strict = ["-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'src'}"]
    subprocess.run([compiler, *strict, *flags, str(SUPPORT / "look_up.c"), "-o", str(path)], check=True)
    return Emulated(path) if compiler == COMPILER else ctypes.CDLL(str(path))


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 8, 1003])
@pytest.mark.parametrize("in_place", [False, True])
def test_any_length_and_nothing_beyond(library, n, in_place):
    x = np.random.default_rng(n).integers(0, 1 << 16, n + 1, dtype=np.uint16)
    y = x if in_place else np.full(n + 1, 42, np.uint16)
    before, beyond = x.copy(), y[n]
    call(library, "look_up", TABLE, x, y, n)
    assert np.array_equal(y[:n], TABLE[before[:n]])
    assert y[n] == beyond
