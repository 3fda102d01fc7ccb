"""Maps that fixed points, one constant input and few seeds let pass: each is found, by `--quick` or a default run."""

import numpy as np
import pytest
from marking import nightly
from repository import SUPPORT

from gelu_verify.formats import get_format, to_float64
from gelu_verify.stochastic import binomial, bounds, planted, repeats
from gelu_verify.stochastic.binomial import two_sided
from gelu_verify.stochastic.features import weights
from gelu_verify.stochastic.maps import Map
from gelu_verify.stochastic.plan import SHARES, CellPlan, DrawnCell
from gelu_verify.stochastic.plan import tests as count_of_tests
from gelu_verify.stochastic.points import Points
from gelu_verify.stochastic.report import MapVerdict
from gelu_verify.stochastic.request import MapRequest
from gelu_verify.stochastic.verify import planned, verify

MAPS = SUPPORT / "random_maps.py"
COARSE, QUICK = 0.02, 1e-3
# bias of the run: --quick has 1e-3, what it does not find a default run, of 1e-4, does: 2e-4 is enough
FOUND = {
    "off_the_grid": ("independence", COARSE),
    "table_of_64ths": ("frequencies", QUICK),
    "table_of_hundredths": ("frequencies", QUICK),
    "bfloat16_argument": ("frequencies", 2e-4),
    "float16_probability": ("tails", 2e-4),
    "odd_significands": ("repeats", QUICK),
    "bias_in_one_cell": ("frequencies", QUICK),
    "wrong_at_a_branch": ("frequencies", 2e-4),
    "wrong_sign_in_the_tail": ("first frequencies", COARSE),
    "wrong_for_tiny": ("first frequencies", QUICK),
    "seeds_of_24_bits": ("repeats", COARSE),
    "seeds_of_32_bits": ("repeats", COARSE),
    "float_seed": ("repeats", COARSE),
    "high_half_of_seed": ("repeats", COARSE),
    "seed_plus_call": ("repeats", COARSE),
    "seed_times_1000": ("repeats", QUICK),
    "calls_of_7_bits": ("repeats", COARSE),
    "calls_by_four": ("independence", COARSE),
    "calls_of_middle_length_alike": ("repeats", QUICK),
    "far_overlapping_seeds": ("independence", QUICK),
    "long_period": ("repeats", QUICK),
    "long_period_of_calls": ("independence", QUICK),
    "short_calls_alike": ("repeats", COARSE),
    "counter_of_16_bits": ("independence", QUICK),
    "same_in_each_row": ("independence", COARSE),
    "like_one_far_away": ("independence", QUICK),
    "like_2_to_the_18_before": ("independence", QUICK),
    "alike_where_x_is_mixed": ("independence", COARSE),
    "antithetic": ("independence", COARSE),
    "as_many_in_each_call": ("repeats", COARSE),
    "first_element_kept": ("independence", COARSE),
    "remainder_kept": ("independence", COARSE),
    "odd_lengths": ("repeats", QUICK),
    "by_place_in_memory": ("repeats", QUICK),
    "mask_of_x": ("independence", COARSE),
    "closed_uniforms_of_16_bits": ("tails", QUICK),
    "not_a_number_at_zero": ("values", COARSE),
}
FAST = [(name, phase, bias) for name, (phase, bias) in FOUND.items() if bias == COARSE]
SLOW = [(name, phase, bias) for name, (phase, bias) in FOUND.items() if bias != COARSE]


@pytest.mark.few(5)
@pytest.mark.parametrize(("name", "phase", "bias"), [*FAST, *nightly(*SLOW)])
def test_a_planted_fault_is_found(name, phase, bias):
    verdict = verify(MapRequest(target=f"{MAPS}:{name}", bias=bias, isolate=False))
    assert next(each.name for each in verdict.phases if not each.passed) == phase


def test_no_grid_is_special():
    """x of frequencies: others in each call and for each seed, with all bits of the dtype, within their cells."""
    plan = planned(MapRequest(target="gelu", bias=0.02), simulating=False).frequencies
    for dtype in ("bfloat16", "float32", "float64"):
        fmt = get_format(dtype)
        points = Points(Map("gelu"), dtype, plan, 7)
        first, second = points.row(), points.row()
        anew = ~first.held
        ordinary = np.array([not plan.cells[cell].logarithmic for cell in first.cell])
        if dtype != "bfloat16":
            assert (first.x_bits[anew] != second.x_bits[anew]).mean() > 0.99
            assert (Points(Map("gelu"), dtype, plan, 8).row().x_bits != first.x_bits).mean() > 0.99
            for step in (2.0**-6, 2.0**-10, 0.01):
                scaled = first.x[ordinary] / step
                assert (np.abs(scaled - np.rint(scaled)) > 1e-3).mean() > 0.9
        assert (first.x_bits[first.held] == second.x_bits[first.held]).all()
        for bit in range(fmt.precision - 1):
            assert 0.3 < ((first.x_bits[ordinary] >> fmt.uint.type(bit)) & fmt.uint.type(1)).mean() < 0.7
        low, high = (np.array([getattr(cell, end) for cell in plan.cells])[first.cell] for end in ("low", "high"))
        size = np.abs(to_float64(fmt, first.x_bits))
        assert ((size >= low * (1 - 2.0**-8)) & (size <= high * (1 + 2.0**-8))).all()


