"""Instruction-set levels: which are asked for, which a library was seen to run, and that none passes for another."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly
from program import PROGRAM
from synthetic_runs import failed

from gelu_verify import isa, targets, verify
from gelu_verify.errors import ArgumentError, MissingMeasurement, UsageError
from gelu_verify.isolation.hosts import supported
from gelu_verify.measure import levels
from gelu_verify.measure.request import Request
from gelu_verify.measure.unsupported import is_unsupported, with_unsupported
from gelu_verify.targets import switches_of
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.targets.switches import LIBM, Switches, added_to, of_all

HERE = isa.runnable()
needs = pytest.mark.skipif("avx2" not in HERE or not supported(), reason="needs a processor with AVX2, and Linux")

LIBRARY = '''
"""A library with code for two levels, and a switch that acts on one of three: FAKE_ISA."""

import os

import numpy as np

from gelu_verify.targets.python_callables import callable_target
from gelu_verify.targets.switches import Switches

CODE = "SSE2" if os.environ.get("FAKE_ISA") == "sse2" else "AVX2"
SWITCHES = Switches(
    {"sse4_2": {"FAKE_ISA": "sse2"}, "avx2": {"FAKE_ISA": "avx2"}, "avx512": {"FAKE_ISA": "avx512"}},
    lambda: {"code": CODE},
)


def relu(x):
    return np.where(x > 0, np.where(x == 3, x * (1 if CODE == "AVX2" else 2), x), 0).astype(x.dtype)


def discover():
    yield callable_target(relu, "relu", "float16", name="switched.relu")
'''
PLAIN = (
    LIBRARY.partition("SWITCHES = ")[0] + "\n\ndef relu" + LIBRARY.partition("def relu")[2].replace("switched", "plain")
)

REFUSED = """
import os

import numpy as np


def relu(x):
    if os.environ.get("FAKE_ISA") == "sse2":
        raise NotImplementedError("no such code")
    return np.maximum(x, 0)
"""

REFUSING = (
    LIBRARY.partition("def relu")[0]
    + """from refused_library import relu


def discover():
    yield callable_target(relu, "relu", "float16", name="refusing.relu")
"""
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """`gelu-verify run`, where the library is installed."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "switched_library.py").write_text(LIBRARY)
    (folder / "plain_library.py").write_text(PLAIN)
    (folder / "refusing_library.py").write_text(REFUSING)
    (folder / "refused_library.py").write_text(REFUSED)
    described = folder / "switched-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: switched\nVersion: 1\n")
    (described / "entry_points.txt").write_text(
        "[gelu_verify.targets]\nswitched = switched_library\nplain = plain_library\nrefusing = refusing_library\n"
    )
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))

    def command(*words, code=0):
        done = subprocess.run(
            [*PROGRAM, "run", *words, "--plan", "quick", "--no-throughput", "--no-report", "--json"],
            env={**os.environ, "PYTHONPATH": path}, cwd=folder, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return {record["target"]: record for record in json.loads(done.stdout)} if code == 0 else done.stderr

    command.folder = folder
    return command


# ---- a library with switches -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def at_all(run):
    """A library with switches and one without at all levels, and what is absent."""
    found = run("plain", "switched", "--isa", "all", "--out", "all")
    return found, json.loads((run.folder / "all" / "manifest.json").read_text())["absent"]


@needs
def test_each_level_has_a_process_of_its_own_and_says_what_ran(at_all):
    found, absent = at_all
    ran = {name for name in found if name.startswith("switched")}
    assert ran == {"switched.relu", "switched.relu@sse4_2"}, "avx2 runs what runs without a switch"
    chosen, limited = found["switched.relu"], found["switched.relu@sse4_2"]
    assert chosen["dispatch"]["level"] is None
    assert chosen["dispatch"]["seen"]["code"] == "AVX2"
    assert chosen["max_ulp"] == 0
    assert limited["dispatch"]["level"] == "sse4_2"
    assert limited["dispatch"]["switches"]["FAKE_ISA"] == "sse2"
    assert limited["dispatch"]["seen"]["code"] == "SSE2"
    assert limited["max_ulp"] > 1000
    pair = limited["pair"]
    assert pair["with"] == "switched.relu"
    assert pair["alike"] is False
    assert absent["switched@avx2"] == "runs the same code as without a switch"


@pytest.mark.nightly
@needs
def test_a_target_at_a_level_repeats_by_its_name(run, at_all):
    first = at_all[0]["switched.relu@sse4_2"]
    assert first["repeat"].startswith("gelu-verify run switched.relu@sse4_2 --function relu --dtype float16")
    again = run("switched.relu@sse4_2")["switched.relu@sse4_2"]
    assert again["bits_sha256"] == first["bits_sha256"]
    assert again["dispatch"] == first["dispatch"]


@pytest.mark.nightly
@needs
def test_what_the_user_has_set_does_not_replace_a_level(run, monkeypatch):
    monkeypatch.setenv("FAKE_ISA", "sse2")
    found = run("switched.relu@avx2", "switched.relu")
    assert found["switched.relu"]["dispatch"]["seen"]["code"] == "SSE2", "seen, not guessed"
    assert found["switched.relu@avx2"]["dispatch"]["seen"]["code"] == "AVX2"


@pytest.mark.few(1)
@needs
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("switched@avx3",), 2, "unknown instruction-set level 'avx3'"),
        (("switched", "--isa", "avx3"), 2, "unknown instruction-set level 'avx3'"),
        (("switched", "--isa", "avx2,"), 2, "has an empty name"),
        (("plain", "--isa", "avx2"), 2, "plain cannot be limited to avx2 (there is no switch"),
        (("switched.relu@avx2", "--in-process"), 2, "needs a process of its own"),
        (("switched@amx",), 3, "lacks amx_tile") if "amx" not in HERE else (("plain@amx",), 2, "no switch"),
        (("switched@avx512",), 3, "switched@avx512 runs avx2 code: the switch has no effect")
        if "avx512" in HERE
        else (("switched@avx512",), 3, "lacks avx512f"),
    ],
)
def test_a_level_that_cannot_be_had_is_said_in_one_line(run, words, code, said):
    assert said in run(*words, code=code)


