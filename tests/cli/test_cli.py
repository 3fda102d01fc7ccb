"""The command line, as a user meets it: what is printed where, exit codes, one clear line for every error."""

import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from decimal import Decimal
from functools import partial

import pytest
from click.testing import CliRunner
from marking import nightly
from program import PROGRAM

from gelu_verify import targets
from gelu_verify.cli import listing, main
from gelu_verify.errors import MissingMeasurement, OracleError, ResultsError, UsageError
from gelu_verify.gate import budgets as gate
from gelu_verify.inputs.plans import PLANS
from gelu_verify.measure import request

QUICK = ["--plan", "landmarks", "--no-throughput"]
HERE = ["--in-process"]  # where nothing is said of isolation: a process for each call takes longer than the rest
PYTHON = [sys.executable, "-P"]  # -P: the package under test, not the folder that the tests happen to run in
USER_CODE = """
import ctypes
import numpy as np

def good(x):
    return np.maximum(x, 0)

def scaled(x, by=1, name=""):
    assert name in ("", "plain text")
    return np.maximum(x, 0) * x.dtype.type(by)

def raises(x):
    raise ValueError("no such kernel\\nsecond line")

def short(x):
    return np.maximum(x, 0)[:-1]

def wide(x):
    return np.maximum(x, 0).astype(np.float64)

def writes(x):
    y = np.maximum(x, 0)
    x[:] = 0
    return y

def chats(x):
    print("from Python")
    ctypes.CDLL(None).puts(b"from C")
    return np.maximum(x, 0)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty working directory with a file of implementations of relu."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(USER_CODE)
    return tmp_path


def call(*args):
    return CliRunner().invoke(main, list(args))


def results(*args):
    done = call("run", *args, *QUICK, "--no-report", "--json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout), done


def visible(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def assert_one_line_error(done, code, *words):
    assert done.exit_code == code, done.output
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    assert len(lines) == 1
    assert lines[0].startswith("gelu-verify: error: ")
    assert "Traceback" not in done.output
    for word in words:
        assert word in lines[0]


# ---- lookup --------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ["-6.5", "0xc0d00000", "-0x1.ap+2"])
def test_lookup_gives_bits_hex_and_forty_digits(x):
    done = call("lookup", "gelu", "float32", x, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (found["function"], found["dtype"]) == ("gelu", "float32")
    assert (found["x_bits"], found["x_hex"]) == ("0xc0d00000", "-0x1.ap+2")
    assert (found["y_bits"], found["y_hex"]) == ("0xaf8f821f", "-0x1.1f043ep-32")
    assert Decimal(found["x"]) == Decimal("-6.5")
    assert found["y"] == "-2.610400506863896907816524617373943328857e-10"
    assert found["exact"] == "-2.610400379508426575424994524560446867653e-10"
    assert all(len(Decimal(found[key]).as_tuple().digits) == 40 for key in ("x", "y", "exact"))
    assert -0.5 <= found["rounding_error_ulp"] <= 0.5
    assert found["neighbours"]["below"]["x_bits"] == "0xc0d00001"
    assert found["neighbours"]["above"]["y_bits"] == "0xaf8f823c"


def test_lookup_of_several_is_a_list_and_digits_are_free():
    found = json.loads(call("lookup", "silu", "float64", "1", "-inf", "nan", "-0", "--json", "--digits", "12").stdout)
    assert [entry["y_hex"] for entry in found[1:]] == ["-0x0p+0", "nan", "-0x0p+0"]
    assert found[0]["exact"] == "0.731058578630"
    assert found[1]["neighbours"]["below"] is None
    assert found[2]["rounding_error_ulp"] is None


def test_lookup_with_parameters():
    found = json.loads(
        call("lookup", "gelu", "float32", "-6.5", "--param", "mu=0.5", "--digits", "20", "--json").stdout
    )
    assert (found["function"], found["exact"]) == ("gelu[mu=0.5]", "-8.3187815352579275285e-12")
    assert found == json.loads(call("lookup", "gelu[mu=1/2]", "float32", "-6.5", "--digits", "20", "--json").stdout)
    beyond = json.loads(call("lookup", "gelu", "float32", "-1", "--param", "sigma=0x1p-40", "--json").stdout)
    assert (beyond["y"], beyond["exact"]) == ("-0", None)


@pytest.mark.parametrize(
    ("dtype", "typed", "note"),
    [
        ("float64", "1e400", "1e400 is beyond the numbers of float64: x is inf"),
        ("float32", "-0x1p2000", "-0x1p2000 is beyond the numbers of float32: x is -inf"),
        ("float16", "65520", "65520 is beyond the numbers of float16: x is inf"),
        ("float8_e4m3fn", "1e9", "1e9 is beyond the numbers of float8_e4m3fn: x is NaN"),
        ("float32", "-1e-400", "-1e-400 is closer to 0 than the numbers of float32: x is -0"),
        ("float16", "65519", ""),
        ("float32", "inf", ""),
        ("float32", "-Infinity", ""),
        ("float32", "nan", ""),
        ("float32", "0x7f800000", ""),
        ("float32", "-0x0.0p+0", ""),
        ("float32", "0e400", ""),
    ],
)
def test_lookup_says_where_a_number_is_beyond_its_dtype(dtype, typed, note):
    done = call("lookup", "gelu", dtype, typed, "--json")
    assert done.stderr == (f"gelu-verify: {note}\n" if note else "")
    assert done.exit_code == 0
    json.loads(done.stdout)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("lookup", "float32", "gelu", "-6.5"),
            "float32 is a dtype, and stands second: gelu-verify lookup gelu float32",
        ),
        (("lookup", "float32", "gelu"), "gelu-verify lookup gelu float32"),
        (("lookup", "gelu", "float32"), "X is missing"),
        (("hardest", "bfloat16", "silu"), "gelu-verify hardest silu bfloat16"),
        (("keep", "float64", "silu", "1"), "gelu-verify keep silu float64"),
        (("lookup", "gelu", "half", "1"), "did you mean 'float16'"),
        (("run", "numpy", "--dtype", "fp16"), "did you mean 'float16'"),
        (("run", "numpy", "--dtype", "BF16"), "did you mean 'bfloat16'"),
        (("bench", "gelu", "--dtype", "double"), "did you mean 'float64'"),
        (("run", "torch.gelu", "--device", "cuda"), "torch.gelu runs on cpu, not on cuda (accepted: torch_cuda)"),
        (("run", "jax", "--device", "cuda"), "(accepted: jax_cuda)"),
        (("run", "scipy", "--device", "cuda"), "(accepted: cuda, cupy, jax_cuda, torch_cuda, triton)"),
    ],
)
def test_an_error_says_what_to_type_instead(words, message):
    done = call(*words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_library_that_is_missing_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    targets._discovered.cache_clear()  # of what other tests found in this process
    done = call("run", "scipy", "--in-process", *QUICK)
    targets._discovered.cache_clear()
    assert done.exit_code == 3
    assert "scipy was asked for, but scipy is not installed (pip install scipy)" in done.stderr


def test_lookup_in_a_rounding_mode():
    found = json.loads(call("lookup", "gelu", "float32", "-6.5", "--rounding", "up", "--json").stdout)
    assert (found["rounding"], found["y_bits"], found["round_down"]["bits"]) == ("up", "0xaf8f821e", "0xaf8f821f")
    assert 0.5 < found["rounding_error_ulp"] < 1
    lines = call("lookup", "exp", "float16", "20", "--rounding", "zero").stdout.splitlines()
    assert lines[0].startswith("exp in float16, rounded towards zero: y is -1.0000 ULP")
    done = call("lookup", "gelu", "float32", "1", "--rounding", "sideways")
    assert done.exit_code == 2
    assert "unknown rounding 'sideways' (accepted: nearest, up, down, zero, odd)" in done.stderr


def test_lookup_for_people():
    lines = call("lookup", "gelu", "bfloat16", "1").stdout.splitlines()
    assert lines[0].startswith("gelu in bfloat16: y is ")
    assert [line.split()[0] for line in lines[1:4]] == ["x", "y", "exact"]
    assert "0x3f80" in lines[1]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["gleu", "float32", "1"], ["'gleu'", "did you mean 'gelu'"]),
        (["gelu", "float31", "1"], ["'float31'", "float32"]),
        (["gelu", "float32", "six"], ["'six' is not a number", "accepted"]),
        (["gelu", "float16", "0xc0d00000"], ["too wide", "float16"]),
        (["gelu", "float32", "--jsno", "1"], ["--jsno"]),
        (["gelu", "float32"], ["X"]),
        (["gelu", "float32", "1", "--digits", "0"], ["--digits"]),
        (["gelu", "float32", "1", "--param", "sigma=0"], ["sigma is 0", "2^-1074 to 2^1024"]),
        (["gelu", "float32", "1", "--param", "mu"], ["--param", "mu=0.5"]),
        (["gelu", "float32", "1", "--param", "nu=1"], ["'nu'", "mu, sigma"]),
    ],
)
def test_lookup_refuses_what_it_cannot_use(args, words):
    done = call("lookup", *args)
    assert_one_line_error(done, 2, *words)
    assert done.stdout == ""


# ---- run -----------------------------------------------------------------------------------------


def test_a_run_without_its_report_gets_it_later(home):
    asked = ["run", "mine.py:good", "--function", "relu", "--dtype", "float16", *QUICK, "--out", "kept", "--no-report"]
    done = call(*asked)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "written: kept (the run: manifest.json, buckets/)")
    assert visible(home / "kept") == ["buckets", "manifest.json"]
    assert_one_line_error(call(*asked), 2, "kept")
    assert call("report", "kept", "--out", "page").exit_code == 0
    assert {"index.html", "report.md", "summary.csv"} <= set(visible(home / "page"))


def test_run_stores_reports_and_prints(home):
    done = call("run", "kernels.gelu_erfc", "--dtype", "float32", "--plan", "quick", "--seed", "7", "--out", "kept")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "plan quick, seed 7"
    assert "gelu_erfc" in done.stdout
    tables = ("summary.csv", "tail.csv", "special.csv", "throughput.csv")
    for name in ("index.html", "report.md", "manifest.json", *tables):
        assert (home / "kept" / name).stat().st_size > 0
    assert "kept/index.html" in done.stdout
    manifest = json.loads((home / "kept" / "manifest.json").read_text())
    assert (manifest["seed"], manifest["plan"]) == (7, "quick")
    assert manifest["results"][0]["throughput"]["elements_per_s"] > 0
    assert visible(home) == ["kept", "mine.py"]


@pytest.mark.nightly
def test_what_an_implementation_prints_does_not_reach_stdout(home):
    command = [*PROGRAM, "run", "mine.py:chats", "--function", "relu", *QUICK, "--no-report", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert [(result["max_ulp"], result["failure_kind"]) for result in found] == [(0, "stdout")] * 4
    assert "from Python" in found[0]["failure"]
    assert "from C" in found[0]["failure"]
    done = subprocess.run([*command, "--in-process"], capture_output=True, text=True, check=True)
    assert [result["max_ulp"] for result in json.loads(done.stdout)] == [0, 0, 0, 0]
    assert "from Python" in done.stderr
    assert "from C" in done.stderr


def test_run_json_is_the_documented_list_and_nothing_else(home):
    found, done = results("kernels.gelu_erf", "--dtype", "float32", "--dtype", "float64")
    assert [(r["target"], r["function"], r["dtype"]) for r in found] == [
        ("kernels.gelu_erf", "gelu", "float32"),
        ("kernels.gelu_erf", "gelu", "float64"),
    ]
    assert found[0]["bound"] == ">="
    assert found[0]["max_ulp"] > 1e6  # 1 + erf(x/sqrt 2) loses everything in the tail
    assert set(found[0]["witness"]) == {"x_bits", "got_bits", "want_bits"}
    assert found[0]["zero_from"]["x"] is not None
    assert set(found[0]["checks"].values()) <= {"pass", "fail", "not applicable"}
    assert found[0]["throughput"] is None
    assert "plan landmarks, seed 0" in done.stderr
    assert "reports/" in done.stderr


def test_the_same_command_gives_the_same_results(home):
    first, second = (results("kernels.silu_exp", "--dtype", "float32")[0] for _ in range(2))
    assert first == second


def test_a_callable_with_keyword_arguments(home):
    args = ["--kwarg", "by=2", "--kwarg", "name=plain text", "--array", "numpy"]
    (found,), _ = results("mine.py:scaled", "--function", "relu", "--dtype", "float32", *args)
    assert found["failure"] is None
    assert found["max_ulp"] > 1e6  # twice what it should be
    assert found["repeat"].endswith("--kwarg by=2 --kwarg 'name=plain text' --array numpy")
    (found,), _ = results("mine:good", "--function", "relu", "--dtype", "float16")
    assert (found["target"], found["max_ulp"], found["correctly_rounded"]) == ("mine:good", 0, 1)


@pytest.mark.nightly
def test_a_function_with_parameters(home):
    """x Phi(2 (x - 1/2)), which is neither gelu nor any other function."""
    with open("shifted.py", "w", encoding="utf-8") as file:
        file.write(
            "from gelu_verify import reference\n\ndef f(x):\n    return reference('gelu', x, mu=0.5, sigma=0.5)\n"
        )
    args = ["run", "shifted.py:f", "--dtype", "float32", *QUICK, "--json", "--function", "gelu"]
    (right,) = json.loads(call(*args, "--param", "mu=1/2", "--param", "sigma=0.5").stdout)
    assert (right["function"], right["grade"]) == ("gelu[mu=0.5,sigma=0.5]", "correctly_rounded")
    assert right["variant"] == right["function"] in right["repeat"]
    (wrong,) = json.loads(call(*args).stdout)
    assert wrong["checks"]["variant"] == "fail"


def test_bits_choose_the_inputs(home):
    (found,), _ = results("kernels.gelu_erf", "--dtype", "float32", "--bits", "0xc0d00000")
    assert (found["n"], found["witness"]["x_bits"]) == (1, "0xc0d00000")
    (found,), _ = results("kernels.gelu_erf", "--dtype", "float32", "--bits", "-6.5:0xc0cffff8", "--bits", "1:1.0625")
    assert found["n"] == 9 + (1 << 19) + 1


@pytest.mark.parametrize(
    ("name", "kind"),
    [("raises", "exception"), *nightly(("short", "shape"), ("wide", "dtype"), ("writes", "changed input"))],
)
def test_a_target_that_fails_is_a_result_and_the_run_goes_on(home, name, kind):
    found, done = results(f"mine.py:{name}", "mine.py:good", "--function", "relu", "--dtype", "float16")
    assert done.exit_code == 1
    assert [r["failure"] is None for r in found] == [False, True]
    assert found[0]["failure_kind"] == kind
    assert found[0]["max_ulp"] is None
    assert done.stderr.count(f"gelu-verify: failed: mine.py:{name} relu float16: ") == 1
    strict = call("run", f"mine.py:{name}", "--function", "relu", "--dtype", "float16", *QUICK, "--strict")
    assert strict.exit_code == 1
    assert "Traceback" not in strict.output


BY_TWO = ("mine.py:scaled", "--kwarg", "by=2")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("args", "exceeded"),
    [
        (["mine.py:good"], []),
        *nightly(
            (["mine.py:good", "--strict"], []),
            (["mine.py:good", "--fail-on", "convention", "--min-grade", "accurate", "--max-ulp", "0"], []),
            ([*BY_TWO], []),
            ([*BY_TWO, "--max-ulp", "1e9"], []),
            ([*BY_TWO, "--max-ulp", "4"], [" ULP, --max-ulp 4"]),
        ),
        ([*BY_TWO, "--min-grade", "coarse"], ["broken, worse than --min-grade coarse"]),
        ([*BY_TWO, "--fail-on", "defect"], ["check finite fails (defect)", "check variant fails (defect)"]),
        (
            [*BY_TWO, "--strict", "--max-ulp", "4"],
            ["check finite fails (defect)", "check variant fails (defect)", " ULP, --max-ulp 4"],
        ),
    ],
)
def test_a_limit_that_is_given_decides_and_each_that_is_exceeded_is_printed(home, args, exceeded):
    done = call("run", *args, "--function", "relu", "--dtype", "float32", *QUICK, *HERE, "--no-report")
    assert done.exit_code == bool(exceeded), done.output
    lines = [line for line in done.stderr.splitlines() if "over the limit: " in line]
    assert all("mine.py:scaled relu float32: " in line for line in lines)
    for words in exceeded:
        assert sum(words in line for line in lines) == 1, lines
    if "--strict" not in args:
        assert len(lines) == len(exceeded)


@pytest.mark.parametrize("grade", ["faithful", *nightly("correctly_rounded")])
def test_a_grade_that_speaks_of_all_inputs_is_not_shown_by_a_sample(home, grade):
    of_good = ["run", "mine.py:good", "--function", "relu", *HERE, "--no-report", "--no-throughput"]
    asked = [*of_good, "--plan", "landmarks", "--min-grade", grade]
    done = call(*asked, "--dtype", "float32")
    assert done.exit_code == 3
    assert "not shown: mine.py:good relu float32: ○ correctly rounded in the " in done.stderr
    few = call(*of_good, "--dtype", "float32", "--budget", "3buckets", "--min-grade", grade)
    assert few.exit_code == 3
    searched = call(*asked, "--dtype", "float64")
    assert searched.exit_code == 0
    assert "searched: mine.py:good relu float64: " in searched.stderr
    assert call(*asked, "--dtype", "float16").exit_code == 3
    assert call(*of_good, "--dtype", "float16", "--min-grade", grade).exit_code == 0
    assert call(*asked, "--dtype", "float32", "--bits", "0:1e-44").exit_code == 0


def test_a_convention_fails_a_run_only_where_that_is_asked_for(home):
    """kernels.gelu_erfc-f32 is right but for the NaN at -inf."""
    args = ["run", "kernels.gelu_erfc-f32", "--dtype", "float16", *QUICK, "--no-report"]
    assert [call(*args, *more).exit_code for more in ([], ["--strict"], ["--fail-on", "convention"])] == [0, 0, 1]
    assert call(*args, "--fail-on", "convention", "--policy", "formula").exit_code == 0


def test_a_failed_check_is_strict_too(home):
    args = ["run", "kernels.gelu_erf", "--dtype", "float32", *QUICK, "--no-report"]
    assert call(*args).exit_code == 0
    assert call(*args, "--strict").exit_code == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["torhc"], ["'torhc'", "torch"]),
        (["kernels.gelu_erv"], ["'kernels.gelu_erv'", "kernels.gelu_erf"]),
        (["kernels", "--function", "gleu"], ["'gleu'", "gelu"]),
        (["kernels", "--dtype", "float33"], ["'float33'", "float32"]),
        (["kernels", "--plan", "defualt"], ["'defualt'", "default"]),
        (["kernels", "--plan", "exhaustive", "--dtype", "float64"], ["exhaustive", "float64"]),
        (["kernels", "--seed", "-1"], ["--seed"]),
        (["kernels", "--seed", "x"], ["--seed"]),
        (["kernels", "--bits", "0x1"], ["--bits", "exactly one dtype"]),
        (["kernels", "--dtype", "float16", "--bits", "0x10000"], ["too wide", "float16"]),
        (["kernels", "--dtype", "float16", "--bits", "2:1"], ["empty"]),
        (["kernels", "--policy", "none"], ["--policy"]),
        (["kernels", "--max-ulp", "-1"], ["--max-ulp"]),
        (["kernels", "--max-ulp", "nan"], ["--max-ulp"]),
        (["kernels", "--max-ulp", "inf"], ["--max-ulp"]),
        (["kernels", "--min-grade", "good"], ["'good'", "faithful"]),
        (["kernels", "--min-grade", "broken"], ["'broken'", "coarse"]),
        (["kernels", "--fail-on", "check"], ["'check'", "convention"]),
        (["kernels", "--workers", "0"], ["--workers"]),
        (["mine.py:good", "--kwarg", "by"], ["'by'", "name=value"]),
        (["mine.py:good", "--param", "mu=1"], ["--param needs --function"]),
        (["mine.py:good", "--function", "gelu", "--param", "sigma=-1"], ["sigma is -1"]),
        (["published", "--function", "gelu[mu=1]"], ["no target of published", "gelu[mu=1]"]),
        (["mine.py:good", "--array", "nump"], ["'nump'", "numpy"]),
        (["mine.py:absent"], ["absent"]),
        (["nowhere.py:f"], ["nowhere.py"]),
        (["kernels", "--strcit"], ["--strcit"]),
    ],
)
def test_run_refuses_what_it_cannot_use(home, args, words):
    done = call("run", *args)
    assert_one_line_error(done, 2, *words)
    assert not (home / "reports").exists() or not any((home / "reports").iterdir())


def test_a_folder_that_holds_something_is_left_alone(home):
    (home / "taken").mkdir()
    (home / "taken" / "precious").write_text("x")
    assert_one_line_error(call("run", "mine.py:good", "--function", "relu", *QUICK, "--out", "taken"), 2, "taken")
    assert [path.name for path in (home / "taken").iterdir()] == ["precious"]
    assert_one_line_error(call("run", "mine.py:good", *QUICK, "--out", "mine.py"), 2, "mine.py")
    assert_one_line_error(call("run", "mine.py:good", *QUICK, "--out", "mine.py/below"), 2, "mine.py")


def test_a_full_disk_is_one_clear_line(home, monkeypatch):
    from gelu_verify.runs import store as room

    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(room, "write_file", full)
    done = call("run", "mine.py:good", "--function", "relu", "--dtype", "float16", *QUICK, "--out", "new")
    assert_one_line_error(done, 2, "No space left", "new", "the same command continues")
    assert [name for name in visible(home) if not name.startswith(".journal-")] == ["mine.py"]


def test_an_absent_framework_is_missing_only_when_it_was_asked_for(home, monkeypatch):
    monkeypatch.setattr(targets, "_discovered", targets._discovered.__wrapped__)  # nothing of this is remembered
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    monkeypatch.delitem(sys.modules, "gelu_verify.targets.frameworks.scipy_", raising=False)
    assert_one_line_error(call("run", "scipy", *QUICK, "--in-process"), 3, "scipy")


@pytest.mark.usefixtures("ctrl_c")
def test_interrupting_leaves_nothing(home):
    slow = "import time\nimport numpy as np\ndef slow(x):\n    time.sleep(0.2)\n    return np.maximum(x, 0)\n"
    (home / "slow.py").write_text(slow)
    command = [*PROGRAM, "run", "slow.py:slow", "--function", "relu"]
    running = subprocess.Popen(
        [*command, "--no-throughput", "--bits", "0x0:0x7fffffff", "--dtype", "float32"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdout.readline().startswith("plan ")
    end = time.monotonic() + 60
    while not list(home.glob("reports/.unfinished-*")) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.strip().splitlines() == ["gelu-verify: interrupted; no file is left half written"]
    assert list(home.glob("reports/*")) == []
    assert list(home.glob("reports/.*")) == []


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_somebody_swallowed_still_stops_the_run(home):
    (home / "deaf.py").write_text(
        "import signal\nimport numpy as np\n"
        "try:\n    signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt:\n    pass\n"
        "def deaf(x):\n    return np.maximum(x, 0)\n"
    )
    done = call("run", "deaf.py:deaf", "--function", "relu", "--dtype", "float16", *QUICK, "--in-process")
    assert done.exit_code == 130
    assert "interrupted; no file is left half written" in done.stderr
    assert not list(home.glob("reports/*")) + list(home.glob("reports/.*"))


def test_a_job_in_the_background_goes_on(home):
    """A script's shell has it ignore Ctrl-C, which is meant for what runs in the foreground."""
    (home / "interrupted.py").write_text(
        "import signal\nimport numpy as np\n"
        "def relu(x):\n    signal.raise_signal(signal.SIGINT)\n    return np.maximum(x, 0)\n"
    )
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = call("run", "interrupted.py:relu", "--function", "relu", "--dtype", "float16", *QUICK, "--in-process")
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == 0
    assert "interrupted;" not in done.stderr


