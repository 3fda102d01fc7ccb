"""Every source of src/cuda, by nvcc, for each architecture, without a warning; and why a device is absent."""

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
import requiring
from repository import ROOT

from gelu_verify import targets
from gelu_verify.errors import TargetUnavailable, UsageError
from gelu_verify.gpu import cuda, nvcc
from gelu_verify.gpu.info import nvcc_release
from gelu_verify.paths import resource


def compiles(build, architectures):
    """All architectures in one call: a shared front end, back ends side by side."""
    options = [*nvcc.STRICT, *nvcc.code_for(architectures), "-O3", "-t", "2", *build.options]
    done = subprocess.run(
        [*requiring.nvcc(), "-fatbin", *options, str(build.source), "-o", os.devnull], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


# One with native pairs, one without; test_cuda_bits.py compiles every source with g++.
OFTEN = [build for build in nvcc.builds() if not build.suffix and build.source.name in ("float16.cu", "float32.cu")]


@pytest.mark.few(1)
@pytest.mark.parametrize("build", OFTEN, ids=lambda build: build.source.name)
def test_compiles(build):
    compiles(build, ["sm_90"])


PARAMETERIZED = nvcc.builds("src/cuda/parameters")


@pytest.mark.nightly
@pytest.mark.parametrize(
    "build",
    [*nvcc.builds(), *PARAMETERIZED],
    ids=lambda build: f"{build.source.parent.name}-{build.source.name}{build.suffix}",
)
def test_compiles_for_every_architecture_with_every_flag(build):
    compiles(build, nvcc.ARCHITECTURES)


@pytest.mark.nightly
def test_the_tool_that_measures_approximations_compiles_and_names_what_it_does_not_know(tmp_path):
    program = tmp_path / "approximations"
    done = subprocess.run(
        [*requiring.nvcc(), *nvcc.STRICT, *nvcc.code_for(["sm_90"]), "-std=c++17", f"-I{ROOT / 'src'}",
         "-Xcompiler=-ffp-contract=off,-pthread", str(ROOT / "tools" / "approximations.cu"), "-o", str(program)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    for arguments in (["ex2.approx"], ["dump", "ex2.approx", "0", "1"]):
        done = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert (done.returncode, "unknown: ex2.approx (accepted: ex2.approx.f16 " in done.stderr) == (2, True)


def test_each_source_says_how_it_is_built():
    sources = {path.name for path in resource("src/cuda").glob("*.cu")} - {"verify.cu"}  # test_device_sweep
    assert {build.source.name for build in nvcc.builds()} == sources
    assert {build.source for build in PARAMETERIZED} == set(resource("src/cuda/parameters").glob("*.cu"))
    for build in nvcc.builds():
        exact = build.source.name.endswith("_cr.cu")
        assert ("-fmad=false" in build.flags) == exact, "the shared headers count every rounding as written"


@pytest.mark.nightly
def test_compiled_once_for_each_content(tmp_path, monkeypatch):
    requiring.nvcc()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    source = tmp_path / "one.cu"
    source.write_text('extern "C" __global__ void one(float *x) { *x = 1; }')
    first = nvcc.compiled(source, [], ["sm_90"])
    assert first.stat().st_size
    assert nvcc.compiled(source, [], ["sm_90"]) == first
    assert nvcc.compiled(source, ["-fmad=false"], ["sm_90"]) != first
    assert nvcc.compiled(source, [], ["sm_80"]) != first
    source.write_text('extern "C" __global__ void one(float *x) { *x = 2; }')
    assert nvcc.compiled(source, [], ["sm_90"]) != first


@pytest.mark.parametrize(
    ("text", "architecture", "message"),
    [("__global__ void one(absent x) {}", "sm_90", "one.cu: .*absent"), ("", "sm_20", "one.cu: .*compute_20")],
)
def test_what_does_not_compile_is_named(tmp_path, text, architecture, message):
    requiring.nvcc()
    source = tmp_path / "one.cu"
    source.write_text(text)
    with pytest.raises(UsageError, match=message):
        nvcc.compiled(source, [], [architecture])


def test_the_hash_is_of_all_that_a_source_includes(tmp_path, monkeypatch):
    shutil.copytree(resource("src"), tmp_path / "src")
    monkeypatch.setattr(nvcc, "resource", lambda path: tmp_path / path)
    source, other = (tmp_path / "src" / "cuda" / name for name in ("float32_cr.cu", "float32.cu"))
    before = nvcc.source_hash(source), nvcc.source_hash(other)
    header = tmp_path / "src" / "enclosure" / "gelu.h"
    header.write_text(header.read_text().replace("15.0", "16.0"))
    assert nvcc.source_hash(source) != before[0]
    assert nvcc.source_hash(other) == before[1]


def test_without_nvcc(monkeypatch):
    monkeypatch.setenv("NVCC", "no-such-compiler")
    with pytest.raises(TargetUnavailable, match="nvcc is not installed"):
        nvcc.command()


class DriverError(Exception):
    pass


def driver_that(count=1, version=cuda.NEEDED, error=None):
    """What PyCUDA answers where there is no device, or none that can be used."""

    def init():
        if error:
            raise DriverError(error)

    driver = types.ModuleType("pycuda.driver")
    driver.Error, driver.init, driver.get_driver_version = DriverError, init, lambda: version
    driver.Device = types.SimpleNamespace(count=lambda: count)
    return driver


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"count": 0}, "no CUDA device"),
        ({"error": "cuInit failed: no CUDA-capable device is detected"}, "no CUDA device: cuInit failed"),
        ({"version": 12040}, "driver too old: it knows CUDA 12.4, 13.0 is needed"),
    ],
)
def test_why_there_is_no_device(monkeypatch, answers, reason):
    monkeypatch.setitem(sys.modules, "pycuda", types.ModuleType("pycuda"))
    monkeypatch.setitem(sys.modules, "pycuda.driver", driver_that(**answers))
    with pytest.raises(TargetUnavailable, match=reason):
        cuda.Device()


