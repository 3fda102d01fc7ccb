"""`assert_gelu_accurate` and the pytest plugin: what passes, what fails with which words, the report."""

import subprocess
import sys

import numpy as np
import pytest
from marking import nightly

import gelu_verify
from gelu_verify.errors import UsageError
from gelu_verify.testing import assert_gelu_accurate

AT_MINUS_INFINITY = {"minus_infinity": "NaN, as everywhere"}


def off_by_one(x):
    y = gelu_verify.gelu(x)
    return np.where((x > 1) & (x < 1.5), np.nextafter(y, y.dtype.type(9)), y)


def raising(x):
    raise ValueError("three")


@pytest.mark.parametrize("dtype", ["float16", np.float32, np.dtype("float64"), np.float16])
def test_what_is_accurate_passes(dtype):
    result = assert_gelu_accurate(gelu_verify.gelu, dtype=dtype, max_ulp=0.5, grade="correctly_rounded")
    assert result.record.dtype == np.dtype(dtype).name
    assert_gelu_accurate(off_by_one, dtype=dtype, max_ulp=1.5)
    assert_gelu_accurate(off_by_one, dtype=dtype)
    assert_gelu_accurate(off_by_one, dtype=dtype, regions={"[-5,-3)": 0.5})


@pytest.mark.parametrize(
    ("target", "arguments", "words"),
    [
        (off_by_one, {"max_ulp": 1.4}, ["1.49", "ULP, more than 1.4", "errors above 1.4 ULP: at ", "x from 1.00"]),
        (off_by_one, {"regions": {"[1,inf)": 1}}, ["ULP in [1,inf), more than 1"]),
        (off_by_one, {"grade": "faithful"}, ["the grade is accurate, worse than faithful"]),
        (raising, {}, ["it failed:", "raised ValueError: three"]),
        (gelu_verify.gelu_tanh, {}, ["check variant fails (defect)", "It computes gelu_tanh."]),
        ("kernels.gelu_erf", {"grade": "coarse"}, ["check minus_infinity fails (convention)", "accept it with allow="]),
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
        ({"max_ulp": -1}, "max_ulp is -1"),
        ({"max_ulp": float("inf")}, "max_ulp is inf"),
        ({"max_ulp": True}, "max_ulp is True"),
        ({"regions": {"[0,2)": 1}}, "region"),
        ({"regions": {"[0,1)": "1"}}, "regions"),
        ({"grade": "good"}, "grade"),
        ({"allow": {"minus_inf": "why"}}, "check"),
        ({"allow": {"minus_infinity": ""}}, "reason"),
        ({"dtype": "float33"}, "float33"),
    ],
)
def test_a_limit_that_cannot_be_is_an_error(arguments, message):
    with pytest.raises(UsageError, match=message):
        assert_gelu_accurate(gelu_verify.gelu, **arguments)


TESTS = """
import pytest, gelu_verify
from gelu_verify.testing import assert_gelu_accurate

@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_ours(dtype):
    assert_gelu_accurate(gelu_verify.silu, "silu", dtype, grade="correctly_rounded")

def test_other():
    assert_gelu_accurate(gelu_verify.silu, "gelu", "float16")
"""


@pytest.mark.parametrize("workers", [[], *nightly((["-n", "2"],))], ids=["one process", "xdist"])
def test_the_plugin_reports_all_that_was_measured(tmp_path, workers):
    (tmp_path / "test_mine.py").write_text(TESTS)
    words = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--gelu-verify-report=out", *workers]
    for _ in range(2):  # an earlier report is replaced
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "2 passed" in done.stdout
        assert "check variant fails (defect): computes silu, not gelu" in done.stdout
        assert "in called" not in done.stdout, "only the frames of the caller"
        rows = (tmp_path / "out" / "summary.csv").read_text().splitlines()
        assert len(rows) == 1 + 3
    assert (tmp_path / "out" / "index.html").stat().st_size


def test_without_the_option_nothing_is_written_or_imported(tmp_path):
    (tmp_path / "test_mine.py").write_text("import sys\ndef test(): assert 'numpy' not in sys.modules\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
