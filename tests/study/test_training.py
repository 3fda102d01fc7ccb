"""Splits, trainings and their ends: the same for all units, and decided without the test data."""

import math
from dataclasses import replace

import numpy as np
import pytest
from invented_tasks import NETWORK, instead, source

from gelu_verify.formats import DTYPES
from gelu_verify.study import tasks
from gelu_verify.study.arithmetic import RoundedArithmetic
from gelu_verify.study.inside import FROM_NORMAL, _from_normal, by_layer
from gelu_verify.study.jobs import TrainingJob
from gelu_verify.study.network import Passes, initial
from gelu_verify.study.tasks import Examples, load_task
from gelu_verify.study.training import INITIAL, MASK, Start, generators, train
from gelu_verify.study.units import UNITS

RATE = 2e-2


@pytest.fixture(autouse=True)
def invented(monkeypatch):
    instead(monkeypatch, {"digits": source(), "diabetes": source("values"), "digits_dropout": source(dropout=0.5)})
    yield
    tasks._data.cache_clear()


def trained(unit="gelu", dtype="float32", starts=(0, 1, 2), rate=RATE, seed=0, task="digits"):
    of = [Start(run, rate) for run in starts]
    return train([load_task(task, seed, run) for run in starts], UNITS[unit], dtype, seed, of)


def losses(found, starts=(0, 1, 2), part="validation", task="digits"):
    parts = [getattr(load_task(task, 0, run), part) for run in starts]
    outputs = found.passes.outputs(found.layers, np.stack([each.x for each in parts]))
    return found.passes.loss(outputs, np.stack([each.y for each in parts]))


# ---- splits --------------------------------------------------------------------------------------


def test_every_run_has_a_split_of_its_own_and_every_task_of_the_run_the_same():
    first, second, variant = load_task("digits", 0, 0), load_task("digits", 0, 1), load_task("digits_dropout", 0, 0)
    assert np.array_equal(first.test.x, variant.test.x)
    assert not np.array_equal(first.test.y, second.test.y)
    assert not np.array_equal(first.test.y, load_task("digits", 1, 0).test.y)
    parts = (first.train, first.validation, first.test)
    assert [len(part.x) for part in parts] == [35, 13, 16]
    rows = {tuple(row) for part in parts for row in part.x}
    assert len(rows) == 64, "an example is in two parts"
    assert np.allclose(first.train.x.mean(0), 0)
    assert np.allclose(first.train.x.std(0), 1), "features are scaled by the training part"


def test_runs_are_paired_across_units_and_dtypes():
    """Rate 0 leaves the initial parameters: one network for all units and, rounded, for all dtypes."""
    ours, theirs = (trained(u, d, (0, 4), 0.0, 3) for u, d in (("gelu", "float64"), ("relu", "float16")))
    for p, q in zip(ours.layers, theirs.layers, strict=True):
        assert np.array_equal(p["weights"].astype(np.float32), q["weights"])
    assert not np.array_equal(ours.layers[0]["weights"][0], ours.layers[0]["weights"][1])


@pytest.mark.parametrize(("unit", "task"), [("gelu", "digits_dropout"), ("gelu_stochastic", "digits")])
def test_a_run_is_the_same_alone_and_beside_others(unit, task):
    """Also beside those that end earlier; and whatever the other rates are."""
    together, alone = trained(unit, task=task), trained(unit, starts=(1,), task=task)
    assert together.validation[1] == alone.validation[0]
    assert len({len(each) for each in together.validation}) > 1, "all trainings ended at once: nothing is tested"
    for p, q in zip(together.layers, alone.layers, strict=True):
        assert np.array_equal(p["weights"][1], q["weights"][0])
    assert together.validation[0] != together.validation[1]
    assert trained(unit, seed=1, task=task).validation != together.validation


# ---- the end -------------------------------------------------------------------------------------


def test_a_training_ends_after_its_patience_and_gives_its_best_network():
    found = trained(rate=0.1, starts=range(6))
    for curve, epoch in zip(found.validation, found.epoch, strict=True):
        assert epoch == np.argmin(curve) + 1
        assert len(curve) == min(NETWORK.epochs, epoch + NETWORK.patience)
    assert any(len(curve) < NETWORK.epochs for curve in found.validation)
    assert np.array_equal(losses(found, range(6)), [min(curve) for curve in found.validation])


def result(rate, task="digits"):
    return TrainingJob(task, "gelu", "float32", tuple(Start(run, rate) for run in range(3)), 0, inside=True)()


def spoiled(monkeypatch, part, task="digits"):
    """Have a part of the data be other data: features of another scale, each wanted output a wrong one."""
    real = tasks.load_task

    def load(name, seed, run):
        found = real(name, seed, run)
        examples = getattr(found, part)
        return replace(found, **{part: Examples(-3 * examples.x, examples.y[:, ::-1])})

    monkeypatch.setattr("gelu_verify.study.jobs.load_task", load)


def test_test_data_choose_nothing(monkeypatch):
    """With other test data, all is the same but what is said of them."""
    honest = result(RATE)
    spoiled(monkeypatch, "test")
    poisoned = result(RATE)
    assert {name for name in honest if honest[name] != poisoned[name]} == {"loss", "error", "noise"}
    assert {"validation", "epoch", "layers"} < set(honest)


def test_validation_data_choose_the_epoch(monkeypatch):
    honest = result(RATE)
    spoiled(monkeypatch, "validation")
    assert result(RATE)["epoch"] != honest["epoch"]


