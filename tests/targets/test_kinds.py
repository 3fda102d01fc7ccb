"""Kinds of targets: found by looking, told apart by how they are written, options that nobody takes refused."""

import re

import pytest
from foreign import needs_cc, shared_library

from gelu_verify import targets
from gelu_verify.calling import OPTIONS
from gelu_verify.errors import UsageError
from gelu_verify.formats import DTYPES
from gelu_verify.targets.kinds import kind_of, kinds
from gelu_verify.targets.kinds.base import Asked, dtype_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("module:function", "Python callable"),
        ("package.module:Class.method", "Python callable"),
        ("path/file.py:function", "Python callable"),
        ("./file.py", "Python callable"),
        ("./libfoo.so:gelu", "shared library"),
        ("./libfoo.so", "shared library"),
        ("libm.so.6:erff:scalar", "shared library"),
        ("/usr/lib/libfoo.1.dylib:gelu", "shared library"),
        ("kernel.c:gelu", "C or C++ source"),
        ("../a.b/kernel.cpp:gelu:scalar", "C or C++ source"),
        ("kernel.cu:gelu", "CUDA source"),
        ("kernel.cu:gelu:host", "CUDA source"),
        ("model.onnx", "ONNX model"),
        ("./model.onnx:openvino", "ONNX model"),
        ("pipe:./program --flag 'a b'", "program"),
        ("pipe:", "program"),
        ("torch", None),
        ("torch.gelu", None),
        ("kernels.gelu_erfc-f32", None),
        ("./file.txt:gelu", None),
        ("file.so.txt", None),
    ],
)
def test_names_tell_the_kind(name, kind):
    found = kind_of(name)
    assert (found and found.name) == kind


def test_every_family_and_target_name_is_of_no_kind():
    for family in targets.families():
        assert kind_of(family) is None
    for target in targets.find(["numpy", "kernels"])[0]:
        assert kind_of(target.name) is None


def test_no_two_special_kinds_accept_a_name_on_the_same_device():
    """So that their order does not matter; the general ones come last."""
    special = [kind for kind in kinds().values() if not kind.general]
    for syntax in (syntax for kind in special for syntax in kind.syntax):
        devices = [each for kind in special if kind.pattern.fullmatch(syntax) for each in kind.devices]
        assert 1 <= len(devices) == len(set(devices)), syntax
    assert [kind.general for kind in kinds().values()] == sorted(kind.general for kind in kinds().values())


def test_every_syntax_is_one_of_its_own_kind():
    for kind in kinds().values():
        assert kind.syntax
        assert kind.options <= set(OPTIONS)
        for syntax in kind.syntax:
            assert kind_of(syntax) is kind, syntax


@pytest.mark.parametrize(
    ("file", "made"),
    [
        ("k.f90", "gfortran -O2 -shared -fPIC k.f90 -o k.so"),
        ("k.S", "clang -O2 -shared -fPIC k.S -o k.so"),
        ("k.js", None),
        ("./k.rs", "rustc -O --crate-type cdylib ./k.rs -o k.so"),
        ("folder.of/k.zig", "zig build-lib -dynamic -O ReleaseFast folder.of/k.zig"),
    ],
)
@pytest.mark.parametrize("symbol", ["", ":gelu"])
def test_of_a_file_that_nothing_reads_it_is_said_how_else(tmp_path, monkeypatch, file, made, symbol):
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).touch()
    with pytest.raises(UsageError, match=re.escape(f"{file} is a file that nothing here reads")) as said:
        targets.select([file + symbol])
    assert f"a shared library of it, ./k.so{symbol or ':symbol'}" in str(said.value)
    assert "'pipe:./program'" in str(said.value)
    assert re.findall("`(.*)`", str(said.value)) == [made] * bool(made)


def test_cython_makes_a_module_and_no_shared_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.pyx").touch()
    with pytest.raises(UsageError, match=r"`cythonize -i k\.pyx` makes a module of it, k:gelu$"):
        targets.select(["k.pyx:gelu"])


@needs_cc
def test_a_module_of_python_is_named_as_one(tmp_path):
    library = shared_library(tmp_path, "void *PyInit_mine(void) { return 0; }", "mine.cpython-311.so")
    with pytest.raises(UsageError, match=r"no symbol 'gelu_f32' in .*, which is a module of Python: mine:gelu_f32"):
        targets.select([f"{library}:gelu_f32"])


def test_code_of_a_device_has_no_shared_library(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cubin").touch()
    with pytest.raises(UsageError, match=r"name its source or its PTX, k\.cu:gelu or k\.ptx:gelu$"):
        targets.select(["k.cubin:gelu"])


@pytest.mark.parametrize("name", ["./file.txt:gelu", "gelu.wasm", "./gelu"])
def test_what_is_of_no_kind_gets_the_accepted_kinds(name):
    with pytest.raises(UsageError, match=re.escape(f"unknown target {name!r}")) as raised:
        targets.select([name])
    for kind in kinds().values():
        for syntax in kind.syntax:
            assert syntax in str(raised.value)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["numpy"], {"array": "numpy"}, "--array is for a Python callable, and none was named"),
        ([], {"compile": "jax"}, "--compile is for a Python callable"),
        (["kernel.c:gelu"], {"kwargs": {"a": 1}}, "--kwarg is for an ONNX model or Python callable"),
        (["numpy"], {"call": "f(x)"}, "--call is for an? .*Python callable, and none was named"),
        (["model.onnx"], {"shape": "(n,)"}, "--shape is for a Python callable, and none was named"),
        (["numpy:tanh"], {"cflags": "-O3"}, r"--cflags is for a C or C\+\+ source or CUDA source"),
    ],
)
def test_an_option_that_nothing_named_takes_is_refused(names, options, message):
    with pytest.raises(UsageError, match=message):
        targets.select(names, **options)


def test_an_option_is_for_those_that_take_it():
    found, _ = targets.select(["numpy.tanh", "numpy:tanh"], dtype="float32", array="numpy", function="tanh")
    assert [target.name for target in found] == ["numpy.tanh", "numpy:tanh"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_dtype_is_what_the_symbol_says_else_what_the_user_says(dtype):
    assert dtype_of("lib.so:mine", "mine", Asked(dtype=dtype)) == dtype
    assert dtype_of("lib.so:mine_f64", "mine_f64", Asked(dtype=dtype)) == "float64"


def test_no_dtype_is_guessed():
    with pytest.raises(UsageError, match=r"nothing says which dtype lib.so:gelu computes in: give --dtype .*_bf16"):
        dtype_of("lib.so:gelu", "gelu", Asked())


def test_a_python_function_is_what_its_name_says():
    (target,), _ = targets.select(["numpy:tanh"])
    assert target.function == "tanh"
    (target,), _ = targets.select(["numpy:sqrt"])
    assert target.function == "gelu"
