"""What implementations answer over HTTP: whatever a library does there is an answer, and the server's end it is not."""

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

pytest.importorskip("uvicorn", reason="needs the extra serve")
from fastapi.testclient import TestClient
from planting import planted
from serving import raw, serving, status

from gelu_verify import targets
from gelu_verify.formats import get_format
from gelu_verify.isolation.hosts import supported
from gelu_verify.service.app import create_app
from gelu_verify.service.families import by_default
from gelu_verify.service.settings import Limits, Settings

pytestmark = pytest.mark.skipif(not supported(), reason="isolation needs Linux")
PROCESSES = 2  # of a family: the one that calls, and its supervisor
AT_THREE = "/v1/answers/relu/float32/3"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, planted(tmp_path_factory.mktemp("families"), patch) as found:
        yield found


@contextlib.contextmanager
def asking(*families, **limits):
    """A client of an application that asks these, with limits of the tests."""
    quick = {"family_call_s": 1.5, "family_s": 8.0, "family_bytes": 1 << 28, **limits}
    with TestClient(create_app(Settings(families=families, limits=Limits(**quick)))) as client:
        yield client


def rows(client, family, path=AT_THREE):
    done = client.get(path, params={"family": family})
    assert done.status_code == 200, done.text
    return {row["target"]: row for row in done.json()["answers"]}


def members(client):
    return client.app.hall.families.members()


def child_of(family):
    """Number of the process of a family; None while it has none."""
    hosts = [] if family._hosts is None else family._hosts._hosts.values()
    return next((host._child.pid for host in hosts if host._child is not None), None)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


# ---- what breaks down ----------------------------------------------------------------------------


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
def test_what_breaks_down_is_a_row(environment, family, words):
    with asking(family) as client:
        found = rows(client, family)
        assert words in found[f"{family}.breaks"]["failure"]
        assert found[f"{family}.breaks"]["y_bits"] is None
        right = {"y_bits": "0x40400000", "error_ulp": 0.0, "failure": None}
        assert right.items() <= found[f"{family}.good"].items()
        at_two = rows(client, family, "/v1/answers/relu/float32/2")
        assert [row["failure"] for row in at_two.values()] == [None, None]
        assert client.get("/healthz").status_code == 200
        pid = child_of(members(client)[family])
    assert not alive(pid)


@pytest.mark.service
def test_what_prints_is_told_beside_its_answer(environment):
    with asking("prints") as client:
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
def test_what_cannot_be_loaded_is_absent(environment, family, words):
    limits = {"family_s": 2.0} if family == "sleeper" else {}
    with asking(family, **limits) as client:
        found = client.get(AT_THREE).json()
        assert found["answers"] == []
        assert words in found["absent"][family]
        assert not members(client)[family].awake
        (listed,) = client.get("/v1/answers").json()["families"]
        assert listed == {"family": family, "awake": False, "absent": found["absent"][family]}
        start = time.monotonic()
        assert client.get(AT_THREE).json() == found
        assert time.monotonic() - start < 1.0  # it is not tried again at once


@pytest.mark.service
def test_what_failed_is_asked_again_some_time(environment):
    with asking("raises", "absentee", family_again_s=0.0) as client:
        for family in ("raises", "absentee"):
            client.get(AT_THREE, params={"family": family})
            assert members(client)[family].known("relu", get_format("float32"), 0x40400000) is None


# ---- real libraries ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "family", ["scipy", *(pytest.param(name, marks=pytest.mark.service) for name in ("jax", "onnxruntime"))]
)
def test_a_real_library_answers_as_it_does_here(family):
    pytest.importorskip(family)
    with asking(family, family_call_s=60.0, family_s=120.0, family_bytes=1 << 32) as client:
        found = rows(client, family, "/v1/answers/gelu/float32/0.7")
    here = [each for each in targets.find([family], function="gelu", dtype="float32")[0] if each.function == "gelu"]
    assert set(found) == {each.name for each in here}
    x = np.array([0.7], np.float32).view(np.uint32)
    for target in here:
        row = found[target.name]
        assert row["failure"] is None
        assert int(row["y_bits"], 16) == target.evaluate("float32", x)[0]
        assert abs(row["error_ulp"]) < 100


def test_ours_answer_without_a_process():
    with asking("kernels", "published", "numpy") as client:
        found = client.get("/v1/answers/gelu/float32/-6.5").json()
        assert len({row["target"].partition(".")[0] for row in found["answers"]}) == 2
        assert "gelu_verify_families_awake 0.0" in client.get("/metrics").text


