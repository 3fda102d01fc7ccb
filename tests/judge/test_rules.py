"""One judge: `compare` and `gate` never contradict each other, and better is the reverse of worse."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from marking import nightly
from mutants import faulty, shifted
from random_kernels import random_kernel

from gelu_verify.compare.runs import compare_runs
from gelu_verify.formats import get_format, to_float64
from gelu_verify.gate.budgets import make_budgets
from gelu_verify.gate.verdicts import verdicts
from gelu_verify.inputs.plans import make_plan
from gelu_verify.judge.rules import RULES, verdict_of_measure
from gelu_verify.measure.sweep import sweep
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.truth.values import reference_bits

MACHINE = {"libm": "glibc 2.36", "architecture": "x86_64", "isa": ["fma"]}
FACTS = {"versions": {}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "default", "absent": {}, "facts": FACTS}
REVERSED = {"worse": "better", "better": "worse"}
FMT = get_format("float16")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Stores what a kernel gives at all inputs of float16."""
    folder = tmp_path_factory.mktemp("runs")

    def run(kernel):
        result = sweep(kernel, make_plan("default", "gelu", "float16"))
        return read_run(write_run([result], folder / str(len(list(folder.iterdir()))), **MANIFEST))

    return run


def compared(old, new):
    (found,) = compare_runs(old, new).results
    return found


def gated(old, new):
    """What the gate says of a run, held against the budget that another one makes."""
    (found,) = verdicts(new.results, MACHINE, make_budgets(old.results, MACHINE, "2026-11-23"))
    return found


def test_where_every_changed_output_is_nearer_the_truth_compare_and_gate_agree(stored):
    """The signed mean is farther from 0 then, as what is left is of one sign: no error of any input is larger."""

    def off(kept):
        def fault(dtype, x, y):
            value = to_float64(FMT, x)
            return shifted(FMT, y, np.where((value > 1) & (value < 2), 3, np.where((value > 2) & (value < 4), kept, 0)))

        return faulty("gelu", fault)

    old, new = (stored(off(kept)) for kept in (-3, -1))
    assert abs(new.results[0].mean_ulp) > 2 * abs(old.results[0].mean_ulp)
    found = compared(old, new)
    assert (found.verdict, gated(old, new).verdict) == ("better", "ok"), (found.changes, gated(old, new).reasons)
    assert (compared(new, old).verdict, gated(new, old).verdict) == ("worse", "over")


def repaired(kernel, rng):
    """The kernel, right at some of the inputs."""

    def answer(dtype, x):
        y = kernel.answer(dtype, x)
        hashed = (x.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15 | int(rng))) >> np.uint64(60)
        return np.where(hashed < 8, reference_bits("gelu", dtype, x), y).astype(y.dtype)

    return replace(kernel, answer=answer)


@pytest.mark.parametrize("seed", [0, *nightly(*range(1, 20))])
def test_compare_and_gate_never_contradict_each_other(stored, seed):
    rng = np.random.default_rng(seed)
    kernel = random_kernel(rng, "gelu")
    runs = [stored(each) for each in (kernel, repaired(kernel, rng.integers(1 << 20)), random_kernel(rng, "gelu"))]
    every = {pair: compared(*(runs[k] for k in pair)) for pair in product(range(len(runs)), repeat=2)}
    for i, old in enumerate(runs):
        if old.results[0].max_ulp is None:  # it failed: there is no budget of it
            continue
        for j, new in enumerate(runs):
            found, row = every[i, j], gated(old, new)
            told = found.verdict, [change.text for change in found.changes], row.reasons
            assert row.verdict != "over" or found.verdict in ("worse", "mixed"), told
            assert found.verdict not in ("better", "same") or row.verdict == "ok", told
            back = {(change.what, change.where, change.verdict) for change in every[j, i].changes}
            assert back == {(c.what, c.where, REVERSED.get(c.verdict, c.verdict)) for c in found.changes}, told


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if rule.measure])
def test_a_limit_with_headroom_is_no_tighter_than_one_without(name):
    measure = RULES[name].measure
    for old in (-20.0, -0.5, 0.0, 0.25, 0.5, 3.0, 1e7):
        for new in (-18.5, 0.0, 0.3, 0.6, 3.0, 4.0, 1.2e7):
            elsewhere = verdict_of_measure(measure, old, new, "headroom", 16)
            assert elsewhere in (None, "worse")
            if name != "zero_from" or old <= 0:
                assert elsewhere is None or verdict_of_measure(measure, old, new, "known", 16) == "worse"
            assert verdict_of_measure(measure, old, old, "none", 16) is None
