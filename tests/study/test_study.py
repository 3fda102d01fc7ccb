"""The study: its rounding, its units, what is stored, and how it is carried out; docs/study.md is of what is stored."""

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
from invented_tasks import instead, source
from repository import ROOT

from gelu_verify.cli import main
from gelu_verify.errors import ResultsError
from gelu_verify.formats import DTYPES, converted, get_format
from gelu_verify.study import tasks
from gelu_verify.study.arithmetic import RoundedArithmetic
from gelu_verify.study.inside import AMOUNTS
from gelu_verify.study.jobs import TrainingJob
from gelu_verify.study.rates import HIGHEST, rate_of
from gelu_verify.study.store import FRAMES, read_study, write_study
from gelu_verify.study.study import plan_of, run_study
from gelu_verify.study.tasks import SOURCES, Examples
from gelu_verify.study.units import LEARNED, STOCHASTIC, UNITS, evaluated, kept
from gelu_verify.truth.values import reference_bits
from gelu_verify.work.executors import on_threads
from gelu_verify.work.observer import SILENT

STORED = ROOT / "data" / "study"


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
        if dtype in unit.dtypes and unit.name not in (STOCHASTIC, LEARNED):
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


# ---- what is stored ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored():
    """A part of the stored study: some tasks and two dtypes."""
    whole = read_study(STORED)
    kept_tasks, kept_dtypes, units = ("wine", "text"), ("float16", "float64"), ("gelu", "relu", "gelu_erf")

    def part(name):
        frame = getattr(whole, name)
        rows = frame["task"].isin(kept_tasks)
        if name in ("kernels", "served"):
            rows &= frame["dtype"].isin(kept_dtypes)
        if "unit" in frame:
            rows &= frame["unit"].isin(units)
        return frame[rows].reset_index(drop=True)

    plan = replace(whole.plan, tasks=kept_tasks, units=units, dtypes=kept_dtypes)
    return replace(whole, plan=plan, **{name: part(name) for name in FRAMES})


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
        assert {column.kind for column in getattr(again, name).dtypes} <= set("iufbOT")
    shutil.copytree(folder, tmp_path / "changed")
    (tmp_path / "changed" / "served.parquet").write_bytes(b"")
    with pytest.raises(ResultsError, match="is not the file"):
        read_study(tmp_path / "changed")
    with pytest.raises(ResultsError, match="not a stored study"):
        read_study(tmp_path / "nowhere")


def test_the_page_is_of_the_stored_study():
    script = runpy.run_path(str(ROOT / "tools" / "make_study.py"))
    written = script["files"](read_study(STORED))
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run: python tools/make_study.py"
    assert {path.name for path in (ROOT / "docs" / "study").iterdir()} == {path.name for path in written} - {"study.md"}


def test_every_stored_rate_and_epoch_was_chosen_by_validation_losses():
    """Recomputed from what was tried; a best rate has a worse one on both sides; a curve ends after its patience."""
    study = read_study(STORED)
    cell = ["set", "task", "unit", "run"]
    best = study.tuning.loc[study.tuning.groupby(cell)["validation"].idxmin()].set_index(cell)
    chosen = study.functions.set_index(cell).sort_index()
    assert (best.sort_index()["rate"] == chosen["rate"]).all()
    tried = study.tuning.groupby(cell)["rate"].agg(["min", "max"])
    assert ((tried["min"] < chosen["rate"]) & (chosen["rate"] < tried["max"])).all()
    curves = study.curves.groupby(cell)["validation"]
    assert (curves.apply(lambda curve: np.argmin(curve) + 1) == chosen["epoch"]).all()
    assert (curves.size() == chosen["epochs"]).all()
    networks = chosen.index.get_level_values("task").map(lambda task: SOURCES[task].network)
    ends = [min(each.epochs, epoch + each.patience) for each, epoch in zip(networks, chosen["epoch"], strict=True)]
    assert ends == chosen["epochs"].tolist()


def test_kernels_have_the_rate_that_most_other_runs_of_gelu_have():
    study = read_study(STORED)
    gelu = study.functions[study.functions["unit"] == "gelu"].set_index(["set", "task", "run"])["rate"].sort_index()
    for (which, task, run), rates in study.kernels.groupby(["set", "task", "run"])["rate"]:
        others = gelu.loc[which, task].drop(run).value_counts()
        assert set(rates) == {min(others.index[others == others.max()])}


# ---- a study of invented tasks -------------------------------------------------------------------

INVENTED = {"digits": source(epochs=5, patience=2)}


@pytest.fixture
def invented(monkeypatch):
    """A study that takes a second."""
    instead(monkeypatch, INVENTED)
    monkeypatch.setattr("gelu_verify.study.finished.use_one_thread", lambda: None)  # threadpoolctl comes with [study]
    monkeypatch.setattr("gelu_verify.study.jobs.serve", lambda task, *_: ({"task": task.name}, []))
    monkeypatch.setattr("gelu_verify.study.finished.identity", lambda packages: {})  # tests/study/test_known.py
    for place in ("known", "study"):
        monkeypatch.setattr(f"gelu_verify.study.{place}.kernels", lambda: ["kernels.gelu_cr/float32"])
    yield plan_of(list(INVENTED), ["gelu_erf"], ["float32"], 2, 0)
    tasks._data.cache_clear()


