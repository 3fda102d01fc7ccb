"""Slower by more than a limit: never by chance in more than one comparison of a hundred, and found where it is so."""

import shutil
import subprocess
from fractions import Fraction
from math import comb
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from marking import nightly

from gelu_verify.ci.changes import cases_of_comparison
from gelu_verify.cli import main
from gelu_verify.compare.comparison import ComparedRun, Comparison, ResultComparison
from gelu_verify.compare.in_turns import FALSE_ALARMS, ROUNDS, judged, rank, timed_in_turns
from gelu_verify.compare.runs import _speed, decisive
from gelu_verify.records.result import Throughput

RUN = ComparedRun("a", "2026-11-26", "gelu-verify run", "default", 0, 1)


def result(dtype="float32", verdict="same"):
    return ResultComparison(target="k.c:gelu", family="callable", function="gelu", dtype=dtype, verdict=verdict)


class Machine:
    """Simulated: each process has its own speed, neighbours slow a machine for some rounds, and single times jump."""

    def __init__(self, seed, slowdown, dtypes=("float32",)):
        self._rng, self._slowdown, self._dtypes, self.order = np.random.default_rng(seed), slowdown, dtypes, ""
        self._busy = 1.0

    def times(self, is_new):
        def timed():
            self.order += "BA"[not is_new]
            if self._rng.random() < 0.2:
                self._busy = self._rng.choice([1.0, 1.7])
            found = {}
            for dtype in self._dtypes:
                process = self._busy * np.exp(self._rng.normal(0, 0.04)) * (1 + self._rng.exponential(0.03))
                jumped = 2.5 if self._rng.random() < 0.05 else 1.0
                factor = self._slowdown if is_new else 1.0
                found[f"k.c:gelu/gelu/{dtype}"] = {
                    1024: 1e-9 * process * factor,
                    16384: 1e-9 * process * jumped * factor,
                }
            return found

        return timed


def compared(seed, slowdown, limit=0.1, dtypes=("float32",)):
    machine = Machine(seed, slowdown, dtypes)
    found = Comparison(RUN, RUN, (), tuple(map(result, dtypes)))
    return timed_in_turns(found, [machine.times(False), machine.times(True)], limit), machine


def test_the_same_code_is_never_slower_in_30_repeats():
    assert not any(decisive(compared(seed, 1.0)[0], None)[0] for seed in range(30))


def test_a_slowdown_of_30_percent_is_found_with_its_length():
    slow = [compared(seed, 1.3)[0] for seed in range(30)]
    assert sum(bool(decisive(found, None)[0]) for found in slow) >= 27  # on a machine as busy as that
    (times, _) = slow[0].results[0].in_turns
    assert (times.n, times.rounds, times.is_slower) == (1024, ROUNDS, True)
    assert times.ratio == pytest.approx(1.3, rel=0.1)
    assert 1.1 < times.least <= times.ratio
    assert not decisive(compared(0, 1.3, limit=0.5)[0], None)[0]


def test_every_other_round_begins_with_the_new_revision():
    _, machine = compared(0, 1.0)
    assert machine.order == ("ABBA" * ROUNDS)[: 2 * ROUNDS]


def test_more_results_take_more_rounds_where_they_need_them_and_share_the_false_alarms():
    dtypes = tuple(f"float{n}" for n in range(200))
    found, _ = compared(0, 1.0, dtypes=dtypes)
    rounds = found.results[0].in_turns[0].rounds
    assert rounds > ROUNDS
    assert Fraction(1, 2**rounds) <= Fraction(1, 100) / (2 * len(dtypes))


@pytest.mark.parametrize("rounds", [15, 16, 21, 40])
@pytest.mark.parametrize("false_alarms", [0.01, 0.005, 0.0001])
def test_the_bound_is_that_of_the_sign_test(rounds, false_alarms):
    """Exactly: the chance that so many ratios or fewer lie at or below their median."""
    k = rank(rounds, false_alarms)
    chance = [Fraction(sum(comb(rounds, i) for i in range(most + 1)), 2**rounds) for most in (k, k + 1)]
    assert chance[0] <= Fraction(false_alarms) < chance[1]


def test_false_alarms_are_as_rare_as_promised_where_the_slowdown_is_just_allowed():
    rng, alarms, repeats = np.random.default_rng(0), 0, 20_000
    for _ in range(repeats):
        ratios = 1.1 * np.exp(rng.standard_t(2, ROUNDS))  # no variance, but a median
        alarms += judged(1024, ratios, 0.1, FALSE_ALARMS).is_slower
    assert 0.0005 < alarms / repeats < FALSE_ALARMS


