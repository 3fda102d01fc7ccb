"""Executors: the same bytes from threads, processes and Dask, whatever happens to workers and to the client meanwhile.

All of it starts processes that import frameworks, and is for the nightly run.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import replace

import pytest
from killing import disturbed, slow_target
from requiring import module, program

from gelu_verify.errors import RemoteError, UsageError
from gelu_verify.measure.jobs import find_jobs, selecting
from gelu_verify.measure.request import Request
from gelu_verify.measure.run import measured
from gelu_verify.records.serialize import to_json
from gelu_verify.search.search import SearchBudget
from gelu_verify.search.session import searched
from gelu_verify.work.executors import Where, opened, results
from gelu_verify.work.observer import Observer

pytestmark = pytest.mark.nightly
KILLS = 6
OF_TIME = ("throughput", "time")  # keys of a result that no second run has again


@pytest.fixture(autouse=True, scope="module")
def _with_dask():
    module("distributed")


class Told(Observer):
    def __init__(self):
        self.said = []

    def warn(self, message):
        self.said.append(message)


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A target that gives other outputs where an environment variable says so, as a dispatcher does."""
    return slow_target(tmp_path_factory.mktemp("slow"))


def request_for(name, executor="threads", **more):
    return Request(
        targets=(name,), functions=("gelu",), dtypes=("bfloat16",), length=512, workers=2,
        executor=Where(name=executor, **more),
    )  # fmt: skip


def found_by(request, pool=None):
    """The result of a request as JSON and bytes."""
    told = Told()
    with selecting(request) as select:
        (result,) = measured(find_jobs(request, select).jobs, request, told, pool=pool)
    document = {key: value for key, value in to_json(result.record).items() if key not in OF_TIME}
    return document, {name: column.tobytes() for name, column in result.table.flat.items()}


def searched_by(request, pool=None):
    """The same of a search: of the same request, for float64."""
    request = replace(request, dtypes=("float64",), length=None, plan="landmarks")
    with selecting(request) as select:
        record = searched(request, select, SearchBudget(evaluations=2_000_000), workers=2, executor=lambda: pool)
    assert (record.workers is not None) == (pool is not None)
    return {key: value for key, value in to_json(record).items() if key not in ("seconds", "workers")}


WAYS = {"run": found_by, "search": searched_by}


@pytest.fixture(scope="module")
def on_threads(slow):
    return {name: found(request_for(slow)) for name, found in WAYS.items()}


@contextmanager
def scheduler(tmp_path, *options):
    """A scheduler of its own process: its address."""
    file = tmp_path / "scheduler.json"
    command = [
        sys.executable,
        "-P",
        "-m",
        "distributed.cli.dask_scheduler",
        "--scheduler-file",
        str(file),
        "--port",
        "0",
    ]
    with _running([*command, "--no-dashboard", *options]):
        yield _address(file)


def _address(file):
    for _ in range(300):
        time.sleep(0.1)
        if file.exists() and file.read_text():
            return json.loads(file.read_text())["address"]
    raise TimeoutError(file)


@contextmanager
def worker(address, *options, **environment):
    command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    with _running([*command, *options], **environment) as process:
        yield process


@contextmanager
def _running(command, **environment):
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(30)


@pytest.mark.parametrize("executor", ["processes", "dask"])
@pytest.mark.parametrize("way", WAYS)
def test_the_same_bytes_whichever_executor(slow, on_threads, way, executor):
    request = request_for(slow, executor)
    with opened(request.executor, 2) as pool:
        assert WAYS[way](request, pool) == on_threads[way]
        assert all(each["core_seconds"] > 0 for each in pool.described())


@pytest.mark.parametrize("way", WAYS)
def test_workers_of_a_scheduler_come_pause_and_die(slow, on_threads, tmp_path, way):
    """One is stopped for a while, one killed, one comes later."""
    with scheduler(tmp_path) as address, worker(address) as first, worker(address, "--no-nanny") as second:

        def disturb():
            time.sleep(1.5)
            first.send_signal(signal.SIGSTOP)
            time.sleep(1)
            second.kill()
            first.send_signal(signal.SIGCONT)

        request = request_for(slow, address)
        with opened(request.executor) as pool, worker(address):
            disturbing = threading.Thread(target=disturb)
            disturbing.start()
            assert WAYS[way](request, pool) == on_threads[way]
            disturbing.join()