# ---- report, list, gate --------------------------------------------------------------------------


def test_report_rebuilds_from_stored_runs(home):
    for out in ("a", "b"):
        call("run", "mine.py:good", "--function", "relu", "--dtype", "float16", *QUICK, *HERE, "--out", out)
    page = (home / "a" / "index.html").read_text()
    (home / "a" / "index.html").unlink()
    done = call("report", "a")
    assert done.exit_code == 0
    assert "a/index.html" in done.stdout.split()
    assert (home / "a" / "index.html").read_text() == page
    assert call("report", "a", "b", "--out", "both").exit_code == 0
    assert len((home / "both" / "summary.csv").read_text().splitlines()) == 1 + 2
    assert_one_line_error(call("report", "a", "b"), 2, "--out")


def test_report_prints_tables_and_writes_nothing(home):
    results("mine.py:good", "--function", "relu", "--dtype", "float16", *HERE, "--out", "kept")
    before = {path: path.stat().st_mtime_ns for path in (home / "kept").rglob("*")}
    for form, sign in (("latex", r"\toprule"), ("markdown", "# gelu-verify: accuracy report")):
        done = call("report", "kept", "--format", form)
        assert done.exit_code == 0
        assert sign in done.stdout.splitlines()
        assert "mine.py:good" in done.stdout
    assert {path: path.stat().st_mtime_ns for path in (home / "kept").rglob("*")} == before
    assert call("report", "kept", "kept", "--format", "latex").exit_code == 0
    assert_one_line_error(call("report", "kept", "--format", "latex", "--out", "there"), 2, "--out")


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_report_writes_every_figure(home, form):
    results("mine.py:good", "--function", "relu", "--dtype", "float16", *HERE, "--out", "kept")
    done = call("report", "kept", "--format", form)
    assert done.exit_code == 0
    written = sorted(done.stdout.split())
    assert f"kept/figures/error-relu-float16.{form}" in written
    assert written == sorted(str(path.relative_to(home)) for path in (home / "kept" / "figures").iterdir())
    assert call("report", "kept", "--format", form, "--out", "there").exit_code == 0
    assert len(list((home / "there").iterdir())) == len(written)


