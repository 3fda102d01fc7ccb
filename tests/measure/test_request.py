"""One request, one path: what is refused, that a result says how to have it again, and that all ways find the same."""

import dataclasses
import json
import os
import shlex
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gelu_verify import verify
from gelu_verify.cli import main
from gelu_verify.cli.run import _request, run
from gelu_verify.errors import ArgumentError, UsageError
from gelu_verify.formats import DTYPES
from gelu_verify.gate.budgets import Budgets
from gelu_verify.gate.measurements import measure_budgeted
from gelu_verify.measure.elsewhere import RemoteSweep
from gelu_verify.measure.identity import ProbeOutputs
from gelu_verify.measure.jobs import find_jobs, selecting
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measure_one, measured
from gelu_verify.records.serialize import to_json
from gelu_verify.targets import select
from gelu_verify.work.executors import Where
from gelu_verify.work.observer import Observer

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)
LITERAL = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.tuples(inner, inner),
    max_leaves=3,
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "kwargs": st.dictionaries(st.sampled_from(["by", "approximate", "_x1"]), LITERAL, max_size=2),
        **dict.fromkeys(("array", "compile", "cflags", "call", "shape"), TEXT),
        "policy": st.sampled_from(["limit", "formula"]),
        "time_limit": st.floats(1e-3, 1e5),
        "memory_limit": st.integers(1 << 20, 1 << 30),
        "isolate": st.just(False),
    },
).filter(lambda options: "isolate" not in options or options.keys().isdisjoint(["time_limit", "memory_limit"]))
NAMES = {"functions": ("gelu",), "dtypes": ("float32",)}

# options of `run` that say nothing about what is measured
HELP = main.context_settings["help_option_names"]  # which click keeps for the command from its first call on
_OF_THE_COMMAND = (
    *("out", "record", "min_grade", "fail_on", "strict", "own", "no_report", "details", "as_json"),
    *("junit", "sarif", "github"),
    *("chunks", "executor_name", "item_seconds", "tls_ca", "tls_cert", "tls_key", "dashboard"),
)


# ---- the request -----------------------------------------------------------------------------------


@given(OPTIONS)
def test_the_command_that_repeats_a_result_is_the_same_request(options):
    request = Request(targets=("mine.py:f",), throughput="quick", **NAMES, **options)
    command = request.repeated("gelu-verify run mine.py:f --function gelu --dtype float32 --plan default --seed 0")
    words = shlex.split(command)[2:]
    typed = run.make_context("run", words, help_option_names=HELP).params
    assert _request(**{k: v for k, v in typed.items() if k not in _OF_THE_COMMAND}) == request


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"functions": ("gleu",)}, "unknown function 'gleu'"),
        ({"dtypes": ("float33",)}, "unknown dtype 'float33'"),
        ({"plan": "al"}, "unknown plan 'al'"),
        ({"policy": "none"}, "unknown policy 'none'.*limit, formula"),
        ({"throughput": "fast"}, "unknown throughput 'fast'.*none, quick, full"),
        ({"device": "tpu"}, "unknown device 'tpu'.*cpu, cuda"),
        ({"seed": -1}, "seed -1 is below 0"),
        ({"workers": 0}, "workers 0 is below 1"),
        ({"length": 0}, "length 0 is below 1"),
        ({"time_limit": 0.0}, "the time limit 0.0 is out of range"),
        ({"memory_limit": 1}, "the memory limit 1 is below"),
        ({"ranges": ("1:2",)}, "ranges: need exactly one dtype"),
        ({"isolate": False, "time_limit": 5}, "time_limit: is held in a process of its own"),
        ({"isolate": False, "memory_limit": 1 << 30}, "memory_limit: is held in a process of its own"),
        ({"ranges": ("2:1",), "dtypes": ("float32",)}, "ranges: .*is empty"),
    ],
)
def test_what_cannot_be_used_names_the_argument(wrong, words):
    with pytest.raises(UsageError, match=words):
        Request(**wrong)


def test_options_are_for_what_takes_them():
    (target,), _ = select(["kernels.gelu_erf"])
    with pytest.raises(ArgumentError, match=r"^array: .* not for a Target"):
        find_jobs(Request(targets=(target,), array="numpy"))
    with pytest.raises(ArgumentError, match=r"^isolate: .* this process only"):
        measure_one(Request(targets=(lambda x: x,), isolate=True, **NAMES))


def never_returns(x):
    time.sleep(100)