@needs
def test_a_family_without_a_switch_is_measured_once_and_named(at_all):
    found, absent = at_all
    assert {name for name in found if name.startswith("plain")} == {"plain.relu"}
    assert absent["plain@*"].startswith("there is no switch for instruction-set levels")


UNSUPPORTED = "x.relu@avx2 raised NotImplementedError: no, whatever it is called with"


@pytest.mark.parametrize(
    ("isa", "targets", "failure", "expected"),
    [
        (("all",), ("x",), {}, True),
        (("all",), (), {}, True),
        (("avx2",), ("x",), {}, False),
        (("all",), ("x", "x.relu@avx2"), {}, False),
        (("all",), ("x",), {"failure": "x.relu@avx2 raised ValueError: no, for x = NaN"}, False),
        (("all",), ("x",), {"failure_kind": "segfault"}, False),
        (("all",), ("x",), {"target": "x.relu"}, False),
    ],
)
def test_an_exception_is_no_result_only_at_a_level_of_all(isa, targets, failure, expected):
    record = failed("x.relu@avx2", "relu", "float16", UNSUPPORTED, failure_kind="exception")
    assert is_unsupported(replace(record, **failure), Request(targets=targets, isa=isa)) == expected


def test_what_is_missing_is_counted_by_level_and_dtype():
    records = [failed(f"x.{name}@avx2", "relu", dtype, UNSUPPORTED) for name, dtype in
               (("a", "float32"), ("b", "float16"), ("c", "float16"))]  # fmt: skip
    reason = "(NotImplementedError: no, whatever it is called with)"
    assert with_unsupported({"x@avx2": "runs slowly", "y": "no"}, records) == {
        "x@avx2": f"runs slowly; results missing in float16, where it raises: 2 {reason}; "
        f"results missing in float32, where it raises: 1 {reason}",
        "y": "no",
    }


@needs
@pytest.mark.nightly
def test_what_a_library_cannot_do_at_a_level_is_a_line_where_nobody_named_the_level(run):
    assert set(run("refusing", "--isa", "all", "--out", "refusing")) == {"refusing.relu"}
    absent = json.loads((run.folder / "refusing" / "manifest.json").read_text())["absent"]
    assert absent["refusing@sse4_2"] == (
        "results missing in float16, where it raises: 1 (NotImplementedError: no such code, whatever it is called with)"
    )
    for words in (["refusing@sse4_2"], ["refusing", "--isa", "sse4_2"]):
        assert "refusing.relu@sse4_2 raised NotImplementedError" in run(*words, code=1)