def test_what_could_not_be_timed_is_not_known():
    found = Comparison(RUN, RUN, (), (result(), result("float64"), result("float16", "appeared")))
    one = {"k.c:gelu/gelu/float32": {1024: 1.0}, "k.c:gelu/gelu/float64": {1024: None}}
    timed = timed_in_turns(found, [lambda: one, lambda: one], 0.1)
    assert [each.in_turns and len(each.in_turns) for each in timed.results] == [1, (), None]
    over, unknown = decisive(timed, None)
    assert (over, [each.dtype for each in unknown]) == ([], ["float64"])
    verdicts = {case.key: (case.verdict, case.reasons) for case in cases_of_comparison(timed, None)}
    assert verdicts["k.c:gelu/gelu/float64"] == ("not measured", ("not timed: a call failed while it was timed",))


def test_ci_is_told_how_much_slower_and_at_which_length():
    found, _ = compared(0, 1.3)
    (case,) = cases_of_comparison(found, "worse")
    assert case.verdict == "failed"
    assert case.reasons[0].startswith("slower: +")
    assert "% in calls of 1,024 elements, from 15 rounds of both in turns (lower bound +" in case.reasons[0]
    (passed,) = cases_of_comparison(compared(0, 1.0)[0], "worse")
    assert passed.verdict == "passed"


# ---- the command ---------------------------------------------------------------------------------


def invoke(*words):
    return CliRunner().invoke(main, ["compare", *words])


@pytest.mark.parametrize(
    "text",
    ["slower", "slower:10", "slower:%", "slower:-1%", ",slower:10%", "worse,", "worse,change", "slower:1%,worse"],
)
def test_what_is_no_limit_is_refused(text):
    done = invoke("--fail-on", text)
    assert done.exit_code == 2
    assert "accepted are worse, change, slower:10%, and worse,slower:10%" in done.stderr


def test_stored_runs_were_not_timed_side_by_side():
    done = invoke("a", "b", "--fail-on", "worse,slower:10%")
    assert done.exit_code == 2
    assert "the times of stored runs were not taken side by side" in done.stderr


KERNEL = """#include <math.h>
#include <stddef.h>
void gelu_f32(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        double v = x[i];
        y[i] = (float)(0.5 * v * erfc(-v * 0.70710678118654752));
    }
}
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Revisions v1, v2 with the same code and a comment, and v3, which computes each result twice."""

    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name, value in (("user.name", "n"), ("user.email", "a@b"), ("commit.gpgsign", "false")):
        git("config", name, value)
    twice = KERNEL.replace("double v = x[i];", "volatile double w = x[i]; w = erfc(w); double v = x[i];")
    for tag, text in (("v1", KERNEL), ("v2", f"/* the same */\n{KERNEL}"), ("v3", twice)):
        Path(tmp_path / "k.c").write_text(text)
        git("add", "-A")
        git("commit", "-qm", tag)
        git("tag", tag)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize(("revisions", "code"), nightly(("v1..v2", 0), ("v1..v3", 1), ("v1..", 1)))
def test_two_revisions_are_timed_in_turns(repository, revisions, code):
    words = (revisions, "k.c:gelu_f32", "--plan", "landmarks", "--throughput", "none", "--fail-on", "worse,slower:10%")
    done = invoke(*words, "--junit", "j.xml")
    assert done.exit_code == code, done.output
    assert ("k.c:gelu_f32 gelu float32: slower: +" in done.stdout) == bool(code)
    said = (repository / "j.xml").read_text()
    assert ("slower: +" in said) == bool(code)
    assert "speed: " not in done.stdout
    assert "repeat gelu-verify run" not in said


def test_a_speed_is_faster_by_as_much_as_its_inverse_is_slower():
    def timed(rate):
        throughput = Throughput(rate, None, spread=0.4, copy_ratio=None, copy_bytes_per_s=None, n=1024)
        return SimpleNamespace(throughput=throughput)

    for ratio in (1.5, 1.7, 1.9, 3):
        texts = [_speed(timed(a), timed(b)).text for a, b in ((1e9, ratio * 1e9), (ratio * 1e9, 1e9))]
        assert [text.endswith("within the spread") for text in texts] == [ratio < 1.8] * 2, texts
