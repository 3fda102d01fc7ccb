"""A library that is linked with CUDA's, which is not there, loads with stand-ins."""

import ctypes
import subprocess

from gelu_verify.versions.stubs import stub_missing_libraries

CUDA = "int cudaGetDeviceCount(int *n) { *n = 1; return 0; }\nvoid *__cudaRegisterFatBinary(void *p) { return p; }\n"
OURS = """
int cudaGetDeviceCount(int *);
void *__cudaRegisterFatBinary(void *);
int devices(void) { int n = 0; return cudaGetDeviceCount(&n); }
int answer(void) { return 42; }
__attribute__((constructor)) static void registered(void) { __cudaRegisterFatBinary(0); }
"""


def compiled(path, source, *options):
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path), *options]
    subprocess.run(words, input=source, text=True, check=True)


def test_a_wheel_that_needs_cuda_loads_without(tmp_path):
    real, folder = tmp_path / "real", tmp_path / "lib/python3.11/site-packages/wheel/lib"
    real.mkdir()
    folder.mkdir(parents=True)
    script = real / "versions.map"
    script.write_text("libcudart.so.12 { global: *; };\n")
    options = ("-Wl,-soname,libcudart.so.12", f"-Wl,--version-script={script}")
    compiled(real / "libcudart.so.12", CUDA, *options)
    compiled(folder / "libwheel.so", OURS, "-x", "none", str(real / "libcudart.so.12"), "-Wl,-rpath,$ORIGIN")
    stub_missing_libraries(tmp_path)
    library = ctypes.CDLL(str(folder / "libwheel.so"))
    assert library.answer() == 42
    assert library.devices() == 100  # cudaErrorNoDevice


def test_what_needs_nothing_stays_as_it_is(tmp_path):
    folder = tmp_path / "lib/python3.11/site-packages/wheel/lib"
    folder.mkdir(parents=True)
    compiled(folder / "libplain.so", "int answer(void) { return 42; }\n")
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    stub_missing_libraries(tmp_path)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