@pytest.mark.parametrize("way", WAYS)
def test_a_worker_with_other_code_is_named_and_not_used(slow, on_threads, tmp_path, way):
    request, said = None, []
    with scheduler(tmp_path) as address, worker(address), worker(address, OTHER_CODE="1") as other:
        request = request_for(slow, address)
        with opened(request.executor, warn=said.append) as pool:
            for _ in range(100):
                if pool.width == 2:
                    break
                time.sleep(0.2)
            assert WAYS[way](request, pool) == on_threads[way]
        assert len(said) == 1
        assert "is not used: " in said[0]
        there, here = re.search(r" returned (\S+) for x = \S+ there and returns (\S+) here ", said[0]).groups()
        assert float(there) >= 0 >= float(here)  # of the client, who is told
        assert "(processor: " in said[0]
        assert other.poll() is None
    (tmp_path / "two").mkdir()
    with scheduler(tmp_path / "two") as address, worker(address, OTHER_CODE="1"):
        request = request_for(slow, address)
        with opened(request.executor) as pool, pytest.raises(RemoteError, match="no worker can be used"):
            WAYS[way](request, pool)


def test_a_target_that_fails_in_a_search_elsewhere_is_a_result(tmp_path):
    """The same one as on threads, also where only one input fails."""
    path = tmp_path / "failing.py"
    path.write_text("def gelu(x):\n    assert len(x) < 9000 or not ((x > 3) & (x < 4)).any()\n    return x\n")
    found = []
    for executor in ("threads", "processes"):
        request = request_for(f"{path}:gelu", executor)
        with opened(request.executor, 2) as pool:
            found.append(searched_by(request, None if executor == "threads" else pool))
    assert found[0] == found[1]
    assert (found[0]["ended"], found[0]["failure_kind"]) == ("failure", "exception")


def test_a_cluster_of_this_machine_survives_its_workers(tmp_path):
    """One dies while it starts; then all do, with what would have started them again."""
    import psutil

    def workers():
        found = psutil.Process().children()
        return [each for each in found if "multiprocessing.spawn" in " ".join(each.cmdline())]

    def disturb():
        while not workers():
            time.sleep(0.01)
        workers()[0].kill()

    disturbing = threading.Thread(target=disturb)
    disturbing.start()
    with opened(Where(name="dask"), 2) as pool:
        disturbing.join()
        for each in workers():
            each.kill()
        assert sorted(results(pool, abs, deque(range(9)))) == [(k, k) for k in range(9)]


def test_where_no_scheduler_answers(monkeypatch):
    monkeypatch.setattr("gelu_verify.work.dask_pool.ANSWER", 2)
    with (
        pytest.raises(UsageError, match=r"no scheduler answers at tcp://127.0.0.1:9"),
        opened(Where(name="tcp://127.0.0.1:9")),
    ):
        pass


def test_a_scheduler_with_tls(slow, on_threads, tmp_path):
    files = _certificate(tmp_path)
    options = [word for name, path in files.items() for word in (f"--tls-{name}", str(path))]
    with scheduler(tmp_path, "--protocol", "tls", *options) as address, worker(address, *options):
        more = {"tls_ca": str(files["ca-file"]), "tls_cert": str(files["cert"]), "tls_key": str(files["key"])}
        request = request_for(slow, address, **more)
        with opened(request.executor) as pool:
            assert found_by(request, pool) == on_threads["run"]


def _certificate(folder):
    """One that signs itself."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=gelu-verify",
         "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return {"ca-file": certificate, "cert": certificate, "key": key}


# ---- the client is killed ------------------------------------------------------------------------


@pytest.mark.parametrize("executor", ["threads", "processes", "dask"])
@pytest.mark.parametrize("command", ["run", "search"])
def test_killed_at_any_moment_it_ends_with_the_same_bytes(tmp_path, command, executor):
    """`kill -9`; then the same command, until it ends. tools/kill_at_random.py does it fifty times."""
    counts = disturbed(command, executor, slow_target(tmp_path), tmp_path, KILLS)
    assert counts.kills >= KILLS
    assert counts.ended > 0
