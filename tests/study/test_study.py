"""The study: its rounding, its units, and trainings that are what they say; docs/study.md is of the stored studies."""

import json
import math
import runpy
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
import requiring
from click.testing import CliRunner
from repository import ROOT

from gelu_verify.cli import main
from gelu_verify.errors import ResultsError
from gelu_verify.formats import DTYPES, converted, get_format
from gelu_verify.study.arithmetic import RoundedArithmetic
from gelu_verify.study.comparisons import comparisons
from gelu_verify.study.store import FRAMES, read_study, write_study
from gelu_verify.study.study import plan_of
from gelu_verify.study.tasks import Examples, Network, Task
from gelu_verify.study.training import _initial, _Network, outputs, train
from gelu_verify.study.units import UNITS, evaluated, kept
from gelu_verify.truth.values import reference_bits

STORED = ROOT / "data" / "study" / "seed-0"


def task(kind="classes", n=48):
    """Two clouds of points, or a smooth function of them."""
    rng = np.random.default_rng(1)
    label = rng.integers(2, size=n)
    x = rng.normal(size=(n, 3)) + 2 * label[:, None]
    y = np.eye(2)[label] if kind == "classes" else np.sin(x[:, :1])
    parts = [Examples(x[place], y[place]) for place in np.split(np.arange(n), [n // 2, 3 * n // 4])]
    return Task("clouds", kind, Network((8, 6), 15, 8), *parts, digest="")


def trained(unit="gelu", dtype="float32", runs=(0, 1, 2), seed=0, kind="classes"):
    return train(task(kind), UNITS[unit], dtype, 2e-2, seed, runs)


# ---- arithmetic and units ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rounding_is_the_rounding_of_the_package(dtype):
    fmt, wide, arithmetic = get_format(dtype), get_format("float32"), RoundedArithmetic(dtype)
    every = converted(fmt, np.arange(0, 1 << 16, 5).astype(fmt.uint), wide)
    ties = every + np.uint32(1 << (wide.precision - fmt.precision - 1))
    drawn = np.random.default_rng(0).integers(1 << 32, size=1 << 14, dtype=np.uint32)
    bits = np.concatenate([every, ties, ties - np.uint32(1), ties + np.uint32(1), drawn])
    values = bits.view(np.float32)
    with np.errstate(all="ignore"):
        rounded = arithmetic.rounded(values)
    known = ~np.isnan(values)
    want = converted(wide, bits, fmt)
    assert np.array_equal(arithmetic.bits(rounded[known]), want[known])
    assert np.isnan(rounded[~known]).all()
    assert np.array_equal(arithmetic.values(want[known]), rounded[known])


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_unit_and_derivative_is_near_its_function(dtype):
    """Within what the worst of them, one of bfloat16 rounded step by step, is off by: no unit has another function."""
    arithmetic = RoundedArithmetic(dtype)
    x = arithmetic.rounded(np.linspace(-4, 4, 200).astype(arithmetic.work)).reshape(4, 50)
    wide = RoundedArithmetic("float64")
    bits = wide.bits(x.astype(np.float64))
    slopes = {"relu": x > 0, "elu": np.where(x > 0, 1, np.exp(np.minimum(x, 0)))}
    for unit in UNITS.values():
        if dtype in unit.dtypes and unit.name != "gelu_stochastic":
            value, slope = (evaluated(name, arithmetic, x) for name in (unit.forward, unit.backward))
            assert value.shape == slope.shape == x.shape
            assert value.dtype == slope.dtype == arithmetic.work
            exact = wide.values(reference_bits(unit.function, "float64", bits)).reshape(x.shape)
            allowed = 2e-3 + 8 * 2.0 ** -get_format(dtype).precision
            assert np.abs(value - exact).max() <= allowed, unit.name
            if unit.function in slopes:
                exact = slopes[unit.function]
            else:
                exact = wide.values(reference_bits(f"{unit.function}_grad", "float64", bits)).reshape(x.shape)
            assert np.abs(slope - exact).max() <= allowed, unit.name


def test_the_stochastic_map_keeps_x_with_probability_phi():
    x = np.tile(np.array([-2.0, -0.5, 0.0, 1.0, 3.0], np.float32), (2, 10_000, 1))
    mask = kept(x, [np.random.default_rng(run) for run in (0, 1)])
    assert not np.array_equal(mask[0], mask[1])
    phi = np.array([math.erfc(-each / math.sqrt(2)) / 2 for each in x[0, 0]])
    assert np.all(np.abs(mask.mean((0, 1)) - phi) < 4 * np.sqrt(phi * (1 - phi) / 20_000))
    assert np.array_equal(mask[:1], kept(x[:1], [np.random.default_rng(0)]))


# ---- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_gradients_are_derivatives_of_the_loss(kind):
    """Along a random direction for each parameter, by central differences."""
    data, runs = task(kind), (0, 1)
    network = _Network(data, UNITS["gelu"], RoundedArithmetic("float64"), [])
    parameters = _initial(data, 0, runs)
    batch = Examples(data.train.x[:8], data.train.y[:8])
    found = network.gradients(parameters, *(np.stack([part] * 2) for part in (batch.x, batch.y)))
    rng = np.random.default_rng(0)
    for place, each in enumerate(parameters):
        direction = rng.normal(size=each.shape)
        losses = []
        for step in (1e-5, -1e-5):
            moved = [p + step * direction if k == place else p for k, p in enumerate(parameters)]
            losses.append(network.loss(moved, batch))
        slope = (losses[0] - losses[1]) / 2e-5
        assert slope == pytest.approx((found[place] * direction).sum((1, 2)), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("unit", ["gelu", "gelu_stochastic"])
def test_a_run_is_the_same_alone_and_beside_others(unit):
    together, alone = trained(unit), trained(unit, runs=(1,))
    assert np.array_equal(together.losses[:, 1:2], alone.losses)
    assert not np.array_equal(together.losses[:, 0], together.losses[:, 1])
    assert not np.array_equal(trained(unit, seed=1).losses, together.losses)


def test_runs_are_paired_across_units_and_dtypes():
    """Rate 0 leaves the initial parameters: one network for all units and, rounded, for all dtypes."""
    ours, theirs = (train(task(), UNITS[u], d, 0.0, 3, (0, 4)) for u, d in (("gelu", "float64"), ("relu", "float16")))
    for p, q in zip(ours.parameters, theirs.parameters, strict=True):
        assert np.array_equal(p.astype(np.float32), q)


@pytest.mark.parametrize("dtype", DTYPES)
def test_networks_learn_and_narrow_dtypes_cost_something(dtype):
    found = trained(dtype=dtype)
    assert (found.losses[-1] < found.losses[0]).all()
    assert found.errors.max() < 0.3
    assert np.array_equal(found.losses, trained(dtype="float64").losses) == (dtype == "float64")
    arithmetic = RoundedArithmetic(dtype)
    values = outputs([p[0] for p in found.parameters], task().test.x, "kernels.gelu_cr", arithmetic)
    assert np.array_equal(arithmetic.rounded(values), values)


def test_a_derivative_that_is_nan_ends_in_a_loss_that_is_not_finite(monkeypatch):
    from gelu_verify.study import training

    honest = training.evaluated
    monkeypatch.setattr(
        training, "evaluated", lambda name, a, x: honest(name, a, x) * (np.nan if "grad" in name else 1)
    )
    assert np.isnan(trained().losses[-1]).all()


# ---- what is stored ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored():
    """A part of the stored study of seed 0: two tasks and two dtypes."""
    whole = read_study(STORED)
    kept_tasks, kept_dtypes = ("wine", "text"), ("float16", "float64")

    def part(frame):
        rows = frame["task"].isin(kept_tasks)
        return frame[rows & frame["dtype"].isin(kept_dtypes) if "dtype" in frame else rows].reset_index(drop=True)

    plan = replace(whole.plan, tasks=kept_tasks, dtypes=kept_dtypes)
    return replace(whole, plan=plan, **{name: part(getattr(whole, name)) for name in FRAMES})


@pytest.fixture(scope="module")
def folder(stored, tmp_path_factory):
    found = tmp_path_factory.mktemp("study")
    write_study(stored, found)
    return found


def test_a_stored_study_is_read_as_it_was_written(stored, folder, tmp_path):
    again = read_study(folder)
    assert (again.plan, again.origin) == (stored.plan, stored.origin)
    for name in FRAMES:
        assert getattr(again, name).equals(getattr(stored, name))
        assert {column.kind for column in getattr(again, name).dtypes} <= set("iufOT")
    shutil.copytree(folder, tmp_path / "changed")
    (tmp_path / "changed" / "served.parquet").write_bytes(b"")
    with pytest.raises(ResultsError, match="is not the file"):
        read_study(tmp_path / "changed")
    with pytest.raises(ResultsError, match="not a stored study"):
        read_study(tmp_path / "nowhere")


def test_planted_differences_are_found_and_no_others(stored):
    losses = stored.trainings.copy()
    rng = np.random.default_rng(0)
    losses["loss"] = losses.groupby(["task", "run"])["loss"].transform("first") + rng.normal(0, 1e-3, len(losses))
    assert not any(each.significant for each in comparisons(losses))
    planted = (losses["unit"] == "burn-gelu") & (losses["dtype"] == "float16") & (losses["task"] == "wine")
    losses.loc[planted, "loss"] += 0.01
    (found,) = (each for each in comparisons(losses) if each.significant)
    assert (found.unit, found.dtype, found.task, found.baseline) == ("burn-gelu", "float16", "wine", "gelu")
    assert 0.008 < found.difference.low < found.difference.median < found.difference.high < 0.012
    losses.loc[planted, "loss"] = np.nan
    (found,) = (each for each in comparisons(losses) if each.significant)
    assert found.diverged == (found.runs, 0)


def test_the_page_is_of_the_stored_studies():
    script = runpy.run_path(str(ROOT / "tools" / "make_study.py"))
    for path, text in script["files"](script["stored"]()).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run: python tools/make_study.py"


# ---- the command ---------------------------------------------------------------------------------


def call(*arguments):
    return CliRunner().invoke(main, ["study", *arguments])


def test_the_command_shows_a_stored_study(stored, folder, tmp_path):
    done = call("--stored", str(folder), "--out", str(tmp_path), "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["plan"]["seed"] == 0
    assert len(document["trainings"]) == len(stored.trainings)
    assert {"index.html", "comparisons.csv", "served.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("option", "name", "accepted"),
    [("--task", "mnist", "digits"), ("--unit", "gelv", "gelu_erf"), ("--dtype", "f4", "float16"), ("--runs", "1", "2")],
)
def test_errors_name_what_is_accepted(tmp_path, option, name, accepted):
    done = call("--out", str(tmp_path), option, name)
    assert done.exit_code == 2
    assert name in done.output
    assert f"{accepted}" in done.output.partition("accepted: ")[2]


def test_a_plan_has_what_its_units_are_compared_with():
    plan = plan_of(["wine"], ["gelu_tanh_table", "relu"], ["bfloat16"], 5, 7)
    assert plan.units == ("gelu", "relu", "gelu_tanh", "gelu_tanh_table")
    assert plan.dtypes == ("bfloat16", "float64")
    assert (plan.tasks, plan.runs, plan.seed) == (("wine",), 5, 7)


def test_without_scikit_learn_the_command_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = call("--out", str(tmp_path))
    assert done.exit_code == 3
    assert "gelu-verify[study]" in done.output


@pytest.mark.nightly
def test_a_small_study_is_the_same_with_other_workers_and_after_an_interruption(tmp_path):
    requiring.module("sklearn")
    asked = ["--task", "wine", "--unit", "gelu_erf,relu", "--dtype", "float16", "--runs", "3"]
    first, second = tmp_path / "first", tmp_path / "second"
    assert call("--out", str(first), "--workers", "1", *asked).exit_code == 0
    assert call("--out", str(second), "--workers", "2", *asked).exit_code == 0
    names = [path.name for path in first.iterdir() if path.is_file()]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    (journal,) = (first / "finished").glob(".journal-*/journal")
    content = bytearray(journal.read_bytes())
    content[-len(content) // 4] ^= 1  # damaged
    journal.write_bytes(content[: -len(content) // 8])  # and half written
    assert call("--out", str(first), "--workers", "2", *asked).exit_code == 0
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