def test_a_limit_is_held_for_a_callable_too(monkeypatch):
    """In a process of its own, where a fresh one can import it; else there is no limit, and no verdict."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=os.pathsep)
    record = measure_one(Request(targets=(never_returns,), time_limit=0.2, plan="landmarks", **NAMES))
    assert record.record.failure_kind == "hang"
    with pytest.raises(ArgumentError, match=r"^time_limit: .* this process only"):
        measure_one(Request(targets=(lambda x: x,), time_limit=1, **NAMES))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_job_has_the_plan_of_its_request_or_its_own(dtype):
    target = dataclasses.replace(select(["kernels.gelu_erf"])[0][0], dtypes=DTYPES)
    request = Request(targets=(target,), functions=("silu",), dtypes=(dtype,), plan="landmarks", seed=3)
    (job,) = find_jobs(request).jobs
    assert (job.plan.name, job.plan.seed, job.plan.function, job.plan.dtype) == ("landmarks", 3, "silu", dtype)
    (other,) = find_jobs(dataclasses.replace(request, plan_of={job.key: ("quick", 5)})).jobs
    assert (other.plan.name, other.plan.seed, other.key) == ("quick", 5, job.key)
    assert find_jobs(request, keep=lambda target, key: key != job.key).jobs == []


SILU = {"targets": ("kernels.silu_exp",), "functions": ("silu",)}
MEASURED = st.fixed_dictionaries(
    {
        "dtypes": st.sampled_from([("float32",), ("float64",), ("float16", "bfloat16")]),
        "own": st.sampled_from(["found", "briefly"]),
    },
    optional={
        "plan": st.sampled_from(["quick", "landmarks", "fixed"]),
        "plan_of": st.dictionaries(
            st.sampled_from([f"kernels.silu_exp/silu/{dtype}" for dtype in ("float32", "float16")]),
            st.tuples(st.sampled_from(["quick", "strata"]), st.integers(0, 9)),
        ),
        "seed": st.integers(0, 9),
        "ranges": st.just(("1:1.0009765625",)),
        "length": st.integers(50, 5000),
        "demand": st.sampled_from(["faithful", "accurate"]),
        "budget": st.just(0),
        "hard_cases": st.just({f"silu/{dtype}": (0x40,) for dtype in DTYPES}),
    },
)


@settings(max_examples=60)
@example({"dtypes": ("float32",), "own": "briefly"})
@example({"dtypes": ("float32",), "own": "found", "demand": "faithful"})
@given(MEASURED)
def test_a_worker_elsewhere_finds_the_same_inputs(asked):
    try:
        request = Request(isolate=False, executor=Where(name="processes"), **SILU, **asked)
        jobs = find_jobs(request).jobs
    except UsageError:  # such as calls of a length that a plan is too large for
        assume(False)
    for job in jobs:
        remote = RemoteSweep.of(job, request, ProbeOutputs.of(job.target, job.plan))
        with ExitStack() as closing:
            assert remote.load(closing).plan.inputs_sha256 == job.plan.inputs_sha256


# ---- the path --------------------------------------------------------------------------------------


def test_every_way_finds_the_same(tmp_path, monkeypatch):
    """`verify` by name, with its Target, and isolated, `run`, and the gate."""
    monkeypatch.chdir(tmp_path)
    name, key = "kernels.silu_exp", "kernels.silu_exp/silu/float32"
    (target,), _ = select([name])
    asked = ("silu", "float32", "landmarks")
    ways = [verify(name, *asked).record, verify(target, *asked).record]
    command = ["run", name, "--function", "silu", "--dtype", "float32", "--plan", "landmarks", "--no-throughput"]
    (typed,) = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
    row = type("Row", (), {"plan": "landmarks", "seed": 0, "scope": "", "buckets": 0})
    (gated,) = measure_budgeted(Budgets({key: row}), []).records
    ways.append(replace(gated, origin=ways[0].origin))
    assert ways[0] == ways[1] == ways[2]
    assert {**typed, "buckets": None, "sha256": None} == {**to_json(ways[0]), "buckets": None, "sha256": None}


def test_an_update_is_a_new_result():
    found = verify("kernels.silu_exp", "silu", "float16", "landmarks")
    other = found.updated(repeat="again")
    assert (other.record.repeat, found.record.repeat == "again") == ("again", False)
    assert replace(other.record, repeat=found.record.repeat) == found.record


class Noting(Observer):
    def __init__(self):
        self.steps, self.labels, self.warnings = 0, [], []

    def start(self, label):
        self.labels.append(label)

    def advance(self, steps):
        self.steps += steps

    def warn(self, message):
        self.warnings.append(message)


def good(x):
    return np.maximum(x, 0)


def bad(x):
    raise ValueError("no")


def test_results_come_in_order_and_the_observer_hears_of_all():
    observer, request = (
        Noting(),
        Request(targets=(good, bad, good), functions=("relu",), dtypes=("float16",), workers=2),
    )
    jobs = [find_jobs(dataclasses.replace(request, targets=(each,))).jobs[0] for each in request.targets]
    results = list(measured(jobs, request, observer))
    assert [result.failure is None for result in results] == [True, False, True]
    assert observer.labels == [job.label for job in jobs]
    assert observer.warnings == [f"failed: {jobs[1].label}: {results[1].failure}"]
    assert observer.steps >= 2 << 16


def test_what_was_asked_for_in_this_process_is_called_by_the_caller():
    """So that a debugger stops in it, and what belongs to a thread works."""
    import threading

    threads = set()

    def watched(x):
        threads.add(threading.get_ident())
        return np.maximum(x, 0)

    verify(watched, "relu", "float16", "landmarks", workers=1)
    assert threads == {threading.get_ident()}


def test_a_system_that_cannot_isolate_is_named(monkeypatch):
    from gelu_verify.measure import jobs, request

    for module in (jobs, request):
        monkeypatch.setattr(module, "supported", lambda: False)
    observer = Noting()
    with selecting(Request(), observer) as find:
        assert find is select
    assert len(observer.warnings) == 1
    with selecting(Request(isolate=False), observer):
        assert len(observer.warnings) == 1
    with pytest.raises(ArgumentError, match=r"^isolate: this system cannot"):
        Request(isolate=True)
