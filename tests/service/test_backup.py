"""A backup of a server that runs, restored into empty folders: another server then answers as the first did."""

import json
import tarfile
import threading
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import serving

from gelu_verify.cli import main
from gelu_verify.errors import ResultsError
from gelu_verify.service import backup
from gelu_verify.service.store import Store
from gelu_verify.service.upload_record import inputs

TOKENS = "ci store,delete a-token-of-sixteen\nother store another-token-of-sixteen\n"
BYTES = bytes(len(inputs("landmarks", "gelu", "float16", 0)))
PATH = "/v1/verify?function=gelu&dtype=float16&plan=landmarks&name="


def command(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def asked(server, path, data=None, token=None, method=None):
    headers = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    with urlopen(Request(server.url + path, data, headers, method=method), timeout=60) as answer:
        return answer.read()


def answers(server, paths):
    return {path: asked(server, path) for path in paths}


@pytest.fixture
def places(tmp_path):
    """Of a server: the store, the folder of jobs, the file of tokens."""
    (tmp_path / "jobs").mkdir()
    (tmp_path / "tokens").write_text(TOKENS)
    return ("--store", tmp_path / "store", "--jobs", tmp_path / "jobs", "--token-file", tmp_path / "tokens")


def in_folder(folder):
    return ("--store", folder / "store", "--jobs", folder / "jobs", "--token-file", folder / "tokens")


@pytest.mark.nightly
def test_another_server_answers_as_the_first(places, tmp_path):
    archive, folder = tmp_path / "backup.tar", tmp_path / "new" / "place"
    with serving("--answers", "none", *places) as server:
        stored = json.loads(asked(server, PATH + "first", BYTES, "a-token-of-sixteen"))["links"]["run"]
        unstored = json.loads(asked(server, PATH + "second", BYTES))["links"]
        paths = [stored, f"{stored}/report.html", f"{stored}/summary.csv", "/v1/matrix", "/v1/runs",
                 unstored["self"], unstored["report"]]  # fmt: skip
        before, over = answers(server, paths), threading.Event()

        def upload():
            while not over.is_set():
                asked(server, PATH + "meanwhile", BYTES, "another-token-of-sixteen")

        busy = threading.Thread(target=upload)
        busy.start()
        done = command("backup", archive, *places)
        over.set()
        busy.join()
        assert (done.exit_code, archive.stat().st_mode & 0o777) == (0, 0o600), done.output
        server.stop()
    done = command("restore", archive, *in_folder(folder))
    assert done.exit_code == 0, done.output
    with serving("--answers", "none", *in_folder(folder)) as server:
        after = answers(server, paths)
        names = [run["id"] for run in json.loads(after["/v1/runs"])["runs"]]
        assert int(done.output.split()[-2]) == len(names) >= 1
        for path in set(paths) - {"/v1/matrix", "/v1/runs"}:  # these have what was stored meanwhile
            assert after[path] == before[path], path
        with pytest.raises(HTTPError) as refused:
            asked(server, stored, token="another-token-of-sixteen", method="DELETE")
        with refused.value as error:
            assert error.code == 403
        asked(server, stored, token="a-token-of-sixteen", method="DELETE")
        asked(server, PATH + "third", BYTES, "another-token-of-sixteen")
        server.stop()


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Of a store with one run."""
    folder = tmp_path_factory.mktemp("store")
    with serving("--answers", "none", "--store", folder / "store") as server:
        asked(server, PATH + "one", BYTES, "a-token-of-the-tests")
        server.stop()
    assert backup.back_up(folder / "backup.tar", folder / "store") == 1
    return folder / "backup.tar"


def test_what_is_there_is_not_overwritten(archive, tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").write_text("mine")
    for arguments in (("restore", archive, "--store", tmp_path / "store"), ("backup", archive, "--store", tmp_path)):
        done = command(*arguments)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.stderr
    assert [each.name for each in (tmp_path / "store").iterdir()] == ["mine"]


def test_a_damaged_backup_is_refused_whole(archive, tmp_path):
    content = archive.read_bytes()
    with tarfile.open(archive) as read:
        member = max(read.getmembers(), key=lambda each: each.size)
    flipped = bytearray(content)
    flipped[member.offset_data + member.size // 2] ^= 1
    damaged = tmp_path / "damaged.tar"
    for wrong in (bytes(flipped), content[: len(content) // 2], b"not a tar file", b""):
        damaged.write_bytes(wrong)
        with pytest.raises(ResultsError):
            backup.restore(damaged, tmp_path / "store")
        assert list((tmp_path / "store").iterdir()) == []


def test_what_the_archive_does_not_have_is_a_wrong_use(archive, tmp_path):
    done = command("restore", archive, "--store", tmp_path / "store", "--jobs", tmp_path / "jobs")
    assert (done.exit_code, "has no jobs.sqlite" in done.stderr) == (2, True)
    assert (list((tmp_path / "store").iterdir()), (tmp_path / "jobs").exists()) == ([], False)


def test_a_run_that_is_deleted_meanwhile_is_left_out(archive, tmp_path, monkeypatch):
    """Whichever of its files was read before."""
    backup.restore(archive, tmp_path / "store")
    store = Store(tmp_path / "store")
    (name,) = store.names()
    read = type(tmp_path).read_bytes

    def deleting(path):
        found = read(path)
        if path.is_relative_to(store.folder):
            store.remove(name)
        return found

    monkeypatch.setattr(type(tmp_path), "read_bytes", deleting)
    assert backup.back_up(tmp_path / "backup.tar", store.folder) == 0
    store.close()
