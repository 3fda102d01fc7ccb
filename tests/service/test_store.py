"""The store: whole or not at all, whoever writes beside, whatever is killed."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from repository import TESTS

pytest.importorskip("fastapi", reason="needs the extra serve")

from starlette.testclient import TestClient

from gelu_verify.atomic_files import unfinished_folder
from gelu_verify.errors import ResultsError
from gelu_verify.runs.store import read_run
from gelu_verify.service import store as module
from gelu_verify.service.app import create_app
from gelu_verify.service.run_repository import RunRepository
from gelu_verify.service.settings import Settings
from gelu_verify.service.store import MIGRATIONS, Store
from gelu_verify.service.tokens import parse_tokens
from gelu_verify.verification import verify

FACTS = {"versions": {}, "machine": {}, "git": None, "copy_bytes_per_s": None}
WRITER = """
import sys
from gelu_verify.service.store import Store
from gelu_verify import verify
import numpy as np
result = verify(lambda x: np.maximum(x, 0), "relu", "float16", "landmarks")
store = Store(__import__("pathlib").Path(sys.argv[1]))
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    print(store.add(result, command="test", facts=%r), flush=True)
""" % (FACTS,)  # noqa: UP031 - braces


@pytest.fixture(scope="module")
def result():
    import numpy as np

    return verify(lambda x: np.maximum(x, 0), "relu", "float16", "landmarks")


def add(store, result):
    return store.add(result, command="test", facts=FACTS)


def writer(place, count):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WRITER, str(place), str(count)], stdout=subprocess.PIPE, text=True
    )


def check_whole(place):
    """Index and folders agree, and every run reads."""
    store = Store(place)
    names = store.names()
    assert set(names) == {path.name for path in (place / "runs").iterdir() if path.name[0] != "."}
    for name in names:
        run = read_run(store.path(name))
        assert len(run.table(0))
    return names


def test_what_is_added_is_there_also_after_a_restart(tmp_path, result):
    name = add(Store(tmp_path), result)
    assert check_whole(tmp_path) == [name]
    assert Store(tmp_path).path("../index.sqlite") is None


def test_writers_side_by_side(tmp_path):
    crowd = [writer(tmp_path, 6) for _ in range(3)]
    names = [line for each in crowd for line in each.communicate(timeout=60)[0].split() if line != "ready"]
    assert len(names) == 18
    assert sorted(check_whole(tmp_path)) == sorted(names)


@pytest.mark.parametrize("after", [0.0, 0.011])
def test_killed_at_any_moment_nothing_is_lost_and_nothing_is_half_there(tmp_path, after):
    one = writer(tmp_path, 10_000)
    assert one.stdout.readline() == "ready\n"
    names = [one.stdout.readline().strip() for _ in range(2)]
    time.sleep(after)
    one.send_signal(signal.SIGKILL)
    names += one.communicate()[0].split("\n")[:-1]
    assert set(names) <= set(check_whole(tmp_path))


def test_a_run_that_the_index_does_not_know_is_found(tmp_path, result):
    """Killed between the folder and the index."""
    store = Store(tmp_path)
    name = add(store, result)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as index, index:
        index.execute("DELETE FROM runs")
    assert Store(tmp_path).names() == [name]
    shutil.rmtree(tmp_path / "runs" / name)
    assert Store(tmp_path).names() == []


def test_what_was_left_unfinished_is_swept_away_when_it_is_old(tmp_path):
    Store(tmp_path)
    for name, age in (("old", 2 * module.ABANDONED_S), ("new", 0.0)):
        place = tmp_path / "runs" / f".unfinished-{name}"
        place.mkdir()
        os.utime(place, (time.time() - age, time.time() - age))
    Store(tmp_path)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [".unfinished-new"]


def test_an_index_that_cannot_be_written_leaves_no_run(tmp_path, result, monkeypatch):
    store = Store(tmp_path)

    def fails(paths):
        raise ResultsError("disk I/O error")

    monkeypatch.setattr(store, "_enter", fails)
    with pytest.raises(ResultsError):
        add(store, result)
    assert not any((tmp_path / "runs").iterdir())


def test_stores_of_every_earlier_version_open(tmp_path, result):
    for version in range(len(MIGRATIONS) + 1):
        place = tmp_path / str(version)
        (place / "runs").mkdir(parents=True)
        with closing(sqlite3.connect(place / "index.sqlite")) as index, index:
            for script in MIGRATIONS[:version]:
                index.executescript(script)
            index.execute(f"PRAGMA user_version = {version}")
        add(Store(place), result)
        check_whole(place)


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_a_store_that_each_version_wrote_opens_and_goes_on(tmp_path, result, version):
    """tests/data/stores/version-N, kept as it was written by the program that wrote version N."""
    place = tmp_path / "store"
    shutil.copytree(TESTS / "data" / "stores" / f"version-{version}", place)
    (old,) = Store(place).names()
    assert read_run(place / "runs" / old).results[0].max_ulp == 0
    new = add(Store(place), result)
    assert sorted(check_whole(place)) == sorted([old, new])


def test_a_store_of_a_later_version_is_refused(tmp_path):
    Store(tmp_path)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as index, index:
        index.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(ResultsError, match="this program knows up to"):
        Store(tmp_path)


def test_a_place_that_is_no_store(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError):
        Store(tmp_path / "file")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "index.sqlite").write_bytes(b"no database, but long enough to be looked at as one" * 99)
    with pytest.raises(ResultsError):
        Store(tmp_path / "bad")


def test_a_store_that_cannot_be_written_is_read(tmp_path, result, monkeypatch):
    name = add(Store(tmp_path), result)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as index, index:
        index.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    real = Path.mkdir

    def mkdir(self, *args, **kwargs):
        if self.is_relative_to(tmp_path):
            raise OSError(30, "Read-only file system")
        return real(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    store = Store(tmp_path)
    assert (store.writable, store.names()) == (False, [name])
    with pytest.raises(ResultsError, match="read-only"):
        add(store, result)


CROWD = """
import sys
from pathlib import Path
from threading import Thread
import numpy as np
from gelu_verify.service.store import Store
from gelu_verify import verify
result = verify(lambda x: np.maximum(x, 0), "relu", "float16", "landmarks")
print("ready", flush=True)
sys.stdin.readline()
store = Store(Path(sys.argv[1]))

