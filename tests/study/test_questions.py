"""What the study claims: recomputed from its data, and not claimed where nothing differs."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import requiring
from invented_tasks import instead, source
from repository import ROOT

from gelu_verify.report.study_text import conclusions
from gelu_verify.study import tasks, training
from gelu_verify.study.jobs import TrainingJob
from gelu_verify.study.questions import QUANTITIES, StudyQuestion, answers, differences, set_results
from gelu_verify.study.statistics import LEVEL
from gelu_verify.study.store import read_study
from gelu_verify.study.study import SETS, plan_of, run_study
from gelu_verify.study.tasks import DATA_SETS, VARIANTS
from gelu_verify.study.units import FUNCTIONS, STOCHASTIC, UNITS
from gelu_verify.work.executors import on_threads

WHOLE = ROOT / "data" / "study"


@pytest.fixture(scope="module")
def study():
    return read_study(WHOLE)


@pytest.fixture(scope="module")
def found(study):
    return answers(study)


# ---- what is stored ------------------------------------------------------------------------------


def test_a_question_is_asked_once_whatever_the_dtypes(study, found):
    asked = [each.question for each in found]
    assert len(set(asked)) == len(asked)
    by_topic = {topic: sum(each.topic == topic for each in asked) for topic in {each.topic for each in asked}}
    others = len(FUNCTIONS) - 1
    assert by_topic == {
        "activation": len(DATA_SETS) * others + len(VARIANTS) * 3, "kernel": len(UNITS) - len(FUNCTIONS), "dtype": 3,
        "training": 5, "noise": 3, "speed": 3, "dead": 3, "gradient": 3, "normal": 1,
    }  # fmt: skip


def by_run(frame, column, **wanted):
    """Of each set, the values by run."""
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    return [frame[frame["set"] == which].sort_values("run")[column].to_numpy(float) for which in SETS]


def losses(frame, *names):
    """By the values of these columns and the set, the losses by run."""
    groups = frame.sort_values("run").groupby([*names, "set"])["loss"]
    return {key: part.to_numpy(float) for key, part in groups}


@pytest.fixture(scope="module")
def recomputed(study):
    """The number of each run for a question about a loss, from the frames and the words of docs/study.md."""
    functions, kernels = losses(study.functions, "task", "unit"), losses(study.kernels, "task", "unit", "dtype")
    noise = losses(study.noise, "task", "unit", "amount")

    def numbers(question, which):
        subject, beside, where = question.subject, question.beside, question.where
        if question.topic == "activation":
            cells = [(functions[where, subject, which], functions[where, beside, which])]
        elif question.topic == "training":
            cells = [(functions[subject, "gelu", which], functions[beside, "gelu", which])]
        elif question.topic == "noise":
            amounts = study.noise["amount"].unique()
            cells = [(noise[where, subject, a, which], noise[where, beside, a, which]) for a in amounts]
        elif question.topic == "kernel":
            dtypes = [dtype for dtype in ("float16", "bfloat16", "float32") if dtype in UNITS[subject].dtypes]
            cells = [
                (kernels[task, subject, dtype, which], kernels[task, beside, dtype, which])
                for task in DATA_SETS
                for dtype in dtypes
            ]
        else:
            assert question.topic == "dtype"
            cells = [
                (kernels[task, "gelu", subject, which], kernels[task, "gelu", beside, which]) for task in DATA_SETS
            ]
        scales = [np.median(b if len(cells) == 1 else [a, b]) for a, b in cells]
        return np.mean([(a - b) / scale for (a, b), scale in zip(cells, scales, strict=True)], 0)

    return numbers


def test_claims_are_those_of_scipy(recomputed, found):
    """p, Holm's procedure, the change and, of some, its interval, for each question about a loss."""
    stats = requiring.module("scipy.stats")
    p_values = [[result.p for result in each.sets] for each in found]
    of_losses = [(place, each) for place, each in enumerate(found) if "test loss" in QUANTITIES[each.question.topic]]
    assert len(of_losses) == len(found) - 10, "epochs, dead units, gradients and pre-activations"
    for place, answer in of_losses:
        for which, result in enumerate(answer.sets):
            values = recomputed(answer.question, which)
            assert len(set(np.abs(values))) == len(values), "ties: scipy has no exact p"
            p_values[place][which] = stats.wilcoxon(values, method="exact").pvalue
            means = np.sort(np.add.outer(values, values)[np.triu_indices(len(values))] / 2)
            assert result.change.estimate == pytest.approx(np.median(means), rel=1e-9)
            for end in (result.change.low, result.change.high) if place % 16 == 0 else ():
                others = [stats.wilcoxon(values - end + step, method="exact").pvalue for step in (-1e-12, 1e-12)]
                assert min(others) <= LEVEL < max(others)
    for which in SETS:
        rejected = by_holm([each[which] for each in p_values])
        assert rejected == [each.sets[which].is_significant for each in found]