def carried_out(plan, folder, observer=SILENT):
    with on_threads(1) as pool:
        return run_study(plan, folder, lambda: pool, observer)


def same(ours, theirs):
    return all(getattr(ours, name).equals(getattr(theirs, name)) for name in FRAMES)


def test_an_interrupted_study_goes_on_where_it_was(invented, monkeypatch, tmp_path):
    whole = carried_out(invented, tmp_path / "whole")
    called, real = [], TrainingJob.__call__

    def interrupted(job):
        if len(called) == 3:
            raise KeyboardInterrupt
        called.append(job.label)
        return real(job)

    monkeypatch.setattr(TrainingJob, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        carried_out(invented, tmp_path / "parts")
    monkeypatch.setattr(TrainingJob, "__call__", lambda job: called.append(job.label) or real(job))
    parts = carried_out(invented, tmp_path / "parts")
    assert same(whole, parts)
    assert len(called) == whole.origin["cost"]["jobs"] - 2, "two networks are served"
    assert parts.origin["cost"]["jobs"] == whole.origin["cost"]["jobs"]


def test_test_data_choose_no_rate_no_epoch_and_no_kernel_rate(invented, monkeypatch, tmp_path):
    honest = carried_out(invented, tmp_path / "honest")
    real = tasks.load_task

    def load(name, seed, run):
        found = real(name, seed, run)
        return replace(found, test=Examples(-3 * found.test.x, found.test.y[:, ::-1]))

    monkeypatch.setattr("gelu_verify.study.jobs.load_task", load)
    poisoned = carried_out(invented, tmp_path / "poisoned")
    for name in ("tuning", "curves", "layers"):
        assert getattr(honest, name).equals(getattr(poisoned, name))
    for ours, theirs in ((honest.functions, poisoned.functions), (honest.kernels, poisoned.kernels)):
        assert ours.drop(columns=["loss", "error"]).equals(theirs.drop(columns=["loss", "error"]))
        assert (ours["loss"] != theirs["loss"]).all()


def test_a_search_goes_on_until_the_best_rate_is_inside(invented, monkeypatch, tmp_path):
    """The validation loss is smallest at rates that are not among the first three, another one for each run."""

    def trained(job):
        best = [10 ** (1 - start.run % 3) for start in job.starts]
        losses = [abs(math.log(start.rate / at)) for start, at in zip(job.starts, best, strict=True)]
        count = len(losses)
        return {
            "validation": [[loss] for loss in losses], "epoch": [1] * count, "loss": losses, "error": losses,
            "noise": [[(1.0, 1.0)] * len(AMOUNTS)] * count, "layers": [[]] * count,
        }  # fmt: skip

    monkeypatch.setattr(TrainingJob, "__call__", trained)
    study = carried_out(invented, tmp_path)
    for run, rate in study.functions[["run", "rate"]].itertuples(index=False):
        assert rate == 10.0 ** (1 - run % 3)
        tried = study.tuning.loc[study.tuning["run"] == run, "rate"]
        assert tried.max() == min(rate_of(HIGHEST), rate_of(round(2 * math.log10(rate)) + 1))


# ---- the command ---------------------------------------------------------------------------------


def call(*arguments):
    return CliRunner().invoke(main, ["study", *arguments])


def test_the_command_shows_a_stored_study(stored, folder, tmp_path):
    done = call("--stored", str(folder), "--out", str(tmp_path), "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["plan"]["seed"] == 0
    assert len(document["kernels"]) == len(stored.kernels)
    assert {"index.html", "answers.csv", "served.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("option", "name", "accepted"),
    [("--task", "mnist", "digits"), ("--unit", "gelv", "gelu_erf"), ("--dtype", "f4", "float16"), ("--runs", "1", "2")],
)
def test_errors_name_what_is_accepted(tmp_path, option, name, accepted):
    done = call("--out", str(tmp_path), option, name)
    assert done.exit_code == 2
    assert name in done.output
    assert f"{accepted}" in done.output.partition("accepted: ")[2]


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_can_be_named_where_a_list_is_split_at_commas(unit):
    typed = [each.strip() for each in f"relu,{unit}".split(",")]
    assert {"relu", unit} <= {*plan_of(None, typed, None, 1, 0).units}


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
    names = [path.name for path in first.iterdir() if path.is_file() and path.suffix in (".csv", ".parquet")]
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
    (journal,) = (first / "finished").glob(".journal-*/journal")
    content = bytearray(journal.read_bytes())
    content[-len(content) // 4] ^= 1  # damaged
    journal.write_bytes(content[: -len(content) // 8])  # and half written
    assert call("--out", str(first), "--workers", "2", *asked).exit_code == 0
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
