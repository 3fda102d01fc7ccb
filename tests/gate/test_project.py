"""The gate of somebody else's project, from `init` on: in its own folder, with a C kernel of its own."""

import html
import json
import re
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from commands import call
from hypothesis import given
from hypothesis import strategies as st
from marking import nightly
from repository import ROOT

from gelu_verify.cli.gate import project_here
from gelu_verify.errors import UsageError
from gelu_verify.gate import measurements
from gelu_verify.gate.budgets import budgets_text, default_path, make_budgets, merged, read_budgets, write_budgets
from gelu_verify.gate.changes import is_looser
from gelu_verify.gate.project import find_project, read_project
from gelu_verify.gate.rows import Budgets, Selection
from gelu_verify.gate.verdicts import RowVerdict, verdicts
from gelu_verify.measure.budget import Budget
from gelu_verify.measure.jobs import find_jobs
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import allotted
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.result import Origin

KERNEL = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
void silu_f32(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double v = x[i];
        y[i] = v < -700 ? -0.0f : (float)(v / (1 + exp(-v)));
    }
}
"""
MACHINE = {"cpu": "X", "libm": "glibc 2.36", "architecture": "x86_64", "isa": ["avx2", "fma"]}
WITHIN = "1 of 1 within budget, 0 over, 0 not measured; 1 on 5,761 of 2^32 inputs, nothing is said of others\n"
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(KERNEL)
    (tmp_path / "gelu-verify.toml").write_text('targets = ["k.c:silu_f32"]\nplan = "landmarks"\n')
    return tmp_path


budgets_made = {}  # of a project: what `budget` wrote for the first test


def with_budgets(project, rows):
    """The project with the budgets of what is in it, which are measured once."""
    if rows not in budgets_made:
        code, said = call("budget")
        assert (code, f"written: gelu-budgets.toml ({rows} rows)" in said) == (0, True), said
        budgets_made[rows] = (project / "gelu-budgets.toml").read_bytes()
    (project / "gelu-budgets.toml").write_bytes(budgets_made[rows])
    return project


@pytest.fixture
def gated(project):
    return with_budgets(project, 1)


def edited(project, before, after):
    assert before in KERNEL
    (project / "k.c").write_text(KERNEL.replace(before, after))


# ---- init, budget, gate --------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("pyproject", [False, True])
def test_what_init_writes_is_a_project(tmp_path, monkeypatch, pyproject):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.c").write_text(KERNEL)
    if pyproject:
        (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"')
    code, said = call("init", "--target", "k.c:silu_f32")
    name = "pyproject.toml" if pyproject else "gelu-verify.toml"
    assert (code, "found: k.c:silu_f32 silu float32" in said, f"written: {name}" in said) == (0, True, True)
    found = read_project(tmp_path / name)
    assert [entry.request.targets for entry in found.entries] == [("k.c:silu_f32",)]
    assert found.budgets == tmp_path / "gelu-budgets.toml"
    assert 'name = "mine"' in (tmp_path / name).read_text() or not pyproject
    written = (tmp_path / name).read_text()
    assert call("init", "--target", "k.c:silu_f32") == (0, "is there already: k.c:silu_f32\n")
    assert (tmp_path / name).read_text() == written


OPS = """\
import numpy as np


def relu(x):
    return np.maximum(x.astype(np.float32), 0)


def silu(x):
    raise ValueError("broken")


def gelu(x):
    assert x.shape == (64,)
    return x
"""


@needs_compiler
def test_init_adds_targets_and_leaves_what_stands_there(project):
    (project / "ops.py").write_text(OPS)
    file = project / "gelu-verify.toml"
    before = file.read_text() + "# mine\n[accept] # why\nmonotone = 'x'\n"
    file.write_text(before)
    code, said = call("init", "k.c:silu_f32", "--target", "ops.py:relu", "--length", "64")
    assert (code, said.splitlines()[:2]) == (
        0,
        ["is there already: k.c:silu_f32", "found: ops.py:relu relu float32"],
    ), said
    added = '\n[[target]]\nname = "ops.py:relu"\ndtypes = ["float32"]\nlength = 64\n'
    assert file.read_text() == before + added
    assert [entry.request.targets for entry in read_project(file).entries] == [("k.c:silu_f32",), ("ops.py:relu",)]


@needs_compiler
def test_what_the_project_says_of_all_is_not_said_of_a_target_that_is_added(tmp_path, monkeypatch):
    """It computes silu in float32: the table says so where others are relu in float16."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(OPS.replace("x.astype(np.float32)", "x"))
    (tmp_path / "k.c").write_text(KERNEL)
    for words in (["ops.py:relu", "--function", "relu", "--dtype", "float16"], ["k.c:silu_f32"]):
        assert call("init", "--target", *words)[0] == 0
    both = [entry.request for entry in read_project(tmp_path / "gelu-verify.toml").entries]
    assert [(each.functions, each.dtypes) for each in both] == [(("relu",), ("float16",)), (("silu",), ("float32",))]


