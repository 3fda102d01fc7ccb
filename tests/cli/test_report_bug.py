"""`gelu-verify report-bug`, as a user meets it: of a small run of NumPy's functions, which are called here."""

import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner

from gelu_verify.cli import main
from gelu_verify.errors import MissingMeasurement
from gelu_verify.measure import jobs
from gelu_verify.measure.request import Request
from gelu_verify.report import reproducer
from gelu_verify.runs import integrity
from gelu_verify.runs.measuring import measure_run

GOOD, BAD = "numpy.relu/relu/float16", "numpy.gelu_tanh/gelu_tanh/float16"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    request = Request(
        targets=("numpy.gelu_tanh", "numpy.gelu_tanh-exp", "numpy.relu"), dtypes=("float16",), plan="quick",
    )  # fmt: skip
    return str(measure_run(request, tmp_path_factory.mktemp("runs") / "run", command="gelu-verify run").path)


def call(*words):
    return CliRunner().invoke(main, ["report-bug", *words], prog_name="gelu-verify")


def ended(code):
    return reproducer._Done(code, True)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [BAD, "numpy.gelu_tanh/float16", "numpy.gelu_tanh"])
def test_the_program_is_run_and_shows_the_fault(run, name):
    done = call(run, name)
    assert done.exit_code == 0, done.output
    program = done.stdout.partition("```python\n")[2].partition("```")[0]
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert f"it prints `{printed.stdout.strip()}`" in done.stdout
    assert "gelu_verify" not in program
    assert "import ml_dtypes" not in program


@pytest.mark.parametrize(
    ("form", "begins"), [("markdown", "**"), ("text", "numpy: x / 2"), ("html", "<!doctype html>")]
)
def test_every_format_has_the_title_and_the_program(run, tmp_path, form, begins):
    done = call(run, BAD, "--format", form, "--title", "numpy: x / 2 is coarse", "--out", str(tmp_path / "report"))
    assert (done.exit_code, done.stdout) == (0, "")
    text = (tmp_path / "report").read_text()
    assert text.startswith(begins)
    assert "numpy: x / 2 is coarse" in text
    assert "numpy.full(1, " in text


def test_a_script_ends_with_0_while_it_is_so(run, tmp_path):
    assert call(run, BAD, "--format", "script", "--out", str(tmp_path / "check.py")).exit_code == 0
    done = subprocess.run([sys.executable, "-W", "ignore", str(tmp_path / "check.py")], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:12]) == (0, "still wrong:")


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["markdown", "script"])
def test_the_exit_code_is_1_where_the_program_shows_something_else(run, monkeypatch, form):
    monkeypatch.setattr(reproducer, "_run", lambda program, seconds: ended("0.25"))
    done = call(run, BAD, "--format", form)
    assert done.exit_code == 1
    assert done.stdout
    assert "the program gave 0.25, which is not what the run found" in done.stderr


def test_it_is_3_where_the_library_is_not_installed(run, monkeypatch):
    def absent(*_):
        raise MissingMeasurement("numpy was asked for, but it is not installed")

    monkeypatch.setattr(jobs, "find_jobs", absent)
    done = call(run, BAD)
    assert done.exit_code == 3
    assert "It was not run: numpy was asked for, but it is not installed." in done.stdout


def test_no_code_of_a_stored_run_is_run(run, tmp_path, monkeypatch):
    """A run may be anybody's: what is run is what this version has under the same name."""
    evil = f"open({str(tmp_path / 'evil')!r}, 'w')"
    verified = integrity.verified

    def spoiled(stored):
        found = verified(stored)
        return replace(found, results=[replace(each, expression=evil) for each in found.results])

    monkeypatch.setattr(integrity, "verified", spoiled)
    done = call(run, BAD)
    assert done.exit_code == 3, done.output
    assert "numpy.gelu_tanh is called as x / 2" in " ".join(done.stderr.split())
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["numpy.gelu_tahn/float16"], "the nearest: numpy.gelu_tanh/gelu_tanh/float16"),
        (["numpy.gelu_tanh/float64"], "has no result 'numpy.gelu_tanh/float64'"),
        ([GOOD], "there is nothing to report of numpy.relu/relu/float16: correctly rounded"),
        ([BAD, "--format", "json"], "'json' is not one of"),
    ],
)
def test_what_is_wrong_is_named(run, words, message):
    done = call(run, *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_run_that_is_not_there_is_named(tmp_path):
    assert call(str(tmp_path / "none"), BAD).exit_code == 2