def test_by_default_those_that_run_asks_and_the_re_implementations():
    assert {"torch", "jax", "onnxruntime", "openvino", "tensorflow", "scipy", "numpy", "kernels"} <= set(by_default())
    assert "published" in by_default()
    assert not {"torch_cuda", "keras", "torch_compiled"} & set(by_default())


# ---- how much of it ------------------------------------------------------------------------------


def test_one_question_at_a_time_and_the_queue_is_short(environment):
    with asking("slow", family_waiting=1) as client, ThreadPoolExecutor(6) as pool:
        rows(client, "slow", "/v1/answers/relu/float32/1")  # loaded
        crowd = [pool.submit(client.get, AT_THREE) for _ in range(6)]
        answers = [each.result() for each in crowd]
    assert {each.status_code for each in answers} == {200, 429}
    assert all(each.headers["retry-after"] for each in answers if each.status_code == 429)
    assert len({each.text for each in answers if each.status_code == 200}) == 1


def test_who_waits_too_long_is_told_so(environment):
    with asking("slow", family_wait_s=0.5) as client:
        late = client.get(AT_THREE)
        assert (late.status_code, late.headers["retry-after"]) == (503, "10")
        assert "slow" in late.json()["detail"]


def test_so_many_at_work_and_so_many_awake(environment):
    with asking("slow", "raises", "prints", family_slots=1, families_awake=2) as client:
        for family in ("slow", "raises", "prints"):
            rows(client, family, "/v1/answers/relu/float32/1")
        awake = {name: each.awake for name, each in members(client).items()}
        assert awake == {"slow": False, "raises": True, "prints": True}
        assert "gelu_verify_families_awake 2.0" in client.get("/metrics").text
        rows(client, "slow", "/v1/answers/relu/float32/2")
        assert [name for name, each in members(client).items() if each.awake] == ["slow", "prints"]


@pytest.mark.service
def test_what_nobody_asks_ends(environment):
    with asking("raises", family_idle_s=0.3) as client:
        rows(client, "raises", "/v1/answers/relu/float32/1")
        pid = child_of(members(client)["raises"])
        assert alive(pid)
        assert wait_for(lambda: not alive(pid))
        rows(client, "raises", "/v1/answers/relu/float32/2")
        assert child_of(members(client)["raises"]) != pid


@pytest.mark.service
def test_what_was_answered_is_not_asked_again(environment):
    with asking("slow", family_idle_s=0.0) as client:
        first = rows(client, "slow")
        assert wait_for(lambda: not members(client)["slow"].awake)
        assert rows(client, "slow") == first
        assert not members(client)["slow"].awake


def test_a_family_that_this_server_does_not_ask(environment):
    with asking("kernels") as client:
        for name in ("torch", "nobody"):
            assert client.get(AT_THREE, params={"family": name}).status_code == 404
        assert client.get(AT_THREE, params={"family": "../etc"}).status_code == 422
    with asking() as client:
        assert client.get(AT_THREE).json()["answers"] == client.get("/v1/answers").json()["families"] == []


# ---- the real process ----------------------------------------------------------------------------


def descendants(pid):
    """Live processes that descend from `pid`."""
    found = {pid}
    for _ in range(4):
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                if fields[0] != "Z" and int(fields[1]) in found:
                    found.add(int(stat.parent.name))
    return found - {pid}


def get(server, path):
    with urlopen(server.url + path, timeout=60) as done:
        return json.load(done)


def ask(server, family):
    """Everything that comes back."""
    return raw(server, f"GET {AT_THREE}?family={family} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())


def test_nothing_is_started_before_the_first_question_and_look_ups_never_wait(environment):
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


@pytest.mark.parametrize(
    ("family", "end"),
    [
        ("hangs", signal.SIGKILL),
        ("sleeper", signal.SIGTERM),
        pytest.param("sleeper", signal.SIGKILL, marks=pytest.mark.service),
        pytest.param("hangs", signal.SIGTERM, marks=pytest.mark.service),
    ],
)
def test_the_end_of_the_server_is_the_end_of_all(environment, family, end):
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


def test_children_are_nicer_than_the_server(environment):
    with asking("raises") as client:
        rows(client, "raises", "/v1/answers/relu/float32/1")
        pid = child_of(members(client)["raises"])
        assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)


def test_the_command_knows_installed_none_and_names():
    command = [sys.executable, "-P", "-m", "gelu_verify", "serve", "--answers", "torhc"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "installed, none" in done.stderr
    with serving("--answers", "none") as server:
        assert get(server, "/v1/answers") == {"families": []}
