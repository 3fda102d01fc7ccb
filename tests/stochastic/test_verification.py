"""Verification of random maps: planted faults are found, each by the phase that is for it; correct ones pass."""

import json
import re
from statistics import NormalDist

import pytest
from click.testing import CliRunner
from marking import nightly
from repository import ROOT, SUPPORT

from gelu_verify.cli import main
from gelu_verify.errors import UsageError
from gelu_verify.records.serialize import from_json, to_json
from gelu_verify.stochastic import named
from gelu_verify.stochastic import plan as plans
from gelu_verify.stochastic.request import MapRequest
from gelu_verify.stochastic.verify import MapVerdict, planned, verify

MAPS = SUPPORT / "random_maps.py"
COARSE = 0.02  # of quick tests: a million samples


def found(name, bias=COARSE, isolate=False, **options):
    target = name if name in named.NAMED else f"{MAPS}:{name}"
    return verify(MapRequest(target=target, bias=bias, isolate=isolate, **options))


def failed_phase(verdict):
    return next((phase.name for phase in verdict.phases if not phase.passed), verdict.failure_kind)


@pytest.mark.parametrize(
    ("name", "phase", "bias"),
    [
        ("stuck_lane", "independence", COARSE),
        ("repeated_seed", "independence", COARSE),
        ("like_the_neighbour", "independence", COARSE),
        ("uniforms_of_8_bits", "first frequencies", 0.01),
        ("not_scaled_dropout", "values", COARSE),
        ("random_sign_of_zero", "values", COARSE),
        ("not_repeatable", "reproducibility", COARSE),
        *nightly(
            ("stuck_place", "independence", COARSE),
            ("repeated_chunk", "independence", 0.01),
            ("overlapping_seeds", "independence", COARSE),
            ("varies_by_block", "independence", 1e-3),
            ("bias", "first frequencies", 1e-3),
            ("bias_near_zero", "frequencies", 1e-4),
            ("tanh_form", "tails", 2e-4),
            ("float16_uniforms", "first frequencies", 1e-3),
            ("scaled_by_rate_dropout", "values", COARSE),
            ("swapped_rate_dropout", "independence", COARSE),
            ("negative_zero", "values", COARSE),
            ("rounded_values", "values", COARSE),
            ("ignores_seed", "reproducibility", COARSE),
            ("no_tail", "first frequencies", 1e-3),
            ("wrong_shape", "shape", COARSE),
        ),
    ],
)
def test_a_planted_fault_is_found(name, phase, bias):
    options = {"rate": 0.2} if name in ("scaled_by_rate_dropout", "swapped_rate_dropout") else {}
    verdict = found(name, bias, **options)
    assert not verdict.passed
    assert failed_phase(verdict) == phase


def test_how_many_are_kept_is_said_before_independence():
    """The tests of independence take the frequencies to be right; where these are wrong, that is what is said first."""
    verdict = found("swapped_rate_dropout", COARSE, rate=0.2)
    (phase,) = (each for each in verdict.phases if not each.passed)
    assert phase.name == "independence"
    assert phase.findings[0].startswith("kept in all calls, ")
    assert any("how many are kept is not what is due" in note for note in verdict.notes)


@pytest.mark.nightly
def test_24_bits_are_enough_unless_more_are_asked_for():
    assert found("float32_uniforms", 1e-3).passed
    verdict = found("numpy.dropout_float32", 1e-4, min_bits=30)
    assert failed_phase(verdict) == "tails"
    assert verdict.bits_found == 24


@pytest.mark.nightly
def test_a_bias_of_the_rate_is_found():
    """0.5001 where 0.5 is claimed."""
    call = "f(x, seed, rate=0.5001, scaled=False, call=call)"
    target = "gelu_verify.stochastic:dropout"
    verdict = verify(MapRequest(target=target, map="dropout", scaled=False, call=call, isolate=False))
    assert failed_phase(verdict) == "frequencies"


@pytest.mark.parametrize(
    "name",
    [
        "gelu",
        "correct_dropout",
        *nightly("dropout", "zoneout", "adaptive_dropout", "relu_dropout", "correct", "correct_by_seed"),
    ],
)
def test_a_correct_map_passes(name):
    verdict = found(name)
    assert verdict.passed, verdict
    assert verdict.samples == verdict.samples_planned
    assert from_json(MapVerdict, json.loads(json.dumps(to_json(verdict)))) == verdict


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["gelu", "dropout"])
def test_1000_correct_runs_pass(name):
    """With a false-alarm rate of 1e-6 each, 0.001 alarms are expected in them at most."""
    assert all(found(name, seed=1000 * seed).passed for seed in range(1000))


@pytest.mark.nightly
def test_the_false_alarm_rate_is_kept():
    """At 0.2, a run in five may fail at most, in each phase by its share: 300 runs, with the exact tail of that."""
    from gelu_verify.stochastic.binomial import tails

    alarms = sum(not found("gelu", seed=1000 * seed, false_alarm=0.2).passed for seed in range(300))
    assert tails(alarms, 300, 0.2, 0.8)[1] > 1e-6
    assert alarms > 0  # tests that never reject are none


