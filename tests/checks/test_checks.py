"""Every check: its planted fault is caught, and what is correct is never accused."""

import dataclasses
import importlib
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from checks.planted import growth
from checks.planted.nan import nan_lost_at
from checks.planted.subnormals import subnormal_inputs_flushed
from judging import failing, judged, subnormals_flushed
from marking import NATIVE_FIRST, nightly
from mutants import (
    approximate_tanh,
    at,
    correct,
    erfc_form,
    faulty,
    formula,
    in_lane,
    in_remainder,
    moved,
    right,
    rounded,
    sigmoid_form,
    tanh_form,
    tanh_form_derivative,
    target,
    through,
    when_long,
    where,
)
from random_parameters import random_values

from gelu_verify.buckets.table import Table
from gelu_verify.checks import CHECKS, Check, Finding, endurance, lengths, own_checks
from gelu_verify.errors import TargetFailure
from gelu_verify.formats import DTYPES, from_ordinals, get_format, is_nan, ordinals, to_float64
from gelu_verify.functions import FUNCTIONS, named
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.parts import Point
from gelu_verify.targets.extra_outputs import ExtraOutputs
from gelu_verify.truth.values import reference_bits, zero_threshold


def planted():
    """Check -> implementations that it must catch, each with a dtype: the files in planted/, by name.

    Those in NIGHTLY of a file, which may have none, are for the nightly run.
    """
    names = sorted(path.stem for path in (Path(__file__).parent / "planted").glob("*.py"))
    modules = {name: importlib.import_module(f"checks.planted.{name}") for name in names}
    seldom = {name: getattr(module, "NIGHTLY", []) for name, module in modules.items()}
    return {name: module.MUTANTS for name, module in modules.items()}, seldom


MUTANTS, SELDOM = planted()


OF_CALLS = ("growth", "lane", "lengths", "repeatable")


