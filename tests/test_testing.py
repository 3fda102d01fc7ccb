"""`assert_gelu_accurate` and the pytest plugin: what passes, what fails with which words, the report."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from marking import nightly
from repository import ROOT

import gelu_verify
from gelu_verify import current_test, testing
from gelu_verify.attribution.nearest import nearest_formula
from gelu_verify.errors import UsageError
from gelu_verify.judge.demands import Demands, shown_input
from gelu_verify.targets.python_callables import callable_target
from gelu_verify.testing import UnneededAllowance, assert_gelu_accurate
from gelu_verify.truth.values import reference_bits
from gelu_verify.verification import verify

AT_MINUS_INFINITY = {"minus_infinity": "NaN, as everywhere"}


@pytest.fixture(autouse=True)
def _without_attribution(monkeypatch, request):
    """Which takes a second for every failure."""
    if "formula" not in request.node.name:
        monkeypatch.setattr(testing, "_nearest_formula", lambda request: None)


def off_by_one(x):
    y = gelu_verify.gelu(x)
    return np.where((x > 1) & (x < 1.5), np.nextafter(y, y.dtype.type(9)), y)


def raising(x):
    raise ValueError("three")


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["float16", np.float32, np.dtype("float64"), np.float16])
def test_what_is_accurate_passes(dtype):
    result = assert_gelu_accurate(gelu_verify.gelu, dtype=dtype, max_ulp=0.5, grade="correctly_rounded", plan="strata")
    assert result.record.dtype == np.dtype(dtype).name
    assert_gelu_accurate(off_by_one, dtype=dtype, max_ulp=1.5)
    assert_gelu_accurate(off_by_one, dtype=dtype)
    assert_gelu_accurate(off_by_one, dtype=dtype, regions={"[-5,-3)": 0.5})


@pytest.mark.parametrize(
    ("target", "arguments", "words"),
    [
        (off_by_one, {"max_ulp": 1.4}, ["1.49", "ULP, more than max_ulp=1.4", "\n    above 1.4 ULP: ", "x from 1.00"]),
        (off_by_one, {"regions": {"[1,inf)": 1}}, ["ULP in [1,inf), more than regions['[1,inf)']=1"]),
        (off_by_one, {"max_ulp": 1, "regions": {"[0,1)": 2}}, ["1.49", "more than max_ulp=1\n"]),
        (off_by_one, {"grade": "faithful"}, ["the grade is accurate, worse than faithful"]),
        (raising, {}, ["it failed:", "raised ValueError: three"]),
        (gelu_verify.gelu_tanh, {}, ["check variant fails (defect)", "It computes gelu_tanh."]),
        ("kernels.gelu_erf", {"grade": "coarse"}, ["check minus_infinity fails (convention)", "accept it: allow="]),
        ("kernels.gelu_erf", {"allow": AT_MINUS_INFINITY}, ["accurate on a range, worse than accurate"]),
    ],
)
def test_what_is_not_fails_with_what_shows_it(target, arguments, words):
    with pytest.raises(AssertionError) as error:
        assert_gelu_accurate(target, dtype="float16", **arguments)
    message = str(error.value)
    for each in words:
        assert each in message
    if "ULP" in words[0]:
        assert all(f"\n    {name:4s} 0x" in message for name in ("x", "got", "want"))
    assert re.search(r"\n  repeat: python -m pytest 'tests.test_testing.py::test_what|\n  repeat: pytest ", message)
    assert "\n  repeat: gelu-verify run " in message


def test_a_region_has_its_own_limit():
    """Looser or tighter than that of all."""
    assert_gelu_accurate(off_by_one, dtype="float16", max_ulp=0.5, regions={"[1,inf)": 1.5})
    with pytest.raises(AssertionError, match=r"in \[1,inf\), more than regions"):
        assert_gelu_accurate(off_by_one, dtype="float16", max_ulp=9, regions={"[1,inf)": 1})


def test_the_count_of_inputs_is_exact_in_16_bits():
    y, want = (f(x := np.arange(1 << 16, dtype=np.uint16).view(np.float16)) for f in (off_by_one, gelu_verify.gelu))
    count = int(np.count_nonzero(np.abs(gelu_verify.ulp_error("gelu", x, y)) > 1))
    assert count > 100
    assert (y != want).sum() >= count
    with pytest.raises(AssertionError, match=f"above 1 ULP: {count:,} of 63,488 inputs, x from "):
        assert_gelu_accurate(off_by_one, dtype="float16", max_ulp=1)


# ---- hidden regressions: each breaks one thing ---------------------------------------------------


def up(y, floats=3):
    for _ in range(floats):
        y = np.nextafter(y, y.dtype.type(np.inf))
    return y


def where(condition, floats=3):
    """Our GELU, but some floats more where the condition of x holds."""

    def broken(x):
        y = gelu_verify.gelu(x)
        return np.where(condition(x), up(y, floats), y)

    return broken


class Stateful:
    def __init__(self, change):
        self.calls, self.change = 0, change

    def __call__(self, x):
        self.calls += 1
        return self.change(x, gelu_verify.gelu(x), self.calls)


def mutating(x):
    y = gelu_verify.gelu(x)
    x[x != x] = 0
    return y


def raising_for_seven(x):
    if len(x) == 7:
        raise ValueError("seven")
    return gelu_verify.gelu(x)


REGRESSIONS = {
    "one input": (where(lambda x: x == 1.5), "2.615.. ULP, more than max_ulp=2.*1 of 63,488 inputs, x = 1.5"),
    "one subnormal": (where(lambda x: x == 6e-8), "3.5 ULP, more than max_ulp=2"),
    "one lane": (where(lambda x: np.arange(len(x)) % 8 == 3, 9), "check lane fails|ULP, more than"),
    "a remainder": (where(lambda x: np.arange(len(x)) >= len(x) // 8 * 8), "other|only in another call|check lane"),
    "one region": (where(lambda x: (x > -5) & (x < -3)), r"ULP, more than max_ulp=2.*x from -4.\d+ to -3"),
    "half an ULP": (where(lambda x: x == 1.5, 1), "more than max_ulp=0.5"),
    "minus zero": (lambda x: gelu_verify.gelu(x) + x.dtype.type(0), "check signed_zero fails"),
    "NaN": (lambda x: np.nan_to_num(gelu_verify.gelu(x)), "check nan fails"),
    "-inf": (lambda x: np.where(x == -np.inf, x + x, gelu_verify.gelu(x)), "check minus_infinity fails"),
    "largest": (lambda x: np.where(x == np.finfo(x.dtype).max, x + x, gelu_verify.gelu(x)), "check finite fails"),
    "state": (Stateful(lambda x, y, n: up(y) if n > 20 else y), "check lane fails"),
    "nondeterminism": (Stateful(lambda x, y, n: up(y, n % 7 == 0)), "check repeatable fails|check lane fails"),
    "changed input": (mutating, "changed its input"),
    "dtype": (lambda x: gelu_verify.gelu(x).astype(np.float64), "returned float64 where float16 was expected"),
    "shape": (lambda x: gelu_verify.gelu(x).sum(), r"returned shape \(\)"),
    "length": (lambda x: gelu_verify.gelu(x)[:-1], "returned shape"),
    "one call length": (raising_for_seven, "raised ValueError: seven, when it is called with 7 elements"),
    "nothing": (lambda x: None, "returned NoneType"),
    "no number": (lambda x: np.full_like(x, np.nan), "no output could be scored"),
    "exit": (lambda x: sys.exit(0), "raised SystemExit"),
}


@pytest.mark.few(2)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("name", REGRESSIONS)
def test_a_regression_does_not_pass(name):
    compute, expected = REGRESSIONS[name]
    limit = 0.5 if name in ("half an ULP", "nondeterminism") else 2
    with pytest.raises(AssertionError) as error:
        assert_gelu_accurate(compute, dtype="float16", max_ulp=limit)
    assert re.search(expected, str(error.value), re.DOTALL), str(error.value)


def test_a_limit_for_which_nothing_was_measured_fails():
    arguments = {"dtype": "float16", "ranges": "-3:-2"}
    assert_gelu_accurate(gelu_verify.gelu, max_ulp=0.5, **arguments)
    with pytest.raises(AssertionError, match=r"no output in \[0,1\) was measured"):
        assert_gelu_accurate(gelu_verify.gelu, regions={"[0,1)": 2}, **arguments)
    with pytest.raises(AssertionError, match="max_ulp=2 was not tested"):
        assert_gelu_accurate(gelu_verify.gelu, max_ulp=2, regions={"[-3,-1)": 2}, **arguments)
    with pytest.raises(AssertionError, match="no output could be scored"):
        assert_gelu_accurate(gelu_verify.gelu, dtype="float16", ranges="inf", max_ulp=2)


def test_a_dependence_on_the_position_is_not_hidden_by_a_loose_tail():
    """Of outputs beside those of the plan no region has the errors."""

    def remainder(x):
        y = gelu_verify.gelu(x)
        return np.where((np.arange(len(x)) >= len(x) // 8 * 8) & (np.abs(x) < 1) & (len(x) < 100), up(y, 20), y)

    limits = {"max_ulp": 1e4, "regions": {"[0,1)": 1, "[-1,0)": 1}}
    with pytest.raises(AssertionError, match="check lane fails"):
        assert_gelu_accurate(remainder, dtype="float16", **limits)


def test_an_allowance_that_is_not_needed_warns():
    with pytest.warns(UnneededAllowance, match="minus_infinity passes for") as caught:
        assert_gelu_accurate(gelu_verify.gelu, dtype="float16", allow=AT_MINUS_INFINITY)
    assert caught[0].filename == __file__
    with pytest.warns(UnneededAllowance, match="tail_zero is a loss of accuracy"):
        assert_gelu_accurate("kernels.gelu_erf", dtype="float16", max_ulp=3000,
                             allow={**AT_MINUS_INFINITY, "tail_zero": "1 + erf"})  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_gelu_accurate("kernels.gelu_erf", dtype="float16", max_ulp=3000, allow=AT_MINUS_INFINITY)


@pytest.mark.nightly
def test_the_nearest_formula_is_named():
    def by_tanh(x):
        u = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
        return np.float32(0.5) * x * (1 + np.tanh(u))

    found = nearest_formula(callable_target(by_tanh, "gelu", "float32"), "gelu", "float32")
    assert "tanh(u)" in found
    assert "computed in float32, every operation rounded" in found
    assert nearest_formula(callable_target(raising, "gelu", "float32"), "gelu", "float32") is None
    assert nearest_formula(callable_target(raising, "erf", "float32"), "erf", "float32") is None


def test_a_defect_that_is_allowed_leaves_the_errors():
    def infinite(x):
        return np.where(x == np.inf, x.dtype.type(np.nan), gelu_verify.gelu(x))

    with pytest.raises(AssertionError, match="check plus_infinity fails"):
        assert_gelu_accurate(infinite, dtype="float16")
    assert_gelu_accurate(infinite, dtype="float16", allow={"plus_infinity": "never asked"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_ulp": float("nan")}, "max_ulp is nan"),
        ({"max_ulp": np.float32("nan")}, "max_ulp is"),
        ({"max_ulp": -1}, "max_ulp is -1"),
        ({"max_ulp": float("inf")}, "max_ulp is inf"),
        ({"max_ulp": 10**400}, "max_ulp is 1000"),
        ({"max_ulp": True}, "max_ulp is True"),
        ({"max_ulp": "2"}, "max_ulp is '2'"),
        ({"max_ulp": 0.4}, "max_ulp is 0.4, which nothing can meet"),
        ({"max_ulp": 0}, "max_ulp is 0, which nothing can meet"),
        ({"regions": [1]}, "regions is"),
        ({"allow": ["nan"]}, "allow is"),
        ({"kwargs": [1]}, "kwargs is of type list"),
        ({"function": np.ones(2)}, "function is of type ndarray"),
        ({"regions": {"[0,2)": 1}}, "region"),
        ({"regions": {"[0,1)": "1"}}, "regions"),
        ({"regions": {"[0,1)": None}}, "regions"),
        ({"regions": {"[0,1)": 0.1}}, "which nothing can meet"),
        ({"grade": "good"}, "grade"),
        ({"grade": "broken"}, "grade"),
        ({"allow": {"minus_inf": "why"}}, "check"),
        ({"allow": {"minus_infinity": ""}}, "reason"),
        ({"dtype": "float33"}, "float33"),
        ({"maxulp": 2}, "unknown argument 'maxulp'; did you mean 'max_ulp'"),
        ({"device": "tpu"}, "unknown device 'tpu'"),
        ({"device": "cpu", "array": "numpy"}, "numpy arrays have no device"),
    ],
)
def test_a_limit_that_cannot_be_is_an_error(arguments, message):
    with pytest.raises(UsageError, match=message):
        assert_gelu_accurate(gelu_verify.gelu, **arguments)


def test_what_every_dtype_has_can_be_asked_for_exactly():
    assert_gelu_accurate(lambda x: np.maximum(x, 0), "relu", "float16", max_ulp=np.float32(0))


# ---- the plugin ----------------------------------------------------------------------------------

TESTS = """
import numpy as np, pytest, gelu_verify
from gelu_verify.testing import assert_gelu_accurate