@pytest.mark.parametrize("isolate", [False, *nightly(True)])
def test_a_crash_is_a_result(isolate):
    if not isolate:
        verdict = found("wrong_shape")
        assert verdict.failure_kind == "shape"
        return
    verdict = found("crashes", isolate=True, array="numpy")
    assert not verdict.passed
    assert verdict.failure_kind == "abort"


@pytest.mark.frameworks
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ["torch.dropout", "torch.nn.functional:dropout", "torch.gelu", "jax.dropout"])
def test_frameworks_pass(name, dtype):
    assert verify(MapRequest(target=name, dtype=dtype, bias=0.01)).passed


def test_arguments_that_cannot_be_used():
    for options, message in (
        ({"target": "nothing"}, "names no random function"),
        ({"target": "k.c:f"}, "names no random function"),
        ({"target": "gelu", "rate": 2.0}, "rate"),
        ({"target": "gelu", "dtype": "int8"}, "dtype"),
        ({"target": "gelu", "bias": 0.0}, "bias"),
        ({"target": "gelu", "bias": 1e-6}, "min-bits"),
        ({"target": "gelu", "map": "mish"}, "map"),
    ):
        with pytest.raises(UsageError, match=message):
            MapRequest(**options)
    with pytest.raises(UsageError, match="takes 'weight'"):
        found("needs_a_weight")


DROPOUT = """
import numpy as np
def dropped(x, rng, rate):
    return np.where(rng.random(x.shape) < rate, x.dtype.type(0), x / x.dtype.type(1 - rate))
class Dropout:
    def __init__(self, rate=0.5): self.rate = rate
    def __call__(self, x, rng): return dropped(x, rng, self.rate)
def dropout_by_another_name(x, rng, drop_rate): return dropped(x, rng, drop_rate)
def dropout_and_mask(x, rng, rate): return dropped(x, rng, rate), x
def dropout_among_others(x, rng, drop_prob): return {"mask": None, "y": dropped(x, rng, drop_prob)}
def dropout_in_place(x, rng, rate): x[...] = dropped(x, rng, rate)
def dropout_in_place_returned(x, rng, rate): x[...] = dropped(x, rng, rate); return x
"""


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("Dropout", None),
        ("dropout_by_another_name", None),
        ("dropout_and_mask", "returns tuple: give --call 'f(x, rng=rng, rate=rate)[0]'"),
        ("dropout_among_others", """returns dict: give --call "f(x, rng=rng, drop_prob=rate)['y']\""""),
        ("dropout_in_place", "changes its input: give --call 'f(x, rng=rng, rate=rate); x'"),
        ("dropout_in_place_returned", "changes its input: give --call 'f(x, rng=rng, rate=rate); x'"),
    ],
)
def test_a_layer_passes_as_it_is_written_or_is_asked_about(tmp_path, name, asked):
    file = tmp_path / "layers.py"
    file.write_text(DROPOUT)
    options = {"target": f"{file}:{name}", "map": "dropout", "bias": COARSE, "isolate": False}
    if asked is not None:
        with pytest.raises(UsageError, match=re.escape(asked)):
            verify(MapRequest(**options))
        options["call"] = re.search("""--call ['"](.*)['"]""", asked)[1]
    assert verify(MapRequest(**options)).passed


def test_the_sizes_follow_from_the_bias():
    requests = [MapRequest(target="dropout", bias=bias) for bias in (1e-2, 1e-3)]
    coarse, fine = (planned(request).frequencies.wanted("-4 < x < 4") for request in requests)
    assert fine == pytest.approx(100 * coarse, rel=0.1)
    level = 1e-6 / 2 / plans.tests(requests[0])  # of each of these tests, which have half of the false alarms
    z = NormalDist().inv_cdf(0.999) - NormalDist().inv_cdf(level / 2)
    assert fine == pytest.approx((z / 1e-3) ** 2 / 4, rel=2e-3)


def test_the_command():
    run = CliRunner().invoke(main, ["stochastic", "dropout", "--bias", "0.02", "--in-process", "--json"])
    document = json.loads(run.stdout)
    assert document["passed"] is True
    assert {phase["name"] for phase in document["phases"]} >= {"values", "independence", "tails", "frequencies"}
    run = CliRunner().invoke(main, ["stochastic", f"{MAPS}:negative_zero", "--bias", "0.02", "--in-process"])
    assert run.exit_code == 1
    assert "dropped x > 0 gave -0" in run.stdout
    assert CliRunner().invoke(main, ["stochastic", "nothing"]).exit_code == 2
    run = CliRunner().invoke(main, ["stochastic", "gelu", "--plan"])
    assert "samples by bias" in run.stdout
    assert run.exit_code == 0


@pytest.mark.parametrize("option", ["--plan", *nightly("--quick")])
def test_what_the_docs_show_is_what_is_printed(option):
    page = (ROOT / "docs" / "stochastic.md").read_text(encoding="utf-8")
    block = page.partition(f"$ gelu-verify stochastic gelu {option}\n")[2].partition("```")[0]
    assert CliRunner().invoke(main, ["stochastic", "gelu", option, "--in-process"]).stdout == block