@pytest.mark.nightly
def test_init_names_the_dtypes_that_a_target_returns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text(OPS)
    code, said = call("init", "--target", "ops.py:relu")
    assert (code, said.count("found: "), said.count("left out: ")) == (0, 1, 3), said
    assert "left out: ops.py:relu float16: not tested: ops.py:relu returned float32 where float16 was expected" in said
    (entry,) = read_project(tmp_path / "gelu-verify.toml").entries
    assert entry.request.dtypes == ("float32",)
    (tmp_path / "gelu-verify.toml").unlink()
    code, said = call("init", "ops.py:gelu")
    assert (code, "works only with 64 values at once: give --shape '(64,)'" in said) == (2, True), said
    code, said = call("init", "--target", "ops.py:gelu", "--shape", "(64,)")
    assert (code, said.count("found: ")) == (0, 4), said
    (tmp_path / "gelu-verify.toml").unlink()
    code, said = call("init", "--target", "ops.py:silu")
    assert (code, "broken" in said, (tmp_path / "gelu-verify.toml").exists()) == (2, True, False), said


@pytest.mark.parametrize(("name", "why"), [("no.c:f", "no.c"), ("torhc", "torhc"), ("numpy.gleu", "gleu")])
def test_init_refuses_what_is_not_there(tmp_path, monkeypatch, name, why):
    monkeypatch.chdir(tmp_path)
    code, said = call("init", "--target", name)
    assert (code, why in said, said.count("\n")) == (2, True, 1), said
    assert not list(tmp_path.iterdir())


@needs_compiler
def test_a_project_is_within_the_budgets_it_made_also_from_below(gated, monkeypatch):
    (gated / "below").mkdir()
    monkeypatch.chdir(gated / "below")
    assert call("gate") == (0, WITHIN)
    monkeypatch.chdir(gated)
    assert call("run", "k.c:silu_f32", "--plan", "landmarks", "--no-throughput", "--out", "kept")[0] == 0
    monkeypatch.chdir(gated / "below")
    assert call("budget", "../kept")[0] == 0
    edited(gated, "y[i] = v", "y[i] = v == 2 ? 0 : v")
    repeat = "(cd .. && gelu-verify ask k.c:silu_f32 float32 0x40000000 --function silu)"
    assert f"  repeat {repeat}" in call("gate", "--junit", "gate.xml", "--sarif", "gate.sarif")[1]
    assert repeat in html.unescape(Path("gate.xml").read_text())
    (run,) = json.loads(Path("gate.sarif").read_text())["runs"]
    assert repeat in run["results"][0]["message"]["text"]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]
    assert call("gate", "--budgets", "nowhere.toml", "--sarif", "gate.sarif")[0] == 2
    (run,) = json.loads(Path("gate.sarif").read_text())["runs"]
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]


@given(
    st.lists(st.sampled_from(["torch.gelu", "torch", "k.py:g1", "k.py:g3", "k.py", "*", "?", "/", "gelu", "float16"]))
)
def test_what_has_a_row_that_is_meant_may_have_one(words):
    selection = Selection(patterns=("".join(words),))
    for key in ("torch.gelu/gelu/float16", "k.py:g1/gelu_grad/float32", "k.py:g3/gelu/float16"):
        target, family = key.split("/")[0], re.split("[.:]", key)[0]
        assert not selection.has(key) or (selection.may_have(target) and selection.may_have(family))
    assert not Selection(patterns=("k.py:g1/*",)).may_have("k.py:g3")


@needs_compiler
@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("y[i] = v", "y[i] = v == -1 ? -0.25f : v", "newly fails: f(-1) = -0.25"),  # one input
        (
            "y[i] = v",
            "y[i] = i % 8 == 3 && v > 1 ? nextafterf(v / (1 + exp(-v)), 0) : v",
            "check lane (defect) newly fails",
        ),
        *nightly(
            (
                "y[i] = v",
                "y[i] = v > 3 && v < 3.5 ? nextafterf(v / (1 + exp(-v)), 9) : v",
                "error it may have in [1,inf): ",
            ),
            ("y[i] = v", "y[i] = isinf(v) ? NAN : v", "plus_infinity (defect) newly fails"),
            ("(float)(v / (1 + exp(-v)))", "x[i] / (1 + expf(-x[i]))", " times the error it may have in (-inf,-8): "),
            ("v < -700", "v < -80", "zero from -81, budget none"),
            ("double v = x[i];", "double v = x[i]; if (v == 2) *(volatile int *)0 = 1;", "SIGSEGV"),
        ),
    ],
)
def test_a_regression_is_over_budget(gated, before, after, why):
    edited(gated, before, after)
    code, said = call("gate")
    assert (code, why in said, "OVER  k.c:silu_f32 silu float32: " in said) == (1, True, True), said
    repeated = "run k.c:silu_f32 --" if "lane" in why else "ask k.c:silu_f32 float32 0x"  # one input has no lane
    assert f"repeat gelu-verify {repeated}" in said


