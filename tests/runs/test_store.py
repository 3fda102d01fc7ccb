"""Stored runs: what is written is read back; whatever goes wrong costs one line and nothing that was there."""

import datetime
import errno
import hashlib
import json
import os
import resource
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import requiring
from forged import edited
from mutants import at, correct, faulty, target
from repository import ROOT, SUPPORT

from gelu_verify.buckets.table import BITS
from gelu_verify.errors import ResultsError
from gelu_verify.formats import DTYPES, get_format
from gelu_verify.inputs.plans import make_plan
from gelu_verify.measure.sweep import sweep
from gelu_verify.records.serialize import to_json
from gelu_verify.runs import store as results_module
from gelu_verify.runs.bucket_files import read_buckets
from gelu_verify.runs.integrity import verified
from gelu_verify.runs.store import RunWriter, read_run, write_run
from gelu_verify.truth.values import reference_bits

FACTS = {"versions": {"numpy": "2"}, "machine": {"cpu": "x"}, "git": None, "copy_bytes_per_s": 1e9}
MANIFEST = {"command": "gelu-verify run", "seed": 0, "plan": "quick", "absent": {"torch": "not here"}, "facts": FACTS}


def broken(dtype, x):
    raise ValueError("no")


@pytest.fixture(scope="module")
def some_results():
    found = [sweep(faulty("gelu", at(-3.0, "nan")), make_plan("quick", "gelu", dtype)) for dtype in DTYPES]
    return [*found, sweep(target("gelu", broken), make_plan("quick", "gelu", "float32"))]


@pytest.fixture
def stored(some_results, tmp_path):
    return write_run(some_results, root=tmp_path / "reports", **MANIFEST)


