"""Runs that were interrupted, and parts that were measured apart: continued or joined to the same run, or refused."""

import os
import shutil
from dataclasses import replace

import pytest

from gelu_verify.errors import ResultsError, UsageError
from gelu_verify.measure.kept import has_measured
from gelu_verify.measure.request import Request
from gelu_verify.records.serialize import to_json
from gelu_verify.runs import journals
from gelu_verify.runs.measuring import measure_run
from gelu_verify.runs.parts import measure_part, merge_parts, request_of_part
from gelu_verify.runs.store import read_run
from gelu_verify.work.journal import Journal, facts_of
from gelu_verify.work.journals import FILE
from gelu_verify.work.observer import Observer

REQUEST = Request(
    targets=("kernels.gelu_as7126",), functions=("gelu",), dtypes=("float16",), length=1 << 13, isolate=False, workers=1
)  # 8 chunks


class Told(Observer):
    """What was said, and a kill after so many inputs."""

    def __init__(self, inputs=1 << 40):
        self.said, self._left = [], inputs

    def warn(self, message):
        self.said.append(message)

    def advance(self, steps):
        self._left -= steps
        if self._left < 0:
            raise KeyboardInterrupt


def contents(run):
    """All that a run says of implementations, and its tables."""
    tables = [path.read_bytes() for path in sorted(run.path.rglob("*.parquet"))]
    return [to_json(record) for record in run.results], tables


def interrupted(root, name, here):
    """A journal with one record, which is left as a kill leaves it."""
    with journals.journal_of_run(root, name, here) as journal:
        journal.append("a", 0, b"content")
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return measure_run(REQUEST, tmp_path_factory.mktemp("whole") / "run", command="gelu-verify run")


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for name, chunks in (("a", (0, 3)), ("b", (3, 8)), ("c", (2, 4))):
        measure_part(REQUEST, chunks, folder / name)
    measure_part(replace(REQUEST, seed=1), (3, 8), folder / "seeded")
    return folder


# ---- the same command again ----------------------------------------------------------------------


def test_an_interrupted_run_is_continued_by_the_same_command_only(whole, tmp_path, monkeypatch):
    monkeypatch.setattr("gelu_verify.measure.part_measurer.LONGEST", 1)
    out = tmp_path / "run"
    told = Told(30_000)
    with pytest.raises(KeyboardInterrupt):
        measure_run(REQUEST, out, command="gelu-verify run", observer=told)
    (folder,) = tmp_path.iterdir()
    assert told.said == [f"what was measured is kept in {folder}: the same command continues from there"]
    other = Told(30_000)
    with pytest.raises(KeyboardInterrupt):
        measure_run(replace(REQUEST, seed=1), out, command="gelu-verify run", observer=other)
    assert other.said[0] == f"the interrupted run in {folder} is not continued: seed is 0 there and 1 here"
    again = Told()
    run = measure_run(REQUEST, out, command="gelu-verify run", observer=again)
    assert again.said == [f"continues the interrupted run in {folder}"]
    assert contents(run) == contents(whole)
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == [folder.name.removesuffix("1") + "2", "run"], "the other one waits for its own command"


@pytest.mark.parametrize("name", ["code of gelu-verify", "version of numpy", "instruction sets", "switches"])
def test_a_journal_of_other_code_libraries_or_processor_is_not_used(tmp_path, name):
    here = {"targets": "a", "functions": "b", "dtypes": "c", name: "this"}
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path, "x", here)
    told = []
    with journals.journal_of_run(tmp_path, "x", {**here, name: "that"}, told.append) as journal:
        assert not has_measured(journal)
    assert told[0].endswith(f"is not continued: {name} is this there and that here")
    with journals.journal_of_run(tmp_path, "x", here) as journal:
        assert list(journal.records("a")) == [(0, b"content")]
        with journals.journal_of_run(tmp_path, "x", here) as second:
            assert second.path != journal.path, "nobody else may append to it"


def test_a_part_that_another_process_wrote_meanwhile_is_not_replaced(tmp_path):
    there = tmp_path / "part"

    def write():
        with journals.journal_of_run(tmp_path, "part", {}, keep=there) as journal:
            journal.append("a", 0, b"content")
            there.mkdir()
            (there / "theirs").write_text("as it was")

    with pytest.raises(ResultsError, match="part was made meanwhile; what was measured here is in ") as raised:
        write()
    assert [each.name for each in there.iterdir()] == ["theirs"]
    assert os.path.isdir(str(raised.value).rpartition(" is in ")[2])


def test_the_journal_of_a_run_that_was_stored_is_removed(whole, tmp_path):
    """A kill may come between the two."""
    shutil.copytree(whole.path, tmp_path / "run")
    for name in ("run", "other"):
        with pytest.raises(KeyboardInterrupt):
            interrupted(tmp_path, name, {})
    with pytest.raises(ResultsError, match="is already there"):
        measure_run(REQUEST, tmp_path / "run", command="gelu-verify run")
    assert len(list(tmp_path.iterdir())) == 2, "the run, and the journal of the other one"