@pytest.mark.nightly
@needs_compiler
def test_what_got_better_is_a_note_and_then_the_limit(project):
    edited(project, "(float)(v / (1 + exp(-v)))", "x[i] / (1 + expf(-x[i]))")
    (project / "gelu-verify.toml").write_text(
        'targets = ["k.c:silu_f32"]\nplan = "landmarks"\n'
        '[accept]\ntail_zero = "exp overflows"\nmonotone = "rounded twice"\nrange = "rounded twice"\n'
    )
    assert call("budget")[0] == 0
    (project / "k.c").write_text(KERNEL)
    code, said = call("gate")
    assert (code, "better than its budget: ○ faithful, budget " in said) == (0, True), said
    assert "check tail_zero passes now, the budget still excuses it" in said
    assert call("budget")[0] == 0
    assert call("gate") == (0, WITHIN)
    edited(project, "(float)(v / (1 + exp(-v)))", "x[i] / (1 + expf(-x[i]))")
    code, said = call("budget")
    assert (code, "looser" in said) == (1, True)
    assert call("gate")[0] == 1


@needs_compiler
def test_what_is_executed_as_ptx_has_a_row_of_its_own(project):
    """Beside code of the CPU; it says nothing of a GPU's result, nor does one say anything of it."""
    text = (ROOT / "examples" / "cuda" / "gelu_sigmoid.ptx").read_text()
    (project / "k.ptx").write_text(text)
    assert call("init", "k.ptx:gelu_sigmoid", "--function", "gelu_sigmoid", "--dtype", "float32")[0] == 0
    code, said = call("budget", "--accept-existing")
    assert (code, "written: gelu-budgets.toml (2 rows)" in said) == (0, True), said
    rows = read_budgets(project / "gelu-budgets.toml").rows
    (name,) = (name for name in rows if name.startswith("k.ptx"))
    assert rows[name].device == "ptx on CPU, sm_90a"  # and not how its approximations were taken
    assert name == "k.ptx:gelu_sigmoid/gelu_sigmoid/float32 (ptx)"
    assert call("gate", "--rows", name)[0] == 0
    assert "0fBFD9DB23" in text
    (project / "k.ptx").write_text(text.replace("0fBFD9DB23", "0fBFD9DB33"))
    code, said = call("gate")
    assert (code, "OVER  k.ptx:gelu_sigmoid gelu_sigmoid float32: " in said) == (1, True), said


def test_a_row_is_of_the_device_that_it_was_made_on(library):
    """A GPU, another one, or a CPU that executes its PTX, in one way or another."""
    kernel = replace(library, family="callable", target="k.cu:silu_k", origin=Origin(device="H100"))
    executed = replace(kernel, executed="ptx on CPU, sm_90, nvcc 13.0", origin=Origin())
    otherwise = replace(executed, executed="ptx on CPU, sm_90, nvcc 13.0, approximations: nearest within (x)")
    for made, other in ((kernel, executed), (executed, kernel)):
        budgets = make_budgets([made], MACHINE, "2026-11-29")
        assert verdicts([made], MACHINE, budgets)[0] == RowVerdict(made.key, "ok", record=made)
        (found,) = verdicts([other], MACHINE, budgets)
        of, had = (each.executed or each.origin.device for each in (other, made))
        assert found.reasons == (f"has no budget for {of}, only for {had}: `gelu-verify budget` makes one",)
    assert verdicts([otherwise], MACHINE, make_budgets([executed], MACHINE, "2026-11-29"))[0].notes == ()
    both = merged(make_budgets([kernel], MACHINE, "x"), make_budgets([executed], MACHINE, "x"))
    assert [verdicts([each], MACHINE, both)[0].verdict for each in (kernel, executed)] == ["ok", "ok"]


@needs_compiler
def test_a_check_that_fails_needs_a_reason(project):
    edited(project, "v < -700", "v < -50")
    code, said = call("budget")
    assert (code, "nothing was written" in said, 'tail_zero = "..."' in said) == (1, True, True), said
    assert "under [accept] of gelu-verify.toml" in said
    assert not (project / "gelu-budgets.toml").exists()
    code, said = call("budget", "--accept", "tail_zero=clamped at -50")
    assert code == 0, said
    ((_, row),) = read_budgets(project / "gelu-budgets.toml").rows.items()
    assert row.fails == {"tail_zero": "clamped at -50"}
    for wrong in ("tail_zeor=x", "tail_zero", "tail_zero= "):
        assert call("budget", "--accept", wrong)[0] == 2


