"""`run` and `gate` with files and lines for CI: nothing but those is added, and exit codes stay what they are."""

import json
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner

from gelu_verify.ci.cases import Case
from gelu_verify.ci.places import place_in, place_of
from gelu_verify.cli import main
from gelu_verify.cli.ci_options import reports_to_ci

CODE = """import numpy as np


def good(x):
    return np.maximum(x, 0)


def bad(x):
    return good(x) + x.dtype.type(1)


def raises(x):
    raise ValueError("\\x1b[31m ::error::x")
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """An empty working directory with a file of implementations of relu."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return tmp_path


def call(*args):
    return CliRunner().invoke(main, list(args))


def run(name, *args):
    options = ("--function", "relu", "--dtype", "float16", "--plan", "landmarks", "--no-throughput", "--no-report")
    return call("run", f"mine.py:{name}", *options, "--in-process", "--no-own", *args)


def verdicts(path):
    """{name of a test case: what it is, and its message}."""
    found = {}
    for case in ElementTree.parse(path).iter("testcase"):
        told = next((child for child in case if child.tag != "system-out"), None)
        found[case.get("name")] = ("passed", "") if told is None else (told.tag, told.get("message"))
    return found


def test_a_run_that_meets_its_limits(home):
    done = run("good", "--max-ulp", "0.5", "--junit", "j.xml", "--sarif", "s.sarif")
    assert done.exit_code == 0, done.output
    assert verdicts("j.xml") == {"mine.py:good/relu/float16": ("passed", "")}
    assert json.loads((home / "s.sarif").read_text())["runs"][0]["results"] == []
    assert "::error" not in done.output


def test_a_run_over_its_limit(home):
    done = run("bad", "--max-ulp", "2", "--junit", "j.xml", "--sarif", "s.sarif", "--github", "--json")
    assert done.exit_code == 1
    json.loads(done.stdout)  # annotations are not among the data
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("::error ")]
    assert "file=mine.py,line=8,title=mine.py%3Abad/relu/float16::" in line
    (tag, message) = verdicts("j.xml")["mine.py:bad/relu/float16"]
    assert tag == "failure"
    assert " times the error it may have in (-inf,-8): 1.67e7 ULP, --max-ulp 2; computes neither relu " in message
    (result,) = json.loads((home / "s.sarif").read_text())["runs"][0]["results"]
    assert {"x_bits", "got_bits", "want_bits", "repeat"} <= set(result["properties"])


def test_what_a_target_raises_is_a_failure_in_one_piece():
    done = run("raises", "--junit", "j.xml", "--github")
    assert done.exit_code == 1
    (tag, message) = verdicts("j.xml")["mine.py:raises/relu/float16"]
    assert (tag, "\\x1b[31m" in message) == ("failure", True)
    assert sum("::error " in line for line in done.stdout.splitlines()) == 1


@click.command()
@click.option("--over", is_flag=True)
@click.option("--nothing", is_flag=True)
@reports_to_ci
def ending(over, nothing, reporter):
    """A command that ends with one case, or with 3 and none."""
    if nothing:
        reporter.finish([], 3)
    reporter.finish([Case("it", "failed" if over else "passed")], int(over))


@pytest.mark.parametrize(
    ("env", "args", "annotated"),
    [
        ({}, (), False),
        ({"GITHUB_ACTIONS": "true"}, (), True),
        ({"GITHUB_ACTIONS": "false"}, (), False),
        ({"GITHUB_ACTIONS": "true"}, ("--no-github",), False),
    ],
)
def test_annotations_are_for_github(home, env, args, annotated):
    place = home / "summary.md"
    env = {"GITHUB_STEP_SUMMARY": str(place), **env}
    done = CliRunner().invoke(ending, ["--over", *args], env=env)
    assert done.exit_code == 1
    assert ("::error " in done.stdout) == place.exists() == annotated


@pytest.mark.parametrize(("given", "code"), [(["--over"], 1), ([], 2)])
def test_a_file_that_cannot_be_written_keeps_the_exit_code(home, given, code):
    done = CliRunner().invoke(ending, [*given, "--junit", "mine.py/j.xml", "--sarif", "s.sarif"])
    assert done.exit_code == code
    assert "error: cannot write mine.py/j.xml: " in done.stderr
    assert json.loads((home / "s.sarif").read_text())["runs"][0]["invocations"][0]["exitCode"] == len(given)


def test_nothing_at_all_is_no_success():
    assert CliRunner().invoke(ending, ["--nothing", "--junit", "j.xml"]).exit_code == 3
    assert verdicts("j.xml") == {"gelu-verify ending": ("error", "there is nothing to judge")}


def test_an_error_leaves_no_earlier_success(home):
    (home / "j.xml").write_text('<testsuites name="an earlier success"/>')
    done = call("run", "mine.py:absent", "--function", "relu", "--junit", "j.xml")
    assert done.exit_code == 2
    ((name, (tag, message)),) = verdicts("j.xml").items()
    assert (name, tag) == ("gelu-verify run", "error")
    assert message in done.stderr


