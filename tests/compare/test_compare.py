"""What changed between two runs: no planted regression is missed, and what is not known is never called the same."""

import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from forged import edited
from marking import nightly
from mutants import BitsTarget, at, correct, faulty, in_lane, moved, right, target, where
from repository import ROOT

from gelu_verify.cli import main
from gelu_verify.compare.runs import compare_runs, decisive
from gelu_verify.compare.witnesses import completed
from gelu_verify.errors import MissingMeasurement, ResultsError
from gelu_verify.formats import from_ordinals, get_format, ordinals, to_float64
from gelu_verify.inputs.plans import make_plan
from gelu_verify.judge import rules
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.parts import Beside, SecondInput, Throughput
from gelu_verify.records.serialize import to_json
from gelu_verify.runs.committed import commit
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import read_run, write_run
from gelu_verify.truth.values import judge

FACTS = {"versions": {"numpy": "2"}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "default", "absent": {}, "facts": FACTS}
LOST = 40  # floats by which the base is off at -6: what regresses elsewhere is smaller


def base(dtype, x, y):
    return moved(-6.0, LOST)(dtype, x, y)


def both(*faults):
    def fault(dtype, x, y):
        for each in (base, *faults):
            y = each(dtype, x, y)
        return y

    return fault


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("compared")


@pytest.fixture(scope="module")
def run_of(folder):
    """Stores what a fault of gelu gives, each once."""
    stored = {}

    def run(fault, dtype="float16", plan="default", seed=0, name=None, made=None):
        key = name or fault, dtype, plan, seed
        if key not in stored:
            one = made or faulty("gelu", fault)
            result = sweep(one, make_plan(plan, "gelu", dtype, seed))
            place = folder / f"run-{len(stored)}"
            stored[key] = verified(read_run(write_run([result], place, **{**MANIFEST, "plan": plan, "seed": seed})))
        return stored[key]

    return run


def only(found):
    (result,) = found.results
    return result


def said(result, verdict):
    return {(change.what, change.where) for change in result.changes if change.verdict == verdict}


# ---- planted regressions -------------------------------------------------------------------------


def half_an_ulp(dtype, x, y):
    """At 1.3 the other neighbour of the exact value: an error that is larger by less than one ULP."""
    fmt = get_format(dtype)
    step = np.where(judge("gelu", dtype, x, y).error > 0, -1, 1)
    hit = x == fmt.uint.type(fmt.parse("1.3"))
    return np.where(hit, from_ordinals(fmt, ordinals(fmt, y) + step), y)


def special(value, wrong):
    return where(lambda x: np.isnan(x) if math.isnan(value) else x == value, wrong)


def negative_zero(dtype, x, y):
    fmt = get_format(dtype)
    return np.where(x == fmt.sign_mask, fmt.uint.type(0), y)


def region(dtype, x, y):
    values = to_float64(get_format(dtype), x)
    return np.where((values > -5) & (values < -3), y + y.dtype.type(1), y)