def add(count):
    for _ in range(count):
        print(store.add(result, command="test", facts=%r) + "\\n", end="")
    assert Store(Path(sys.argv[1])).writable

threads = [Thread(target=add, args=(int(sys.argv[2]),)) for _ in range(5)]
for each in threads:
    each.start()
for each in threads:
    each.join()
""" % (FACTS,)  # noqa: UP031 - braces


@pytest.mark.nightly
def test_simultaneous_uploads_are_all_kept(tmp_path):
    """120 by 20 threads of 4 processes that open a new store at the same time, and open it again meanwhile."""
    command = [sys.executable, "-P", "-c", CROWD, str(tmp_path), "6"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    crowd = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for each in crowd:
        assert each.stdout.readline() == "ready\n"
    for each in crowd:
        each.stdin.write("\n")
        each.stdin.flush()
    outputs = [each.communicate(timeout=120) for each in crowd]
    assert [errors for _, errors in outputs] == [""] * len(crowd)
    names = [name for made, _ in outputs for name in made.split()]
    assert len(names) == 120
    assert sorted(check_whole(tmp_path)) == sorted(names)


def test_a_store_that_is_opened_while_another_process_adds_forgets_nothing(tmp_path, result, monkeypatch):
    """A run is added between the two looks of the start: at the folders, and at the index."""
    store, added = Store(tmp_path), []

    class Between(Store):
        def names(self):
            if not added:
                added.append(add(store, result))
            return super().names()

    Between(tmp_path)
    assert store.names() == added


def test_a_damaged_run_is_named_and_takes_no_other_with_it(tmp_path, result):
    store = Store(tmp_path)
    good, bad = add(store, result), add(store, result)
    manifest = store.path(bad) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"max_ulp":0.0', b'"max_ulp":0.5'))
    library = RunRepository(store, None)
    listed = {each["id"]: each for each in library.summaries()}
    assert (listed[good]["damaged"], listed[good]["results"]) == (None, 1)
    assert "not as it was written" in listed[bad]["damaged"]
    assert str(tmp_path) not in listed[bad]["damaged"]
    assert (library.run(bad), library.run(good).path.name) == (None, good)
    assert [cell["run"] for cell in library.matrix()] == [good]
    (tmp_path / "index.sqlite").unlink()
    store.close()
    assert Store(tmp_path).names() == [good], "a damaged run is left out of the index, and keeps no store from opening"


def test_a_run_whose_buckets_were_edited_is_damaged(tmp_path, result):
    store = Store(tmp_path)
    name = add(store, result)
    library = RunRepository(store, None)
    assert library.damage(name) == ""
    path = store.path(name) / "buckets" / "000.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    assert "is damaged" in library.damage(name)
    assert library.damage("nobody") == ""


# ---- quota, retention, deletion, backup ----------------------------------------------------------


def test_a_store_that_has_reached_its_size_stores_nothing_more(tmp_path, result):
    store = Store(tmp_path, most_bytes=1)
    first = add(store, result)
    assert store.size() == sum(file.stat().st_size for file in store.path(first).rglob("*") if file.is_file())
    assert "limit of bytes" in store.problem()
    with pytest.raises(ResultsError, match="accepted: 1"):
        add(store, result)
    assert store.remove(first)
    assert (store.problem(), store.names(), list((tmp_path / "runs").iterdir())) == ("", [], [])
    assert not store.remove(first)
    assert not store.remove("../index.sqlite")


def test_runs_expire(tmp_path, result):
    store = Store(tmp_path, retain_days=30)
    old, new = add(store, result), add(store, result)
    with sqlite3.connect(tmp_path / "index.sqlite") as index:
        index.execute("UPDATE runs SET created = '2020-01-01T00:00:00Z' WHERE id = ?", (old,))
    assert store.expire() == [old]
    assert (store.names(), store.expire()) == ([new], [])
    assert Store(tmp_path).expire() == []


def test_a_copy_of_the_runs_is_a_backup(tmp_path, result):
    """Taken while a run is being written; the index is made anew."""
    store = Store(tmp_path / "store")
    names = [add(store, result) for _ in range(3)]
    with unfinished_folder(store.folder / "runs"):
        shutil.copytree(store.folder / "runs", tmp_path / "copy" / "runs")
    assert sorted(Store(tmp_path / "copy").names()) == sorted(names)


def test_an_index_of_the_first_version_is_brought_up_to_date(tmp_path, result):
    store = Store(tmp_path)
    name = add(store, result)
    with sqlite3.connect(tmp_path / "index.sqlite") as index:
        index.execute("ALTER TABLE runs DROP COLUMN bytes")
        index.execute("PRAGMA user_version = 1")
    assert Store(tmp_path).names() == [name]


def test_the_matrix_reads_only_what_is_newest(tmp_path, result):
    store = Store(tmp_path)
    names = [add(store, result) for _ in range(3)]
    read = []
    library = RunRepository(store, None)
    library.run = lambda name, of=library.run: read.append(name) or of(name)
    newest = max(names)
    assert [cell["run"] for cell in library.matrix()] == [newest]
    assert read == [newest]


def test_a_list_of_runs_has_pages(tmp_path, result):
    store = Store(tmp_path)
    names = sorted((add(store, result) for _ in range(5)), reverse=True)
    with TestClient(create_app(Settings(store=tmp_path, tokens=parse_tokens("0123456789abcdef")))) as client:
        first = client.get("/v1/runs?count=2").json()
        second = client.get(first["next"]).json()
        last = client.get(second["next"]).json()
        pages = [[run["id"] for run in page["runs"]] for page in (first, second, last)]
        assert pages == [names[:2], names[2:4], names[4:]]
        assert last["next"] is None
        gone = f"/v1/runs/{names[0]}"
        assert client.delete(gone).status_code == client.delete(gone, headers={"Authorization": "Bearer x"}).status_code
        assert client.delete(gone).status_code == 401
        right = {"Authorization": "Bearer 0123456789abcdef"}
        assert [client.delete(gone, headers=right).status_code for _ in range(2)] == [204, 404]
        assert client.get(gone).status_code == 404