def test_report_without_a_run_takes_the_latest(home):
    results("mine.py:good", "--function", "relu", "--dtype", "float16", *HERE)
    assert call("report").exit_code == 0
    assert (home / "reports" / "latest" / "index.html").exists()


@pytest.mark.few(2)
@pytest.mark.parametrize("damage", ["missing", "foreign", "truncated", "bucket", "no manifest"])
def test_a_damaged_run_is_one_clear_line(home, damage):
    results("mine.py:good", "--function", "relu", "--dtype", "float16", *HERE, "--out", "kept")
    manifest = home / "kept" / "manifest.json"
    if damage == "foreign":
        manifest.write_text('{"some": "json"}')
    elif damage == "truncated":
        manifest.write_text(manifest.read_text()[:200])
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "bucket":
        (bucket,) = (home / "kept" / "buckets").iterdir()
        bucket.write_bytes(bucket.read_bytes()[:100])
    target = "nowhere" if damage == "missing" else "kept"
    assert_one_line_error(call("report", target), 2, target)
    if damage != "bucket":
        assert_one_line_error(call("gate", target, "--own"), 2, target)
        assert_one_line_error(call("budget", target, "--budgets", "new.toml"), 2, target)
        assert not (home / "new.toml").exists()


@pytest.mark.parametrize("families", [("kernels", "numpy"), *nightly(((),))], ids=["few", "all"])
def test_list_shows_everything_that_can_be_named(monkeypatch, families):
    if families:
        modules = targets._modules()
        monkeypatch.setattr(targets, "_modules", lambda: {name: modules[name] for name in families})
        monkeypatch.setattr(request, "Request", partial(request.Request, isolate=False))  # where this is patched
    found = json.loads(call("list", "--json").stdout)
    assert {"targets", "absent", "kinds", "functions", "plans", "checks"} == set(found)
    assert found["kinds"]["model.onnx"].startswith("ONNX model: ")
    assert {"kernels.gelu_erf", "numpy.silu"} <= {target["target"] for target in found["targets"]}
    assert set(found["targets"][0]) == {"target", "family", "function", "dtypes", "form", "note", "version", "levels"}
    assert {"gelu", "gelu_tanh_grad", "erf"} <= set(found["functions"])
    monkeypatch.setattr(listing, "_found", lambda: found)  # each search loads every library
    text = call("list").stdout
    assert all(name in text for kind in ("functions", "plans", "checks", "absent") for name in found[kind])


