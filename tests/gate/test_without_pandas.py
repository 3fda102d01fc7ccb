"""Gates and tests where neither pandas nor pyarrow is installed: NumPy and JSON suffice."""

import os
import re
import shutil
import subprocess
import sys
import tomllib

import commands
import numpy as np
import pytest
import requiring
from repository import ROOT

from gelu_verify.cli.program import NOT_FOR_GATES
from gelu_verify.errors import ResultsError
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.measure.sweep import sweep
from gelu_verify.runs import bucket_files
from gelu_verify.runs.bucket_files import buckets_file, read_buckets

KERNEL = """\
#include <math.h>
#include <stddef.h>
void silu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        y[i] = v < -700 ? -0.0f : (float)(v / (1 + exp(-v)));
    }
}
"""
IN_TURN = """
import contextlib, io
from gelu_verify.cli import main
for words in {}:
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        try: main(words)
        except SystemExit as ended: code = ended.code
    print(errors.getvalue() + f"ENDED {{code}}", flush=True)
"""
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """Calls a Python, from which these modules cannot be imported, in a folder with a kernel: a command line, `code`,
    or several command lines in one process (`in_turn`); exit code and output of each."""
    hidden, project = tmp_path_factory.mktemp("hidden"), tmp_path_factory.mktemp("project")
    for name in NOT_FOR_GATES:
        (hidden / f"{name}.py").write_text(f"raise ModuleNotFoundError('hidden', name={name!r})\n")
    (project / "k.c").write_text(KERNEL)

    def call(*words, code=None):
        command = [sys.executable, *(("-c", code) if code else ("-m", "gelu_verify", *map(str, words)))]
        done = subprocess.run(
            command, cwd=project, env={**os.environ, "PYTHONPATH": str(hidden)}, capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    def in_turn(*lines):
        parts = re.split(r"ENDED (\d+)\n", call(code=IN_TURN.format(lines))[1])
        return [(int(code), said) for said, code in zip(parts[::2], parts[1::2], strict=False)]

    call.project, call.in_turn = project, in_turn
    return call


@pytest.fixture(scope="module")
def gated(without):
    """The same with a budget, in a repository."""
    assert without("init", "--target", "k.c:silu_f32")[0] == 0
    file = without.project / "gelu-verify.toml"
    file.write_text(file.read_text().replace('plan = "fixed"', 'plan = "landmarks"'))
    code, said = without("budget")
    assert (code, "(1 rows)" in said) == (0, True), said
    git = [requiring.program("git"), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"], ["commit", "-qm", "y", "--allow-empty"]):
        subprocess.run([*git, *words], cwd=without.project, check=True)
    return without


@needs_compiler
def test_a_kernel_in_c_is_gated(gated):
    (gated.project / "k.c").write_text(KERNEL.replace("y[i] = v", "y[i] = v == -1 ? -0.25f : v"))
    code, said = gated("gate", "--junit", "gate.xml", "--sarif", "gate.sarif")
    (gated.project / "k.c").write_text(KERNEL)
    assert (code, "newly fails: f(-1) = -0.25" in said) == (1, True), said


@pytest.mark.nightly
@needs_compiler
def test_the_code_of_a_budget_is_measured(gated):
    (gated.project / "k.c").write_text(KERNEL.replace("v < -700", "v < -701"))
    code, said = gated("gate", "--seed", "5")
    (gated.project / "k.c").write_text(KERNEL)
    assert (code, "measuring k.c:silu_f32/silu/float32 at the commit of its budget" in said) == (0, True), said
    assert "headroom" not in said


@needs_compiler
@pytest.mark.nightly
def test_a_run_is_stored_and_judged(gated):
    run = ["run", "k.c:silu_f32", "--plan", "landmarks", "--no-throughput", "--out", "kept"]
    done = gated.in_turn(run, ["gate", "kept"], ["report", "kept"])
    assert [code for code, _ in done] == [0, 0, 3], done
    texts = "no report is written: ", "1 of 1 within budget", "`pip install pandas`"
    assert all(text in said for text, (_, said) in zip(texts, done, strict=True)), done
    (file,) = (gated.project / "kept" / "buckets").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    code, said = gated("gate", "kept")
    assert (code, "is damaged" in said) == (2, True), said


@needs_compiler
@pytest.mark.nightly
def test_a_run_with_parquet_is_not_believed_without_its_buckets(gated, monkeypatch):
    words = ("run", "k.c:silu_f32", "--plan", "landmarks", "--no-throughput", "--no-report", "--out", "parquet")
    monkeypatch.chdir(gated.project)
    assert commands.call(*words)[0] == 0
    code, said = gated("gate", "parquet")
    assert (code, "pyarrow is not installed" in said) == (3, True), said


@pytest.mark.nightly
@needs_compiler
def test_an_assertion_holds_or_fails(without):
    code = "from gelu_verify.testing import assert_gelu_accurate\nfor function in ('silu', 'gelu'):\n"
    code += "    try: assert_gelu_accurate('k.c:silu_f32', function, 'float32', plan='landmarks')\n"
    code += "    except AssertionError as error: print(function, error)\n"
    done, said = without(code=code)
    assert (done, said.startswith("gelu "), "is not accurate enough" in said) == (0, True, True), said


@needs_compiler
def test_a_gate_does_not_load_them_where_they_are(gated):
    code = "import sys\nfrom gelu_verify.cli import main\ntry: main(['gate'])\nexcept SystemExit as done: print(done)\n"
    code += f"print('LOADED', *sorted(set(sys.modules) & set({NOT_FOR_GATES!r})))"
    done = subprocess.run([sys.executable, "-c", code], cwd=gated.project, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["0", "LOADED"], done.stdout + done.stderr


def test_the_page_lists_what_a_gate_needs():
    """All that is installed with gelu-verify, without these."""
    listed = re.findall(
        r"pip install --no-deps gelu-verify\n    pip install (.+)\n", (ROOT / "docs" / "ci.md").read_text()
    )
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^\w-]", each)[0] for each in declared}
    assert [set(each.split()) for each in listed] == [names - set(NOT_FOR_GATES)]


# ---- the two files -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    (job,) = find_jobs(Request(targets=("kernels.gelu_erf",), dtypes=("float32",), plan="landmarks")).jobs
    return sweep(job.target, make_plan("landmarks", "gelu", "float32", 0))


@pytest.fixture
def archive(result):
    with pytest.MonkeyPatch.context() as hidden:
        hidden.setitem(sys.modules, "pyarrow", None)
        suffix, content = buckets_file(result.table, result.record)
    assert suffix == ".npz"
    return content


def test_both_files_say_the_same(result, archive):
    suffix, content = buckets_file(result.table, result.record)
    (columns, facts), (again, facts_again) = read_buckets(content), read_buckets(archive)
    assert (suffix, facts, list(columns)) == (".parquet", facts_again, list(again))
    for name, column in columns.items():
        assert column.dtype == again[name].dtype
        np.testing.assert_array_equal(column, again[name])
    assert list(read_buckets(archive, ["n", "bucket"])[0]) == ["bucket", "n"]


def test_a_damaged_archive_is_one_clear_error(archive, monkeypatch):
    monkeypatch.setattr(bucket_files, "_LARGEST", 100)
    with pytest.raises(ResultsError, match="larger than a column can be"):
        read_buckets(archive)
    monkeypatch.undo()
    for wrong in (archive[:-1], archive[:50], b"PK", archive[:40] + bytes(200) + archive[240:]):
        with pytest.raises(ResultsError, match="not a NumPy archive"):
            read_buckets(wrong)
