"""Budgets that reach different buckets: what both tried decides, and nothing else does."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from marking import nightly
from mutants import faulty, shifted

from gelu_verify.cli import main
from gelu_verify.compare.runs import compare_runs, decisive
from gelu_verify.compare.trend import trend
from gelu_verify.formats import buckets, get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.budget import Budget
from gelu_verify.measure.sweep import sweep
from gelu_verify.runs.bucket_files import read_columns
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import read_run, write_run

FACTS = {"versions": {}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "default", "absent": {}, "facts": FACTS}


def noisy(changed=None):
    """Off by up to 6 floats at one of 3,000 inputs, which ones depends on the bits; at `changed` by 9."""

    def fault(dtype, x, y):
        hashed = x.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(33)
        size = np.where(hashed % 3000 == 0, hashed % 13, 6).astype(np.int64) - 6
        return shifted(get_format(dtype), y, size if changed is None else np.where(x == changed, 9, size))

    return faulty("gelu", fault)


@pytest.fixture(scope="module")
def run_of(tmp_path_factory):
    """Stores what a kernel gives in so many buckets more than the plan has."""
    folder, stored = tmp_path_factory.mktemp("runs"), {}

    def run(count, changed=None, dtype="float32", seed=0):
        key = count, changed, dtype, seed
        if key not in stored:
            result = sweep(noisy(changed), make_plan("default", "gelu", dtype, seed), budget=Budget(buckets=count))
            place = write_run([result], folder / f"{len(stored)}", **{**MANIFEST, "seed": seed})
            stored[key] = verified(read_run(place))
        return stored[key]

    return run


def of_buckets(run):
    """{bucket: number of inputs}."""
    columns = read_columns(run.buckets(0))
    return dict(zip(columns["bucket"].tolist(), columns["n"].tolist(), strict=True))


def only(found):
    (result,) = found.results
    return result


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("dtype", "counts"), [("float32", (0, 3)), *nightly(("float32", (3, 20)), ("float64", (2, 20)))]
)
def test_the_same_target_is_the_same_however_far_a_budget_went(run_of, dtype, counts):
    old, new = (run_of(count, dtype=dtype) for count in counts)
    first, second = of_buckets(old), of_buckets(new)
    common = [bucket for bucket in first if first[bucket] == second.get(bucket)]
    assert len(common) < len({*first, *second})
    for runs in ((old, new), (new, old)):
        found = only(compare_runs(*runs))
        assert (found.verdict, found.changes, found.bits.differ, found.same_inputs) == ("same", (), 0, False)
        assert (found.both_tried.buckets, found.both_tried.of) == (len(common), len({*first, *second}))
        assert found.both_tried.inputs == found.bits.inputs == sum(first[bucket] for bucket in common)
        assert decisive(compare_runs(*runs), "worse") == ([], [])
    (series,) = trend([old, new]).series
    assert [point.results for point in series.points] == ["first", "same"]
    assert series.changes == 0


def inputs_of(run, wanted):
    """An input of the plan that lies in a bucket of which `wanted` is true."""
    x = np.concatenate([chunk.x_bits() for chunk in make_plan("default", "gelu", "float32").chunks])
    values = x.view(np.float32)
    x = x[(np.abs(values) > 0.1) & (np.abs(values) < 3)]
    return int(next(each for each in x if wanted(int(buckets(get_format("float32"), np.array([each]))[0]))))


@pytest.mark.nightly
def test_one_float_at_an_input_that_both_tried_is_seen(run_of):
    old = run_of(3)
    first, second = of_buckets(old), of_buckets(run_of(8))
    changed = inputs_of(old, lambda bucket: first[bucket] == second[bucket])
    found = only(compare_runs(old, run_of(8, changed)))
    assert found.verdict == "worse"
    text = get_format("float32").bits_text(changed)
    assert any(each.witness and each.witness.x_bits == text for each in found.changes if each.verdict == "worse")
    assert only(compare_runs(run_of(8, changed), old)).verdict == "better"
    (series,) = trend([old, run_of(8, changed)]).series
    assert (series.points[1].results, series.changes) == ("changed", 1)


def test_what_only_one_tried_is_said_to_be_outside(run_of, tmp_path):
    old = run_of(3)
    first, second = of_buckets(old), of_buckets(run_of(8))
    bucket = next(each for each, n in second.items() if n == 65536 != first.get(each))
    fmt = get_format("float32")
    tried = {int(x) for chunk in make_plan("default", "gelu", "float32").chunks for x in chunk.x_bits()}
    low = (bucket - 0x8000) << 16
    changed = next(x for x in map(fmt.from_ordinal, range(low + 7, low + 65536)) if x not in tried)
    new = run_of(8, changed)
    assert of_buckets(new)[bucket] == 65536
    found = only(compare_runs(old, new))
    assert found.verdict == "same"
    assert f"{new.results[0].max_ulp:.6g} ULP at {fmt.bits_text(changed)}" in found.both_tried.outside
    said = CliRunner().invoke(main, ["compare", str(old.path), str(new.path), "--fail-on", "worse"])
    assert said.exit_code == 0, said.output
    assert "not tried by both" in " ".join(said.output.split())


def test_inputs_that_are_not_those_of_the_plan_are_not_compared(run_of):
    """Another seed, or digests that are not those of the plan: only whole buckets are certain."""
    old, new = run_of(3), run_of(8)
    assert only(compare_runs(old, run_of(3, seed=1))).verdict == "unknown"
    forged = replace(new, results=[replace(new.results[0], inputs_sha256="0" * 64)])
    both = only(compare_runs(old, forged)).both_tried
    whole = {bucket for bucket, n in of_buckets(old).items() if n == 65536}
    assert both.buckets == len(whole & {bucket for bucket, n in of_buckets(new).items() if n == 65536})