def test_a_derivative_that_is_nan_leaves_the_untrained_network(monkeypatch):
    from gelu_verify.study import network

    honest = network.evaluated
    monkeypatch.setattr(network, "evaluated", lambda name, a, x: honest(name, a, x) * (np.nan if "grad" in name else 1))
    found = trained()
    assert np.isnan(found.validation).all()
    assert (found.epoch == 0).all()
    assert np.array_equal(found.layers[0]["weights"], found.first[0]["weights"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_networks_learn_and_narrow_dtypes_cost_something(dtype):
    found = trained(dtype=dtype)
    assert all(min(curve) < curve[0] for curve in found.validation)
    task = load_task("digits", 0, 0)
    assert found.passes.error(found.passes.outputs(found.layers, task.test.x), task.test.y)[0] < 0.3
    assert (found.validation == trained(dtype="float64").validation) == (dtype == "float64")
    values = found.passes.outputs(found.layers, task.test.x)
    assert np.array_equal(RoundedArithmetic(dtype).rounded(values), values)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_gradient_descent_is_its_formula(monkeypatch, momentum):
    """One network and one step of an epoch: a batch of all examples."""
    instead(monkeypatch, {"wine": source(momentum=momentum, batch=35, epochs=2)})
    task, rate = load_task("wine", 0, 0), 0.25
    found = train([task], UNITS["gelu"], "float64", 0, [Start(0, rate)])
    layers = [{name: p.copy() for name, p in layer.items()} for layer in found.first]
    last = [dict.fromkeys(layer, 0.0) for layer in layers]
    for _ in range(2):
        done = found.passes.of(layers, task.train.x[None], task.train.y[None], [])
        for layer, of, before in zip(layers, done.gradients, last, strict=True):
            for name, g in of.items():
                before[name] = momentum * before[name] - rate * g
                layer[name] = layer[name] + before[name]
    assert found.epoch == [2]
    for p, q in zip(found.layers, layers, strict=True):
        assert np.allclose(p["weights"], q["weights"], rtol=1e-12)


# ---- gradients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["gelu", "gelu_learned"])
@pytest.mark.parametrize("changed", [{}, {"dropout": 0.5, "batch_norm": True}])
@pytest.mark.parametrize("kind", ["classes", "values"])
def test_gradients_are_derivatives_of_the_loss(monkeypatch, unit, changed, kind):
    """Along a random direction for each parameter, by central differences, with the same masks."""
    passes = Passes(replace(NETWORK, **changed), kind, UNITS[unit], RoundedArithmetic("float64"))
    rng, runs = np.random.default_rng(0), (0, 1)
    x, y = rng.normal(size=(2, 8, 3)), np.eye(2)[rng.integers(2, size=(2, 8))]
    layers = [
        {name: p + (0 if name in ("mean", "variance") else 0.1) * rng.normal(size=p.shape) for name, p in layer.items()}
        for layer in initial(passes.shape, 3, 2, UNITS[unit], generators(0, INITIAL, runs))
    ]

    def passed(these):
        seen = []
        slope = Passes._slope_of_loss
        monkeypatch.setattr(Passes, "_slope_of_loss", lambda self, z, y: seen.append(z) or slope(self, z, y))
        copied = [{name: p.copy() for name, p in layer.items()} for layer in these]
        done = passes.of(copied, x, y, generators(0, MASK, runs))
        monkeypatch.setattr(Passes, "_slope_of_loss", slope)
        return done, passes.loss(seen[0], y)

    found, _ = passed(layers)
    own = {"mu", "log_sigma"} if unit == "gelu_learned" else set()
    normalised = {"scale", "shift"} if changed else set()
    assert set(found.gradients[0]) == {"weights", "bias"} | own | normalised
    for place, layer in enumerate(found.gradients):
        for name, gradient in layer.items():
            direction = rng.normal(size=gradient.shape)
            ends = []
            for step in (1e-5, -1e-5):
                moved = [dict(each) for each in layers]
                moved[place][name] = layers[place][name] + step * direction
                ends.append(passed(moved)[1])
            slope = (ends[0] - ends[1]) / 2e-5
            assert slope == pytest.approx((gradient * direction).sum((1, 2)), rel=1e-5, abs=1e-8), (place, name)


def test_what_is_said_of_layers_is_of_the_trained_network():
    """Dead units and normal pre-activations, planted; and a gradient that vanishes by a factor that is known."""
    found = trained("relu", dtype="float64")
    task = load_task("digits", 0, 0)
    found.layers[0]["bias"][0, 0, :3] = -1e6  # of 8 units
    rows = by_layer(found, 0, task, 0, 0)
    assert [row["layer"] for row in rows] == [1, 2]
    assert rows[0]["dead"] >= 3 / 8
    before = rows[0]["gradient"]
    found.layers[1]["weights"][0] *= 1e-3
    found.layers[2]["weights"][0] *= 1e-3
    assert by_layer(found, 0, task, 0, 0)[0]["gradient"] < 1e-3 * before
    assert 0 < rows[1]["normal"] < 1


@pytest.mark.parametrize("count", [98, 988])
def test_distances_from_a_normal_law_are_small_for_normal_numbers_alone(count):
    rng = np.random.default_rng(0)
    assert _from_normal(rng.normal(3, 5, (count, 500))) == pytest.approx(FROM_NORMAL / math.sqrt(count), rel=0.05)
    assert _from_normal(rng.uniform(size=(count, 500))) > 1.5 * FROM_NORMAL / math.sqrt(count)
    assert math.isnan(_from_normal(np.ones((count, 2))))