@pytest.mark.parametrize("law", ["gelu", "adaptive_dropout", "dropout"])
def test_probabilities_are_those_of_the_oracle(law):
    of, x = Map(law, 0.3), np.random.default_rng(1).uniform(-9, 9, 200)
    for array, k in zip(of.probabilities(x), (0, 1), strict=True):
        exact = np.array([of.probability(float(each))[k] for each in x])
        assert np.abs(array / exact - 1).max() < 2.0**-51


def test_bennetts_bound_holds():
    """Beside exact binomial tails: larger, and by no more than the factor that an exponential bound loses."""
    n, p = 10_000, 0.3
    for k in (3050, 3150, 3300):
        bound = bounds.bennett(k - n * p, n * p * (1 - p))
        exact = two_sided(k, n, p, 1 - p) / 2
        assert exact <= bound < exact * 200


def test_fishers_test_is_as_uniform_as_its_p_values():
    random = np.random.default_rng(2)
    found = np.array([bounds.fisher(random.random(50).tolist()) for _ in range(2000)])
    for level in (0.01, 0.1, 0.5):
        assert abs((found < level).mean() - level) < 5 * np.sqrt(level * (1 - level) / 2000)
    assert bounds.fisher([1e-3] * 20) < 1e-20


def test_weights_are_bounded():
    """Bennett's inequality asks for terms of 1 at most."""
    cells = (
        DrawnCell("a", 0.0, 6.0, True, False, 1),
        DrawnCell("b", 0.0, 6.0, False, False, 1),
        DrawnCell("c", 6.0, 1e30, False, True, 1),
    )
    for name in ("gelu", "adaptive_dropout", "dropout"):
        for dtype in ("float16", "float32"):
            row = Points(Map(name), dtype, CellPlan(cells[: 2 if dtype == "float16" else 3]), 3).row()
            known = weights(Map(name), get_format(dtype), row)
            assert np.isfinite(known.of).all()
            assert known.sizes.max() <= 1 + 1e-9


def test_equal_masks_must_be_long_enough_to_be_no_chance():
    assert repeats.needed(1 << 26, 0.5, 2.0**-20, 1e-7) == 128
    lengths = [repeats.needed(1 << 22, p, 2.0**-20, 1e-7) for p in (0.5, 0.7, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[2] > 256


def test_simulated_runs_find_what_the_exact_power_says():
    """Of errors that are found always, sometimes and never, in a region; the same seed gives the same numbers."""
    request = MapRequest(target="gelu", bias=COARSE)
    plan = planned(request, simulating=False).frequencies
    cells = [cell for cell in plan.cells if cell.region == "0 < x < 1"]
    n = sum(cell.wanted for cell in cells)
    p, q = (sum(c.wanted * planted.mean(Map("gelu"), c)[k] for c in cells) / n for k in (0, 1))
    level = SHARES["frequencies"] * request.false_alarm / count_of_tests(request)
    shares = []
    for bias in (COARSE / 4, COARSE / 2, 0.7 * COARSE, COARSE):
        power = min(binomial.power_of(n, p, q, shift, level) for shift in (bias, -bias))
        found = planted.found(request, cells, bias, np.random.default_rng(4)) / planted.RUNS
        assert abs(found - power) < 5 * np.sqrt(power * (1 - power) / planted.RUNS) + 0.02
        shares.append(found)
    assert shares[0] < 0.1
    assert 0.1 < shares[2] < 0.95
    assert shares[3] > 0.99
    told = planted.simulated(request, plan)
    assert told == planted.simulated(request, plan)
    assert [each.bias for each in told] == pytest.approx([COARSE, 5 * COARSE, COARSE])


def test_documents_of_earlier_versions_are_read():
    from gelu_verify.records.serialize import from_json, to_json

    document = to_json(verify(MapRequest(target="gelu", bias=0.05, isolate=False)))
    assert document["planted"]
    del document["planted"]
    assert from_json(MapVerdict, document).planted == ()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["gelu", "dropout", "correct_by_seed"])
def test_correct_maps_pass_with_any_seed(name):
    target = name if name != "correct_by_seed" else f"{MAPS}:{name}"
    for seed in range(100):
        request = MapRequest(target=target, bias=COARSE, isolate=False, seed=977 * seed, false_alarm=1e-3)
        assert verify(request).passed


@pytest.mark.parametrize(
    ("target", "rate"), [("dropout", 0.0), ("zoneout", 0.0), ("zoneout", 1.0), ("relu_dropout", 0.0)]
)
def test_a_map_that_leaves_nothing_to_chance_has_samples_of_equal_shares(target, rate):
    plan = planned(MapRequest(target=target, rate=rate, bias=0.02), simulating=False).frequencies
    assert {cell.wanted for cell in plan.cells if cell.region == plan.regions[0]} == {plan.cells[0].wanted}
