"""A sweep that was stopped anywhere and continued gives what an undisturbed one gives, and measures nothing twice."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutants import at, correct, faulty, target
from outcomes import content

from gelu_verify.errors import TargetFailure, UsageError
from gelu_verify.formats import get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.jobs import Job
from gelu_verify.measure.kept import Kept
from gelu_verify.measure.part_measurer import LONGEST, PartMeasurer, ranges
from gelu_verify.measure.parts import Merging, Part, packed, unpacked
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.serialize import to_json
from gelu_verify.targets.extra_outputs import Differences
from gelu_verify.truth.values import reference_bits
from gelu_verify.work.executors import Where
from gelu_verify.work.journal import Journal

PLAN = make_plan("default", "gelu", "bfloat16", length=1 << 12)  # 16 chunks
FAULTY = faulty("gelu", at(-3.0, "-0.25"))


class Killed(BaseException):
    """As sudden as a kill for the sweep: no code of it expects this."""


def killing(after):
    """A progress callback that ends the sweep after so many chunks."""
    left = [after]

    def progress(inputs):
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    return progress


@pytest.fixture(scope="module")
def undisturbed():
    return sweep(FAULTY, PLAN, workers=1)


# ---- the journal of a sweep ----------------------------------------------------------------------


def test_a_sweep_continues_with_the_chunks_that_are_missing(undisturbed, tmp_path, monkeypatch):
    monkeypatch.setattr("gelu_verify.measure.part_measurer.LONGEST", 2)
    called = []

    def answer(dtype, x):
        called.append(len(x))
        return FAULTY.answer(dtype, x)

    counting = target("gelu", answer)
    for after in (3, 5):
        with Journal(tmp_path / "journal", {}) as journal, pytest.raises(Killed):
            sweep(counting, PLAN, workers=2, kept=Kept(journal, "a"), progress=killing(after))
    with Journal(tmp_path / "journal", {}) as journal:
        kept = Kept(journal, "a")
        done = sum(part.end - part.first for part in kept.parts())
        called.clear()
        result = sweep(counting, PLAN, workers=2, kept=kept)
    assert 4 <= done < len(PLAN.chunks)
    assert called[: len(PLAN.chunks) - done] == [PLAN.length] * (len(PLAN.chunks) - done)
    assert result.record == undisturbed.record
    assert content(result.table) == content(undisturbed.table)
    assert result.time is None


def test_results_that_are_complete_are_not_measured_again(tmp_path):
    """Among them a failure; the second run of the same jobs makes no call at all."""
    calls = []

    def answer(dtype, x):
        calls.append(dtype)
        return reference_bits("gelu", dtype, x)

    def broken(dtype, x):
        calls.append(dtype)
        raise ValueError("no")

    plan = make_plan("quick", "gelu", "float32")
    right = [replace(target("gelu", answer, name), form="gelu_erf") for name in ("test.a", "test.b")]
    jobs = [Job(each, plan) for each in (*right, target("gelu", broken, "test.c"))]
    with Journal(tmp_path / "journal", {}) as journal:
        first = list(measured(jobs, Request(workers=1), journal=journal))
    calls.clear()
    with Journal(tmp_path / "journal", {}) as journal:
        again = list(measured(jobs, Request(workers=1, throughput="quick"), journal=journal))
    assert not calls
    assert [to_json(each.record) for each in again] == [to_json(each.record) for each in first]
    assert content(again[0].table) == content(first[0].table)
    assert again[1].record.pair == first[1].record.pair is not None
    assert again[2].failure == first[2].failure is not None


def test_a_damaged_part_is_measured_again_even_below_a_result(tmp_path):
    path, job = tmp_path / "journal", Job(FAULTY, PLAN)
    with Journal(path, {}) as journal:
        (first,) = measured([job], Request(workers=1), journal=journal)
        entry = next(each for each in journal._entries if each.key == job.key)
    whole = bytearray(path.read_bytes())
    whole[entry.offset + entry.length // 2] ^= 1
    path.write_bytes(whole)
    with Journal(path, {}) as journal:
        assert journal.damaged == [f"record {entry.index} of {job.key}"]
        (again,) = measured([job], Request(workers=1), journal=journal)
    assert to_json(again.record) == to_json(first.record)
    assert content(again.table) == content(first.table)


def test_the_failure_is_that_of_the_first_chunk_that_fails(monkeypatch):
    """Also where a later one fails earlier, and where it is not the first of its item."""
    monkeypatch.setattr("gelu_verify.measure.part_measurer.LONGEST", 3)
    fmt, bad = get_format("bfloat16"), {int(PLAN.chunks[index].x_bits()[5]): index for index in (4, 5, 11, 15)}

    def answer(dtype, x):
        for bits, index in bad.items():
            if bits in x and len(x) == PLAN.length:
                raise ValueError(f"chunk {index}")
        return reference_bits("gelu", dtype, x)

    for workers in (1, 3):
        failure = sweep(target("gelu", answer), PLAN, workers=workers).failure
        assert "chunk 4" in failure, fmt.name


# ---- parts ---------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    st.integers(0, 300),
    st.integers(1, 300),
    st.integers(1, 40),
    st.sets(st.integers(0, 299)),
)
def test_ranges_are_the_chunks_that_are_missing_each_once(first, size, workers, done):
    asked = (first, first + size)
    spans = [(index, index + 1) for index in done if asked[0] <= index < asked[1]]
    items = list(ranges(asked, spans, workers))
    assert all(0 < end - start <= LONGEST for start, end in items)
    assert [index for start, end in items for index in range(start, end)] == [
        index for index in range(*asked) if index not in done
    ]


def test_a_part_is_the_same_on_the_other_side():
    part = PartMeasurer(FAULTY, PLAN).measured((3, 5))
    fmt = get_format("bfloat16")
    x = np.array([1, 2], fmt.uint)
    failure = TargetFailure("it\nfell", "segfault", first_bits=3)
    failure.inputs = x
    noted = (TargetFailure("it printed", "stdout"), failure)
    different = (Differences(x, x, x + 1, np.arange(2), ("here", "there")),)
    part = Part(3, 5, part.table, 1.5, 2.5, different, noted, failure, {"host": "a"})
    again = unpacked(packed(part))
    assert content(again.table) == content(part.table)
    assert again.table.facts == part.table.facts
    assert (again.first, again.end, again.target_s, again.seconds, again.worker) == (3, 5, 1.5, 2.5, {"host": "a"})
    assert [each.tolist() for each in again.differences[0][:4]] == [each.tolist() for each in different[0][:4]]
    assert again.differences[0].where == ("here", "there")
    for one, other in zip((*again.noted, again.failure), (*noted, failure), strict=True):
        assert (str(one), one.kind, one.first_bits) == (str(other), other.kind, other.first_bits)
        assert np.array_equal(one.inputs, other.inputs) or one.inputs is other.inputs is None


def test_merging_in_a_tree_gives_what_merging_at_once_gives(undisturbed):
    merging, work = Merging(), PartMeasurer(FAULTY, PLAN)
    for index in (*range(1, 16, 2), *range(0, 16, 2)):
        merging.add(work.measured((index, index + 1)).table)
    table = merging.merged()
    whole = work.measured((0, 16)).table
    assert content(table) == content(whole)


def test_a_target_that_is_an_object_is_not_found_by_other_processes():
    with pytest.raises(UsageError, match="other processes find by name"):
        Request(targets=(correct("gelu"),), executor=Where(name="processes"))