REGRESSIONS = {
    "one input": (moved(1.5, 1), ("region", "[1,inf)")),
    "half an ulp": (half_an_ulp, ("region", "[1,inf)")),
    "one region": (region, ("region", "[-5,-3)")),
    "one lane": (in_lane(3, 8, 1), ("check", "lane")),
    "-inf": (special(-math.inf, "nan"), ("check", "minus_infinity")),
    "+inf": (special(math.inf, "nan"), ("check", "plus_infinity")),
    "NaN": (special(math.nan, "1"), ("check", "nan")),
    "-0": (negative_zero, ("check", "signed_zero")),
    "NaN for a finite x": (at(-2.0, "nan"), ("nonfinite", None)),
    "zero too early": (where(lambda x: (x < -4.5) & (x > -5.5), "-0"), ("zero_from", None)),
}
CASES = [
    ("one input", "float16"),
    *nightly(*[(name, dtype) for name in REGRESSIONS for dtype in ("float16", "bfloat16", "float32", "float64")]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_planted_regression_is_worse_and_its_repair_is_better(run_of, name, dtype):
    fault, (what, place) = REGRESSIONS[name]
    old, new = run_of(base, dtype), run_of(both(fault) if name else base, dtype, name=name)
    found = only(compare_runs(old, new))
    if (dtype == "float32" and name == "half an ulp") or dtype == "float64":
        what, place = (
            ("check", place) if what == "check" else (None, None)
        )  # the largest error of the part may be another
    assert found.verdict in ("worse", "mixed")
    assert said(found, "better") <= {("check", "outlier")}  # what is worse around it no longer lets it stand out
    assert what is None or (what, place) in said(found, "worse")
    assert found.bits.differ or name == "NaN"
    back = only(compare_runs(new, old))
    assert said(back, "better") == said(found, "worse")


def test_one_changed_input_of_16_bits_is_named_with_both_outputs(run_of):
    found = only(compare_runs(run_of(base), run_of(both(moved(1.5, 1)), name="one input")))
    fmt = get_format("float16")
    x = fmt.parse("1.5")
    assert (found.bits.least, found.bits.most, found.bits.inputs) == (1, 1, 65536)
    (shown,) = {change.witness for change in found.changes if change.what == "interval"}
    assert int(shown.x_bits, 16) == x
    assert fmt.ordinal(int(shown.new_bits, 16)) == fmt.ordinal(int(shown.old_bits, 16)) + 1
    assert shown.want_bits == shown.old_bits
    assert found.old_max_ulp == found.new_max_ulp  # only a comparison by place sees it


def test_a_smaller_maximum_does_not_hide_a_regression_elsewhere(run_of):
    new = run_of(moved(1.5, 2), name="mixed")
    found = only(compare_runs(run_of(base), new))
    assert found.verdict == "mixed"
    assert {("max_ulp", None), ("region", "[-8,-5)")} <= said(found, "better")
    assert ("region", "[1,inf)") in said(found, "worse")
    assert decisive(compare_runs(run_of(base), new), "worse")[0]


def test_the_same_results_are_the_same(run_of):
    found = only(compare_runs(run_of(base), run_of(base)))
    assert (found.verdict, found.changes, found.bits.differ) == ("same", (), 0)


# ---- what is not known ---------------------------------------------------------------------------


def test_other_inputs_are_never_the_same_nor_certainly_better(run_of):
    old, new = (run_of(base, "float32", "quick", seed) for seed in (0, 1))
    found = only(compare_runs(old, new))
    assert found.verdict == "unknown"
    assert not found.same_inputs
    assert {change.verdict for change in found.changes} <= {"unknown", "neither"}
    assert [each.what for each in compare_runs(old, new).differences] == ["seed"]


def test_inputs_that_are_only_said_to_be_the_same_are_not(run_of):
    """The digest of the inputs cannot be derived from buckets: it may be anything."""
    old, new = (run_of(base, "float32", "quick", seed) for seed in (0, 1))
    (record,) = new.results
    said_so = replace(new, results=[replace(record, inputs_sha256=old.results[0].inputs_sha256)])
    assert ("bits", None) in said(only(compare_runs(old, said_so)), "unknown")


def test_what_fails_is_worse_and_what_fails_twice_is_not_known(run_of):
    def crash(dtype, x):
        raise RuntimeError("no")

    failing = run_of(None, name="crash", made=target("gelu", crash))
    found = only(compare_runs(run_of(base), failing))
    assert found.verdict == "worse"
    assert said(found, "worse") == {("failure", None), ("grade", None)}
    assert only(compare_runs(failing, run_of(base))).verdict == "better"
    assert only(compare_runs(failing, failing)).verdict == "unknown"


def test_a_committed_run_is_compared_as_far_as_it_was_kept(run_of, tmp_path):
    new = run_of(both(moved(1.5, 1)), name="one input")
    committed = verified(read_run(commit(run_of(base), tmp_path)))
    found = only(compare_runs(committed, new))
    assert found.verdict == "worse"
    assert found.bits is None
    condensed = verified(read_run(commit(run_of(base), tmp_path, matrix=True)))
    found = only(compare_runs(condensed, new))
    assert found.verdict == "worse"  # by its largest error in a region
    assert only(compare_runs(condensed, run_of(base))).verdict == "unknown"  # no digest was kept


def test_nothing_in_common_is_an_error(run_of, tmp_path):
    other = sweep(replace(correct("gelu"), name="test.other"), make_plan("landmarks", "gelu", "float16"))
    place = write_run([other], tmp_path / "other", **MANIFEST)
    with pytest.raises(MissingMeasurement, match=r"nothing to compare: .*\(test.mutant; test.other\)"):
        compare_runs(run_of(base), read_run(place))


def test_a_result_that_is_there_twice_is_refused(run_of):
    run = run_of(base)
    with pytest.raises(ResultsError, match="is there twice"):
        compare_runs(run, replace(run, results=[*run.results, *run.results]))


def test_another_policy_leaves_it_unknown(run_of):
    run = run_of(base)
    lenient = replace(run, results=[replace(run.results[0], repeat=f"{run.results[0].repeat} --policy formula")])
    assert only(compare_runs(run, lenient)).verdict == "unknown"


@pytest.mark.parametrize("policies", [("formula", "limit"), ("limit", "formula")])
def test_the_same_nan_is_not_worse_by_another_policy(tmp_path, policies):
    nan = target("gelu", lambda dtype, x: np.where(x == 0xFC00, np.uint16(0x7E00), right("gelu", dtype, x)))
    runs = []
    for policy in policies:
        found = sweep(nan, make_plan("landmarks", "gelu", "float16"), policy=policy)
        found = replace(found, record=replace(found.record, repeat=f"gelu-verify run --policy {policy}"))
        assert found.record.checks["minus_infinity"] == ("pass" if policy == "formula" else "fail")
        runs.append(read_run(write_run([found], tmp_path / policy, **MANIFEST)))
    (change,) = only(compare_runs(*runs)).changes
    assert (change.where, change.verdict) == ("policy", "unknown")


# ---- the definition ------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [rules.larger_is_worse, rules.less_is_worse])
def test_nan_and_unknown_are_never_the_same(rule):
    for values in ((math.nan, math.nan), (math.nan, 1.0), (1.0, math.nan), (None, 1.0), (1.0, None)):
        assert rule(*values) == "unknown"


def test_errors_on_other_inputs_are_only_judged_where_every_input_was_tried():
    def judged(verdict, **exact):
        return rules.as_far_as_tried(
            verdict, **{"old_is_exact": False, "new_is_exact": False, **exact}, same_inputs=False
        )

    assert judged("worse") == judged("better") == "unknown"
    assert judged("worse", old_is_exact=True) == "worse"
    assert judged("better", old_is_exact=True) == "unknown"
    assert judged("better", new_is_exact=True) == "better"


def test_every_rule_is_documented():
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    lines = {name: f"| `{name}` | {rule.title} | {rule.worse} |" for name, rule in rules.RULES.items()}
    assert not [name for name, line in lines.items() if line not in page], "run: python tools/make_key_tables.py"


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def pair(run_of):
    return str(run_of(base, plan="landmarks").path), str(run_of(moved(-2.0, 2), plan="landmarks", name="other").path)


def invoke(*words):
    return CliRunner().invoke(main, ["compare", *map(str, words)])


def test_the_command_prints_a_screen_and_ends_with_1_where_asked(pair):
    done = invoke(*pair)
    assert done.exit_code == 0, done.output
    assert "\nmixed    test.mutant gelu float16: " in done.stdout
    assert len(done.stdout.splitlines()) <= 36
    assert invoke(*pair, "--fail-on", "worse").exit_code == 1
    assert invoke(*pair, "--fail-on", "change").exit_code == 1
    assert invoke(pair[0], pair[0]).exit_code == 2


def test_not_known_ends_with_3(run_of):
    old, new = (run_of(base, "float32", "quick", seed).path for seed in (0, 1))
    done = invoke(old, new, "--fail-on", "worse")
    assert done.exit_code == 3
    assert "not known to be no worse: test.mutant gelu float32" in done.stderr


def test_json_is_the_documented_object_and_other_forms_hold_the_same(pair, tmp_path):
    document = json.loads(invoke(*pair, "--json").stdout)
    found = compare_runs(*map(read_run, pair))
    assert document == to_json(found)
    (result,) = document["results"]
    inputs = {change.witness.x_bits for change in only(found).changes if change.witness}
    assert {change["direction"] for change in result["changes"]} >= {"worse", "better"}
    for form in ("markdown", "html"):
        out = tmp_path / form
        assert invoke(*pair, "--format", form, "--out", out).exit_code == 0
        text = out.read_text(encoding="utf-8")
        assert all(x in text for x in inputs)


def test_a_forged_run_is_refused(run_of, tmp_path):
    place = Path(shutil.copytree(run_of(base).path, tmp_path / "forged"))
    edited(place, lambda manifest: manifest["results"][0].update(max_ulp=0.5))
    done = invoke(place, run_of(moved(1.5, 2), name="mixed").path)
    assert done.exit_code == 2
    assert "cannot be trusted" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_hostile_names_stay_text(run_of, tmp_path):
    name = "test.<script>\x1b[31m|x"
    made = [replace(faulty("gelu", each), name=name) for each in (base, moved(1.5, 2))]
    assert isinstance(made[0], BitsTarget)
    plan = make_plan("landmarks", "gelu", "float16")
    places = [write_run([sweep(one, plan)], tmp_path / str(k), **MANIFEST) for k, one in enumerate(made)]
    for form in ("text", "markdown", "html"):
        text = invoke(*places, "--format", form).stdout
        assert "\x1b" not in text
        assert form == "text" or "<script>" not in re.sub("^```\n.*\n```$", "", text, flags=re.M)  # Markdown's code


def lost(low, high, value="nan"):
    return where(lambda x: (x > low) & (x < high), value)


def test_the_input_that_shows_a_nan_had_a_number_before(run_of):
    """Not the one nearest to zero, which was NaN before."""
    few, more = run_of(lost(2, 3), name="few"), run_of(lost(2, 5), name="more")
    fmt = get_format("float16")
    for old, new, verdict in ((few, more, "worse"), (more, few, "better")):
        found = only(compare_runs(old, new))
        assert found.verdict == verdict
        (change,) = [each for each in found.changes if each.what == "nonfinite"]
        is_number = [fmt.is_finite(int(bits, 16)) for bits in (change.witness.old_bits, change.witness.new_bits)]
        assert is_number == [verdict == "worse", verdict == "better"]
        for each in found.changes:
            assert (
                each.witness is None or None is each.witness.old_bits or each.witness.old_bits != each.witness.new_bits
            )


def test_a_number_where_nan_was_is_better_though_it_has_the_largest_error(run_of):
    """In 16 bits each input is a bucket of its own, so that no other input is worse is known."""

    def one_lower(dtype, x, y):
        fmt, inside = get_format(dtype), to_float64(get_format(dtype), x)
        return np.where((inside > 2) & (inside < 3), from_ordinals(fmt, ordinals(fmt, y) - 1), y)

    nan, number = run_of(lost(2, 3), name="nan"), run_of(one_lower)
    assert only(compare_runs(nan, number)).verdict == "better"
    assert only(compare_runs(number, nan)).verdict == "worse"


def test_outputs_that_another_call_gives_otherwise_are_not_filled_in(run_of):
    """They are asked for in a call of few inputs: only a target that there gives what was kept is believed."""
    few, more = run_of(lost(2, 3), name="few"), run_of(lost(2, 5), name="more")
    found = compare_runs(few, more)
    known = {(each.witness.x_bits, each.witness.old_bits) for each in only(found).changes if each.witness}
    lacking = [x for x, old in known if old is None]
    kept = {x: old for x, old in known if old is not None}
    assert lacking
    assert kept

    def filled(outputs):
        result = only(completed(found, lambda result, inputs: outputs, lambda result, inputs: {}))
        return {each.witness.x_bits: each.witness.old_bits for each in result.changes if each.witness}

    answered = dict.fromkeys(lacking, "0x3c00")
    assert answered.items() <= filled({**answered, **kept}).items()
    assert filled({**answered, **dict.fromkeys(kept, "0x1234")}).items() >= dict.fromkeys(lacking).items()


def test_what_two_runs_of_a_race_differ_in_is_not_worse(run_of):
    """Chance: what is more than the headroom is not known to be anything else."""

    def racy(run, **changes):
        record = replace(run.results[0], checks={**run.results[0].checks, "repeatable": "fail"}, **changes)
        return replace(run, results=[record])

    few, more = run_of(lost(2, 3), name="few"), run_of(lost(2, 5), name="more")
    alike = racy(few), racy(few, max_ulp=few.results[0].max_ulp * 1.1)
    for old, new in (alike, reversed(alike)):
        found = only(compare_runs(old, new))
        assert {each.verdict for each in found.changes} <= {"neither"}
    assert only(compare_runs(racy(few), racy(more))).verdict == "unknown"
    assert only(compare_runs(racy(more), racy(few))).verdict == "changed"
    assert only(compare_runs(few, racy(more))).verdict == "worse"


def test_results_of_other_second_inputs_are_compared_as_all_pairs_are(run_of):
    """Buckets, regions and the largest error are of the one second input with which a result is worst."""
    fmt = get_format("float16")

    def stored(name, g, wrong):
        second = SecondInput(
            name="g", value_bits=fmt.bits_text(fmt.parse(g)), value=float(g), neutral=1.0, neutral_grade=None,
            neutral_ulp=None, values=3, pairs=9, bound=">=", outputs_sha256="0" * 64,
            correctly_rounded=1.0 - wrong, faithful=1.0, activation_ulp=None, composed_ulp=None, like_composed=None,
            composed_correctly_rounded=None,
        )  # fmt: skip
        run = run_of(lost(2, 3) if g == "2" else base, name=f"{name}{g}")
        return replace(run, results=[replace(run.results[0], second=second, bits_sha256=name * 64)])

    for old, new, verdict in ((0.1, 0.2, "worse"), (0.2, 0.1, "better")):
        found = only(compare_runs(stored("a", "1", old), stored("b", "2", new)))
        assert {each.what for each in found.changes if each.verdict == verdict} >= {"correctly_rounded"}
        assert not {each.what for each in found.changes} & {"region", "interval", "max_ulp", "nonfinite", "mean_bits"}


@pytest.mark.parametrize("how", ["timed", "length"])
def test_what_only_one_run_called_beside_the_plan_decides_nothing(run_of, how):
    """An error that is found in a call that the other run did not make."""
    plain = run_of(base)
    record = plain.results[0]
    beside = (Beside("0x4000", "0x4100", "0x3fd1", 700.0, "at index 3 in a call of 100"),)
    more = replace(record, max_ulp=700.0, grade="coarse", beside=beside)
    if how == "timed":
        more = replace(
            more, throughput=Throughput(1e9, None, spread=0.1, copy_ratio=None, copy_bytes_per_s=None, n=1024)
        )
    else:
        more = replace(more, repeat=f"{record.repeat} --length 7")
    other = replace(plain, results=[more])
    for old, new in ((plain, other), (other, plain)):
        found = only(compare_runs(old, new))
        assert found.verdict == "unknown"
        assert any("calls beside those of the plan" in change.text for change in found.changes)
    same = replace(plain, results=[replace(more, throughput=record.throughput, repeat=record.repeat)])
    assert only(compare_runs(plain, same)).verdict == "worse"


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_the_same_function_is_neither_worse_nor_better_however_it_is_asked(run_of, seed):
    """Random pairs of plans, seeds and policies, timed or with a length or not, of random faults."""
    rng = np.random.default_rng(seed)
    faults = [base, lost(2, 3), moved(1.5, 2), negative_zero, special(-math.inf, "nan")]
    for _ in range(8):
        fault, dtype = faults[rng.integers(len(faults))], ("float16", "float32")[rng.integers(2)]
        sides = []
        for _ in range(2):
            plan = ("landmarks", "quick")[rng.integers(2)]
            run = run_of(fault, dtype, plan, int(rng.integers(2)), name=f"same {faults.index(fault)}")
            record = run.results[0]
            options = f"{' --length 7' * int(rng.integers(2))}{' --policy formula' * int(rng.integers(2))}"
            timed = Throughput(1e9, None, spread=0.1, copy_ratio=None, copy_bytes_per_s=None, n=1024)
            changes = {"repeat": record.repeat + options, "throughput": timed if rng.integers(2) else None}
            sides.append(replace(run, results=[replace(record, **changes)]))
        found = only(compare_runs(*sides))
        assert found.verdict in ("same", "unknown", "changed"), [change.text for change in found.changes]
