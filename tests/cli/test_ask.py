"""`gelu-verify ask`, as a user meets it."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import gelu_verify
from gelu_verify.cli import main

CODE = """
import numpy as np

def right(x):
    return np.maximum(x, x.dtype.type(0))

def by_length(x):
    y = np.maximum(x, x.dtype.type(0))
    return y + (x > 2) if len(x) > 8 else y

def flips(x):
    return -x

def at_lane(x):
    y = np.maximum(x, x.dtype.type(0))
    y[LANE :: 16] = 7
    return y

def other_zero(x):
    return np.where(x < 0, x.dtype.type(-0.0), x)

def raises(x):
    raise ValueError("no such kernel")
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)


def call(*words):
    return CliRunner().invoke(main, ["ask", *words], prog_name="gelu-verify")


def asked(name, dtype, *x):
    done = call(f"mine.py:{name}", dtype, *x, "--function", "relu", "--in-process", "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_every_number_is_that_of_the_references(dtype):
    inputs = ["-6", "0x1", "3", "inf", "nan"]
    for text, entry in zip(inputs, asked("right", dtype, *inputs), strict=True):
        (target,) = entry["targets"]
        assert target["failure"] is None
        rights = {each["x_bits"]: each for each in (entry, *filter(None, entry["neighbours"].values()))}
        assert {each["x_bits"] for each in target["got"]} == set(rights), text
        for got in target["got"]:
            assert got["hex"] == rights[got["x_bits"]]["y_hex"]
            assert (got["is_correctly_rounded"], got["is_faithful"], got["length"]) == (True, True, 1)


def test_an_error_is_that_of_ulp_error():
    x = np.array([-1.5, 0.1, 2.5, 1e-40], np.float32)
    entries = asked("flips", "float32", *map(str, x))
    for value, entry in zip(x, entries, strict=True):
        got = entry["targets"][0]["got"][0]
        assert got["error_ulp"] == gelu_verify.ulp_error("relu", value, -value)
        assert not got["is_correctly_rounded"]


def test_a_result_that_depends_on_the_length_is_shown_with_it():
    got = asked("by_length", "float32", "3")[0]["targets"][0]["got"]
    at_x = [(float(each["decimal"]), each["length"]) for each in got if each["x_bits"] == "0x40400000"]
    assert at_x == [(3, 1), (4, 1000)]
    words = "mine.py:by_length", "float32", "3", "--function", "relu", "--in-process"
    assert "in a call of 1,000" in (text := call(*words).stdout)
    assert "+4.19e+06 ULP" in text
    assert "in a call" not in call(*words, "--length", "4").stdout


@pytest.mark.few(2)
@pytest.mark.parametrize("x", ["-6", "inf", "-inf", "nan", "0"])
def test_a_fault_of_any_lane_is_shown_for_any_input(tmp_path, x):
    for lane in range(1, 16):
        (tmp_path / f"lane{lane}.py").write_text(CODE.replace("LANE", str(lane)))
        done = call(f"lane{lane}.py:at_lane", "float32", x, "--function", "relu", "--in-process", "--json")
        got = json.loads(done.stdout)[0]["targets"][0]["got"]
        shown = {each["x_bits"]: [] for each in got}
        for each in got:
            shown[each["x_bits"]].append(each["decimal"][:2])
        assert all("7." in texts for texts in shown.values()), lane


def test_the_other_zero_is_named():
    done = call("mine.py:other_zero", "float32", "-1", "--function", "relu", "--in-process")
    assert "the other zero, faithful" in done.stdout


def test_a_failure_is_a_result_and_ends_with_1():
    done = call("mine.py:raises", "float32", "3", "--function", "relu")
    assert done.exit_code == 1
    assert "failed in a call of 1: mine.py:raises raised ValueError: no such kernel" in done.stdout
    assert "0x40400000" in done.stdout


def test_a_library_stands_for_all_of_it():
    done = call("numpy", "float32", "-1", "--function", "gelu_tanh")
    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  numpy.")]
    assert len(names) == len(set(names)) >= 2
    assert "below" not in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["numpy.gelu_tanh", "float33", "1"], "did you mean 'float32'"),
        (["numpy.gelu_tahn", "float32", "1"], "did you mean 'numpy.gelu_tanh'"),
        (["numpy.gelu_tanh", "float32", "one"], "'one'"),
        (["numpy.gelu_tanh", "float32", "1", "--sead", "1"], "no such option: --sead"),
        (["numpy.gelu_tanh", "fp32", "1"], "did you mean 'float32'"),
        (["float32", "numpy.gelu_tanh", "1"], "gelu-verify ask numpy.gelu_tanh float32"),
        (["numpy.gelu_tanh", "float32"], "X is missing"),
    ],
)
def test_what_is_wrong_is_named(words, message):
    done = call(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_number_beyond_the_dtype_is_named():
    done = call("numpy.gelu_tanh", "float32", "1e400", "--json")
    assert done.stderr == "gelu-verify: 1e400 is beyond the numbers of float32: x is inf\n"
    assert json.loads(done.stdout)[0]["x"] == "inf"