@pytest.mark.gelu_dtypes("float16", np.float32)
def test_ours(gelu_dtype):
    assert_gelu_accurate(gelu_verify.silu, "silu", gelu_dtype, plan="landmarks", grade="correctly_rounded")

def by_name(x):
    return gelu_verify.silu(x)

def test_other(assert_gelu_accurate):
    assert_gelu_accurate(by_name, "gelu", "float16")

@pytest.mark.parametrize("gelu_dtype", ["float16"])
@pytest.mark.parametrize("ulps", [2, 4])
def test_closure(gelu_dtype, ulps):
    def closure(x):
        y = gelu_verify.gelu(x)
        return np.where(x == 1.5, y * (1 + x.dtype.type(ulps * 2.0**-10)), y)

    result = assert_gelu_accurate(closure, dtype=gelu_dtype, max_ulp=9, plan="landmarks")
    assert ulps - 1 < result.max_ulp < ulps + 2
"""


def test_what_failed_in_another_folder_is_repeated_from_where_pytest_was_started(tmp_path, monkeypatch):
    monkeypatch.setattr(current_test, "started_in", Path.cwd())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text("def gelu(x):\n    return x\n")
    with pytest.raises(AssertionError, match=re.escape(f"repeat: (cd {tmp_path} && gelu-verify ask ops.py:gelu float")):
        assert_gelu_accurate("ops.py:gelu", dtype="float16", plan="landmarks")


def run_pytest(folder, *words):
    command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *words]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("workers", [[], *nightly((["-n", "2"],))], ids=["one process", "xdist"])
def test_the_plugin_reports_all_that_was_measured(tmp_path, workers):
    (tmp_path / "test_mine.py").write_text(TESTS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.csv").write_text("an earlier report is replaced")
    done = run_pytest(tmp_path, "--gelu-verify-report=out", "-W", "error", *workers)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert "test_other - AssertionError" in done.stdout
    assert "check variant fails (defect): computes silu, not gelu" in done.stdout
    assert re.search(r"nearest formula: .*\(silu_", done.stdout)
    assert "repeat: python -m pytest test_mine.py::test_other\n" in done.stdout
    assert "repeat: gelu-verify run test_mine:by_name --function gelu --dtype float16 " in done.stdout
    assert "gelu-verify report: " in done.stdout
    assert "in called" not in done.stdout, "only the frames of the caller"
    rows = (tmp_path / "out" / "summary.csv").read_text().splitlines()
    assert len(rows) == 1 + 5
    assert (tmp_path / "out" / "index.html").stat().st_size


@pytest.mark.nightly
def test_the_commands_of_a_failure_repeat_it(tmp_path):
    """From where pytest was started, wherever the tests are."""
    (tmp_path / "project" / "tests").mkdir(parents=True)
    (tmp_path / "project" / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "project" / "tests" / "test_mine.py").write_text(TESTS)
    for folder in (tmp_path, tmp_path / "project", tmp_path / "project" / "tests"):
        failed = run_pytest(folder, str(tmp_path / "project"), "-k", "test_other")
        commands = re.findall(r"repeat: (?!gelu-verify ask)(.+)", failed.stdout)
        assert len(commands) == 2, failed.stdout
        for command in commands:
            command = command.replace("gelu-verify ", f"{sys.executable} -P -m gelu_verify ")
            done = subprocess.run(
                command.replace("python -m", f"{sys.executable} -P -m"), shell=True, cwd=folder, capture_output=True,
                text=True,
            )  # fmt: skip
            assert "computes silu, not gelu" in " ".join(done.stdout.split()), command + done.stdout + done.stderr


PAGE = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")


def shape(line):
    """What does not depend on the version of NumPy."""
    return re.sub(r"[-0-9][-0-9a-fx.+,p]*", "#", line).strip()


@pytest.mark.nightly
def test_the_page_shows_what_is_printed(tmp_path):
    kernels, test, accepted, dtypes, notebook = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (printed,) = re.findall(r"```\n(AssertionError.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_kernels.py").write_text(kernels)
    (tmp_path / "test_my_kernels.py").write_text(test)
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    lines = {shape(line.removeprefix("E")) for line in done.stdout.splitlines()}
    missing = [line for line in printed.splitlines() if shape(line) not in lines and "equal bits" not in line]
    assert not missing, done.stdout
    (tmp_path / "test_my_kernels.py").write_text(accepted + dtypes)
    (tmp_path / "test_notebook.py").write_text(notebook)
    done = run_pytest(tmp_path, "-W", "error")
    assert "3 passed" in done.stdout, done.stdout


@pytest.mark.nightly
def test_a_session_that_measured_nothing_says_so(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test(): pass\n")
    done = run_pytest(tmp_path, "--gelu-verify-report=out")
    assert "nothing was measured, so none was written" in done.stdout
    assert not (tmp_path / "out").exists()


def test_a_report_that_cannot_be_written_is_said_before_the_tests(tmp_path):
    (tmp_path / "test_mine.py").write_text("def test(): pass\n")
    done = run_pytest(tmp_path, "--gelu-verify-report=test_mine.py/out")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout + done.stderr
    assert "cannot write there (accepted: a folder, or a new one)" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_a_marker_without_dtypes_tests_nothing_and_is_an_error(tmp_path):
    (tmp_path / "test_mine.py").write_text("import pytest\n@pytest.mark.gelu_dtypes()\ndef test(gelu_dtype): pass\n")
    done = run_pytest(tmp_path)
    assert done.returncode not in (0, 1)
    assert "names no dtype" in done.stdout + done.stderr


def test_without_the_option_nothing_is_written_or_imported(tmp_path):
    (tmp_path / "test_mine.py").write_text("import sys\ndef test(): assert 'numpy' not in sys.modules\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("bits", "value"), [(0x7E33, 0x3C00), (0x8000, 0x0000), (0x3C00, 0x3C01)])
def test_an_input_that_is_shown_is_one_that_is_wrong(bits, value):
    """Where the grade is lost at a NaN or a zero, the largest error is that of a right result."""
    table = reference_bits("gelu", "float16", np.arange(1 << 16, dtype=np.uint16))
    table[bits] = value
    record = verify(lambda x: table[x.view(np.uint16)].view(np.float16), "gelu", "float16").record
    shown = shown_input(record, Demands(min_grade="correctly_rounded"))
    assert shown["got_bits"] != shown["want_bits"]
    assert int(shown["x_bits"], 16) == bits or bits == 0x7E33  # any NaN of those that were tried