def by_holm(p_values):
    """Which are rejected: the smallest, as long as each is at most LEVEL over the number of those that are left."""
    rejected = [False] * len(p_values)
    for left, place in zip(range(len(p_values), 0, -1), np.argsort(p_values, kind="stable"), strict=True):
        if p_values[place] > LEVEL / left:
            break
        rejected[place] = True
    return rejected


def test_epochs_and_gradients_are_those_of_the_curves_and_layers(study):
    asked = dict(differences(study))
    gradient = asked[StudyQuestion("gradient", "relu", "gelu", "digits_16_layers")]
    sides = [
        [
            np.log(a / b)
            for a, b in zip(
                *(by_run(study.layers, "gradient_first", task="digits_16_layers", unit=unit, layer=k) for k in (1, 16)),
                strict=True,
            )
        ]
        for unit in ("relu", "gelu")
    ]
    assert np.allclose(gradient[0], sides[0][0] - sides[1][0])
    assert np.allclose(gradient[1], sides[0][1] - sides[1][1])
    speed, run = asked[StudyQuestion("speed", "elu", "gelu")], study.plan.runs_of(1)[2]
    ratios = []
    for task in DATA_SETS:
        rows = study.curves[(study.curves["task"] == task) & (study.curves["run"] == run)]
        ours, theirs = (rows.loc[rows["unit"] == unit, "validation"].tolist() for unit in ("elu", "gelu"))
        reached = max(min(ours), min(theirs))
        firsts = [next(epoch for epoch, loss in enumerate(of, 1) if loss <= reached) for of in (ours, theirs)]
        ratios.append(math.log(firsts[0] / firsts[1]))
    assert speed[1][2] == pytest.approx(np.mean(ratios))
    dead = asked[StudyQuestion("dead", "relu", "gelu")]
    parts = [
        [np.mean([by_run(study.layers[study.layers["task"] == task], "dead", unit=unit, run=run)[1].mean()])
         for task in DATA_SETS]
        for unit in ("relu", "gelu")
    ]  # fmt: skip
    assert dead[1][2] == pytest.approx(np.mean(parts[0]) - np.mean(parts[1]))


def test_what_other_pages_say_of_the_study(study, found):
    """The report's answer to "Does it matter to a network?", and the verdicts of docs/seeds.md."""
    said = {(each.question.topic, each.question.subject): set() for each in found}
    for each in found:
        said[each.question.topic, each.question.subject].add(each.direction)
    assert all(said[key] == {0} for key in said if key[0] in ("kernel", "dtype"))
    failed = pd.concat([study.functions, study.kernels]).query("diverged")
    assert set(zip(failed["unit"], failed["dtype"], strict=True)) == {("burn-gelu", "float16")}
    changed = study.served[study.served["function"] == "gelu"].groupby("dtype")["kernel_changed"].sum()
    assert {dtype for dtype, count in changed.items() if count} == {"float16", "bfloat16"}
    assert said["training", "digits_momentum"] == said["activation", "silu"] == {0}
    assert said["noise", "relu"] == {0}


# ---- planted, and nothing planted ----------------------------------------------------------------


@pytest.fixture
def same(study):
    """A part of the study with losses of units that differ by chance alone."""
    rng = np.random.default_rng(0)
    plan = replace(study.plan, tasks=("wine", "diabetes"), units=("gelu", "elu", "silu", "gelu_erf"))

    def part(frame):
        return frame[frame["task"].isin(plan.tasks) & frame["unit"].isin(plan.units)]

    def drawn(frame):
        return part(frame).assign(loss=np.exp(rng.normal(0, 0.01, len(part(frame)))))

    return replace(
        study, plan=plan, functions=drawn(study.functions), kernels=drawn(study.kernels), noise=drawn(study.noise),
        curves=part(study.curves), layers=part(study.layers),
    )  # fmt: skip