@needs_compiler
def test_what_fails_already_is_accepted_until_somebody_says_why(project):
    edited(project, "v < -700", "v < -50")
    file, budgets = project / "gelu-verify.toml", project / "gelu-budgets.toml"
    file.write_text(file.read_text() + "# mine\n[accept] # why\nlane = 'x'\n")
    code, said = call("budget", "--accept-existing")
    note = "note  1 reason still TODO in gelu-verify.toml: tail_zero\n"
    assert (code, note in said, (project / "reports").exists()) == (0, True, False), said
    assert '# mine\n[accept] # why\ntail_zero = "TODO 20' in file.read_text()
    assert call("gate") == (0, note + WITHIN)
    file.write_text(file.read_text().replace("TODO", "clamped at -50"))
    code, said = call("budget")
    ((_, row),) = read_budgets(budgets).rows.items()
    assert (code, "note" in said, row.fails["tail_zero"].startswith("clamped at -50")) == (0, False, True), said
    assert call("gate") == (0, WITHIN)


@needs_compiler
@pytest.mark.nightly
def test_reasons_to_write_get_a_table_where_there_is_none(project):
    edited(project, "v < -700", "v < -50")
    file = project / "gelu-verify.toml"
    file.write_text('targets = ["k.c:silu_f32"]\nplan = "landmarks"\naccept = { lane = "x" }\n')
    code, said = call("budget", "--accept-existing")
    assert (code, "no table [accept]" in said, (project / "gelu-budgets.toml").exists()) == (2, True, False), said
    file.write_text(
        'targets = ["k.c:silu_f32"]\nplan = "landmarks"\n\n[[target]]\nname = "kernels.silu_cr"\ndtypes = ["float16"]'
    )
    code, said = call("budget", "--accept-existing")
    assert code == 0, said
    assert "\n\n[accept]\ntail_zero = " in file.read_text()


@needs_compiler
@pytest.mark.nightly
def test_a_dtype_that_a_target_does_not_compute_is_missing_though_its_row_is_kept(gated):
    file = gated / "gelu-verify.toml"
    text = file.read_text()
    assert "float16" not in text
    file.write_text(f'dtypes = ["float16"]\n{text}')
    code, said = call("gate")
    assert (code, "MISSING  k.c:silu_f32: no target of k.c:silu_f32 computes float16" in said) == (3, True), said
    assert "1 of 2 within budget, 0 over, 1 not measured" in said


@pytest.mark.nightly
@needs_compiler
def test_what_is_refused_is_not_measured_again(gated, monkeypatch):
    before = (gated / "gelu-budgets.toml").read_text()
    edited(gated, "v < -700", "v < -50")
    code, said = call("budget", "--target", "k.c")
    assert (code, (gated / "gelu-budgets.toml").read_text()) == (1, before)
    again = said.rpartition("this makes budgets of it: ")[2].split()
    assert again[:2] + again[3:] == ["gelu-verify", "budget", "--target=k.c", "--accept-existing"], said
    with monkeypatch.context() as patched:
        patched.setattr(measurements, "measured", None)  # nothing is
        code, said = call(*again[1:])
        assert (code, "--allow-looser" in said) == (1, True), said
        assert "TODO" not in (gated / "gelu-verify.toml").read_text()
        again = said.rpartition("this makes budgets of it: ")[2].split()
        code, said = call(*again[1:])
        assert (code, "# Generated by `gelu-verify budget`;" in (gated / "gelu-budgets.toml").read_text()) == (0, True)
    assert call("gate")[0] == 0
    edited(gated, "v < -700", "v < -40")
    code, said = call(*again[1:])
    assert (code, "stale: k.c:silu_f32 is not what was measured" in said) == (3, True), said


# ---- ways around it ------------------------------------------------------------------------------


@needs_compiler
def test_other_budgets_are_of_the_project_that_is_here(project):
    """Its flags and the grade that it demands, where the file has rows of what it names."""
    (project / "gelu-verify.toml").write_text(
        'plan = "landmarks"\nmin_grade = "accurate"\n[accept]\nlane = "x"\n'
        '[[target]]\nname = "k.c:silu_f32"\ncflags = "-O2 -Dexp=expm1"\naccept = {variant = "so"}\n'
    )
    found = project_here(project / "elsewhere.toml")
    assert found.budgets == project / "elsewhere.toml"  # which is to be made
    own = read_budgets(default_path())
    write_budgets(project / "other.toml", own, "x")
    assert project_here(project / "other.toml") is None
    (row, *_) = (row for key, row in own.rows.items() if key.endswith("/float32"))
    write_budgets(project / "other.toml", Budgets({"k.c:silu_f32/silu/float32": row}), "x")
    assert [entry.request.cflags for entry in project_here(project / "other.toml").entries] == ["-O2 -Dexp=expm1"]


