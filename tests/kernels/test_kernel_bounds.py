"""The bounds stated above the kernels, and how the native code is built and shipped."""

import importlib
import platform
import re
import subprocess
import tomllib

import numpy as np
import pytest
import requiring
from repository import ROOT

from gelu_verify.formats import get_format
from gelu_verify.kernels import KERNELS, run
from gelu_verify.paths import resource
from gelu_verify.truth.values import judge

HEADERS = ROOT / "src" / "kernels"
HALVES = ("float16", "bfloat16")

# ---- the bounds stated in the headers ------------------------------------------------------------

BLOCK = re.compile(r"/\* Maximum error of (\w+),.*?\(seed \d+, (.*?)\); do not edit\.\n(.*?)\*/", re.DOTALL)
MEASURED = re.compile(r"^ +(\w+)(-f32)? +(=|>=) (\S+) ULP: f\((\S+)\) got (\S+) want (\S+)$")
NOT_FINITE = re.compile(r"^ +(\w+)(-f32)? +(=|>=) (\d+) not finite: f\((\S+)\) got (\S+) want (\S+)$")
MACHINE = f"{' '.join(platform.libc_ver())} on {platform.machine()}"


def statements():
    """(kernel name, dtype, machine, bound, error text or None, x, got, want) of each line of each header."""
    for header in sorted(HEADERS.glob("*.h")):
        for name, machine, lines in BLOCK.findall(header.read_text(encoding="utf-8")):
            for line in lines.rstrip().splitlines():
                match = MEASURED.match(line) or NOT_FINITE.match(line)
                assert match, f"{header.name}: not a statement: {line}"
                dtype, suffix, bound, number, *texts = match.groups()
                bits = [get_format(dtype).parse(text) for text in texts]
                yield name + (suffix or ""), dtype, machine, bound, number if match.re is MEASURED else None, *bits


STATEMENTS = list(statements())


def test_every_kernel_states_its_error():
    assert {(name, dtype) for name, dtype, *_ in STATEMENTS} == {(k.name, k.dtype) for k in KERNELS}
    for _, dtype, _, bound, *_ in STATEMENTS:
        assert bound == ("=" if dtype in HALVES else ">=")


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: f"{s[0]}-{s[1]}{'' if s[4] else '-not-finite'}")
def test_stated_witness_reproduces(statement):
    name, dtype, machine, _, number, x, got, want = statement
    fmt = get_format(dtype)
    function = next(k.function for k in KERNELS if k.name == name)
    bits = [np.array([b], fmt.uint) for b in (x, got)]
    judged = judge(function, dtype, *bits)
    error = abs(float(judged.error[0]))
    assert int(judged.want_bits[0]) == want
    assert np.isinf(error) if number is None else f"{error:.6g}" == number
    if machine != MACHINE:
        pytest.skip(f"{name} was measured with {machine}; this is {MACHINE}, and erf, exp, tanh are its own")
    y_bits = np.empty_like(bits[0])
    run(name, dtype, bits[0], y_bits)
    assert fmt.is_nan(got) if fmt.is_nan(int(y_bits[0])) else int(y_bits[0]) == got


@pytest.fixture(scope="module")
def state_bounds():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "tools")
        yield importlib.import_module("state_bounds")


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.dtype in HALVES], ids=lambda k: f"{k.name}-{k.dtype}")
def test_exhaustive_statement_is_what_is_measured(kernel, state_bounds):
    name = kernel.name.removesuffix("-f32")
    block = next(m for h in HEADERS.glob("*.h") for m in BLOCK.finditer(h.read_text(encoding="utf-8")) if m[1] == name)
    if block[2] != MACHINE:
        pytest.skip(f"measured with {block[2]}; this is {MACHINE}")
    dtype = kernel.dtype + kernel.name.removeprefix(name)
    stated = [line for line in block[3].rstrip().splitlines() if line.split()[0] == dtype]
    assert stated == list(state_bounds._lines(kernel, state_bounds.measure(kernel)))


# ---- building and shipping -----------------------------------------------------------------------

COMPILERS = {
    "gcc": ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-ffp-contract=off"],
    "clang": ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-ffp-contract=off"],
    "nvcc": ["-x", "cu", "-fmad=false", "-Werror", "all-warnings", "-Xcompiler", "-Wall,-Wextra,-Werror"],
}


@pytest.mark.few(1)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_headers_compile_without_warnings(compiler, tmp_path):
    path = requiring.nvcc()[0] if compiler == "nvcc" else requiring.program(compiler)
    source = tmp_path / "all.txt"
    source.write_text(
        '#include "kernels/kernels.h"\nint main(void) { fill_gelu_tanh_answers(); return kernel_at(0) == NULL; }\n'
    )
    command = [path, *COMPILERS[compiler], "-I", ROOT / "src", "-c", source, "-o", tmp_path / "all.o"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_packages_in_pyproject_are_the_folders():
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "gelu_verify").rglob("__init__.py")
    } | {"gelu_verify.data", "gelu_verify.src"}
    assert set(configured) == folders


def test_data_is_found():
    assert resource("data").is_dir()
    assert resource("data").name == "data"