def test_a_gate_says_what_each_row_is(home):
    measured = ("kernels.silu_exp", "--dtype", "float16", "--plan", "landmarks", "--no-throughput", "--out", "kept")
    assert call("run", *measured).exit_code == 0
    assert call("budget", "kept", "--budgets", "budgets.toml", "--accept", "tail_zero=exp").exit_code == 0
    done = call("gate", "kept", "--budgets", "budgets.toml", "--require", "cuda", "--recorded", "none",
                "--junit", "j.xml", "--github")  # fmt: skip
    assert done.exit_code == 3
    found = verdicts("j.xml")
    assert found["kernels.silu_exp/silu/float16"] == ("passed", "")
    assert found["cuda"][0] == "error"
    assert "::error file=budgets.toml,line=1,title=cuda::not measured%0A" in done.stdout


# ---- where the code is ---------------------------------------------------------------------------

SOURCE = """/* gelu(x) */
float other(float x); float gelu_f32(float);
#define CALL(f) f(1)
static float twice(float x) { return gelu_f32(x) * 2; }
inline
float gelu_f32(float x) // gelu_f32(
{
    return x;
}
namespace ns { float gelu(float x) noexcept { return x; } }
"""


@pytest.mark.parametrize(
    ("target", "path", "line"),
    [
        ("a b/k.c:gelu_f32", "a b/k.c", 6),
        ("a b/k.c:gelu_f32:scalar", "a b/k.c", 6),
        ("./a b/k.c:ns::gelu", "a b/k.c", 10),
        ("a b/k.c:CALL", "a b/k.c", 3),
        ("a b/k.c:generated", "a b/k.c", 1),
        ("mine.py:bad", "mine.py", 8),
        ("mine:bad", "mine.py", 8),
        ("package.ops:Layer.forward", "src/package/ops.py", 2),
        ("package:GELU", "src/package/__init__.py", 1),
    ],
)
def test_the_place_of_a_target_is_its_definition(home, target, path, line):
    (home / "a b").mkdir()
    (home / "a b" / "k.c").write_text(SOURCE)
    (home / "src" / "package").mkdir(parents=True)
    (home / "src" / "package" / "ops.py").write_text("class Layer:\n    def forward(self, x): ...\n")
    (home / "src" / "package" / "__init__.py").write_text("GELU = 1\n")
    place = place_of(target, "gelu")
    assert (place.path, place.line) == (path, line)


@pytest.mark.parametrize("target", ["torch.gelu", "absent.c:gelu", "numpy:tanh", "pipe:./program", "kernels.gelu_erf"])
def test_what_is_not_in_the_checkout_has_no_place(target):
    assert place_of(target, "gelu") is None


def test_paths_are_those_of_the_repository(home, monkeypatch):
    (home / "sub").mkdir()
    (home / "sub" / "k.c").write_text(SOURCE)
    monkeypatch.chdir(home / "sub")
    assert place_of("k.c:gelu_f32", "gelu").path == "k.c"
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        with monkeypatch.context() as patched:
            patched.setenv(name, str(home))
            assert place_of("k.c:gelu_f32", "gelu").path == "sub/k.c"


def test_our_own_kernels_are_found_in_our_checkout(monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)
    for target, function in (("kernels.gelu_erfc-f32@avx2", "gelu"), ("kernels.silu_grad_exp", "silu_grad")):
        place = place_of(target, function)
        text = (request.config.rootpath / place.path).read_text().splitlines()[place.line - 1]
        assert text.startswith(f"KERNEL({function}, ")
    assert place_in(request.config.rootpath.parent / "elsewhere.toml", "") is None


@pytest.mark.parametrize("words", [("--nope",), ("--workers", "x"), ("--sarif",)])
def test_arguments_that_are_wrong_leave_no_earlier_success(home, words):
    (home / "j.xml").write_text('<testsuites><testsuite><testcase name="all is well"/></testsuite></testsuites>')
    done = call("gate", "--junit", "j.xml", *words)
    assert done.exit_code == 2
    (found,) = verdicts("j.xml").values()
    assert found[0] == "error"
    assert found[1] in done.stderr


def test_a_file_of_others_is_not_replaced(home):
    source = (home / "mine.py").read_text()
    for option, what in (("--junit", "JUnit XML"), ("--sarif", "SARIF")):
        for words in ((), ("--nope",)):
            done = call("gate", option, "mine.py", *words)
            assert done.exit_code == 2
            assert words or f"mine.py is there, and is no {what}: it is not replaced" in done.stderr
            assert (home / "mine.py").read_text() == source
    done = call("gate", "--junit", "one", "--sarif", "./one")
    assert (done.exit_code, "JUnit XML and SARIF would be one file" in done.stderr) == (2, True)