# ---- our own code, and the C library ---------------------------------------------------------------


@needs
@pytest.mark.parametrize("dtype", ["float32", *nightly("bfloat16", "float64")])
def test_our_correctly_rounded_kernels_give_the_same_bits_at_every_level(dtype):
    chosen = verify("kernels.gelu_cr", "gelu", dtype, "quick").record
    assert chosen.correctly_rounded == 1
    for level in ("sse4_2", "avx2"):
        found = verify(f"kernels.gelu_cr@{level}", "gelu", dtype, "quick").record
        assert found.bits_sha256 == chosen.bits_sha256
        assert isa.level_of(found.dispatch.seen["gelu_verify"]) == level


@pytest.mark.nightly
@needs
def test_code_of_the_user_is_limited_in_what_it_calls(tmp_path):
    source = tmp_path / "k.c"
    source.write_text("#include <math.h>\ndouble exp_f64(double x) { return exp(x); }\n")
    found = verify(f"{source}:exp_f64@sse4_2", "exp", "float64", "quick").record
    if found.dispatch.seen is not None:  # glibc 2.33 or later
        assert found.dispatch.seen == {"libm": "SSE2"}
    python = verify("numpy:exp@sse4_2", "exp", "float32", "quick").record
    assert "X86_V3" not in python.dispatch.seen["NumPy"]


def test_an_unknown_level_of_our_kernels_is_refused():
    done = subprocess.run(
        [sys.executable, "-P", "-c", "import gelu_verify; gelu_verify.gelu(1.0)"],
        env={**os.environ, "GELU_VERIFY_MAX_ISA": "avx3"}, capture_output=True, text=True,
    )  # fmt: skip
    assert "unknown instruction-set level in GELU_VERIFY_MAX_ISA 'avx3'" in done.stderr


# ---- names, words, variables -----------------------------------------------------------------------


@given(st.sampled_from(["torch", "torch.gelu", "jax.gelu-jit", "mine.py:gelu", "./libfoo.so:f", "pipe:./p --x"]),
       st.sampled_from(["", *isa.LEVELS]))  # fmt: skip
def test_a_name_at_a_level_is_read_back(name, level):
    assert isa.split_level(isa.at_level(name, level)) == (name, level)


@pytest.mark.parametrize(
    "name", ["./a@b.so:f", "pipe:ssh user@host ./gelu", "folder@avx2/lib.so:f", "torch.gelu", "avx2"]
)
def test_an_at_sign_within_a_name_is_no_level(name):
    assert isa.split_level(name) == (name, "")


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (
            "sse4_2",
            ["DEFAULT", "sse41", "jit_sse42_f32", "baseline(X86_V2)", "sse4.2", "SSE2", "x86-64-v2", "portable"],
        ),
        ("avx2", ["AVX2", "avx2", "jit_avx2_f32", "baseline(X86_V2) X86_V3", "avx2 fma sse4.2", "AVX2 FMA AVX"]),
        ("avx512", ["AVX512", "avx512_core", "jit_avx512_f32", "X86_V4 X86_V3", "avx2 avx512f fma", "x86-64-v4"]),
        ("avx512_bf16", ["avx512_core_bf16", "avx2 avx512bf16 avx512f fma sse4.2"]),
        ("avx512_fp16", ["avx512_core_fp16"]),
        ("amx", ["avx512_core_amx", "amx-bf16 avx512f"]),
    ],
)
def test_what_libraries_call_a_level(level, words):
    assert {isa.level_of(word) for word in words} == {level}


def test_a_level_that_the_processor_has_includes_those_below():
    assert list(reversed(HERE)) == [level for level in isa.LEVELS if level in HERE]
    if "avx512" in HERE:
        assert {"avx2", "sse4_2"} <= set(HERE)


