"""Limits of a run: each that is given decides, and what is not known is over it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import judged
from marking import nightly
from mutants import faulty, where
from synthetic_runs import failed, large_run, result

from gelu_verify.errors import UsageError
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.judge.demands import Demands, check_reachable, exceeded
from gelu_verify.judge.rules import SEVERITIES
from gelu_verify.records.grades import GRADES, ORDER
from gelu_verify.records.ranking import worst_first

RESULTS = large_run().results
RANGE = result("torch.gelu", "gelu", "float32", cancels=True)


def failing(**severities):
    """A result whose checks of these names fail with these severities."""
    checks = dict.fromkeys(severities, "fail")
    findings = {name: {"detail": name, "x_bits": None, "got_bits": None, "want_bits": None} for name in checks}
    found = result("torch.gelu", "gelu", "float32", checks=checks, findings=findings)
    graded = {name: replace(found.findings[name], severity=severity) for name, severity in severities.items()}
    return replace(found, findings=graded)


def test_without_a_limit_there_is_none():
    assert not Demands()
    assert Demands(max_ulp=0.0)


@settings(max_examples=25)
@given(st.floats(0, 1e17))
def test_an_error_is_over_the_limit_or_not(limit):
    over = {record.key for record, _ in exceeded(RESULTS, Demands(max_ulp=limit))}
    assert over == {r.key for r in RESULTS if r.max_ulp is None or r.max_ulp > limit}


@pytest.mark.parametrize("error", [None, math.nan, math.inf])
def test_what_is_not_known_is_over_every_limit(error):
    assert exceeded([replace(RANGE, max_ulp=error)], Demands(max_ulp=1e300))
    assert exceeded([replace(RANGE, grade=None)], Demands(min_grade="coarse"))


@pytest.mark.parametrize("least", GRADES)
def test_a_worse_grade_is_over_the_limit(least):
    over = {record.key for record, _ in exceeded(RESULTS, Demands(min_grade=least))}
    wanting = {r.key for r in RESULTS if ORDER[r.grade] > ORDER[least]}
    assert over == wanting | {r.key for r in RESULTS if r.failure}


@pytest.mark.parametrize("severity", SEVERITIES)
def test_checks_fail_from_a_severity_on_the_worst_first(severity):
    record = failing(minus_infinity="convention", tail_zero="loss", finite="defect", nan="convention", sign=None)
    words = [what for _, what in exceeded([record], Demands(fail_on=severity))]
    named = ["finite", "tail_zero", "sign", "minus_infinity", "nan"]
    assert [what.split()[1] for what in words] == named[: {"defect": 1, "loss": 3, "convention": 5}[severity]]


def test_every_limit_is_named_the_worst_result_first():
    results = [RANGE, result("a.gelu", "gelu", "float32"), failed("b.gelu", "gelu", "float32", "b.gelu raised")]
    found = exceeded(results, Demands(min_grade="faithful", max_ulp=2.0))
    assert [record.target for record, _ in found] == ["b.gelu"] * 3 + ["torch.gelu"] * 2 + ["a.gelu"]
    assert found[0][1] == "b.gelu raised"
    assert " ULP, --max-ulp 2" in found[3][1]
    order = [r.key for r in worst_first(results)]
    assert sorted(found, key=lambda pair: order.index(pair[0].key)) == found


@pytest.mark.parametrize("limit", [0.0, 0.3, 0.45])
def test_a_limit_that_correct_rounding_exceeds_is_refused(limit):
    record = result("kernels.silu_cr", "silu", "float32")
    with pytest.raises(UsageError, match="cannot be met: correctly rounded results of silu in float32"):
        check_reachable([record], Demands(max_ulp=limit))
    check_reachable([record], Demands(max_ulp=0.5))
    check_reachable([replace(record, function="relu")], Demands(max_ulp=limit))  # whose results are exact
    check_reachable([replace(record, ranges=("0x0:0x1",))], Demands(max_ulp=limit))  # where they may be


BOTH, LEFT, NONE = {"-inf", "inf"}, {"-inf"}, set()
NAN_AT = {
    **{"exp": NONE, "tanh": NONE, "gelu": LEFT, "gelu_grad": BOTH, "gelu_grad_mu": BOTH, "erf": NONE, "sigmoid": NONE},
    **{"relu": NONE, "silu": LEFT, "silu_grad": BOTH, "silu_grad_beta": BOTH, "gelu_grad_sigma": BOTH},
}
OTHERS = (name for name in FUNCTIONS if name not in NAN_AT)


@pytest.mark.parametrize("function", [*list(NAN_AT)[:5], *nightly(*list(NAN_AT)[5:], *OTHERS)])
def test_nan_at_an_infinity_passes_only_where_the_formula_of_the_function_gives_it(function):
    """inf * 0 is there in the formulas of an activation at -inf, and of derivatives at both infinities."""
    entry, nan = get_function(function), faulty(function, where(np.isinf, "nan"))
    record, accepted = judged(nan, "bfloat16", "landmarks"), set(entry.nan_at)
    assert NAN_AT.get(function, accepted) == accepted
    for check, infinity, limit in (
        ("minus_infinity", "-inf", entry.at_minus_infinity),
        ("plus_infinity", "inf", entry.at_plus_infinity),
    ):
        severity = None if limit == "nan" else "convention" if infinity in accepted else "defect"
        assert record.findings[check].severity == severity, check
    is_accepted = not {"defect"} & {record.findings[name].severity for name in ("minus_infinity", "plus_infinity")}
    assert (record.grade != "broken") == is_accepted
    assert (not exceeded([record], Demands(fail_on="loss"))) == is_accepted