@pytest.fixture
def gated(home):
    """A stored run of one kernel and the budgets made from it."""
    results("kernels.silu_exp", "--dtype", "float16", "--out", "kept")
    made = call("budget", "kept", "--budgets", "budgets.toml")
    assert made.exit_code == 0, made.output
    assert "written: budgets.toml (1 rows)" in made.stdout
    return home


def rewritten(path, key=None, **changes):
    """Put another row in the place of the only one."""
    budgets = gate.read_budgets(path)
    ((name, row),) = budgets.rows.items()
    rows = {key or name: dataclasses.replace(row, **changes)}
    gate.write_budgets(path, dataclasses.replace(budgets, rows=rows), "a test")


def test_a_run_is_within_the_budgets_it_made(gated):
    for args in (["kept"], []):
        done = call("gate", *args, "--budgets", "budgets.toml")
        assert done.exit_code == 0, done.output
        assert "1 of 1 within budget, 0 over, 0 not measured" in done.stdout


def test_over_budget_says_row_input_and_how_to_repeat(gated):
    rewritten(gated / "budgets.toml", max_ulp=0.25)
    for args in (["kept"], []):
        done = call("gate", *args, "--budgets", "budgets.toml")
        assert done.exit_code == 1
        assert "OVER  kernels.silu_exp silu float16: " in done.stdout
        assert "budget 0.25" in done.stdout
        for word in ("x ", "got ", "want "):
            assert f"\n  {word}" in done.stdout
        assert re.search(
            r"repeat gelu-verify ask kernels\.silu_exp float16 0x[0-9a-f]{4} --function silu$", done.stdout, re.M
        )


