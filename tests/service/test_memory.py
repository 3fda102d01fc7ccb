"""Memory and temporary files of a server stay within what docs/deploy.md and the files of deploy/ say."""

import asyncio
import contextlib
import re
from pathlib import Path

import pytest
import requiring
from repository import ROOT

pytest.importorskip("uvicorn", reason="needs the extra serve")
from hostile_clients import processes
from mixed_requests import send
from serving import serving

from gelu_verify.errors import UsageError
from gelu_verify.service.file_cache import FileCache
from gelu_verify.service.settings import ServiceLimits

WARM, WORKER = 300 << 20, 1 << 30
"""Resident bytes of a worker with all of its processes: when everything was used, and at most (docs/deploy.md)."""
TEXT = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def memory(server):
    """Resident bytes of the server, and of all its processes; what they share counts once (Pss)."""
    own = int(re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text(), re.MULTILINE)[1])
    every = 0
    for pid in processes(server.process.pid):
        with contextlib.suppress(OSError):  # it was replaced meanwhile
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            every += int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])
    return own << 10, every << 10


@pytest.mark.nightly
@pytest.mark.parametrize("count", [500, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_memory_holds_after_many_mixed_requests(tmp_path, count):
    with serving("--answers", "none", "--spool", tmp_path, "--limit", "file_cache_bytes=16M") as server:
        statuses = send(server, count)
        own, worker = memory(server)
        kept = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    print(f"{own >> 20} MiB, with all processes {worker >> 20} MiB; {kept >> 20} MiB on disk")
    assert sum(map(len, statuses.values())) == count
    assert statuses.keys() == {200}, {status: paths[:3] for status, paths in statuses.items() if status != 200}
    assert max(own, worker) < WARM
    assert kept < ServiceLimits().jobs_bytes + (16 << 20) + (8 << 20)


def test_what_the_documentation_says_of_memory_is_what_is_tested():
    assert f"less than {WARM >> 20} MiB" in TEXT
    assert f"{WORKER >> 30} GiB" in TEXT


def size_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG])I?", text.upper()).groups()
    return int(number) << {"K": 10, "M": 20, "G": 30}[unit]


def test_the_files_of_deploy_have_room_for_the_limits():
    """Temporary files are in the spool alone; each worker has the limits for itself."""
    limits = ServiceLimits()
    spool = limits.spool_bytes + limits.file_cache_bytes
    yaml = requiring.module("yaml")
    pod = next(yaml.safe_load_all((ROOT / "deploy/kubernetes.yaml").read_text()))["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    rooms = {each["name"]: size_of(each["emptyDir"]["sizeLimit"]) for each in pod["volumes"]}
    assert "--workers" not in container["args"]
    assert rooms["spool"] >= spool + limits.jobs_bytes
    assert size_of(container["resources"]["limits"]["memory"]) >= WORKER
    service = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["gelu-verify"]
    workers = int(service["command"][service["command"].index("--workers") + 1])
    assert size_of(service["mem_limit"]) >= workers * WORKER
    unit = (ROOT / "deploy/gelu-verify.service").read_text()
    workers = int(re.search(r"--workers (\d+)", unit)[1])
    assert size_of(re.search(r"^MemoryMax=(\S+)", unit, re.MULTILINE)[1]) >= workers * WORKER
    assert "--spool" in unit
    assert "GELU_VERIFY_SPOOL" in (ROOT / "deploy/Dockerfile").read_text()


@pytest.mark.service
def test_files_that_were_not_asked_for_longest_go_first(tmp_path):
    async def asked():
        cache, made = FileCache(tmp_path, 250), []

        async def make(key):
            made.append(key)
            return None, key.encode() * 100

        for key in "abacab":
            found = await cache.file(key, lambda key=key: make(key))
            assert found.path.read_bytes() == key.encode() * 100
        kept = [file.read_bytes()[:1] for file in sorted(tmp_path.rglob("file-*"))]
        cache.close()
        return made, kept

    made, kept = asyncio.run(asked())
    assert made == ["a", "b", "c", "b"], "b was asked for longest ago when there was no room for c"
    assert sorted(kept) == [b"a", b"b"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_the_folder_of_a_killed_server_is_removed_by_the_next(tmp_path):
    with serving("--answers", "none", "--spool", tmp_path) as server:
        send(server, 60)
        (left,) = tmp_path.iterdir()
        server.kill()
    assert any(left.rglob("file-*"))
    with serving("--answers", "none", "--spool", tmp_path) as first:
        assert not left.exists()
        with serving("--answers", "none", "--spool", tmp_path) as second:
            assert len(list(tmp_path.iterdir())) == 2, "that of a server that runs stays"
            second.stop()
        first.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_made_once_for_requests_at_the_same_time(tmp_path):
    async def asked():
        cache, made = FileCache(tmp_path, 1000), []

        async def make():
            made.append(len(made))
            await asyncio.sleep(0.01)
            if len(made) == 1:
                raise UsageError("the first is refused")
            return None, b"content"

        found = await asyncio.gather(*(cache.file("key", make) for _ in range(4)), return_exceptions=True)
        cache.close()
        return made, found

    made, found = asyncio.run(asked())
    assert made == [0, 1], "once for the request that is refused, once for all others"
    assert [type(each) for each in found[:1]] == [UsageError]
    assert len({each.path for each in found[1:]}) == 1
