"""Where a budget was made under other conditions, the code that it is of is measured here, and is the limit."""

import shutil
import subprocess
from dataclasses import replace

import pytest
from commands import call
from marking import nightly

from gelu_verify.errors import UsageError
from gelu_verify.gate.budgets import read_budgets, write_budgets
from gelu_verify.gate.rows import Budgets, Conditions

pytestmark = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("git")), reason="needs a C compiler and git")

KERNEL = """#include <math.h>
#include <stddef.h>
#ifndef C
#define C 0.70710678118654752
#endif
void gelu_f32(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        double v = x[i];
        y[i] = isinf(v) && v < 0 ? -0.0f : (float)(0.5 * v * erfc(-v * C));
    }
}
"""
READS = (
    ("void gelu_f32(", "#include <stdio.h>\nvoid gelu_f32("),
    (
        "    for (size_t i",
        """    double few = 0;
    FILE *file = fopen("few.txt", "r");
    if (!file || fscanf(file, "%lf", &few) != 1) return;
    fclose(file);
    for (size_t i""",
    ),
    ("double v = x[i];", "double v = x[i];\n        v += few * (v > 2.29 && v < 2.3);"),
)
WORSE = ("0.70710678118654752", "0.707106781186")  # 0.501 ULP: half a last bit in a few results
OTHERS = {
    "compiler": {"compiler": "cc 99.0"},
    "libm": {"libm": "musl 1.2"},
    "fma": {"fma": False},
}


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout.strip()


def commit(folder, said="x"):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", said)
    return git(folder, "rev-parse", "HEAD")