def everything(folder):
    """Every file below, with its content; links as where they point."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
        else:
            found[str(path.relative_to(folder))] = None
    return found


def test_what_is_written_is_read_back(some_results, stored):
    run = read_run(stored)
    assert run.manifest["schema"] == 2
    assert run.manifest["absent"] == {"torch": "not here"}
    assert run.manifest["created"].endswith("Z")
    assert {key: run.manifest[key] for key in FACTS} == FACTS
    for index, (result, record) in enumerate(zip(some_results, run.results, strict=True)):
        assert replace(record, buckets=None, sha256=None) == result.record
        if result.table is None:
            assert record.buckets is record.sha256 is None
            continue
        assert record.buckets == f"buckets/{index:03d}.parquet"
        assert hashlib.sha256((stored / record.buckets).read_bytes()).hexdigest() == record.sha256
        frame, flat = run.table(index), result.table.flat
        assert list(frame.columns) == list(flat)
        for name, column in flat.items():
            np.testing.assert_array_equal(frame[name].to_numpy(), column)


def test_bits_are_stored_in_the_unsigned_type_of_the_dtype(stored):
    run = read_run(stored)
    for index, record in enumerate(run.results[: len(DTYPES)]):
        columns, said = read_buckets(run.buckets(index))
        kinds = {name: str(column.dtype) for name, column in columns.items()}
        uint = str(get_format(record.dtype).uint)
        assert {kinds[name] for name in BITS} == {uint}
        assert (kinds["bucket"], kinds["n"], kinds["error_sum"], kinds["max_error"]) == (
            "uint16",
            "uint32",
            "int64",
            "float64",
        )
        facts = json.loads(said)
        assert facts == {"schema": 2, **{key: getattr(record, key) for key in facts if key != "schema"}}
        assert {"target", "function", "dtype", "seed", "plan", "n", "bound"} < set(facts)


def test_the_same_results_give_the_same_bytes(some_results, stored, tmp_path):
    again = write_run(some_results, root=tmp_path / "others", **MANIFEST)
    first, second = everything(stored), everything(again)
    assert {k: v for k, v in first.items() if k != "manifest.json"} == {
        k: v for k, v in second.items() if k != "manifest.json"
    }


def test_runs_never_replace_each_other(some_results, tmp_path, monkeypatch):
    now = datetime.datetime(2026, 9, 21, 10, 11, 12, tzinfo=datetime.UTC)
    clock = SimpleNamespace(datetime=SimpleNamespace(now=lambda zone: now), UTC=datetime.UTC)
    monkeypatch.setattr(results_module, "datetime", clock)  # and not the module that others import
    root = tmp_path / "reports"
    places = [write_run(some_results[:1], root=root, **MANIFEST) for _ in range(3)]
    assert [place.name for place in places] == [f"20260921T101112Z-{k}" for k in (1, 2, 3)]
    assert read_run(root / "latest").manifest == read_run(places[2]).manifest
    assert os.readlink(root / "latest") == places[2].name
    assert sorted(path.name for path in root.iterdir()) == sorted([*(place.name for place in places), "latest"])


def test_latest_is_a_text_file_where_links_cannot_be_made(some_results, tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(results_module.Path, "symlink_to", refuse)
    place = write_run(some_results[:1], root=tmp_path, **MANIFEST)
    assert (tmp_path / "latest").read_text() == place.name + "\n"
    assert read_run(tmp_path / "latest").path == place


def test_a_folder_of_ones_own(some_results, tmp_path):
    out = tmp_path / "deep" / "mine"
    assert write_run(some_results[:1], out, **MANIFEST) == out
    assert not (tmp_path / "deep" / "latest").exists()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["mine"]
    before = everything(out)
    with pytest.raises(ResultsError, match="is already there"):
        RunWriter(out)
    assert everything(tmp_path / "deep") == {"mine": None, **{f"mine/{k}": v for k, v in before.items()}}
    empty = tmp_path / "empty"
    empty.mkdir()
    assert write_run(some_results[:1], empty, **MANIFEST) == empty


def test_a_folder_that_is_taken_while_measuring_is_not_overwritten_and_the_run_is_beside_it(some_results, tmp_path):
    out = tmp_path / "mine"
    with RunWriter(out) as writer:
        writer.add(some_results[0])
        out.mkdir()
        (out / "precious").write_text("x")
        stored = writer.finish(**MANIFEST)
    assert everything(out) == {"precious": b"x"}
    assert stored.path == tmp_path / "mine-2"
    assert read_run(stored.path).results[0].target == some_results[0].record.target


def test_what_has_no_grade_and_what_failed_once_are_read_back_and_believed(tmp_path):
    """No finite input was tried; and a call that did not fail when it was made again, of which no input is kept."""
    calls = []

    def once(dtype, x):
        calls.append(x)
        if len(calls) == 3:
            raise ValueError("the third")
        return reference_bits("gelu", dtype, x)

    ungraded = sweep(correct("gelu"), make_plan("default", "gelu", "bfloat16", 0, ["nan:nan"]))
    failed = sweep(target("gelu", once), make_plan("landmarks", "gelu", "bfloat16"))
    stored = verified(read_run(write_run([ungraded, failed], tmp_path / "run", **MANIFEST)))
    assert [record.grade for record in stored.results] == [None, "broken"]
    assert [record.grade_bound for record in stored.results] == [None, "="]
    assert (stored.results[1].failure_range, stored.results[1].failure_length) == (None, None)
    jsonschema = requiring.module("jsonschema")
    document = json.loads((tmp_path / "run" / "manifest.json").read_text())
    jsonschema.validate(document, json.loads((ROOT / "data" / "schema" / "run.json").read_text()))


def test_leaving_without_finishing_leaves_nothing(some_results, tmp_path):
    with pytest.raises(KeyboardInterrupt), RunWriter(root=tmp_path) as writer:  # noqa: PT012
        writer.add(some_results[0])
        raise KeyboardInterrupt
    assert everything(tmp_path) == {}


# ---- places that cannot be written ---------------------------------------------------------------


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ResultsError, match=r"cannot write the run in .*file"):
        RunWriter(tmp_path / "file" / "run")
    with pytest.raises(ResultsError, match="already there"):
        RunWriter(tmp_path / "file")
    with pytest.raises(ResultsError, match="cannot write the run in"):
        RunWriter(root=tmp_path / "file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(ResultsError, match="Permission denied"):
        RunWriter(root=tmp_path)


@pytest.mark.parametrize("successes", range(4))
def test_a_full_disk_costs_one_line_and_nothing_else(some_results, stored, monkeypatch, successes):
    root = stored.parent
    before, left = everything(root), [successes]

    def fsync(descriptor):
        if left[0] == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(ResultsError, match="No space left on device") as error:
        write_run(some_results[:1], root=root, **MANIFEST)
    assert "\n" not in str(error.value)
    assert everything(root) == before


def test_a_limit_on_file_sizes_is_met_like_a_full_disk(tmp_path):
    """The same with a real failure of write(2), in a process of its own."""
    program = textwrap.dedent(
        """
        import resource, signal, sys
        from pathlib import Path
        from mutants import correct
        from gelu_verify.errors import ResultsError
        from gelu_verify.inputs.plans import make_plan
        from gelu_verify.runs.store import write_run
        from gelu_verify.measure.sweep import sweep
        result = sweep(correct("gelu"), make_plan("quick", "gelu", "float32"))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            write_run([result], root=Path(sys.argv[1]), command="", seed=0, plan="quick", absent={}, facts={})
        except ResultsError as error:
            sys.exit(str(error))
        """
    )
    assert resource.RLIMIT_FSIZE is not None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(SUPPORT)])}
    command = [sys.executable, "-P", "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert "cannot write the run in" in done.stderr
    assert "File too large" in done.stderr
    assert everything(tmp_path) == {}


# ---- runs that cannot be read --------------------------------------------------------------------


def change(path, **changes):
    def put(manifest):
        manifest |= changes
        for key in [key for key, value in manifest.items() if value is ...]:
            del manifest[key]

    edited(path.parent, put)


def refused(path):
    with pytest.raises(ResultsError) as error:
        read_run(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_nothing_there(tmp_path):
    assert "no stored run at" in refused(tmp_path / "nowhere")
    assert "has no manifest.json" in refused(tmp_path)
    (tmp_path / "latest").write_text("gone\n")
    assert "no stored run at" in refused(tmp_path / "latest")
    (tmp_path / "file").write_text("x")
    assert "is not a stored run" in refused(tmp_path / "file")


def test_a_truncated_manifest(stored):
    path = stored / "manifest.json"
    whole = path.read_bytes()
    for length in (0, 1, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:length])
        assert "truncated or not JSON" in refused(stored)
    path.write_bytes(b"\xff\xfe\x00")
    assert "truncated or not JSON" in refused(stored)


def test_a_foreign_manifest(stored):
    path = stored / "manifest.json"
    for text in ("[]", "3", '"run"', '{"name": "web-app", "icons": []}'):
        path.write_text(text)
        assert "not a gelu-verify manifest" in refused(stored)


def test_schema_and_keys(stored):
    path = stored / "manifest.json"
    whole = path.read_bytes()
    for wrong in (3, 0, "1", None, True, [], -1):
        change(path, schema=wrong)
        assert "this version reads 1 and 2" in refused(stored)
        path.write_bytes(whole)
    change(path, machine=...)
    assert "lacks machine" in refused(stored)
    path.write_bytes(whole)
    change(path, results={})
    assert "results is an object, not a list" in refused(stored)
    record = json.loads(whole)["results"][0]
    del record["max_ulp"], record["checks"]
    change(path, results=[record])
    assert "result 0 lacks max_ulp, checks" in refused(stored)
    change(path, results=[7])
    assert "result 0 is a number, not an object" in refused(stored)


def test_damaged_buckets(stored):
    run = read_run(stored)
    path = stored / run.results[0].buckets
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    with pytest.raises(ResultsError, match="is damaged: its sha256"):
        run.table(0)
    path.write_bytes(b"nonsense")
    records = [{**to_json(run.results[0]), "sha256": hashlib.sha256(b"nonsense").hexdigest()}]
    change(stored / "manifest.json", results=records)
    with pytest.raises(ResultsError, match="are not a Parquet file"):
        read_run(stored).table(0)
    path.unlink()
    with pytest.raises(ResultsError, match=r"cannot read .*No such file"):
        run.table(0)
    assert len(run.table(1))
    with pytest.raises(ResultsError, match=r"holds no buckets of test\.mutant/gelu/float32: .*raised ValueError"):
        run.table(len(DTYPES))


def test_manifest_is_strict_json(stored):
    def refuse(text):
        raise AssertionError(text)

    assert json.loads((stored / "manifest.json").read_text(), parse_constant=refuse)["results"]


def test_a_run_is_readable_by_others_as_the_umask_says(some_results, tmp_path):
    before = os.umask(0o027)
    try:
        place = write_run(
            [sweep(correct("gelu"), make_plan("landmarks", "gelu", "float16"))], root=tmp_path, **MANIFEST
        )
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o750


def test_a_run_that_is_not_finished_leaves_no_folder(tmp_path):
    (tmp_path / "there").mkdir()
    with RunWriter(tmp_path / "there" / "a" / "b" / "run"):
        pass
    with RunWriter(root=tmp_path / "reports"):
        pass
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "there"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the threads of a process by name")
def test_buckets_are_read_on_the_thread_that_asks(stored):
    """One of pyarrow's that lets go of the file when Python ends aborts the process, in a few of a hundred runs."""
    pytest.importorskip("pyarrow")
    code = """
import sys, pyarrow.parquet
from pathlib import Path
from gelu_verify.runs.bucket_files import read_columns
threads = lambda: [each.read_text().strip() for each in Path("/proc/self/task").glob("*/comm")]
before = threads()
read_columns(Path(sys.argv[1]).read_bytes())
print(len([each for each in threads() if not each.startswith("jemalloc")]) - len(before))
"""
    buckets = next(stored.glob("buckets/*.parquet"))
    done = subprocess.run([sys.executable, "-P", "-c", code, buckets], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 0
