"""Folders that appear whole or not at all, however many write beside each other and whoever is killed."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gelu_verify import atomic_files as folders
from gelu_verify.atomic_files import UNFINISHED, remove_abandoned, replace_file, unfinished_folder
from gelu_verify.runs.store import _point_latest, write_folder

WRITER = """
import sys
from pathlib import Path
from gelu_verify.runs.store import write_folder
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    print(write_folder({"a": b"1"}, Path(sys.argv[1]), sys.argv[3]).name)
"""


def names(root):
    return sorted(path.name for path in root.iterdir())


def crowd(root, count, prefixes):
    """What processes, started at once, made: each `count` folders of its prefix."""
    command = [sys.executable, "-P", "-c", WRITER, str(root), str(count)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([*command, prefix], **pipes) for prefix in prefixes]
    outputs = [process.communicate("\n") for process in running]
    assert [errors for _, errors in outputs] == [""] * len(prefixes)
    return [name for made, _ in outputs for name in made.split()]


def test_nothing_is_lost_when_processes_write_into_one_folder(tmp_path):
    assert sorted(crowd(tmp_path, 50, ["run"] * 6)) == names(tmp_path)
    assert len(names(tmp_path)) == 300


@pytest.mark.nightly
def test_nothing_is_lost_in_eighteen_thousand(tmp_path):
    for k in range(18):  # in one folder of 18,000, listing it is what takes the time
        root = tmp_path / str(k)
        assert sorted(crowd(root, 100, "abcdefghij")) == names(root)
        assert len(names(root)) == 1000


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """The cleaner of another process comes between making, opening and locking."""
    removed = []
    opened, locked = os.open, fcntl.flock

    def remove(path):
        removed.append(path)
        shutil.rmtree(path)

    def opening(path, *flags, **more):
        if UNFINISHED in str(path) and not removed:
            remove(path)
        return opened(path, *flags, **more)

    def locking(descriptor, how):
        if len(removed) == 1:
            remove(*tmp_path.glob(f"{UNFINISHED}*"))
        return locked(descriptor, how)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(fcntl, "flock", locking)
    assert write_folder({"a": b"1"}, tmp_path, "run") == tmp_path / "run"
    assert len(removed) == 2
    assert names(tmp_path) == ["run"]


def test_what_a_killed_process_left_is_removed_and_what_is_written_is_not(tmp_path):
    left = tmp_path / f"{UNFINISHED}left"
    left.mkdir()
    with unfinished_folder(tmp_path) as work:
        remove_abandoned(tmp_path)
        assert names(tmp_path) == [work.name]
    assert names(tmp_path) == []


def test_only_what_is_old_is_removed_where_an_age_is_asked_for(tmp_path):
    (tmp_path / f"{UNFINISHED}new").mkdir()
    remove_abandoned(tmp_path, older_than=60)
    assert names(tmp_path) == [f"{UNFINISHED}new"]


def test_without_locks_nothing_is_removed_and_everything_is_written(tmp_path, monkeypatch):
    """NFS does not lock what is open for reading only."""

    def refuses(descriptor, how):
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuses)
    (tmp_path / f"{UNFINISHED}other").mkdir()
    assert write_folder({"a": b"1"}, tmp_path, "run") == tmp_path / "run"
    assert names(tmp_path) == [f"{UNFINISHED}other", "run"]


def test_latest_is_pointed_by_threads_and_by_processes_of_one_number(tmp_path, monkeypatch):
    """Threads share a process number, and so do containers that share a folder."""
    (tmp_path / f".latest-{os.getpid()}").symlink_to("killed-here")
    monkeypatch.setattr(os, "getpid", lambda: 1)
    start = threading.Barrier(8)

    def point(number):
        start.wait()
        for k in range(25):
            _point_latest(tmp_path, f"run-{number}-{k}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(point, range(8)))
    assert re.fullmatch(r"run-\d-24", os.readlink(tmp_path / "latest"))
    assert [name for name in names(tmp_path) if name.startswith(UNFINISHED)] == []


def test_a_file_is_replaced_by_many_at_once(tmp_path):
    """A reader sees one of the contents, whole."""
    path, contents = tmp_path / "page", [bytes([65 + k]) * 100_000 for k in range(8)]
    replace_file(path, contents[0])

    def write(content):
        for _ in range(25):
            replace_file(path, content)
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, contents))
    assert names(tmp_path) == ["page"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    replace_file(tmp_path / "page", b"old")
    monkeypatch.setattr(folders.Path, "replace", lambda self, target: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        replace_file(tmp_path / "page", b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"page": b"old"}


def test_the_mode_of_a_folder_is_what_the_umask_says(tmp_path):
    """Asking for the umask by setting it would give files of other threads another mode."""
    before = os.umask(0o027)
    try:
        place = write_folder({"a": b"1"}, tmp_path, "run")
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o750


def test_what_is_not_a_file_is_written_to_and_stays_what_it_is(tmp_path):
    """Root could replace /dev/null: `gelu-verify trend --out /dev/null` in a container did."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "real").write_text("old")
    (tmp_path / "link").symlink_to("folder/real")
    (tmp_path / "dangling").symlink_to("folder/new")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    output, stdout = os.pipe()
    for place in (*(tmp_path / name for name in ("link", "dangling", "pipe")), Path(f"/proc/self/fd/{stdout}")):
        replace_file(place, b"new")
    assert [os.read(each, 10) for each in (reader, output)] == [b"new", b"new"]
    for each in (reader, output, stdout):
        os.close(each)
    assert (tmp_path / "pipe").is_fifo()
    assert [(tmp_path / name).readlink().name for name in ("link", "dangling")] == ["real", "new"]
    assert [each.read_bytes() for each in sorted((tmp_path / "folder").iterdir())] == [b"new", b"new"]
    assert names(tmp_path) == ["dangling", "folder", "link", "pipe"]
    with pytest.raises(IsADirectoryError) as raised:
        replace_file(tmp_path / "folder", b"")
    assert raised.value.filename == str(tmp_path / "folder")