@pytest.mark.parametrize(
    ("second", "is_told"),
    [('cflags = "-O3"', True), ('functions = ["silu"]', True), ('functions = ["gelu"]', False)],
)
def test_two_tables_of_one_target_are_told_unless_they_are_apart(project, second, is_told):
    (project / "gelu-verify.toml").write_text(
        f'[[target]]\nname = "k.c:silu_f32"\nfunctions = ["silu"]\n[[target]]\nname = "k.c:silu_f32"\n{second}\n'
    )
    with pytest.raises(UsageError, match=r"two .* are named 'k.c:silu_f32'") if is_told else nullcontext():
        read_project(project / "gelu-verify.toml")


@needs_compiler
def test_rows_that_are_to_stay_are_not_replaced_unread(gated):
    file = gated / "gelu-budgets.toml"
    file.write_text(file.read_text().replace("seed = 0", "seed = 1"))
    before = file.read_text()
    for words in (["--target", "k.c"], ["--rows", "*"]):
        code, said = call("budget", *words, "--allow-looser")
        assert (code, "edited by hand" in said, file.read_text()) == (2, True, before), said


@needs_compiler
def test_a_target_without_a_budget_ends_with_3(gated):
    (gated / "gelu-verify.toml").write_text('targets = ["k.c:silu_f32", "kernels.silu_cr"]\nplan = "landmarks"\n')
    (gated / "below").mkdir()
    code, said = call("gate", "--budgets", gated / "below" / ".." / "gelu-budgets.toml")
    assert (code, "kernels.silu_cr/silu/float16: has no budget" in said) == (3, True), said


@needs_compiler
def test_a_stored_run_of_other_source_is_stale(gated, monkeypatch):
    assert call("run", "k.c:silu_f32", "--plan", "landmarks", "--no-throughput", "--out", "kept")[0] == 0
    assert call("gate", "kept")[0] == 0
    (gated / "below").mkdir()
    monkeypatch.chdir(gated / "below")
    assert call("gate", "../kept", "--budgets", "../below/../gelu-budgets.toml")[0] == 0
    monkeypatch.chdir(gated)
    edited(gated, "y[i] = v", "y[i] = v == 2 ? 0 : v")
    code, said = call("gate", "kept")
    assert (code, "stale: k.c:silu_f32 is not what was measured" in said) == (3, True), said
    (gated / "k.c").unlink()
    assert call("gate", "kept")[0] == 3


