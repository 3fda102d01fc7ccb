"""A fault of ours is reported as ours: nothing is said of the implementation, and all else of a run stands."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from judging import failing
from mutants import correct, faulty, where

from gelu_verify import own_faults, verify
from gelu_verify.checks import CHECKS
from gelu_verify.inputs.plans import make_plan
from gelu_verify.isolation.hosts import supported
from gelu_verify.measure import diagnosis, minimize
from gelu_verify.measure import sweep as sweeping
from gelu_verify.measure.sweep import sweep
from gelu_verify.report import frames, write, write_report
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.testing import assert_gelu_accurate

MEASURES = ["measure flush", "measure root", "measure tolerances"]


@pytest.fixture
def reported(monkeypatch):
    """Faults are lines, as users have them."""
    monkeypatch.delenv(own_faults.SWITCH)


def fails(*_, **__):
    raise IndexError("index 0 is out of bounds")


def judged(target):
    return sweep(target, make_plan("landmarks", "gelu", "float32"), workers=1)


def stored(results, place):
    facts = {"versions": {}, "machine": {}, "git": None, "copy_bytes_per_s": None}
    return write_run(results, place, command="x", seed=0, plan="landmarks", absent={}, facts=facts)


@pytest.fixture(scope="module")
def whole():
    return judged(faulty("gelu", where(lambda x: x > 5, "7"))).record


def test_a_check_that_fails_by_itself_says_nothing_of_the_target(whole, monkeypatch, reported):
    assert whole.own_faults is None
    monkeypatch.setitem(CHECKS["outlier"].__dict__, "run", fails)
    record = judged(faulty("gelu", where(lambda x: x > 5, "7"))).record
    (fault,) = record.own_faults
    assert fault.startswith("gelu-verify's check outlier failed: IndexError: index 0 is out of bounds (checks/")
    assert record.checks == whole.checks | {"outlier": "not applicable"}
    assert failing(record) == failing(whole) - {"outlier"}
    assert (record.max_ulp, record.failure) == (whole.max_ulp, None)


def test_every_check_and_measure_may_fail(whole, monkeypatch, reported):
    for check in CHECKS.values():
        monkeypatch.setitem(check.__dict__, "run", fails)
    for measure in ("_flush", "_root", "noticed"):
        monkeypatch.setattr(diagnosis, measure, fails)
    record = judged(faulty("gelu", where(lambda x: x > 5, "7"))).record
    named = [fault.partition(" failed")[0].removeprefix("gelu-verify's ") for fault in record.own_faults]
    assert sorted(named) == sorted([*(f"check {name}" for name in CHECKS), *MEASURES])
    assert set(record.checks.values()) == {"not applicable"}
    assert (record.grade, record.max_ulp) == (whole.grade, whole.max_ulp)


def test_what_cannot_be_measured_at_all_is_not_broken(monkeypatch, reported, tmp_path):
    """And it is stored and read like any result."""
    good = judged(correct("gelu"))
    monkeypatch.setattr(sweeping, "measured", fails)
    lost = judged(correct("gelu"))
    assert (lost.record.grade, lost.record.failure_kind, lost.table) == (None, own_faults.KIND, None)
    run = stored([good, lost], tmp_path / "run")
    assert read_run(run).results[1].own_faults == lost.record.own_faults
    assert read_run(run).results[0].grade == "correctly_rounded"


def test_a_failing_call_that_cannot_be_minimized_is_still_a_failure(monkeypatch, reported):
    def raises(dtype, x, y):
        raise ValueError("no")

    monkeypatch.setattr(minimize, "_Search", fails)
    record = judged(faulty("gelu", raises)).record
    assert record.failure == "test.mutant raised ValueError: no"
    assert record.grade == "broken"
    assert "smallest failing call" in record.own_faults[0]


def test_an_attribution_that_fails_loses_that_alone(monkeypatch, reported, tmp_path):
    monkeypatch.setattr(frames, "witness_parts", fails)
    run = read_run(stored([judged(faulty("gelu", where(lambda x: x > 5, "7")))], tmp_path / "run"))
    faults = []
    write_report([run], tmp_path / "out", faults)
    (fault,) = faults
    assert fault.startswith("gelu-verify's attribution of test.mutant/gelu/float32 failed: IndexError")
    for name in ("summary.csv", "report.md", "index.html"):
        assert "test.mutant" in (tmp_path / "out" / name).read_text()
    assert len((tmp_path / "out" / "attribution.csv").read_text().splitlines()) == 1


def test_an_assertion_does_not_pass_where_a_check_is_unknown(monkeypatch, reported):
    monkeypatch.setitem(CHECKS["nan"].__dict__, "run", fails)
    with pytest.raises(AssertionError, match="not known: gelu-verify's check nan failed: IndexError"):
        assert_gelu_accurate(correct("relu"), "relu", "float16")


def test_our_tests_fail_on_it(monkeypatch):
    monkeypatch.setitem(CHECKS["nan"].__dict__, "run", fails)
    with pytest.raises(IndexError):
        judged(correct("gelu"))


BREAKING = """
import sys
from pathlib import Path
from gelu_verify.checks import base, precision
from gelu_verify.cli import main

BREAKS = sys.argv[1] == "checks"


