"""The first sentence: what got worse, where, how many times, and why, as far as a check says so."""

from dataclasses import replace

import pytest
from synthetic_runs import result

from gelu_verify.judge.sentences import leading, sentence, small_losses
from gelu_verify.judge.sides import Change, ChangeWitness
from gelu_verify.records.parts import FindingRecord

CONSTANT = FindingRecord("behaves as if 1/sqrt(2) were 0.7071067", None, None, None, severity="loss")


def change(what, old=None, new=None, where=None, verdict="worse", **more):
    return Change(
        what=what, where=where, verdict=verdict, old=None, new=more.pop("status", None), old_number=old, new_number=new,
        text=more.pop("text", f"{where or what}: {old} -> {new}"), **more,
    )  # fmt: skip


def said(*changes, findings=None, bound="="):
    record = replace(result("k.c:gelu", "gelu", "float32"), findings=findings or {}, bound=bound)
    return sentence(
        changes, record, "had", lambda each: (each.old_number, f"{each.old_number} before"), lambda c: c.text
    )


NAN = change("nonfinite", 0.0, 3.0, text="NaN or infinity: 0 -> 3 inputs")
FAR, NEAR = change("region", 0.5, 1.2, "[0,1)"), change("region", 0.52, 8.5, "[-5,-3)")
LARGEST = change("max_ulp", 3.0, 8.5, witness=ChangeWitness("0xc0800000", None, None, None))
CHECK = change("check", where="constants", status="fail", text="check constants newly fails: behaves as if")
INFINITE = change("check", where="plus_infinity", status="fail", text="check plus_infinity newly fails: f(inf) = nan")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([LARGEST, FAR, NEAR], "16 times the error it had in [-5,-3): 8.50 ULP, 0.52 before"),
        ([LARGEST], "2.8 times the error it had: 8.50 ULP in [-5,-3), 3.0 before"),
        ([change("region", 0.52, 8e6, "[0,1)")], "1.5e7 times the error it had in [0,1): 8.00e6 ULP, 0.52 before"),
        ([change("region", 0.5, 0.50311, "[0,1)")], "more than the error it had in [0,1): 0.504 ULP, 0.5 before"),
        ([change("region", 3.22, 3.2203, "[0,1)")], "more than the error it had in [0,1): 3.23 ULP, 3.22 before"),
        ([change("region", 0.0, 1.0, "[0,1)")], "an error where it had none in [0,1): 1.00 ULP, 0.0 before"),
        ([NEAR, NAN], "NaN or infinity: 0 -> 3 inputs"),
        ([NEAR, INFINITE], "check plus_infinity newly fails: f(inf) = nan"),
        ([change("faithful", 0.9, 0.8)], "faithful: 0.9 -> 0.8"),
        ([], ""),
    ],
)  # fmt: skip
def test_what_got_worse_where_and_how_many_times(changes, expected):
    assert said(*changes) == expected


def test_an_error_that_is_at_least_so_large_is_rounded_down_but_stays_beyond_the_limit():
    assert said(change("region", 3.22, 3.2299, "[0,1)"), bound=">=").endswith("): 3.229 ULP, 3.22 before")


def test_the_cause_is_that_of_a_check_that_fails_now():
    assert said(NEAR, CHECK, findings={"constants": CONSTANT}).endswith(
        "8.50 ULP, 0.52 before; behaves as if 1/sqrt(2) were 0.7071067"
    )
    assert "behaves" not in said(NEAR, findings={"constants": CONSTANT})  # it failed before, too


def test_a_cause_of_one_part_of_x_is_not_that_of_errors_elsewhere():
    check = change("check", where="tail_zero", status="fail", text="check tail_zero newly fails")
    zero = {"tail_zero": FindingRecord("f(-4.5) is 0", "0xc0900000", None, None, severity="loss")}
    assert said(NEAR, check, findings=zero).endswith("0.52 before; f(-4.5) is 0")
    assert said(FAR, check, findings=zero).endswith("0.5 before")
    assert said(LARGEST, check, findings=zero).endswith("3.0 before; f(-4.5) is 0")


def test_an_error_that_is_not_larger_is_not_said_to_be():
    """An interval may be worse in one of its buckets alone."""
    for new in (3.17, 9.46):
        text = "[1,1.5): worse in 1 of 2 buckets that differ"
        assert said(change("interval", 9.46, new, "[1,1.5)", text=text)) == text


def test_what_ends_a_sentence_does_not_stand_within_one():
    grade = change("grade", text="accurate, budget faithful: within 4 ULP for every finite x.")
    assert said(grade, CHECK, findings={"constants": CONSTANT}).startswith(
        "accurate, budget faithful: within 4 ULP for every finite x; behaves as if"
    )


def test_an_interval_leads_only_where_no_region_is_worse():
    interval = change("interval", 0.1, 9.0, "[1,1.5)")
    assert leading([FAR, interval]) is FAR
    assert leading([interval]) is interval


def test_small_losses_are_counted():
    lost = [change("interval", where=f"[{n},{n + 1})", is_small=True) for n in range(5)]
    assert small_losses(lost) == "worse by less than 0.5 ULP in buckets of [0,1), [1,2), [2,3) and 2 more"
    assert small_losses([]) == ""