def test_a_variable_that_holds_several_settings_keeps_those_of_the_user():
    before = {"XLA_FLAGS": "--a", "GLIBC_TUNABLES": "x=1", "ATEN_CPU_CAPABILITY": "default"}
    ours = {"XLA_FLAGS": "--b", "GLIBC_TUNABLES": "y=2", "ATEN_CPU_CAPABILITY": "avx2"}
    assert added_to(before, ours) == {
        "XLA_FLAGS": "--a --b", "GLIBC_TUNABLES": "x=1:y=2", "ATEN_CPU_CAPABILITY": "avx2"
    }  # fmt: skip
    assert added_to({}, ours) == ours


def test_every_switch_names_levels_that_there_are():
    from gelu_verify.targets import families

    declared = {name: switches for name in families() if (switches := switches_of(name))}
    assert {"torch", "jax", "numpy", "openvino", "scipy", "kernels", "published"} <= set(declared)
    for switches in declared.values():
        assert set(switches.levels) <= set(isa.LEVELS)
    union = of_all(declared)
    assert union.levels["avx2"].items() >= declared["torch"].levels["avx2"].items()
    assert union.levels["avx512_bf16"].items() >= declared["jax"].levels["avx512_bf16"].items()
    assert "NPY_DISABLE_CPU_FEATURES" not in union.levels["amx"], "NumPy has nothing above it to switch off"


def test_what_cannot_be_seen_is_not_made_up():
    def broken():
        raise AttributeError("another version")

    assert Switches({}, broken).observed == {}
    assert Switches({}, None).observed == {}


# ---- the choice of levels --------------------------------------------------------------------------


def target(path, level, seen):
    made = callable_target(lambda x: x, "relu", "float32", name=f"fake.{path}")
    return made.__class__(
        **{**made.__dict__, "name": isa.at_level(f"fake.{path}", level), "level": level, "seen": seen}
    )


@pytest.fixture
def choose(monkeypatch):
    """`at_levels` of a library that chooses {level: {path: seen}}."""
    monkeypatch.setattr(levels, "runnable", lambda: ["avx512", "avx2", "sse4_2"])
    monkeypatch.setattr(levels, "check_level", lambda level: None)
    switches = Switches({level: {} for level in ("sse4_2", "avx2", "avx512")})
    for module in (levels, targets):
        monkeypatch.setattr(module, "switches_of", lambda name: switches)

    def chosen(paths, names=("fake",), asked=("all",)):
        def select(names, level):
            return [target(path, level, {"code": seen[level]} if seen else {}) for path, seen in paths.items()], {}

        found, absent = levels.at_levels(names, asked, False, select)
        return [each.name for each in found], absent

    return chosen


def test_a_path_that_a_switch_does_not_reach_is_not_listed_again(choose):
    reached = {"": "avx512_core", "avx512": "avx512_core", "avx2": "avx2", "sse4_2": "sse41"}
    names, absent = choose({"a": reached, "b": dict.fromkeys(reached, "FMA")})
    assert names == ["fake.a", "fake.b", "fake.a@avx2", "fake.a@sse4_2"]
    assert absent == {
        "fake@avx512": "runs the same code as without a switch",
        "fake@avx2": "1 of 2 implementations run the same code as without a switch",
        "fake@sse4_2": "1 of 2 implementations run the same code as without a switch",
    }


def test_what_cannot_be_seen_is_listed_as_requested(choose):
    names, absent = choose({"a": None})
    assert names == ["fake.a", "fake.a@avx512", "fake.a@avx2", "fake.a@sse4_2"]
    assert absent == {}


def test_a_level_that_was_named_must_have_run(choose):
    stubborn = dict.fromkeys(["", "avx512", "avx2", "sse4_2"], "AVX512")
    with pytest.raises(MissingMeasurement, match="fake@avx2 runs avx512 code: the switch has no effect"):
        choose({"a": stubborn}, asked=("avx2",))
    assert choose({"a": stubborn}, names=("fake@avx512",), asked=())[0] == ["fake.a@avx512"]


def test_a_request_at_a_level_is_isolated():
    if "avx2" not in HERE:
        pytest.skip("needs a processor with AVX2")
    with pytest.raises(ArgumentError, match="needs a process of its own"):
        Request(targets=("torch@avx2",), isolate=False)
    with pytest.raises(UsageError, match="unknown instruction-set level"):
        Request(isa=("avx3",))
    assert LIBM.variables("avx2") == {}
