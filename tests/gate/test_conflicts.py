"""Two branches that change budgets: git merges rows that are not the same ones, and `--resolve` settles the others."""

import random
import subprocess
from dataclasses import replace

import pytest
from click.testing import CliRunner
from gated import MACHINE, result

from gelu_verify.cli import main
from gelu_verify.errors import UsageError
from gelu_verify.gate.budgets import budgets_text, make_budgets, read_budgets, write_budgets
from gelu_verify.gate.changes import _OF_ONE_INPUT, is_looser, looser_than_each
from gelu_verify.gate.conflicts import settled
from gelu_verify.gate.rows import Budgets
from gelu_verify.judge.rules import RULES

NAMES = [f"k.c:f{n}" for n in range(8)]


def row(name, **changes):
    return result(target=name, **changes)


def budgets(*records):
    return make_budgets(records, MACHINE, "2026-11-21", lambda *_: "a reason")


def git(folder, *words, check=True):
    done = subprocess.run(["git", "-C", str(folder), *words], check=check, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    """A repository with eight rows, and the branch `other` at the same commit."""
    git(tmp_path, "init", "-q", "-b", "main")
    for name, value in (("user.name", "n"), ("user.email", "a@b"), ("commit.gpgsign", "false")):
        git(tmp_path, "config", name, value)
    commit(tmp_path, budgets(*map(row, NAMES)))
    git(tmp_path, "branch", "other")
    return tmp_path


def commit(folder, found):
    write_budgets(folder / "b.toml", found, "gelu-verify budget")
    git(folder, "add", "b.toml")
    git(folder, "commit", "-qm", "budgets")


def changed(found, name, **changes):
    key = f"{name}/gelu/float32"
    return Budgets({**found.rows, key: replace(found.rows[key], **changes)})


def merge(folder, ours, theirs):
    """What git makes of the two: its exit code."""
    commit(folder, ours)
    git(folder, "checkout", "-q", "other")
    commit(folder, theirs)
    git(folder, "checkout", "-q", "main")
    done = subprocess.run(["git", "-C", str(folder), "merge", "-q", "other"], capture_output=True, check=False)
    return done.returncode


@pytest.mark.parametrize("seed", range(6))
def test_branches_that_change_different_rows_merge_without_a_conflict(repository, seed):
    rng, found = random.Random(seed), read_budgets(repository / "b.toml")
    ours, theirs = rng.sample(NAMES, 2)
    changes = [{"max_ulp": 1.5, "witness": "0xc0d00001"}, {"fails": {}}, {"n": 4096, "seed": 7, "date": "2026-11-22"}]
    one, two = (changed(found, name, **rng.choice(changes)) for name in (ours, theirs))
    assert merge(repository, one, two) == 0
    keys = [f"{name}/gelu/float32" for name in (ours, theirs)]
    both = {**found.rows, keys[0]: one.rows[keys[0]], keys[1]: two.rows[keys[1]]}
    assert read_budgets(repository / "b.toml").rows == both


def test_a_conflict_is_named_and_settled_by_the_stricter_row(repository, monkeypatch):
    monkeypatch.chdir(repository)
    found = read_budgets(repository / "b.toml")
    stricter, looser = (changed(found, NAMES[2], max_ulp=ulp) for ulp in (2.5, 3.0))
    looser = changed(looser, NAMES[5], max_ulp=1.0)
    assert merge(repository, stricter, looser) == 1
    with pytest.raises(UsageError, match="conflicts of git: `gelu-verify budget --resolve` settles them"):
        read_budgets(repository / "b.toml")
    (repository / "gelu-verify.toml").write_text('targets = ["k.c:f"]\nbudgets = "b.toml"\n')
    done = CliRunner().invoke(main, ["budget", "--resolve"])
    assert done.exit_code == 0, done.output
    assert f"{NAMES[2]}/gelu/float32: changed on both branches: ours is stricter" in done.output
    rows = read_budgets(repository / "b.toml").rows
    assert [rows[f"{NAMES[n]}/gelu/float32"].max_ulp for n in (2, 5)] == [2.5, 1.0]
    git(repository, "add", "b.toml")
    assert CliRunner().invoke(main, ["budget", "--resolve"]).exit_code == 2  # there is none any more


@pytest.mark.parametrize("seed", range(20))
def test_what_is_settled_allows_nothing_that_a_branch_did_not(seed):
    """Of random changes: each row is that of a branch, and never the looser of two; what is neither is open."""
    rng = random.Random(seed)
    base = budgets(*map(row, NAMES))

    def branch():
        rows = dict(base.rows)
        for key in rng.sample(sorted(rows), 4):
            kind = rng.randrange(4)
            if kind == 3:
                del rows[key]
            else:
                one = {"max_ulp": rng.choice([1.0, 2.0, 9.0]), "n": rng.choice([1 << 18, 1 << 20])}
                rows[key] = replace(rows[key], **one, **({"fails": {}} if kind == 2 else {}))
        return Budgets(rows)

    ours, theirs = branch(), branch()
    found = settled(*(budgets_text(each, "c") for each in (base, ours, theirs)), "b.toml")
    for key in {*base.rows, *ours.rows, *theirs.rows}:
        before, *both = (each.rows.get(key) for each in (base, ours, theirs))
        settled_row, fresh = found.budgets.rows.get(key), [each for each in both if each != before]
        if key in found.undecided:
            assert settled_row is None
            assert is_looser(key, *both)
            assert is_looser(key, *reversed(both))
            continue
        assert settled_row in (both if len(fresh) == 2 else fresh or [before])
        if None not in both and len(fresh) == 2:
            assert settled_row.max_ulp == min(each.max_ulp for each in both)
            assert set(settled_row.fails) <= set.intersection(*(set(each.fails) for each in both))


def test_rows_of_two_compilers_are_measured_not_compared():
    base = budgets(row(NAMES[0]))
    ours = changed(base, NAMES[0], max_ulp=1.0)
    other = replace(base.rows[f"{NAMES[0]}/gelu/float32"].conditions, compiler="clang 19")
    theirs = changed(base, NAMES[0], conditions=other, max_ulp=9.0)
    found = settled(*(budgets_text(each, "c") for each in (base, ours, theirs)), "b.toml")
    key = f"{NAMES[0]}/gelu/float32"
    assert (found.undecided, found.budgets.rows) == ({key: (ours.rows[key], theirs.rows[key])}, {})
    assert "neither is stricter: measured" in found.lines[0]


def test_what_is_measured_anew_may_have_the_errors_of_both_branches_and_no_larger_ones():
    key = f"{NAMES[0]}/gelu/float32"
    base = row(NAMES[0])
    (one,) = budgets(base).rows.values()
    ours, theirs = (replace(one, max_ulp=ulp, regions=regions) for ulp, regions in (
        (3.0, {"[-1,0)": 3.0, "[0,1)": 1.0}), (2.0, {"[-1,0)": 1.0, "[0,1)": 2.0})))  # fmt: skip
    both = replace(one, max_ulp=3.0, regions={"[-1,0)": 3.0, "[0,1)": 2.0})
    assert looser_than_each(key, (ours, theirs), both) == []
    worse = replace(both, max_ulp=4.0, regions={"[-1,0)": 3.0, "[0,1)": 4.0})
    assert len(looser_than_each(key, (ours, theirs), worse)) == 2
    assert set(_OF_ONE_INPUT) <= RULES.keys()


@pytest.mark.parametrize("seed", range(20))
def test_of_random_branches_the_larger_limit_of_each_part_is_allowed_and_no_more(seed):
    rng, key = random.Random(seed), f"{NAMES[0]}/gelu/float32"
    (one,) = budgets(row(NAMES[0])).rows.values()

    def with_errors(errors):
        return replace(one, max_ulp=max(errors.values()), regions=errors)

    parts = ["[-3,-1)", "[-1,0)", "[0,1)", "[1,inf)"]
    branches = [with_errors({part: rng.choice([1.0, 2.0, 8.0]) for part in parts}) for _ in range(2)]
    both = {part: max(each.regions[part] for each in branches) for part in parts}
    assert looser_than_each(key, branches, with_errors(both)) == []
    worse = both | {(part := rng.choice(parts)): 2 * both[part]}
    assert any(part in text for text in looser_than_each(key, branches, with_errors(worse)))


def test_a_row_that_says_what_it_said_is_not_written_anew():
    """Day and processor alone change no line, so that branches that measured again do not conflict."""
    from gelu_verify.gate.budgets import merged

    old = budgets(row(NAMES[0]))
    new = make_budgets([row(NAMES[0])], {**MACHINE, "cpu": "another"}, "2027-01-01", lambda *_: "a reason")
    assert merged(old, new) == old
    assert merged(old, budgets(row(NAMES[0], max_ulp=1.0))) != old