@needs_compiler
def test_no_budgets_and_unknown_targets_are_errors(project):
    code, said = call("gate")
    assert (code, "gelu-budgets.toml" in said, said.count("\n")) == (2, True, 1)
    (project / "gelu-verify.toml").write_text('targets = ["torhc"]')
    assert call("budget")[0] == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no targets are named"),
        ("targets = []", "no targets are named"),
        ('targets = "k.c:f"', "a list of names"),
        ("targets = [1]", "a list of names"),
        ('targetz = ["k"]', "did you mean 'target'"),
        ('targets = ["k"]\nplan = "quik"', "quik"),
        ('targets = ["k"]\ndtypes = ["float31"]', "float31"),
        ('targets = ["k"]\nseed = -1', "seed"),
        ('targets = ["k"]\nseed = true', "a whole number"),
        ('targets = ["k"]\n[accept]\nmonotnoe = "x"', "monotnoe"),
        ('targets = ["k"]\n[accept]\nmonotone = ""', "needs a reason"),
        ('targets = ["k"]\n[accept]\nmonotone = 1', "needs a reason"),
        ("[[target]]\n", "has no name"),
        ('[[target]]\nname = "k"\ncflagz = "-O3"', "did you mean 'cflags'"),
        ('target = "k"', "tables"),
        ("targets = [", "is not TOML"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_one_clear_error(tmp_path, text, why):
    file = tmp_path / "gelu-verify.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=why) as error:
        read_project(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_configuration_may_begin_with_a_byte_order_mark(project):
    """As editors on Windows write it."""
    file = project / "gelu-verify.toml"
    file.write_text(file.read_text(), encoding="utf-8-sig")
    (project / "ops.py").write_text(OPS)
    assert call("init", "ops.py:relu")[0] == 0
    assert [entry.request.targets for entry in read_project(file).entries] == [("k.c:silu_f32",), ("ops.py:relu",)]


def test_the_nearest_configuration_counts_up_to_the_repository(tmp_path):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project(below) is None or not find_project(below).file.is_relative_to(tmp_path)
    (tmp_path / "gelu-verify.toml").write_text('targets = ["numpy"]')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n")
    assert find_project(below).file == tmp_path / "gelu-verify.toml"
    (tmp_path / "a" / ".git").mkdir()
    assert find_project(below) is None


# ---- rows that hold for one release and level ------------------------------------------------------


@pytest.fixture(scope="module")
def library():
    """A result of a library, as of its release 1."""
    (job,) = find_jobs(Request(targets=("kernels.silu_cr",), dtypes=("float16",), plan="landmarks")).jobs
    record = sweep(job.target, job.plan).record
    return replace(record, target="torch.silu", family="torch", version="1")


def test_rows_of_a_library_hold_for_its_release_and_level_only(library, tmp_path):
    made = make_budgets([library], MACHINE, "2026-11-22")
    assert list(made.rows) == ["torch.silu/silu/float16 (torch 1, avx2)"]

    def verdict(budgets, record=library, machine=MACHINE):
        (found,) = verdicts([record], machine, budgets)
        return found.verdict, " ".join(found.reasons)

    assert verdict(made) == ("ok", "")
    later = replace(library, version="2")
    none = "has no budget for torch 2 at avx2, only for torch 1 at avx2: `gelu-verify budget` makes one"
    assert verdict(made, later) == ("missing", none)
    wider = {**MACHINE, "isa": ["avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"]}
    assert verdict(made, machine=wider)[0] == "missing"
    both = merged(made, make_budgets([later], {**MACHINE, "libm": "musl"}, "2026-11-23"))
    assert list(both.rows) == ["torch.silu/silu/float16 (torch 1, avx2)", "torch.silu/silu/float16 (torch 2, avx2)"]
    assert verdict(both)[0] == verdict(both, later)[0] == "ok"
    assert [row.conditions.libm for row in both.of(library.key)] == ["glibc 2.36", "musl"]
    write_budgets(tmp_path / "b.toml", both, "x")
    assert read_budgets(tmp_path / "b.toml") == both
    at_level = replace(library, target="torch.silu@sse4_2")
    assert list(make_budgets([at_level], MACHINE, "2026-11-22").rows) == [
        "torch.silu@sse4_2/silu/float16 (torch 1, sse4_2)"
    ]


def test_a_special_value_that_is_wrong_may_not_become_wrong_in_another_way(library):
    from gelu_verify.records.parts import FindingRecord

    def failing(got):
        finding = FindingRecord("wrong", "0xfc00", got, "0x8000", "convention")
        record = replace(
            library, family="callable", target="k.c:f", checks={**library.checks, "minus_infinity": "fail"}
        )
        return replace(record, findings={**library.findings, "minus_infinity": finding})

    made = make_budgets([failing("0x7e00")], MACHINE, "2026-11-22", lambda *_: "NaN as in PyTorch")
    assert verdicts([failing("0xfe01")], MACHINE, made)[0].verdict == "ok"  # another NaN
    (found,) = verdicts([failing("0xc000")], MACHINE, made)
    told = "check minus_infinity gives -2, and gave NaN before: wrong"
    assert (found.verdict, found.reasons) == ("over", (told,))


@pytest.mark.parametrize("check", ["lane", "minus_infinity"])
def test_what_may_fail_may_not_fail_more_severely(library, tmp_path, check):
    """A wrong last bit at some lengths was excused, and NaN there with it."""
    from gelu_verify.records.parts import FindingRecord

    def failing(severity, was=check):
        finding = FindingRecord("wrong", "0xfc00", "0x7e00", "0x8000", None, severity)
        record = replace(library, family="callable", target="k.c:f", checks={**library.checks, was: "fail"})
        return replace(record, findings={**library.findings, was: finding})

    severities = ["convention", "loss", "defect"]
    for i, before in enumerate(severities):
        write_budgets(tmp_path / "b.toml", make_budgets([failing(before)], MACHINE, "2026-11-22", lambda *_: "x"), "x")
        made = read_budgets(tmp_path / "b.toml")
        for k, after in enumerate(severities):
            (found,) = verdicts([failing(after)], MACHINE, made)
            assert (found.verdict == "over") == (k > i)
            told = f"check {check} ({after}) fails as a {after}, and as a {before} before"
            assert any(told in each for each in found.reasons) == (k > i)
            (key,) = made.rows
            looser = make_budgets([failing(after)], MACHINE, "2026-11-22", lambda *_: "x").rows[key]
            assert is_looser(key, made.rows[key], looser) == (k > i)
        older = Budgets({key: replace(row, severities={}) for key, row in made.rows.items()})
        assert verdicts([failing("defect")], MACHINE, older)[0].verdict == "ok"  # which does not say


def test_another_compiler_has_headroom_and_other_flags_have_none(library):
    def built(compiler, flags, ulp):
        version = f"{compiler}, {flags}, sha256:0123"
        return replace(library, family="callable", target="k.c:f", version=version, max_ulp=ulp)

    made = make_budgets([built("cc (Debian 12, x) 12", "-O2", 3.0)], MACHINE, "2026-11-22", lambda *_: "x")
    (over,) = verdicts([built("cc (Debian 12, x) 12", "-O2 -ffast-math", 3.5)], MACHINE, made)
    (within,) = verdicts([built("clang 19", "-O2", 3.5)], MACHINE, made)
    assert (over.verdict, within.verdict) == ("over", "ok")
    assert within.notes[-1] == "clang 19 (the budget: cc (Debian 12, x) 12): headroom applies"


def test_the_text_of_a_budget_is_data(library):
    """Names and reasons that would be syntax are texts in the file."""
    record = replace(library, family="callable", target='pipe:./p "a\nb" ]\n[rows.x]')
    record = replace(record, checks={**library.checks, "monotone": "fail"})
    made = make_budgets([record], MACHINE, "2026-11-22", lambda *_: 'because "x"\n]')
    import tomllib

    (row,) = tomllib.loads(budgets_text(made, "x"))["rows"].values()
    assert row["fails"]["monotone"] == 'because "x"\n]'


# ---- a grade of all inputs -----------------------------------------------------------------------


def demanding(project, grade):
    (project / "gelu-verify.toml").write_text(
        f'targets = ["k.c:silu_f32"]\nplan = "landmarks"\nmin_grade = "{grade}"\n'
    )


@pytest.mark.nightly
@needs_compiler
def test_a_grade_of_all_inputs_is_not_shown_by_a_sample(gated):
    assert call("gate", "--min-grade", "accurate")[0] == 0
    assert call("gate", "--min-grade", "correctly_rounded")[0] == 1  # one input shows that it is not
    code, said = call("gate", "--min-grade", "faithful")
    assert (code, said.count("MISSING  k.c:silu_f32/silu/float32: of --min-grade faithful")) == (3, 1), said
    assert "inputs that were tried, " in said
    assert " of all; plan default without --budget tries all" in said
    demanding(gated, "faithful")
    assert call("gate")[0] == 3
    demanding(gated, "accurate")
    assert call("gate") == (0, WITHIN)
    assert call("gate", "--min-grade", "faithful")[0] == 3  # whatever the project says


@pytest.mark.nightly
@needs_compiler
def test_a_worse_grade_than_demanded_is_over_whatever_its_budget_allows(project):
    edited(project, "(float)(v / (1 + exp(-v)))", "x[i] / (1 + expf(-x[i]))")
    accepted = [word for name in ("range", "monotone", "tail_zero") for word in ("--accept", f"{name}=rounded twice")]
    assert call("budget", *accepted)[0] == 0
    code, said = call("gate", "--min-grade", "faithful")
    assert (code, "worse than --min-grade faithful" in said, "\n  x      0x" in said) == (1, True, True), said


@needs_compiler
def test_a_demand_of_all_inputs_has_them_all_tried(gated, monkeypatch):
    """Whatever rows there are, and however many buckets these have."""
    asked = []

    def told(jobs, request, *_, **__):
        asked.extend(allotted(jobs, request, 2, False))
        return ()

    monkeypatch.setattr(measurements, "measured", told)
    config = gated / "gelu-verify.toml"
    config.write_text(config.read_text().replace("landmarks", "default"))
    rows = read_budgets(gated / "gelu-budgets.toml")
    rows = replace(rows, rows={key: replace(row, plan="default", buckets=7) for key, row in rows.rows.items()})
    for demand, budget in (("faithful", Budget(demand="faithful")), (None, Budget(buckets=7))):
        measurements.measure_budgeted(rows, (), project=find_project(gated), demand=demand)
        assert asked.pop(0) == budget
        asked.clear()
    config.write_text(f'min_grade = "faithful"\n{config.read_text()}')
    measurements.measure_budgeted(rows, (), project=find_project(gated))
    assert asked[0] == Budget(demand="faithful")


def test_a_demanded_grade_is_one(tmp_path):
    (tmp_path / "gelu-verify.toml").write_text('targets = ["numpy"]\nmin_grade = "good"\n')
    with pytest.raises(UsageError, match="min_grade 'good'"):
        read_project(tmp_path / "gelu-verify.toml")


@pytest.mark.nightly
@needs_compiler
def test_all_inputs_show_what_a_sample_does_not(project):
    """One input of float32 that no sample has."""
    (project / "gelu-verify.toml").write_text('targets = ["k.c:silu_f32"]\nmin_grade = "faithful"\n')
    code, said = call("budget")
    assert code == 0, said
    ((_, row),) = read_budgets(project / "gelu-budgets.toml").rows.items()
    assert (row.bound, row.grade) == ("=", "faithful")
    code, said = call("gate")
    assert (code, said.endswith("0 not measured; on all inputs\n")) == (0, True), said
    edited(project, "y[i] = v", "y[i] = x[i] == 0x1.23456p+40f ? nextafterf(nextafterf(x[i], 0), 0) : v")
    code, said = call("gate")
    assert (code, "worse than --min-grade faithful" in said) == (1, True), said


# ---- what cannot be measured, and single rows ----------------------------------------------------


@pytest.fixture
def several(project):
    """A project of a kernel in C and one in Python."""
    (project / "ops.py").write_text("def silu(x):\n    return x\n\n\ndef relu(x):\n    return x * (x > 0)\n")
    (project / "gelu-verify.toml").write_text(
        'targets = ["k.c:silu_f32", "ops.py:relu"]\ndtypes = ["float32"]\nplan = "landmarks"\n'
        '[accept]\nminus_infinity = "x"\nzero_sign = "x"\nsigned_zero = "x"\n'
    )
    return with_budgets(project, 2)


@pytest.mark.few(1)
@needs_compiler
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("ops.py", "import nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("ops.py", None, "ops.py"),
        ("k.c", "#error no\n", "error"),
        *nightly(
            ("ops.py", "def relu(x:\n", "line 1"),
            ("ops.py", "def relu6(x):\n    return x\n", "relu6"),
            ("k.c", "void silu_f33(const float *x, float *y, int n) {}\n", "silu_f33"),
        ),
    ],
)
def test_what_cannot_be_measured_says_why_and_the_others_are_judged(several, file, text, why):
    (several / file).unlink() if text is None else (several / file).write_text(text)
    code, said = call("gate")
    name = "ops.py:relu/relu" if file == "ops.py" else "k.c:silu_f32/silu"
    (missing,) = [line for line in said.splitlines() if line.startswith("MISSING")]
    assert (code, missing.startswith(f"MISSING  {name}/float32: "), why in said) == (3, True, True), said
    assert "1 of 2 within budget, 0 over, 1 not measured" in said
    assert "not in this run" not in said


@needs_compiler
def test_a_machine_without_a_compiler_is_named(several, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CC", raising=False)
    code, said = call("gate")
    assert (code, "compiler" in said, "not in this run" not in said) == (3, True, True), said


@needs_compiler
@pytest.mark.nightly
def test_single_rows_are_judged_and_made_anew(several):
    assert "1 of 1 within budget" in call("gate", "--rows", "*/relu/*")[1]
    for option in (("--target", "k.d"), ("--rows", "*/gelu/*")):
        code, said = call("gate", *option)
        assert (code, "k.c:silu_f32" in said) == (2, True), said
    (several / "ops.py").write_text("import nothing_of_that_name\n")
    code, said = call("gate", "--target", "k.c")  # the other one is not even looked for
    assert (code, "1 of 1 within budget" in said) == (0, True), said
    before = read_budgets(several / "gelu-budgets.toml").rows
    edited(several, "(float)(v / (1 + exp(-v)))", "x[i] / (1 + expf(-x[i]))")
    assert call("budget", "--target", "k.c", "--allow-looser", "--accept", "monotone=x", "--accept", "range=x",
                "--accept", "tail_zero=x", "--accept", "plateau=x")[0] == 0  # fmt: skip
    after = read_budgets(several / "gelu-budgets.toml").rows
    assert set(after) == set(before)
    assert [name for name in after if after[name] != before[name]] == ["k.c:silu_f32/silu/float32"]


def test_rows_of_a_run_do_not_say_that_it_made_all(several):
    file = several / "gelu-budgets.toml"
    name, function, dtype = next(key for key in read_budgets(file).rows if "/relu/" in key).rsplit("/", 2)
    assert call("run", name, "--function", function, "--dtype", dtype, "--out", "one")[0] == 0
    assert call("budget", "one", "--rows", "*/relu/*", "--allow-looser")[0] == 0
    assert file.read_text().startswith("# Generated by `gelu-verify budget`;")


@pytest.mark.nightly
@needs_compiler
def test_a_thousand_wrong_floats_that_no_sample_meets_fail(project):
    """Of a fast kernel all inputs are tried, without being asked to."""
    (project / "gelu-verify.toml").write_text('targets = ["k.c:silu_f32"]\n')
    assert call("budget")[0] == 0
    ((_, row),) = read_budgets(project / "gelu-budgets.toml").rows.items()
    assert (row.bound, row.n, row.plan) == ("=", 1 << 32, "fixed")
    edited(project, "y[i] = v", "y[i] = v >= 0x1.5555p+1 && v < 0x1.5555p+1 + 1000 * 0x1p-22 ? 2 : v")
    code, said = call("gate")
    assert (code, "OVER  k.c:silu_f32 silu float32" in said) == (1, True), said
