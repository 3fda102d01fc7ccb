"""Outputs of libraries over HTTP: a library that crashes, hangs or raises is reported, and never ends the server."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from processes import alive, wait_for

pytest.importorskip("uvicorn", reason="needs the extra serve")
from fastapi.testclient import TestClient
from planting import planted
from serving import raw, serving, status

from gelu_verify import targets
from gelu_verify.formats import get_format
from gelu_verify.isolation.hosts import supported
from gelu_verify.service.app import create_app
from gelu_verify.service.library_pool import default_families
from gelu_verify.service.settings import ServiceLimits, Settings

pytestmark = pytest.mark.skipif(not supported(), reason="isolation needs Linux")
PROCESSES = 2  # of a family: the one that calls, and its supervisor
AT_THREE = "/v1/answers/relu/float32/3"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, planted(tmp_path_factory.mktemp("families"), patch) as found:
        yield found


@contextlib.contextmanager
def serving_families(*families, **limits):
    """A client of an application with these target families, and with short limits."""
    quick = {"library_call_s": 1.5, "library_s": 8.0, "library_bytes": 1 << 28, **limits}
    with TestClient(create_app(Settings(families=families, limits=ServiceLimits(**quick)))) as client:
        yield client


def rows(client, family, path=AT_THREE):
    done = client.get(path, params={"family": family})
    assert done.status_code == 200, done.text
    return {row["target"]: row for row in done.json()["answers"]}


def workers(client):
    return client.app.state.libraries.workers()


def child_of(family):
    """Number of the process of a family; None while it has none."""
    hosts = [] if family._hosts is None else family._hosts._hosts.values()
    return next((host._child.pid for host in hosts if host._child is not None), None)


# ---- failures ----------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("crashes", "SIGSEGV"),
        ("hangs", "did not return within 1.5 s"),
        ("raises", "ValueError: three"),
        pytest.param("leaves", "exit code 7", marks=pytest.mark.service),
        pytest.param("grows", "memory", marks=pytest.mark.service),
    ],
)
def test_a_target_that_fails_is_a_row(environment, family, words):
    with serving_families(family) as client:
        found = rows(client, family)
        assert words in found[f"{family}.breaks"]["failure"]
        assert found[f"{family}.breaks"]["y_bits"] is None
        right = {"y_bits": "0x40400000", "error_ulp": 0.0, "failure": None}
        assert right.items() <= found[f"{family}.good"].items()
        at_two = rows(client, family, "/v1/answers/relu/float32/2")
        assert [row["failure"] for row in at_two.values()] == [None, None]
        assert client.get("/healthz").status_code == 200
        pid = child_of(workers(client)[family])
    assert not alive(pid)


@pytest.mark.service
def test_a_target_that_prints_has_an_output_and_a_failure(environment):
    with serving_families("prints") as client:
        row = rows(client, "prints")["prints.breaks"]
    assert row["y_bits"] == "0x40400000"
    assert "printed to stdout" in row["failure"]


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("stillborn", "SIGABRT"),
        ("sleeper", "sleeper did not answer within 2 s"),
        pytest.param("absentee", "nobody_has_this", marks=pytest.mark.service),
        pytest.param("leaver", "while it was loaded", marks=pytest.mark.service),
    ],
)
def test_a_family_that_cannot_be_loaded_is_absent(environment, family, words):
    limits = {"library_s": 2.0} if family == "sleeper" else {}
    with serving_families(family, **limits) as client:
        found = client.get(AT_THREE).json()
        assert found["answers"] == []
        assert words in found["absent"][family]
        assert not workers(client)[family].running
        (listed,) = client.get("/v1/answers").json()["families"]
        assert listed == {"family": family, "awake": False, "absent": found["absent"][family]}
        start = time.monotonic()
        assert client.get(AT_THREE).json() == found
        assert time.monotonic() - start < 1.0  # it is not tried again at once


@pytest.mark.service
def test_a_failure_is_tried_again(environment):
    with serving_families("raises", "absentee", library_retry_s=0.0) as client:
        for family in ("raises", "absentee"):
            client.get(AT_THREE, params={"family": family})
            assert workers(client)[family].cached("relu", get_format("float32"), 0x40400000) is None


# ---- real libraries ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "family", ["scipy", *(pytest.param(name, marks=pytest.mark.service) for name in ("jax", "onnxruntime"))]
)
def test_a_real_library_returns_what_it_returns_here(family):
    pytest.importorskip(family)
    with serving_families(family, library_call_s=60.0, library_s=120.0, library_bytes=1 << 32) as client:
        found = rows(client, family, "/v1/answers/gelu/float32/0.7")
    here = [each for each in targets.find([family], function="gelu", dtype="float32")[0] if each.function == "gelu"]
    assert set(found) == {each.name for each in here}
    x = np.array([0.7], np.float32).view(np.uint32)
    for target in here:
        row = found[target.name]
        assert row["failure"] is None
        assert int(row["y_bits"], 16) == target.evaluate("float32", x)[0]
        assert abs(row["error_ulp"]) < 100


def test_our_kernels_need_no_process():
    with serving_families("kernels", "published", "numpy") as client:
        found = client.get("/v1/answers/gelu/float32/-6.5").json()
        assert len({row["target"].partition(".")[0] for row in found["answers"]}) == 2
        assert "gelu_verify_library_workers_running 0.0" in client.get("/metrics").text


def test_by_default_the_families_of_run_and_the_published_ones():
    found = set(default_families())
    assert {"torch", "jax", "onnxruntime", "openvino", "tensorflow", "scipy", "numpy", "kernels", "published"} <= found
    assert not {"torch_cuda", "keras", "torch_compiled"} & found


# ---- limits ------------------------------------------------------------------------------


def test_one_request_at_a_time_and_the_queue_is_limited(environment):
    with serving_families("slow", library_queue=1) as client, ThreadPoolExecutor(6) as pool:
        rows(client, "slow", "/v1/answers/relu/float32/1")  # loaded
        crowd = [pool.submit(client.get, AT_THREE) for _ in range(6)]
        answers = [each.result() for each in crowd]
    assert {each.status_code for each in answers} == {200, 429}
    assert all(each.headers["retry-after"] for each in answers if each.status_code == 429)
    assert len({each.text for each in answers if each.status_code == 200}) == 1


def test_a_request_that_waits_too_long_is_503(environment):
    with serving_families("slow", library_wait_s=0.5) as client:
        late = client.get(AT_THREE)
        assert (late.status_code, late.headers["retry-after"]) == (503, "10")
        assert "slow" in late.json()["detail"]


def test_the_number_of_processes_is_limited(environment):
    with serving_families("slow", "raises", "prints", library_threads=1, libraries_running=2) as client:
        for family in ("slow", "raises", "prints"):
            rows(client, family, "/v1/answers/relu/float32/1")
        running = {name: each.running for name, each in workers(client).items()}
        assert running == {"slow": False, "raises": True, "prints": True}
        assert "gelu_verify_library_workers_running 2.0" in client.get("/metrics").text
        rows(client, "slow", "/v1/answers/relu/float32/2")
        assert [name for name, each in workers(client).items() if each.running] == ["slow", "prints"]


@pytest.mark.service
def test_an_idle_process_is_stopped(environment):
    with serving_families("raises", library_idle_s=0.3) as client:
        rows(client, "raises", "/v1/answers/relu/float32/1")
        pid = child_of(workers(client)["raises"])
        assert alive(pid)
        assert wait_for(lambda: not alive(pid))
        rows(client, "raises", "/v1/answers/relu/float32/2")
        assert child_of(workers(client)["raises"]) != pid


@pytest.mark.service
def test_outputs_are_cached(environment):
    with serving_families("slow", library_idle_s=0.0) as client:
        first = rows(client, "slow")
        assert wait_for(lambda: not workers(client)["slow"].running)
        assert rows(client, "slow") == first
        assert not workers(client)["slow"].running


def test_families_that_this_server_does_not_have(environment):
    with serving_families("kernels") as client:
        for name in ("torch", "nobody"):
            assert client.get(AT_THREE, params={"family": name}).status_code == 404
        assert client.get(AT_THREE, params={"family": "../etc"}).status_code == 422
    with serving_families() as client:
        assert client.get(AT_THREE).json()["answers"] == client.get("/v1/answers").json()["families"] == []


# ---- the real process ----------------------------------------------------------------------------


def descendants(pid):
    """Live processes that descend from `pid`, without those that compute references."""
    found = {pid}
    for _ in range(4):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if fields[0] != "Z" and int(fields[1]) in found:
                    found.add(int(stat.parent.name))
    return {each for each in found - {pid} if b"multiprocessing" not in command_line(each)}


def command_line(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def get(server, path):
    with urlopen(server.url + path, timeout=60) as done:
        return json.load(done)


def ask(server, family):
    """The raw response."""
    return raw(
        server, f"GET {AT_THREE}?family={family} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )


def test_nothing_is_started_before_the_first_request_and_look_ups_never_wait(environment):
    with serving("--answers", "hangs,sleeper,scipy", env=environment) as server, ThreadPoolExecutor(2) as pool:
        get(server, "/readyz")
        get(server, "/v1/answers")
        assert descendants(server.process.pid) == set()
        stuck = [pool.submit(ask, server, name) for name in ("hangs", "sleeper")]
        assert wait_for(lambda: len(descendants(server.process.pid)) == 2 * PROCESSES)
        start = time.monotonic()
        for i in range(100):
            get(server, f"/v1/reference/gelu/float32/{i}.25")
        assert time.monotonic() - start < 10  # a tenth of a second each, on the slowest machine
        assert not any(each.done() for each in stuck)
        server.kill()
        assert [each.result() for each in stuck] == [b"", b""]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("family", "end"),
    [
        ("hangs", signal.SIGKILL),
        ("sleeper", signal.SIGTERM),
        pytest.param("sleeper", signal.SIGKILL, marks=pytest.mark.service),
        pytest.param("hangs", signal.SIGTERM, marks=pytest.mark.service),
    ],
)
def test_the_library_processes_end_with_the_server(environment, family, end):
    """In the middle of a call that hangs, and of an import that does."""
    with serving("--answers", f"raises,{family}", env=environment) as server, ThreadPoolExecutor(1) as pool:
        get(server, f"{AT_THREE}?family=raises")
        stuck = pool.submit(ask, server, family)
        assert wait_for(lambda: len(descendants(server.process.pid)) == 2 * PROCESSES)
        time.sleep(0.5)
        children = descendants(server.process.pid)
        server.process.send_signal(end)
        server.process.communicate(timeout=8)  # nobody waits for what hangs
        assert wait_for(lambda: not any(map(alive, children)))
        assert stuck.result() == b"" if end == signal.SIGKILL else status(stuck.result()) == 503


def test_library_processes_have_a_lower_priority(environment):
    with serving_families("raises") as client:
        rows(client, "raises", "/v1/answers/relu/float32/1")
        pid = child_of(workers(client)["raises"])
        assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.service
def test_the_command_accepts_installed_none_and_names():
    command = [sys.executable, "-P", "-m", "gelu_verify", "serve", "--answers", "torhc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "installed, none" in done.stderr
    with serving("--answers", "none") as server:
        assert get(server, "/v1/answers") == {"families": []}