def often_enough(k, cases):
    """A dtype of 16 bits and one of more show most: of a check the first mutant has both, each other one of them in
    turn, where it has all four. The nightly run takes them all."""
    dtype, often = cases[k][1], ("float16", "float32")
    of_four = [other for _, other in cases[k // 4 * 4 : k // 4 * 4 + 4]]
    if k >= 4 and len({*of_four}) == 4:
        return [] if dtype == often[k // 4 % 2] else [pytest.mark.nightly]
    return [] if dtype in often or not any(other in often for _, other in cases) else [pytest.mark.nightly]


def test_every_check_has_a_mutant():
    assert set(MUTANTS) == set(own_checks()), "tests/checks/planted/<check>.py with MUTANTS"
    assert all(MUTANTS.values())


def test_a_check_that_finds_more_where_more_is_tried_says_so(monkeypatch):
    """It reads what the table has of all inputs, and calls nothing itself: where that is left out, two runs that tried
    different inputs look different."""
    seen, looked, called = [], set(), set()
    monkeypatch.setitem(CHECKS, "seen", Check("seen", "", lambda evidence: seen.append(evidence) or Finding("pass")))

    class Watched(Table):
        def __getattribute__(self, name):
            if name in ("columns", "hist", "regions", "facts"):
                looked.add(check.name)
            return super().__getattribute__(name)

    for function in ("gelu", "exp"):
        judged(correct(function), "float16")
        table = Watched(*(getattr(seen[-1].table, each.name) for each in dataclasses.fields(Table)))
        for check in own_checks().values():
            evidence = dataclasses.replace(seen[-1], table=table, others=ExtraOutputs(), target=correct(function))
            check.run(evidence)
            called |= {check.name} if evidence.others.calls else set()
    assert {name for name, check in own_checks().items() if check.of_inputs_tried} == looked - called
    assert {"monotone", "sign", "finite"} <= looked - called
    assert {"nan", "lane"} <= looked & called


@pytest.mark.few(30)
@pytest.mark.parametrize(
    ("check", "mutant", "dtype"),
    [
        pytest.param(
            *(check, mutant, dtype),
            id=f"{check}-{k}-{mutant.function}-{dtype}",
            marks=often_enough(k, cases),
        )
        for check, cases in MUTANTS.items()
        for k, (mutant, dtype) in enumerate(cases)
    ]
    + nightly(*((check, mutant, dtype) for check, cases in SELDOM.items() for mutant, dtype in cases)),
)
def test_a_planted_fault_is_caught(check, mutant, dtype, monkeypatch):
    monkeypatch.setattr(endurance, "BATCHES", (5,) * 20)
    monkeypatch.setattr(lengths, "LARGE", ())
    plan = "stress" if check in ("growth", "lengths") else None
    record = judged(mutant, dtype, plan, few_calls=check not in OF_CALLS)
    growth.KEPT.clear()  # half a gigabyte
    assert record.checks[check] == "fail"
    finding, fmt = record.findings[check], get_format(dtype)
    assert finding.detail
    assert "\n" not in finding.detail
    if check == "growth":  # of calls, whatever the input
        return
    assert {len(getattr(finding, key)) for key in ("x_bits", "got_bits", "want_bits")} == {2 + fmt.width // 4}
    assert finding.got_bits != finding.want_bits


def check_not_accused(record):
    assert {name for name, verdict in record.checks.items() if verdict == "fail"} == set()
    assert record.max_ulp <= 0.5000001
    assert record.correctly_rounded == record.faithful == 1
    assert record.zero_from is None


@pytest.mark.few(9)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", NATIVE_FIRST)
def test_a_correct_implementation_is_never_accused(function, dtype):
    check_not_accused(judged(correct(function), dtype))


def test_what_is_constant_from_somewhere_on_computes_in_no_narrower_format():
    check_not_accused(judged(correct("relu6"), "float32", "landmarks", few_calls=True))


@pytest.mark.parametrize("seed", [1, *nightly(*range(2, 150))])
def test_nor_is_one_of_any_function_with_any_parameters(seed):
    """Also where results overflow, and parameters are as small or as large as a number can be."""
    rng = random.Random(seed)
    for _ in range(3):
        function = FUNCTIONS[rng.choice(list(FUNCTIONS))]
        name, dtype = named(function.name, random_values(function, rng)), rng.choice(list(DTYPES))
        check_not_accused(judged(correct(name), dtype, rng.choice([None, "landmarks"]), few_calls=True))


@pytest.mark.few(4)
@pytest.mark.parametrize("way", ["up", "zero", "chance", "wiggling", *nightly("down", "away", "odd")])
@pytest.mark.parametrize("dtype", ["float16", "float32", *nightly("bfloat16", "float64")])
@pytest.mark.parametrize(
    "function", ["gelu", "exp", *nightly("gelu_grad", "gelu_tanh", "silu", "silu_grad", "erf", "sigmoid", "elu")]
)
def test_a_faithful_implementation_is_accused_of_its_rounding_only(function, dtype, way):
    record = judged(rounded(function, way), dtype)
    assert record.faithful == 1
    assert record.max_ulp <= 1
    assert failing(record) == (set() if way in ("chance", "wiggling") else {"rounding"})
    names = {"zero": "toward_zero", "away": "away_from_zero", "odd": "to_odd", "chance": "stochastic", "wiggling": None}
    found = record.rounding_mode
    assert found == names.get(way, way) or (function in ("exp", "sigmoid", "elu") and found.endswith("zero"))
    if dtype in ("float16", "bfloat16") and function.startswith("gelu"):
        assert record.rounding == ("composed" if way == "wiggling" else "once")


def test_policy_formula_accepts_nan_at_minus_infinity_and_says_so():
    mutant = faulty("gelu", at(-np.inf, "nan"))
    record = judged(mutant, policy="formula", few_calls=True)
    assert record.checks["minus_infinity"] == "pass"
    assert "policy formula" in record.findings["minus_infinity"].detail
    assert judged(mutant, few_calls=True).checks["minus_infinity"] == "fail"
    assert (
        judged(faulty("gelu", at(-np.inf, "-1")), policy="formula", few_calls=True).checks["minus_infinity"] == "fail"
    )
    assert judged(faulty("gelu", at(np.inf, "nan")), policy="formula", few_calls=True).checks["plus_infinity"] == "fail"


@pytest.mark.parametrize("given", [0, 0x7F800000, 0x7F812345])
@pytest.mark.parametrize("bits", [0x7FD12345, 0xFFE54321])
def test_every_nan_of_a_range_is_looked_at(bits, given):
    """Among 2^18 NaNs by the million, where outputs are compared with analytic results."""
    start = bits & 0xFFF00000
    plan = make_plan("default", "gelu", "float32", ranges=[(start, start + (1 << 20) - 1)])
    record = sweep(faulty("gelu", nan_lost_at(bits, given)), plan).record
    assert failing(record) == {"nan"}
    assert record.findings["nan"].x_bits == f"0x{bits:08x}"
    assert record.findings["nan"].got_bits == f"0x{given:08x}"


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_and_payloads_of_nan_are_a_convention(dtype):
    fmt = get_format(dtype)

    def message(nan):
        mutant = faulty("gelu", lambda dtype, x, y: np.where(is_nan(fmt, x), nan(x), y))
        record = judged(mutant, dtype, few_calls=True)
        assert failing(record) == set()
        return record.findings["nan"].detail

    assert (
        message(lambda x: fmt.uint.type(fmt.nan))
        == "sign always the same, payload always the same, signalling always the same"
    )
    assert message(lambda x: x) == "sign kept, payload kept, signalling kept"
    assert message(lambda x: x | fmt.uint.type(fmt.nan)) == "sign kept, payload kept, signalling always the same"


def test_a_gradient_may_end_in_either_zero():
    for zero in ("0", "-0"):
        mutant = faulty("gelu_grad", where(lambda x: x < -30, zero))
        record = judged(mutant, "float32")
        assert record.checks["minus_infinity"] == "pass"
        assert record.correctly_rounded == 1


def test_relu_may_return_either_zero_at_minus_zero():
    for zero in ("0", "-0"):
        record = judged(faulty("relu", at(0.0, zero)))
        assert record.checks["signed_zero"] == "pass"
        assert record.correctly_rounded == 1


def test_not_applicable_is_reported():
    checks = judged(correct("erf")).checks
    assert set(checks) == set(own_checks())
    for name in ("half_slope", "tail_zero", "variant", "gradient_variant", "constants", "growth", "lengths"):
        assert checks[name] == "not applicable"
    for name in ("finite", "sign", "range", "lane", "nan", "signed_zero", "saturation", "rounding"):
        assert checks[name] == "pass"
    assert judged(correct("gelu_grad")).checks["sign"] == "not applicable"
    assert judged(correct("exp")).checks["range"] == "pass"  # never negative


@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_from_is_where_the_tail_is_lost(dtype):
    fmt = get_format(dtype)
    record = judged(faulty("gelu", where(lambda x: x <= -3, "-0")), dtype, few_calls=True)
    assert record.zero_from == Point(fmt.bits_text(fmt.parse("-3")), -3.0)
    threshold = zero_threshold("gelu", dtype)
    assert record.zero_threshold.x_bits == fmt.bits_text(threshold)


def test_a_zero_at_the_root_of_a_gradient_is_no_tail():
    record = judged(faulty("silu_grad", where(lambda x: (x > -1.28) & (x < -1.277), "0")))
    assert record.zero_from is None
    assert record.checks["tail_zero"] == "pass"


@pytest.mark.parametrize("dtype", ["float16", *nightly("bfloat16", "float32", "float64")])
def test_variant_names_what_is_computed(dtype):
    for claimed in ("gelu", "gelu_tanh", "silu", "gelu_sigmoid", "relu"):
        for computed in ("gelu", "gelu_tanh", "silu", "gelu_sigmoid", "relu", "elu"):
            assert judged(correct(claimed, computed), dtype, "landmarks", few_calls=True).variant == computed
    assert judged(correct("gelu", "gelu_grad"), dtype, "landmarks").variant == "none"
    assert judged(correct("tanh"), dtype, "landmarks").variant is None


WITH_PIECES = [
    f for f in FUNCTIONS.values() if any(f.points) or any("border" in label for label in f.landmarks)
]  # fmt: skip


@pytest.mark.few(10)
@pytest.mark.parametrize("other", WITH_PIECES, ids=lambda f: f.name)
def test_a_function_with_pieces_is_named_only_where_its_pieces_are_tried(other):
    """The target is that function where all are compared, and the one that it claims to be elsewhere."""

    def fault(dtype, x, y):
        size = np.abs(to_float64(get_format(dtype), x))
        return np.where((size >= 1) & (size <= 3), right(other.name, dtype, x), y)

    claimed = "gelu_grad" if other.gradient_of else "gelu"
    record = judged(faulty(claimed, fault), "float16", "landmarks", few_calls=True)
    assert record.variant != other.name
    assert other.name not in record.sentence


@pytest.mark.parametrize(("claimed", "constant"), [("gelu", None), ("gelu_grad", "1")])
def test_what_is_no_function_here_is_none(claimed, constant):
    """The identity, and its derivative: hard_shrink and softcap are near them where all are compared."""
    target = faulty(
        claimed, lambda dtype, x, y: x if constant is None else np.full_like(x, get_format(dtype).parse("1"))
    )
    assert judged(target, "float16", "landmarks", few_calls=True).variant == "none"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("function", "noise"), [("gelu", 3), ("gelu_tanh", 3), ("silu", 3), ("gelu_grad", 1), ("gelu", 30)]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", *nightly("bfloat16", "float64")])
def test_a_noisy_implementation_keeps_its_name(function, noise, dtype):
    if noise == 30 and dtype in ("float16", "bfloat16"):
        pytest.skip("30 ulp of a 16-bit dtype are more than the functions differ")

    def shaken(dtype, x, y):
        fmt = get_format(dtype)
        step = np.random.default_rng(1).integers(-noise, noise + 1, len(x))
        return from_ordinals(fmt, ordinals(fmt, y) + step)

    assert judged(faulty(function, shaken), dtype, "landmarks", few_calls=True).variant == function


@pytest.mark.parametrize("dtype", DTYPES)
def test_flushing_is_a_finding_of_its_own(dtype):
    record = judged(faulty("gelu", subnormals_flushed), dtype)
    assert {name for name, verdict in record.checks.items() if verdict == "fail"} <= {"subnormals", "monotone"}
    assert record.findings["subnormals"].detail.endswith("subnormal results are flushed to zero")
    assert "flush to zero" in record.findings["half_slope"].detail
    assert record.flush.flushed == "results"
    assert record.flush.zeros == record.flush.tried > 100
    assert record.conventions == ("flushes subnormal results",)
    assert record.flush.max_ulp <= 0.5000001
    inputs = judged(faulty("gelu", subnormal_inputs_flushed), dtype, few_calls=True)
    assert inputs.flush.flushed == "inputs"
    assert judged(correct("gelu"), dtype, few_calls=True).flush is None


@pytest.mark.parametrize(("function", "flush"), [("gelu", subnormal_inputs_flushed), ("silu", subnormals_flushed)])
def test_what_is_flushed_in_part_is_said_in_numbers(function, flush):
    """A hash of x flushes a third of the subnormal numbers, and the largest."""

    def fault(dtype, x, y):
        with np.errstate(over="ignore"):
            some = (x.astype(np.uint32) * np.uint32(2654435769)) >> np.uint32(16) < 1 << 14
        return np.where(some | (np.isin(x & 0x7FFFFFFF, (0x7FFFFF, 0xFFFFFF))), flush(dtype, x, y), y)

    record = judged(faulty(function, fault), "float32")
    zeros, tried = record.flush.zeros, record.flush.tried
    assert 0.1 < zeros / tried < 0.5
    kind = record.flush.flushed
    assert record.conventions == (f"flushes {zeros} of {tried} subnormal {kind} tried",)
    assert f"{zeros} of {tried} tried subnormal {kind} are flushed" in record.findings["subnormals"].detail
    assert not re.search("flushes subnormal|all .* flushed", str(record.conventions) + str(record.findings))


def test_checks_work_on_a_plan_without_special_values():
    plan = make_plan("default", "gelu", "float32", ranges=["1:1"])
    record = sweep(faulty("gelu", at(np.inf, "nan")), plan).record
    assert record.n == 1
    assert record.checks["plus_infinity"] == "fail"
    assert record.checks["monotone"] == "not applicable"
    assert record.max_ulp <= 0.5


def test_all_nan_fails_what_it_should():
    record = judged(target("gelu", lambda dtype, x: np.full_like(x, get_format(dtype).nan)))
    assert record.checks["finite"] == record.checks["variant"] == record.checks["half_slope"] == "fail"
    assert record.max_ulp is None
    assert record.nonfinite.count == 2 * get_format("float16").infinity
    assert record.variant == "none"


def test_findings_name_the_reason():
    assert all(check.reason and check.name == name for name, check in own_checks().items())


HONEST = [
    *((formula("gelu_tanh", tanh_form(), kind), d) for kind in (np.longdouble, np.float64) for d in DTYPES),
    *((formula("gelu_sigmoid", sigmoid_form(), kind), d) for kind in (np.longdouble, np.float64) for d in DTYPES),
    *((formula("gelu", erfc_form()), d) for d in DTYPES),
    *((formula("gelu_tanh_grad", tanh_form_derivative()), d) for d in DTYPES),
    *((formula("gelu_tanh", tanh_form(), np.float32), d) for d in DTYPES[:3]),
    *((formula("gelu_sigmoid", sigmoid_form(), np.float32), d) for d in DTYPES[:3]),
    *((formula("gelu_tanh_grad", tanh_form_derivative(), np.float32), d) for d in DTYPES[:3]),
    (formula("gelu_sigmoid", sigmoid_form(), np.float16), "float16"),
    *((formula("gelu_sigmoid", sigmoid_form(np.float32(1.702))), d) for d in DTYPES[:3]),
    *((formula("gelu_tanh", tanh_form(a=np.float32(0.044715))), d) for d in DTYPES[:3]),
    *((formula("gelu", erfc_form(float(np.float32(0.5**0.5)))), d) for d in DTYPES[:3]),
]


@pytest.mark.few(6)
@pytest.mark.parametrize(
    ("honest", "dtype"), [pytest.param(*case, id=f"{k}-{case[0].function}-{case[1]}") for k, case in enumerate(HONEST)]
)
def test_an_honest_formula_is_accused_of_what_it_does_only(honest, dtype):
    """Its last bits (range, monotone) and its tail are its own; it has no other fault, and its numbers are right."""
    record = judged(honest, dtype)
    assert failing(record) <= {"monotone", "range", "tail_zero"}
    assert record.computes_in == dtype


def test_a_lane_is_named():
    detail = judged(faulty("gelu", in_lane(3, 8, 2)), "float32").findings["lane"].detail
    assert re.search(r"gelu\(\S+\) = \S+ at most indices.* \(off by \S+ ulp\), but \S+ at index \d+ .*", detail)
    assert "all in lane 3 of 8" in detail
    detail = judged(faulty("gelu", when_long(10, 2)), "float32").findings["lane"].detail
    assert re.search("in a call of [1-9][, ]", detail)
    assert judged(faulty("gelu", in_remainder(16, 40)), "float32").checks["lane"] == "fail"


def test_lanes_that_are_all_faithful_are_reported_and_not_called_wrong():
    up, down = rounded("gelu", "up"), rounded("gelu", "down")

    def answer(dtype, x):
        odd = np.arange(len(x)) % 2 == 1
        return np.where(odd, up.answer(dtype, x), down.answer(dtype, x))

    record = judged(target("gelu", answer), "float32")
    assert failing(record) == set()
    assert "both are faithful" in record.findings["lane"].detail


def test_a_length_that_fails_is_a_failure_and_no_fault_of_the_lanes():
    def whole_vectors_only(dtype, x):
        if len(x) < 8:
            raise TargetFailure("fewer than 8 elements")
        return reference_bits("gelu", dtype, x)

    record = judged(target("gelu", whole_vectors_only), "float32")
    assert failing(record) == set()
    assert record.checks["lane"] == "not applicable"
    assert record.max_ulp <= 0.5000001
    assert record.failure == (
        "fewer than 8 elements, when it is called with 1 or 2 elements, but not with 64, whatever they are"
    )
    assert (record.failure_kind, record.failure_length) == ("exception", 1)


def test_where_lengths_are_compiled_few_are_tried():
    lengths = []

    def answer(dtype, x):
        lengths.append(len(x))
        return reference_bits("gelu", dtype, x)

    plan = make_plan("default", "gelu", "float32")
    record = sweep(dataclasses.replace(target("gelu", answer), compiles_per_length=True), plan).record
    assert failing(record) == set()
    assert set(lengths) == {1, 17, lengths[0]}
    assert f"only calls of 1, 17 and {lengths[0]} elements were compared" in record.findings["lane"].detail
    judged(dataclasses.replace(target("gelu", answer), compiles_per_length=False), "float32")
    assert {*range(1, 65), *((1 << k) + by for k in range(7, 14) for by in (-1, 0, 1))} <= set(lengths)


@pytest.mark.parametrize(
    ("claimed", "computed", "message"),
    [
        ("gelu_grad", "gelu_tanh_grad", "the derivative of gelu_tanh, not of gelu"),
        ("gelu_grad", "normcdf", "but normcdf"),
        ("gelu_grad", "gelu", "but gelu"),
        ("gelu", "tanh", "but tanh"),
        ("leaky_relu", "leaky_relu[slope=0.2]", "neither leaky_relu with slope = 0.01 nor a relative of it"),
        ("silu", "silu[beta=2]", "neither silu with beta = 1 nor a relative of it"),
    ],
)
def test_what_is_computed_instead_is_named(claimed, computed, message):
    record = judged(correct(claimed, computed), "float32", few_calls=True)
    assert message in record.findings["gradient_variant" if claimed.endswith("_grad") else "variant"].detail


def test_what_is_computed_instead_is_named_also_where_it_loses_digits():
    def cancelling(dtype, x):
        x = x.view(np.float32)
        phi = np.array([(1 + math.erf(each / math.sqrt(2))) / 2 for each in x.tolist()])
        with np.errstate(all="ignore"):
            return np.float32(phi + x * (np.exp(-x * x / 2) / np.sqrt(2 * np.pi))).view(np.uint32)

    detail = judged(target("gelu", cancelling), "float32", few_calls=True).findings["variant"].detail
    assert detail.startswith("computes neither gelu nor a relative of it, but gelu_grad")


@pytest.mark.parametrize(
    ("mutant", "dtype", "message"),
    [
        (through("gelu", "float16"), "float32", "computes in float16"),
        (through("gelu", "bfloat16"), "float32", "computes in bfloat16"),
        (through("gelu", "float32"), "float64", "computes in float32"),
        (through("gelu", "bfloat16"), "float16", "computes in bfloat16"),
        (formula("gelu_tanh", approximate_tanh()), "float32", "approximate intrinsic"),
    ],
)
def test_the_format_inside_is_named(mutant, dtype, message):
    record = judged(mutant, dtype, few_calls=True)
    assert message in record.findings["precision"].detail
    assert record.computes_in in message or "intrinsic" in message


@pytest.mark.parametrize(
    ("mutant", "dtype", "message"),
    [
        (formula("gelu_sigmoid", sigmoid_form("1.7019995")), "float32", "as if 1.702 were 1.7019995"),
        (formula("gelu_tanh", tanh_form(a="0.04471499")), "float64", "as if 0.044715 were 0.04471499"),
        (formula("gelu_tanh", tanh_form(a=np.float32(0.044715))), "float64", "its value in float32"),
        (formula("gelu_tanh", tanh_form(b="0.797885")), "float64", "as if sqrt(2/pi) were 0.797885"),
        (formula("gelu", erfc_form(0.7071067)), "float64", "as if 1/sqrt(2) were 0.7071067"),
    ],
)
def test_the_number_inside_is_named(mutant, dtype, message):
    assert message in judged(mutant, dtype, few_calls=True).findings["constants"].detail


SQUARE_ROOT, CUBE = math.sqrt(2 / math.pi), 0.044715


def scaled_formula(compute, factor):
    return lambda x: compute(x) * x.dtype.type(factor)


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("form", "function"), [(tanh_form, "gelu_tanh"), (tanh_form_derivative, "gelu_tanh_grad")], ids=["", "grad"]
)
@pytest.mark.parametrize(
    "off",
    [
        (0, 1, 0),
        (0, 0, 1),
        (0, 1, 1),
        (1, -1, 1),
        *nightly(((0, 1, -1),), ((0, 0.3, 1),), ((0, 1, 0.3),), ((1, 0, 0),), ((1, 1, 0),), ((1, 0, -1),)),
    ],
)
def test_constants_that_are_off_together_are_each_reported(form, function, dtype, off):
    """And no other: where one alone would explain most of it, with a value that it does not have."""
    share = np.array(off) * {"float32": 3e-5, "float64": 3e-8}[dtype]
    half, root, cube = (value * (1 + e) for value, e in zip((0.5, SQUARE_ROOT, CUBE), share, strict=True))
    record = judged(formula(function, scaled_formula(form(b=root, a=cube), 2 * half)), dtype, few_calls=True)
    detail = record.findings["constants"].detail
    values = dict(re.findall(r"(sqrt\(2/pi\)|0\.044715|1/2) were ([0-9.]+[0-9])", detail))
    assert set(values) == {name for name, e in zip(("1/2", "sqrt(2/pi)", "0.044715"), off, strict=True) if e}
    for name, value, exact in zip(
        ("1/2", "sqrt(2/pi)", "0.044715"), (half, root, cube), (0.5, SQUARE_ROOT, CUBE), strict=True
    ):
        if name in values:
            assert abs(float(values[name]) - value) < 0.03 * abs(value - exact) + 1e-9 * value


def test_numbers_rounded_together_are_reported_together():
    """ONNX's function body casts its float32 literals: sqrt of 0.63661977236, and 0.044715."""
    root, cube = np.sqrt(np.longdouble(np.float32(0.63661977236))), np.longdouble(np.float32(0.044715))
    detail = judged(formula("gelu_tanh", tanh_form(b=root, a=cube)), "float64").findings["constants"].detail
    assert "sqrt(2/pi) were 0.7978845447" in detail
    assert "0.044715 were 0.044714998453855515, its value in float32" in detail


@pytest.mark.few(9)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("value", [2.0, -1.5, 0.25, -4.0, 1.0, -0.75])
@pytest.mark.parametrize("by", [2, -2, 30])
def test_one_wrong_input_of_all_is_the_one_that_is_shown(value, by, dtype):
    record, fmt = judged(faulty("gelu", moved(value, by)), dtype, few_calls=True), get_format(dtype)
    assert record.checks["outlier"] == "fail"
    assert record.witness.x_bits == record.findings["outlier"].x_bits
    assert fmt.fraction(int(record.findings["outlier"].x_bits, 16)) == value
    assert record.checks["variant"] == "pass"


def test_a_root_is_no_outlier():
    """Near its root a gradient of float32 arithmetic is off by thousands of ulp: they are few, and no fault."""
    record = judged(formula("gelu_tanh_grad", tanh_form_derivative(), np.float32), "float32")
    assert record.root.max_ulp > 50 * record.root.max_ulp_absolute
    assert record.checks["outlier"] == "pass"


def test_a_root_of_another_function_is_no_outlier():
    """At a root away from 0 a ulp is the least number: what computes another function is off by 1e40 there."""
    for name, other in (("log", "gelu"), ("logit", "tanh"), ("laplace_unit_grad", "relu2")):
        record = judged(correct(name, other), "bfloat16", few_calls=True)
        assert record.checks["outlier"] != "fail"
    assert judged(faulty("log", at(1.0, "0.01")), "bfloat16", few_calls=True).checks["outlier"] == "fail"


@pytest.mark.parametrize("seed", [0, *nightly(*range(1, 30))])
def test_what_is_right_as_another_function_has_the_precision_of_its_dtype(seed):
    rng = random.Random(seed)
    for _ in range(6):
        (name, other), dtype = rng.sample([*FUNCTIONS], 2), rng.choice(["float16", "bfloat16", "float32"])
        record = judged(correct(name, other), dtype, few_calls=True)
        named_so = failing(record) & {"precision", "rounding", "outlier", "lane", "subnormals"}
        assert not named_so, (name, other, dtype, record.findings)


def test_a_step_does_not_round_its_inputs():
    assert judged(correct("gelu_grad", "relu_grad"), "float32", few_calls=True).checks["precision"] != "fail"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_the_wrong_way_shows_two_different_numbers(dtype):
    """Nine digits do not tell two neighbours of float64 apart."""
    result = sweep(faulty("gelu", moved(2.0, -3)), make_plan("default", "gelu", dtype))
    detail = result.record.findings["monotone"].detail
    assert result.record.checks["monotone"] == "fail"
    (x_below, below), (x, got) = re.findall(r"f\((\S+)\) = ([^\s,]+)", detail)
    assert x_below != x
    assert below != got


def test_noise_alone_names_no_format():
    """An approximate reciprocal: no result is one of float16, and nothing that float16 has not is lost."""

    def approximate(dtype, x, y):
        fmt = get_format(dtype)
        noise = np.random.default_rng(1).uniform(-1, 1, 1 << 16)[x % (1 << 16)]
        moved = ordinals(fmt, y) + np.rint(noise * 4096).astype(np.int64) * (np.abs(to_float64(fmt, x)) > 1e-30)
        return np.where(np.isfinite(to_float64(fmt, y)), from_ordinals(fmt, moved), y)

    record = judged(faulty("silu", approximate), "float32")
    assert record.computes_in == "11 bits"
    assert "approximate intrinsic" in record.findings["precision"].detail