def test_a_row_that_was_not_measured_ends_with_3(gated):
    rewritten(gated / "budgets.toml", key="kernels.silu_gone/silu/float16")
    for args in (["kept"], []):
        done = call("gate", *args, "--budgets", "budgets.toml")
        assert done.exit_code == 3
        assert "MISSING  kernels.silu_gone/silu/float16" in done.stdout


def test_budgets_get_looser_only_when_asked(gated):
    before = gate.read_budgets(gated / "budgets.toml")
    rewritten(gated / "budgets.toml", max_ulp=0.25)
    tight = (gated / "budgets.toml").read_text()
    done = call("budget", "kept", "--budgets", "budgets.toml")
    assert done.exit_code == 1
    assert "looser: largest error: 0.25 -> 2040 ULP" in done.stdout
    assert "--allow-looser" in done.stderr
    assert (gated / "budgets.toml").read_text() == tight
    assert call("budget", "kept", "--budgets", "budgets.toml", "--allow-looser").exit_code == 0
    assert gate.read_budgets(gated / "budgets.toml") == before


def test_gate_needs_budgets(home):
    (home / "no.toml").write_text("x = 1")
    assert_one_line_error(call("gate", "--budgets", "no.toml"), 2, "no.toml")
    assert_one_line_error(call("gate", "--budgets", "absent.toml"), 2, "absent.toml")