def changed(study, name, factor, **where):
    """The study with other losses in some rows of a frame."""
    frame = getattr(study, name)
    rows = np.all([frame[column].isin(values) for column, values in where.items()], 0)
    return replace(study, **{name: frame.assign(loss=frame["loss"].where(~rows, factor * frame["loss"]))})


ELU = StudyQuestion("activation", "elu", "gelu", "wine")


def answered(study, question=ELU):
    return {each.question: each for each in answers(study)}[question]


def test_planted_differences_are_claimed_where_both_sets_show_them(same):
    assert not any(each.direction for each in answers(same) if each.question.topic in ("activation", "kernel", "dtype"))
    for factor, direction in ((1.1, 1), (0.9, -1)):
        found = answered(changed(same, "functions", factor, unit=["elu"], task=["wine"]))
        assert found.direction == direction
        for each in found.sets:
            low, high = sorted((factor - 1 - 0.05 * direction, factor - 1 + 0.05 * direction))
            assert low < each.change.low < each.change.estimate < each.change.high < high
    found = answered(changed(same, "functions", 1.1, unit=["elu"], task=["wine"], set=[1]))
    assert [each.is_significant for each in found.sets] == [False, True]
    assert found.direction == 0


def test_a_difference_in_opposite_directions_is_not_claimed(same):
    opposite = changed(changed(same, "functions", 0.9, unit=["elu"], set=[0]), "functions", 1.1, unit=["elu"], set=[1])
    found = answers(opposite)
    ours = [each for each in found if each.question.subject == "elu" and each.question.topic == "activation"]
    assert all(each.is_significant for answer in ours for each in answer.sets)
    assert not any(answer.direction for answer in ours)
    assert not any(line.startswith("elu beside gelu, test loss:") for line in conclusions(opposite, found))


def test_a_network_that_fails_is_worse_than_every_other(same):
    found = answered(
        changed(same, "kernels", np.nan, unit=["gelu_erf"], dtype=["float16"]),
        StudyQuestion("kernel", "gelu_erf", "gelu"),
    )
    assert found.direction == 1
    assert all(each.change == (np.inf, np.inf, np.inf) for each in found.sets)


def test_equal_units_are_told_apart_in_no_more_families_than_that():
    """All units are drawn alike, of heavy tails, and compared with one another: the answers depend on each other."""
    families, count, runs = 120, 40, 20
    rng = np.random.default_rng(7)
    questions = [StudyQuestion("activation", str(place), "gelu", "wine") for place in range(count)]
    false, uncorrected = 0, 0
    for _ in range(families):
        losses = rng.standard_t(3, size=(count + 1, runs)) + 3 * rng.normal(size=runs)
        found = set_results(
            [(question, each - losses[0]) for question, each in zip(questions, losses[1:], strict=True)]
        )
        false += any(each.is_significant for each in found)
        uncorrected += any(each.p <= LEVEL for each in found)
    assert false <= families * LEVEL + 3 * math.sqrt(families * LEVEL * (1 - LEVEL))
    assert uncorrected > families / 3, "nothing was there to correct"


@pytest.mark.nightly
def test_the_search_of_a_rate_prefers_no_unit(monkeypatch, tmp_path):
    """Two stochastic maps with other masks: each is as often the better one, after the whole search and its end."""
    instead(monkeypatch, {"digits": source("values")})
    monkeypatch.setattr("gelu_verify.study.finished.use_one_thread", lambda: None)
    monkeypatch.setattr("gelu_verify.study.jobs.serve", lambda task, *_: ({"task": task.name}, []))
    monkeypatch.setitem(UNITS, "relu", UNITS[STOCHASTIC])
    real = TrainingJob.__call__

    def with_other_masks(job):
        monkeypatch.setattr(training, "MASK", 77 if job.unit == "relu" else 3)
        return real(job)

    monkeypatch.setattr(TrainingJob, "__call__", with_other_masks)
    plan = plan_of(["digits"], ["relu", STOCHASTIC], ["float64"], 100, 0)
    with on_threads(1) as pool:
        losses = run_study(plan, tmp_path, lambda: pool).functions
    tasks._data.cache_clear()
    ours, theirs = (losses.loc[losses["unit"] == unit, "loss"].to_numpy() for unit in ("relu", STOCHASTIC))
    assert (ours != theirs).all()
    assert abs((ours < theirs).sum() - len(ours) / 2) < 4 * math.sqrt(len(ours) / 4)