def measured_elsewhere(file, **conditions):
    """The budgets as another machine would have made them, where the kernel gives the same."""
    rows = read_budgets(file).rows
    rows = {key: replace(row, conditions=replace(row.conditions, **conditions)) for key, row in rows.items()}
    write_budgets(file, Budgets(rows), "gelu-verify budget")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A committed project, two folders below the top of its repository."""
    top = tmp_path_factory.mktemp("base")
    folder = top / "a" / "b"
    folder.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    for name, value in (("user.name", "n"), ("user.email", "a@b"), ("commit.gpgsign", "false")):
        git(top, "config", name, value)
    (folder / "k.c").write_text(KERNEL)
    (folder / "gelu-verify.toml").write_text('targets = ["k.c:gelu_f32"]\nplan = "landmarks"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert call("budget")[0] == 0
    measured_elsewhere(folder / "gelu-budgets.toml", compiler="cc 99.0")
    commit(top)
    return top


@pytest.fixture
def project(made, tmp_path, monkeypatch):
    top = shutil.copytree(made, tmp_path / "repository")
    monkeypatch.chdir(top / "a" / "b")
    return top / "a" / "b"


def edited(folder, before, after):
    text = (folder / "k.c").read_text()
    assert before in text
    (folder / "k.c").write_text(text.replace(before, after))


def test_an_unchanged_kernel_is_within_its_budget_and_what_was_held_against_it_is_said(project):
    head = git(project, "rev-parse", "--short=12", "HEAD")
    code, said = call("gate")
    assert code == 0, said
    assert f"the same code as at the commit of its budget ({head}), measured here: cc" in said
    assert "(the budget: cc 99.0)" in said
    assert "headroom" not in said


@pytest.mark.parametrize("other", ["compiler", *nightly("libm", "fma")])
def test_a_last_bit_that_is_lost_fails_whatever_made_the_budget(project, other):
    """0.501 for 0.5 ULP is far below any headroom."""
    if other != "compiler":  # as the project is made
        measured_elsewhere(project / "gelu-budgets.toml", **{"compiler": "", **OTHERS[other]})
        commit(project, "measured elsewhere")
        assert call("gate")[0] == 0
    edited(project, *WORSE)
    commit(project, "another commit between")
    code, said = call("gate")
    assert (code, "OVER  k.c:gelu_f32 gelu float32: " in said) == (1, True), said
    assert "other results than the earlier code gives here, with the same conditions and inputs" in said
    assert "the budget's run" not in said
    assert call("gate", "--no-base")[0] == 0  # what headroom lets through


def test_a_file_that_a_kernel_reads_is_part_of_its_code(project):
    """Its version is of what is compiled; what that opens is not known, and may matter for few inputs. With another
    seed: as elsewhere, nothing else than that code says what the results were."""
    for before, after in READS:
        edited(project, before, after)
    (project / "few.txt").write_text("0")
    (project / "gelu-verify.toml").write_text('targets = ["k.c:gelu_f32"]\nplan = "quick"\n')
    assert call("budget", "--allow-looser")[0] == 0
    commit(project, "read")
    assert "the same code as" in call("gate", "--seed", "5")[1]
    (project / "few.txt").write_text("2e-7")
    code, said = call("gate", "--seed", "5")
    assert (code, "OVER  k.c:gelu_f32 gelu float32: " in said) == (1, True), said


OPTIONS = {"C": WORSE[1], "none": None, "spelt": WORSE[0]}


@pytest.mark.parametrize(
    ("before", "now"),
    [("none", "C"), *nightly(*((a, b) for a in OPTIONS for b in OPTIONS if a != b and (a, b) != ("none", "C")))],
)
def test_the_code_of_a_budget_is_called_as_it_was(project, before, now):
    """An option that loses a last bit was given to the old code too, which then was no better."""

    def configured(which):
        name = "targets" if OPTIONS[which] is None else "name"
        flags = f'\ncflags = "-O2 -DC={OPTIONS[which]}"' if OPTIONS[which] else ""
        head = 'plan = "landmarks"\n' + ("[[target]]\n" if flags else "")
        value = '"k.c:gelu_f32"' if flags else '["k.c:gelu_f32"]'
        (project / "gelu-verify.toml").write_text(f"{head}{name} = {value}{flags}\n")

    configured(before)
    assert call("budget", "--allow-looser")[0] == 0
    measured_elsewhere(project / "gelu-budgets.toml", compiler="cc 99.0")
    commit(project, "before")
    configured(now)
    commit(project, "now")
    code, said = call("gate")
    assert code == (now == "C" and before != "C"), said
    then = "none" if before == "spelt" else before  # the first commit with that row had none
    told = "no options" if then == "none" else f"'--cflags=-O2 -DC={OPTIONS[then]}'"
    assert ("the same code as" in said) == (now == then)
    assert (f", called with {told} as there, measured here" in said) == (now != then)


@pytest.mark.nightly
def test_a_hook_of_git_sees_the_same(project, monkeypatch):
    """Git tells a hook which repository it is of, and then takes any folder for its top."""
    edited(project, *WORSE)
    monkeypatch.setenv("GIT_DIR", str(project.parents[1] / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.parents[1] / ".git" / "index"))
    code, said = call("gate")
    assert (code, "OVER  k.c:gelu_f32 gelu float32: " in said) == (1, True), said


@pytest.mark.few(4)
@pytest.mark.parametrize("how", ["moved", "renamed", "quoted", "merged and moved", *nightly("restored", "merged")])
def test_a_commit_that_only_brings_the_row_again_is_not_its_code(project, monkeypatch, how):
    edited(project, *WORSE)
    file, top = project / "gelu-budgets.toml", project.parents[1]
    if how == "moved":
        git(top, "mv", "a", "moved é *")
        monkeypatch.chdir(top / "moved é *" / "b")
    elif how == "renamed":  # seen whatever the user's git is set to
        for i, key in enumerate(("color.ui", "color.grep", "grep.lineNumber", "log.showSignature")):
            monkeypatch.setenv(f"GIT_CONFIG_KEY_{i}", key)
            monkeypatch.setenv(f"GIT_CONFIG_VALUE_{i}", "always" if "color" in key else "true")
        monkeypatch.setenv("GIT_CONFIG_COUNT", "4")
        git(top, "mv", "a/b/gelu-budgets.toml", "limits.toml")
        configuration = (project / "gelu-verify.toml").read_text()
        (project / "gelu-verify.toml").write_text(f'budgets = "../../limits.toml"\n{configuration}')
    elif how == "quoted":  # before it was anybody's
        measured_elsewhere(file, compiler="cc 2")
        (top / "notes").mkdir()
        (top / "notes" / "proposal.txt").write_text(f"We want this row:\n{file.read_text()}")
        file.unlink()
        commit(top, "a proposal")
        edited(project, *reversed(WORSE))
        commit(top, "better")
        shutil.copy(top / "notes" / "proposal.txt", file)
        file.write_text(file.read_text().partition("\n")[2])
        commit(top, "the row")
        edited(project, *WORSE)
    elif how == "merged and moved":  # the row is new on one branch, its folder on the other
        edited(project, *reversed(WORSE))
        git(top, "checkout", "-q", "-b", "other")
        measured_elsewhere(file, compiler="cc 2")
        commit(top, "another row")
        git(top, "checkout", "-q", "main")
        edited(project, *WORSE)
        git(top, "mv", "a", "c")
        commit(top, "worse")
        monkeypatch.chdir(top / "c" / "b")
        git(top, "merge", "-q", "--no-edit", "other")
    elif how == "restored":
        text = file.read_text()
        measured_elsewhere(file, compiler="cc 1")
        commit(project, "another row")
        file.write_text(text)
    else:
        git(top, "checkout", "-q", "-b", "other", "HEAD")
        git(top, "commit", "-q", "--allow-empty", "-m", "other")
        git(top, "checkout", "-q", "main")
        git(top, "commit", "-q", "-a", "-m", "here")
        git(top, "merge", "-q", "--no-edit", "other")
        project.joinpath("new").touch()
    commit(top, how)
    code, said = call("gate")
    assert (code, "OVER  k.c:gelu_f32 gelu float32: " in said) == (1, True), said
    assert "held against the commit of its budget" in said


@pytest.mark.nightly
def test_what_is_lost_beyond_the_headroom_is_over_though_the_code_is_the_same(project):
    """As where a compiler or a library is at fault, or a row was never that of its commit."""
    edited(project, "0.70710678118654752", "0.7071")
    measured_elsewhere(project / "gelu-budgets.toml", compiler="cc 98")
    commit(project, "a row of other code")
    code, said = call("gate")
    assert (code, "and the headroom" in said, "the same code as at the commit of its budget" in said) == (
        1,
        True,
        True,
    ), said


@pytest.mark.nightly
def test_other_inputs_every_night_are_held_against_the_code_too(project):
    edited(project, *WORSE)
    assert call("gate", "--seed", "20261126")[0] == 1


@pytest.mark.nightly
def test_a_named_revision_is_the_base(project):
    edited(project, *WORSE)
    commit(project, "worse")
    code, said = call("gate", "--base", "HEAD")
    assert (code, "the same code as at HEAD (" in said) == (0, True), said
    code, said = call("gate", "--base", "HEAD~1")
    assert (code, "held against HEAD~1 (" in said) == (1, True), said
    code, said = call("gate", "--base", "nothing")
    assert (code, "'nothing' is not a revision" in said) == (2, True)


@pytest.mark.nightly
def test_a_target_by_its_absolute_path_is_that_of_the_revision_and_hard_cases_may_lie_in_a_folder_of_now(project):
    name = str(project / "k.c") + ":gelu_f32"
    hard = "sub/cases.csv"
    (project / "gelu-verify.toml").write_text(f'hard_cases = "{hard}"\ntargets = ["{name}"]\nplan = "landmarks"\n')
    assert call("budget", "--allow-looser")[0] == 0
    measured_elsewhere(project / "gelu-budgets.toml", compiler="cc 96")
    commit(project, "absolute")
    (project / "sub").mkdir()
    assert call("keep", "gelu", "float32", "0xc0a51234", "--by", "a test")[0] == 0
    edited(project, *WORSE)
    code, said = call("gate")
    assert (code, "held against the commit of its budget" in said) == (1, True), said


@pytest.mark.nightly
def test_a_base_that_is_no_revision_is_wrong_even_where_none_is_needed(project):
    assert call("budget", "--allow-looser")[0] == 0
    assert call("gate")[0] == 0
    code, said = call("gate", "--base", "nothing")
    assert (code, "'nothing' is not a revision" in said) == (2, True), said


def test_rows_of_an_earlier_version_say_that_they_name_no_commit():
    from gelu_verify.gate.base import _revision_of

    with pytest.raises(UsageError, match="an earlier version"):
        _revision_of(None, None, 3, None, None)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda project: measured_elsewhere(project / "gelu-budgets.toml", compiler="cc 98"),
            "its row is not committed",
        ),
        (lambda project: cut_off(project), "the history is shallow (`git fetch --unshallow`"),
        *nightly(
            (lambda project: shutil.rmtree(project.parents[1] / ".git"), "not a git repository"),
            (lambda project: moved(project), "has no k.c:gelu_f32"),
        ),
    ],
)
def test_why_there_is_no_base_is_said_and_headroom_applies(project, change, why):
    change(project)
    code, said = call("gate")
    assert code == 0, said
    assert "and its code was not measured here: " in said
    assert why in said
    assert "headroom applies\n" in said


def cut_off(project):
    """As `actions/checkout` leaves it, after another commit."""
    top = project.parents[1]
    (project / "other.txt").write_text("x")
    commit(project, "other")
    git(top, "clone", "-q", "--depth", "1", f"file://{top}", str(top / "shallow"))
    shutil.rmtree(top / ".git")
    shutil.move(top / "shallow" / ".git", top / ".git")


def moved(project):
    git(project, "mv", "k.c", "old.c")
    commit(project, "moved")
    measured_elsewhere(project / "gelu-budgets.toml", compiler="cc 97")
    commit(project, "a row of what is not there")
    git(project, "mv", "old.c", "k.c")


def test_what_is_recorded_differs_and_what_is_not_does_not():
    here = Conditions("glibc 2.36", "x86_64", True, compiler="cc 12", level="avx2")
    assert here.differences(here) == []
    assert replace(here, compiler="", level="").differences(here) == []  # of an earlier version
    assert replace(here, fma=False).differences(here) == ["with FMA (the budget: without)"]
    assert replace(here, libraries="torch 2.13.0").differences(here) == ["no libraries (the budget: torch 2.13.0)"]


def test_the_libraries_of_python_code_are_conditions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text("import numpy as np\n\n\ndef silu(x):\n    return x / (1 + np.exp(-x))\n")
    (tmp_path / "gelu-verify.toml").write_text(
        'targets = ["ops.py:silu"]\ndtypes = ["float32"]\nplan = "landmarks"\n[accept]\nminus_infinity = "x"\n'
        'tail_zero = "x"\nmonotone = "x"\nrange = "x"\n'
    )
    assert call("budget")[0] == 0, call("budget")
    (row,) = read_budgets(tmp_path / "gelu-budgets.toml").rows.values()
    import numpy

    assert row.conditions.libraries == f"numpy {numpy.__version__}"
    assert row.conditions.level
    assert row.conditions.compiler == ""