def test_journals_that_nobody_continues_are_removed(tmp_path, monkeypatch):
    for name in "abc":
        with pytest.raises(KeyboardInterrupt):
            interrupted(tmp_path, name, {})
    monkeypatch.setattr("gelu_verify.work.journals.KEPT_DAYS", -1)
    with journals.journal_of_run(tmp_path, "x", {}) as journal:
        assert list(tmp_path.iterdir()) == [journal.path.parent]


@pytest.mark.nightly
def test_a_run_goes_on_where_its_journal_cannot(whole, tmp_path, monkeypatch):
    """A full disk: the journal ends, and the run does not."""

    told, real, left = Told(), os.pwrite, [2]

    def pwrite(file, content, offset):
        if not left[0]:
            raise OSError(28, "No space left on device")
        left[0] -= 1
        return real(file, content, offset)

    monkeypatch.setattr("gelu_verify.work.journal.os.pwrite", pwrite)
    run = measure_run(REQUEST, tmp_path / "run", command="gelu-verify run", observer=told)
    assert "No space left on device" in told.said[0]
    assert contents(run) == contents(whole)


# ---- parts ---------------------------------------------------------------------------------------


def test_parts_in_any_order_make_the_whole_run(whole, parts, tmp_path):
    run = merge_parts([parts / "b", parts / "a"], tmp_path / "run", command="gelu-verify merge")
    assert contents(run) == contents(whole)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert request_of_part(parts / "a") == replace(REQUEST, workers=None)
    assert read_run(run.path).results == run.results


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a"], "chunks 3:8 of kernels.gelu_as7126/gelu/float16 are in no part"),
        (["b"], "chunks 0:3 of .* are in no part"),
        (["a", "b", "c"], "chunks 2:3 of .* are in .*a and in .*c"),
        (["a", "a", "b"], "chunks 0:3 of .* are in .*a and in .*a"),
        (["a", "seeded"], "seeded does not belong to .*a: seed is 0 there and 1 here"),
        (["a", "cut"], "cut is truncated"),
        (["a", "damaged"], r"damaged is damaged: record \d of kernels.gelu_as7126"),
        (["a", "nothing"], "nothing is not a part of a run"),
        (["a", "older"], "older does not belong to .*a: version of numpy is .* there and 1.0 here"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused_by_name(parts, tmp_path, names, reason):
    for name in ("cut", "damaged"):
        shutil.copytree(parts / "b", tmp_path / name)
    file = tmp_path / "cut" / FILE
    file.write_bytes(file.read_bytes()[:-1])
    file = tmp_path / "damaged" / FILE
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    (tmp_path / "older").mkdir()
    found = dict(facts_of(parts / "b" / FILE))
    with Journal(tmp_path / "older" / FILE, {**found, "version of numpy": "1.0"}) as journal:
        journal.seal()
    paths = [parts / name if (parts / name).exists() else tmp_path / name for name in names]
    with pytest.raises(ResultsError, match=reason):
        merge_parts(paths, tmp_path / "run", command="gelu-verify merge")
    assert not (tmp_path / "run").exists()


@pytest.mark.nightly
def test_a_part_of_another_processor_must_have_the_same_outputs(whole, parts, tmp_path):
    for name, change in (("alike", {}), ("other", {"outputs of kernels.gelu_as7126/gelu/float16": "0"})):
        shutil.copytree(parts / "b", tmp_path / name)
        file = tmp_path / name / FILE
        found = {**facts_of(file), "instruction sets": "sve", "processor": "another", **change}
        _replace_facts(file, found)
    run = merge_parts([parts / "a", tmp_path / "alike"], tmp_path / "run", command="gelu-verify merge")
    assert contents(run) == contents(whole)
    with pytest.raises(ResultsError, match=r"outputs of kernels.gelu_as7126/gelu/float16 is .* there and 0 here"):
        merge_parts([parts / "a", tmp_path / "other"], tmp_path / "second", command="gelu-verify merge")


def _replace_facts(file, found):
    from gelu_verify.work.journal import contents as read

    records = read(file).records
    file.unlink()
    with Journal(file, found) as journal:
        for key, values in records.items():
            for index, content in values if key != "end" else ():
                journal.append(key, index, content)
        journal.seal()


def test_chunks_that_no_plan_has_are_refused(tmp_path):
    with pytest.raises(UsageError, match=r"chunks 0:9 are not in the plan \(accepted: within 0:8\)"):
        measure_part(REQUEST, (0, 9), tmp_path / "part")
    assert not list(tmp_path.iterdir())