def run(evidence):
    if evidence.target.name.endswith("one") and BREAKS:
        raise IndexError("index 0 is out of bounds")
    return base.Finding("pass")

precision.CHECK.__dict__["run"] = run
asked = sys.argv[2:]
sys.argv = ["gelu-verify", *asked]
main()
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own_faults")
    (folder / "breaking.py").write_text(BREAKING)
    (folder / "mine.py").write_text("def one(x):\n    return x.clip(0)\n\n\ndef two(x):\n    return x.clip(0)\n")
    return folder


def ran(scripts, what, *more):
    command = [sys.executable, "-P", "breaking.py", what, "run", "mine.py:one", "mine.py:two", "--function", "relu"]
    command += ["--dtype", "float16", "--no-own", "--no-throughput", "--plan", "quick", "--in-process", *more]
    environment = {**os.environ, own_faults.SWITCH: ""}
    return subprocess.run(command, capture_output=True, text=True, cwd=scripts, env=environment)


def test_other_results_of_a_run_stand_and_the_exit_code_tells(scripts):
    done = ran(scripts, "checks", "--out", "run", "--json")
    one, two = json.loads(done.stdout)
    assert done.returncode == 3, done.stderr
    assert "gelu-verify: mine.py:one relu float16: gelu-verify's check precision failed: IndexError" in done.stderr
    assert len(one["own_faults"]) == 1
    assert two["own_faults"] is None
    assert two["checks"]["nan"] == one["checks"]["nan"] == "pass"
    assert (scripts / "run" / "report.md").exists()


def test_a_report_leaves_out_what_it_cannot_show(tmp_path, reported, monkeypatch):
    results = [judged(dataclasses.replace(correct("gelu"), name=f"test.{name}")) for name in ("one", "two")]
    run, whole = read_run(stored(results, tmp_path / "run")), write.markdown

    def markdown(runs, frames):
        if any(record.target == "test.two" for run in runs for record in run.results):
            raise KeyError("nothing")
        return whole(runs, frames)

    monkeypatch.setattr(write, "markdown", markdown)
    faults = []
    write_report([run], tmp_path / "report", faults)
    (fault,) = faults
    assert fault.startswith("gelu-verify's report on test.two/gelu/float32, which is left out, failed: KeyError")
    summary = (tmp_path / "report" / "summary.csv").read_text()
    assert "test.one" in summary
    assert "test.two" not in summary


THEIRS_AND_OURS = """
import math, sys
import gelu_verify
from gelu_verify.isolation import call

def ours(x):
    call.np = None
    return x.clip(0)

class InC:
    __call__ = staticmethod(math.sqrt)  # of an array: TypeError, from a function without a frame

def by_ours(x):
    return gelu_verify.gelu(x, out=3)
"""


@pytest.mark.skipif(not supported(), reason="this system cannot isolate")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ours", None),
        ("InC", "raised TypeError: only "),
        ("by_ours", "raised "),
    ],
)
def test_what_our_code_raises_in_a_child_is_not_the_targets(tmp_path, reported, name, words):
    (tmp_path / "m.py").write_text(THEIRS_AND_OURS)
    record = verify(f"{tmp_path}/m.py:{name}", "relu", "float16", "quick", isolate=True).record
    if name == "ours":
        assert (record.grade, record.failure_kind) == (None, own_faults.KIND)
        (fault,) = record.own_faults
        assert fault.startswith("gelu-verify's work in the process of an implementation failed: AttributeError: 'None")
        assert "isolation/call.py" in fault
    else:
        assert record.own_faults is None
        assert record.grade == "broken"
        assert words in record.failure


def test_a_missing_name_is_ours_wherever_it_is(monkeypatch, reported):
    """Also where we call somebody else's code, and in this process."""
    monkeypatch.delattr("gelu_verify.targets.base.np")
    record = judged(correct("gelu")).record
    assert (record.grade, record.failure_kind) == (None, own_faults.KIND)
    assert "NameError: name 'np' is not defined" in record.own_faults[0]


@pytest.mark.parametrize(
    ("file", "is_ours"),
    [
        ("targets/declarations/ptx_kernels.py", True),
        ("targets/declarations/roles.py", True),
        ("ptx/parse.py", True),
        ("ptx/executor.py", False),
        ("targets/kinds/_c_abi.py", False),  # which calls a function that may have no frame
        ("targets/kinds/python.py", False),
    ],
)
def test_what_only_reads_sources_is_at_fault_itself(file, is_ours):
    place = Path(own_faults.__file__).parent / file
    assert place.exists()
    code = compile("raise TypeError('unhashable type')", place, "exec")
    with pytest.raises(TypeError) as raised:
        exec(code)
    alone = raised.value.with_traceback(raised.tb.tb_next)  # as in a process of an implementation
    assert own_faults.is_ours(alone) == is_ours


def test_what_only_reads_sources_has_nothing_to_call_them_with():
    package = Path(own_faults.__file__).parent
    for folder in own_faults._READING:
        for path in sorted((package / folder).rglob("*.py")):
            text, name = path.read_text(encoding="utf-8"), path.relative_to(package).as_posix()
            can_call = re.search(r"^\s*(?:import|from) (?:ctypes|inspect|runpy)\b", text, re.MULTILINE) is not None
            assert can_call == (name in own_faults._EXECUTING), name
