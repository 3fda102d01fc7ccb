"""What another distribution adds by entry points works as what is in the package: library, command line, isolation."""

import json
import re
import subprocess
import sys
from fractions import Fraction

import pytest
from distribution import install
from program import PROGRAM
from repository import ROOT

from gelu_verify.formats import FORMATS

ARB = """
import sys, json, random, flint
sys.path[:0] = {paths!r}
from arb import arb_round
from points import delicate_inputs
import numpy as np
import gelu_verify
from gelu_verify.formats import FORMATS
from gelu_verify.functions import get_function
different = []
for name in ("other_mish", "other_softplus", "cubic"):
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        fmt, function = FORMATS[dtype], get_function(name)
        x = delicate_inputs(function, fmt, 150, 3)
        y = gelu_verify.reference_bits(name, dtype, np.array(x, fmt.uint)).tolist()
        different += [(name, dtype, b) for b, got in zip(x, y) if arb_round(function, fmt, b) != got]
print(json.dumps(different))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def run(environment, tmp_path):
    def command(*words, code=0):
        done = subprocess.run(
            [*PROGRAM, *words],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stderr
        return done

    return command


def test_references_are_right(environment):
    paths = [str(ROOT / "tests" / "support"), str(ROOT / "tests")]
    done = subprocess.run(
        [sys.executable, "-P", "-c", ARB.format(paths=paths)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_value_at_zero_that_is_no_number_of_the_dtype_has_an_error(run, dtype):
    y = Fraction(3, 5)
    found = json.loads(run("lookup", "other_mish_grad", dtype, "0", "--json").stdout)
    fmt = FORMATS[dtype]
    got = fmt.fraction(int(found["y_bits"], 16))
    assert found["exact"] == "0.6"
    assert found["rounding_error_ulp"] == pytest.approx(float((got - y) / fmt.ulp(y)), rel=1e-9)
    assert "y is exact" not in run("lookup", "other_mish_grad", dtype, "0").stdout


@pytest.mark.nightly
def test_irrational_values_and_signs_at_zero(run):
    found = json.loads(run("lookup", "other_softplus", "float64", "-0", "--json", "--digits", "50").stdout)
    assert found["exact"] == "0.69314718055994530941723212145817656807550013436026"
    assert float(found["y"]) == pytest.approx(0.6931471805599453, rel=0)
    assert json.loads(run("lookup", "cubic", "float32", "0", "--json").stdout)["y_bits"] == "0x80000000"
    assert json.loads(run("lookup", "cubic", "float32", "-inf", "--json").stdout)["y"] == "-inf"


@pytest.mark.nightly
def test_a_run_in_isolation_judges_with_plugins(run, tmp_path):
    done = run("run", "others", "--no-throughput", "--no-report", "--out", "stored", "--json")
    results = {each["target"]: each for each in json.loads(done.stdout)}
    right, wrong = results["others.mish"], results["others.wrong"]
    assert right["function"] == "other_mish"
    assert right["bound"] == "="
    assert right["max_ulp"] <= 1
    assert {name for name, status in right["checks"].items() if status == "fail"} == set()
    assert right["checks"]["half_slope"] == right["checks"]["at_one"] == "pass"
    assert right["checks"]["raising"] == right["checks"]["nonsense"] == "not applicable"
    for words in (
        "entry point raising of others 1.2 (gelu_verify.checks) raised ZeroDivisionError: a bug of the plugin",
        "entry point nonsense of worse 0.1 (gelu_verify.checks) returned no Finding: 7",
    ):
        assert done.stderr.count(words) == 1
    assert wrong["checks"]["at_one"] == "fail"
    assert wrong["findings"]["at_one"]["x_bits"] == "0x3c00"
    manifest = json.loads((tmp_path / "stored" / "manifest.json").read_text())
    assert manifest["versions"]["others"].startswith("1.2 sha256:")
    report = run("report", "stored", "--out", "page")
    assert (tmp_path / "page" / "index.html").exists() or report.stdout


def test_a_kind_of_target(run):
    done = run("run", "twice:1.0", "--plan", "landmarks", "--no-throughput", "--no-report", "--json")
    (result,) = json.loads(done.stdout)
    assert (result["target"], result["function"], result["max_ulp"]) == ("twice:1.0", "relu", 0)


def test_code_that_raises_is_named_and_nothing_is_graded(run):
    for words, code in (("run failing:1 --function gelu", 2), ("lookup failing float16 1.5", 1), ("run half", 3)):
        done = run(*words.split(), code=code)
        assert "BROKEN" not in done.stdout
        assert re.search(
            "error: .*(failing of worse (at 1.5: terms )?raised|half was asked for, but) .*a bug of the",
            done.stderr,
        )


def test_what_a_plugin_raises_in_a_call_is_its_fault_and_no_grade(run):
    words = "run calls:1 --dtype float32 --plan landmarks --no-throughput --no-report --json"
    done = run(*words.split(), code=3)
    (found,) = json.loads(done.stdout)
    assert found["grade"] is None
    words = "entry point calls of worse 0.1 (gelu_verify.targets) raised KeyError: 'a bug of its own': its fault"
    assert any(words in fault for fault in found["own_faults"]), found["own_faults"]
    assert words in done.stderr


def test_what_cannot_be_used_is_named_and_nothing_else_is_lost(run):
    done = run("list", "--json")
    found = json.loads(done.stdout)
    assert {"other_mish", "other_mish_grad", "other_softplus", "cubic", "gelu", "tanh"} <= set(found["functions"])
    assert {"at_one", "raising", "lane"} <= set(found["checks"])
    assert {"others", "kernels"} <= {target["family"] for target in found["targets"]}
    assert "twice:FACTOR" in found["kinds"]
    left_out = [line for line in done.stderr.splitlines() if "left out" in line]
    for words in (
        "entry point broken of others 1.2 (gelu_verify.functions) is left out: ImportError: no such library",
        "entry point exits of worse 0.1 (gelu_verify.functions) is left out: SystemExit: 3",
        "entry point monotone of worse 0.1 (gelu_verify.checks) is left out: there is a check monotone already, of",
        "entry point duplicate of others 1.2 (gelu_verify.functions) is left out: there is a function gelu already, of",
        "entry point nothing of others 1.2 (gelu_verify.functions) is left out: it names no Function",
        "entry point torch of others 1.2 (gelu_verify.targets) is left out: there is a target family torch already, of",
    ):
        assert any(words in line for line in left_out), words
    assert len(left_out) == 6


def test_what_is_installed_beside_the_package_changes_no_result_of_its_own(run, environment):
    """The inputs of a plan, and the functions that results are compared with."""
    check = "from gelu_verify.inputs.plans import make_plan; print(make_plan('quick', 'gelu', 'float32').inputs_sha256)"
    digests = [
        subprocess.run([sys.executable, "-P", "-c", check], env=env, capture_output=True, text=True, cwd=ROOT).stdout
        for env in (environment, None)
    ]
    assert digests[0] == digests[1] != ""


def test_looking_up_a_function_of_the_package_does_not_look_for_plugins(environment):
    code = "import sys; from gelu_verify.truth.lookup import answer; answer('gelu', 'float32', 0xc0d00000)"
    code += "; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "False\n"