def test_without_pycuda(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.delitem(sys.modules, "pycuda.driver", raising=False)
    with pytest.raises(TargetUnavailable, match=r"^pycuda is not installed \(pip install 'gelu-verify\[gpu\]'\)$"):
        cuda.Device()


@pytest.mark.nightly
def test_a_required_device_that_is_missing_ends_with_3(tmp_path):
    """As `tox -e gpu` does: no test is skipped, none is run."""
    try:
        cuda.device()
    except TargetUnavailable as reason:
        expected, message = 3, f"a CUDA device is required: {reason}"
    else:
        expected, message = 0, "tests"
    done = subprocess.run(
        [
            sys.executable,
            "-P",  # the installed package, not the checkout without extensions that pytest runs in
            "-m",
            "pytest",
            "-q",
            "--collect-only",
            "-m",
            "gpu",
            "-p",
            "no:cacheprovider",
            Path(__file__).with_name("test_cuda_device.py"),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "GELU_VERIFY_REQUIRE": "gpu"},
        cwd=ROOT,
    )
    assert done.returncode == expected
    assert message in done.stdout + done.stderr


def test_the_family_says_why_it_is_absent():
    found, absent = targets.find(["cuda"])
    assert found or absent["cuda"] in ("pycuda is not installed (pip install 'gelu-verify[gpu]')", "no CUDA device")


def test_the_release_of_a_run_is_that_of_the_compiler_that_compiles(monkeypatch, tmp_path):
    """Also where it is not in PATH, and where $NVCC has options."""
    compiler = tmp_path / "nvcc"
    compiler.write_text('#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("NVCC", f"{compiler} --threads 2")
    assert nvcc_release() == nvcc.release() == "13.0.88"
    monkeypatch.setenv("NVCC", "no-such-compiler")
    assert nvcc_release() is None