# ---- the door ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("a"), 2), (ResultsError("a"), 2), (MissingMeasurement("a"), 3), (OracleError("a"), 1)],
)
def test_every_error_has_its_exit_code(monkeypatch, error, code):
    from gelu_verify import functions
    from gelu_verify.truth import lookup  # noqa: F401 - it must not be imported while `get_function` is another one

    def refuse(name):
        raise error

    monkeypatch.setattr(functions, "get_function", refuse)
    assert_one_line_error(call("lookup", "gelu", "float32", "1"), code, "a")


def test_without_a_command_it_helps():
    done = call()
    assert done.exit_code == 0
    assert all(name in done.stdout for name in ("run", "list", "lookup", "report", "gate", "budget"))
    assert call("--version").stdout.startswith("gelu-verify, version ")
    assert_one_line_error(call("rnu"), 2, "rnu")


def test_a_reader_that_leaves_early_is_no_error():
    command = f"{' '.join(PYTHON)} -m gelu_verify lookup gelu float64 {'1 ' * 500} | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 141)
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_stdout_is_one_clear_line():
    command = f"{' '.join(PYTHON)} -m gelu_verify lookup gelu float64 1 --json > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "gelu-verify: error: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import gelu_verify", ["numpy", "mpmath", "pandas", "click"]),
        ("from gelu_verify.cli import main\ntry: main(['lookup', 'gelu', 'float32', '1'])\nexcept SystemExit: pass",
         ["pandas", "pyarrow", "rich", "jinja2", "scipy"]),
    ],
)  # fmt: skip
def test_the_light_modules_import_nothing_heavy(code, forbidden):
    check = f"{code}\nimport sys\nprint('LOADED', *sorted(set(sys.modules) & set({forbidden!r})))"
    done = subprocess.run([*PYTHON, "-c", check], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.splitlines()[-1] == "LOADED"


def test_public_names_are_functions_whoever_imported_first():
    code = (
        "import gelu_verify.truth.values, gelu_verify.verification, gelu_verify as g\n"
        "assert callable(g.reference) and callable(g.verify), (g.reference, g.verify)\n"
        "from gelu_verify.truth.values import judge\n"
        "from gelu_verify import reference, reference_bits, exact, ulp_error, verify\n"
        "assert reference is g.reference and callable(judge)\n"
        "assert set(g.__all__) <= set(dir(g))\n"
    )
    assert subprocess.run([*PYTHON, "-c", code]).returncode == 0


def test_help_is_printed_where_arguments_are_missing():
    for command in ("run", "lookup", "attribute", "report", "export", "serve"):
        done = call(command, "-h")
        assert done.exit_code == 0, command
        assert done.stdout.startswith("Usage: ")


def test_the_help_of_plan_names_every_plan():
    assert PLANS.keys() <= set(re.findall(r"\w+", call("run", "-h").stdout))


def test_a_value_that_overflows_is_not_exact():
    done = [call("lookup", "exp", "float32", x) for x in ("1000", "0", "inf")]
    assert [each.stderr for each in done] == ["", "", ""]
    assert [each.stdout.splitlines()[0] for each in done] == [
        "exp in float32: the exact value overflows to infinity",
        "exp in float32: y is exact",
        "exp in float32",
    ]


@pytest.mark.parametrize("closed", ["1", "2"])
@pytest.mark.parametrize(("words", "code"), [("facts gelu", 0), ("run nothing", 2)])
def test_a_stream_that_is_closed_changes_no_exit_code(home, closed, words, code):
    command = f"exec {shlex.join(PROGRAM)} {words} {closed}>&-"
    assert subprocess.run(["sh", "-c", command], capture_output=True, check=False).returncode == code


# ---- parts and executors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "numpy", "--executor", "slurm"), "threads, processes, dask, tcp://host:port"),
        (("run", "numpy", "--chunks", "3:3", "--out", "p"), "--chunks"),
        (("run", "numpy", "--chunks", "0:1"), "--chunks needs --out"),
        (("run", "numpy", "--dashboard"), "no dashboard"),
        (("merge", "mine.py"), "mine.py is not a part of a run"),
    ],
)
def test_what_no_executor_and_no_part_can_be_is_refused(home, words, expected):
    assert_one_line_error(call(*words), 2, expected)


