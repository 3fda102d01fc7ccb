"""Which of two results is the better one."""

from dataclasses import replace
from itertools import pairwise

from synthetic_runs import large_run, result

from gelu_verify.records.grades import ORDER
from gelu_verify.records.parts import AbsoluteError
from gelu_verify.records.ranking import best_first, worst_first

RESULTS = large_run().results


def named(*records):
    return [record.target for record in best_first(records)]


def test_a_better_grade_is_better_whatever_the_errors():
    places = [ORDER[record.grade] for record in best_first(RESULTS)]
    assert places == sorted(places)
    places = [ORDER[record.grade] for record in worst_first(RESULTS)]
    assert places == sorted(places, reverse=True)


def test_both_orders_have_every_result_and_differ_only_in_direction():
    best, worst = best_first(RESULTS), worst_first(RESULTS)
    assert {r.key for r in best} == {r.key for r in worst} == {r.key for r in RESULTS}
    errors = [r.max_ulp for r in best if r.grade == "accurate"]
    assert errors == sorted(errors)
    assert errors[::-1] == [r.max_ulp for r in worst if r.grade == "accurate"]


def test_on_a_range_the_wider_one_is_better_on_its_shorter_side():
    wide, narrow = (
        result(n, "gelu", "float32", cancels=True, noise=e) for n, e in (("a.wide", 8.0), ("b.narrow", 1.0))
    )
    wide = replace(wide, accurate_range=replace(wide.accurate_range, low=-5.0))
    capped = replace(wide, target="c.capped", accurate_range=replace(wide.accurate_range, high=0.6))
    assert named(capped, narrow, wide) == ["a.wide", "b.narrow", "c.capped"]


def test_with_a_small_absolute_error_only_the_smaller_one_is_better():
    large, small = (result(n, "gelu", "float32", noise=e) for n, e in (("a.large", 50.0), ("b.small", 100.0)))
    sizes = [AbsoluteError(error=e, x_bits="0x3f800000", x=1.0, units=u) for e, u in ((1e-6, 6.0), (1e-7, 2.0))]
    assert named(*(replace(r, max_abs_error=s) for r, s in zip((large, small), sizes, strict=True))) == [
        "b.small",
        "a.large",
    ]


def test_among_equals_the_shortest_name_is_first_in_both_orders():
    equals = [result(name, "gelu", "float32") for name in ("jax.gelu_jit", "jax.gelu", "onnx.gelu")]
    assert named(*equals) == ["jax.gelu", "onnx.gelu", "jax.gelu_jit"]
    assert [r.target for r in worst_first(equals)] == named(*equals)


def test_a_result_without_a_grade_or_an_error_is_last_of_its_kind():
    old = replace(RESULTS[0], grade=None)
    assert best_first([old, *RESULTS])[-1] is old
    broken = [replace(r, grade="broken", max_ulp=e) for r, e in zip(RESULTS[:3], (2.0, None, 1e9), strict=True)]
    assert [r.max_ulp for r in worst_first(broken)] == [None, 1e9, 2.0]
    assert all(a.max_ulp is not None for a, _ in pairwise(best_first(broken)))


def test_broken_ones_go_by_function():
    """A headline names the functions that most people use."""
    rare = replace(result("torch.gelu_tanh_grad", "gelu_tanh_grad", "float32"), grade="broken", max_ulp=1e9)
    common = replace(result("torch.gelu", "gelu", "float32"), grade="broken", max_ulp=2.0)
    assert [r.function for r in worst_first([rare, common])] == ["gelu", "gelu_tanh_grad"]