def test_a_log_gets_a_line_a_minute(monkeypatch):
    from gelu_verify.cli import progress

    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    lines = progress.Lines(1000)
    assert lines.advanced(100) == ""
    now[0] += 60
    assert lines.advanced(100, "4 minutes of one core") == "20.0 %, 4 minutes left, 4 minutes of one core"
    assert lines.advanced(100) == ""
    now[0] += 3000
    assert lines.advanced(100) == "40.0 %, 76 minutes left"
    now[0] += 60
    assert lines.advanced(600) == ""


@pytest.mark.parametrize("words", [["gate"], ["gate", "a run"], ["budget"]])
def test_without_a_project_a_gate_is_an_error_that_says_what_to_type(tmp_path, monkeypatch, words):
    """In the wrong folder of a monorepo nothing is green."""
    monkeypatch.chdir(tmp_path)
    done = call(*words)
    assert_one_line_error(done, 2, "gelu-verify init TARGET")
    assert "--own checks the kernels of gelu-verify" in done.stderr or words == ["budget"]


def test_a_folder_that_is_gone_is_named(tmp_path):
    (tmp_path / "gone").mkdir()
    command = f"cd gone; rmdir ../gone; {' '.join(PYTHON)} -P -m gelu_verify list"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gelu-verify: error: the folder that this was started in is gone (change to another)\n"


@pytest.mark.nightly
def test_a_name_that_the_stream_cannot_hold_is_escaped(tmp_path):
    (tmp_path / "gélu→.py").write_text("def relu(x):\n    return abs(x)\n")
    command = [sys.executable, "-P", "-m", "gelu_verify", "run", "gélu→.py:relu", "--dtype", "float16", "--plan"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*command, "landmarks", "--out", "r"], cwd=tmp_path, env=env, capture_output=True, check=False
    )
    assert b"g\\xe9lu\\u2192.py:relu" in done.stdout
    done = subprocess.run([*command[:4], "trend", "r", "r"], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_recorded_runs_that_are_nowhere_are_an_error(tmp_path):
    done = call("report", ".", "--recorded", str(tmp_path / "nosuch"))
    assert (done.exit_code, "nosuch' does not exist" in done.stderr) == (2, True)


def test_a_parameter_has_one_value():
    done = call("lookup", "gelu", "float32", "1", "--param", "mu=1", "--param", "mu=2")
    assert (done.exit_code, "--param mu is given twice" in done.stderr) == (2, True)
