"""The real process on a real socket: what it survives, and what it says meanwhile."""

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest
import requiring

pytest.importorskip("uvicorn", reason="needs the extra serve")
from click.testing import CliRunner
from serving import TOKEN, post, raw, read_to_end, serving, status

from gelu_verify.cli import main
from gelu_verify.service.upload_jobs import inputs
from gelu_verify.truth.values import reference_bits

PATH = "/v1/reference/gelu/float32"
RAW = "Content-Type: application/octet-stream"


# Times of the tests, not of the service: short, so that slow clients are met soon.
IMPATIENT = """
import dataclasses, sys
from gelu_verify.service import server, settings
limits = settings.ServiceLimits(head_s=0.4, body_idle_s=0.4, body_s=1.0, send_s=0.6, connections=40)
server.run_server(settings.Settings(limits=limits), "127.0.0.1", 0)
"""


@pytest.fixture(scope="module")
def server():
    with serving() as found:
        yield found
        assert alive(found)


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    """A server with short time limits."""
    program = tmp_path_factory.mktemp("impatient") / "impatient.py"
    program.write_text(IMPATIENT)
    import serving as module

    class Impatient(module.Server):
        def __init__(self):
            real = subprocess.Popen
            subprocess.Popen = lambda command, **more: real([sys.executable, "-P", str(program)], **more)
            try:
                super().__init__()
            finally:
                subprocess.Popen = real

    found = Impatient()
    yield found
    assert alive(found)
    found.kill()


def alive(server):
    with urlopen(f"{server.url}/readyz", timeout=10) as done:
        return done.status == 200


def test_it_says_where_it_listens_and_stops_when_told(tmp_path):
    with serving("--store", tmp_path / "store") as server:
        assert alive(server)
        assert '"event": "stopped"' in server.stop()


def test_a_taken_port_and_a_bad_token_are_one_line(server, tmp_path):
    done = CliRunner().invoke(main, ["serve", "--port", str(server.port)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cannot listen" in done.stderr
    (tmp_path / "token").write_text("short")
    wrong = {"--token-file": tmp_path / "token", "--runs": tmp_path / "none", "--answers": "nobody"}
    for option, value in wrong.items():
        assert CliRunner().invoke(main, ["serve", option, str(value)]).exit_code == 2


def test_look_ups_from_afar_are_those_from_here(server):
    for args in (
        ["gelu", "float32", "-6.5", "0x1"],
        ["silu", "bfloat16", "nan", "--json"],
        ["exp", "float64", "1", "--digits", "60"],
    ):
        here = CliRunner().invoke(main, ["lookup", *args])
        there = CliRunner().invoke(main, ["lookup", *args, "--remote", server.url])
        assert here.exit_code == 0
        assert there.stdout == here.stdout


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["gleu", "float32", "1", "--remote", "{url}"], 2, "did you mean"),
        (["gelu", "float32", "one", "--remote", "{url}"], 2, "no number"),
        (["gelu", "float32", "1", "--remote", "file:///etc"], 2, "not an http"),
        (["gelu", "float32", "1", "--remote", "http://127.0.0.1:9"], 1, "cannot reach"),
        (["gelu", "float32", "1", "--remote", "{url}/nowhere"], 2, "Not Found"),
    ],
)
def test_look_ups_from_afar_that_fail(server, args, code, words):
    done = CliRunner().invoke(main, ["lookup", *(arg.format(url=server.url) for arg in args)])
    assert done.exit_code == code
    assert words in done.stderr


def test_large_batches_come_back_whole(server):
    x = np.random.default_rng(5).integers(0, 2**32, 1 << 21, dtype=np.uint32)
    request = Request(server.url + PATH, x.tobytes(), {"Content-Type": "application/octet-stream"})
    with urlopen(request, timeout=60) as done:
        assert np.array_equal(np.frombuffer(done.read(), "<u4"), reference_bits("gelu", "float32", x))


# ---- faults --------------------------------------------------------------------------------------

BROKEN = {
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), 400),
    "no method": (b"/ HTTP/1.1\r\n\r\n", 400),
    "no version": (b"GET /healthz FTP/9\r\n\r\n", 400),
    "space in name": (b"GET /healthz HTTP/1.1\r\nbad name: 1\r\n\r\n", 400),
    "two lengths": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
    "length is no number": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: many\r\n\r\nx", 400),
    "length is negative": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: -1\r\n\r\nx", 400),
    "bad chunk": (f"POST {PATH} HTTP/1.1\r\n{RAW}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode(), 400),
    "huge header": (b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", 431),
    "many headers": (b"GET /healthz HTTP/1.1\r\n" + b"X: a\r\n" * 40_000 + b"\r\n", 431),
    "huge path": (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", 431),
    "endless path": (b"GET /" + b"a" * 300_000, 431),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_requests_get_a_clear_answer(server, name):
    request, code = BROKEN[name]
    assert status(raw(server, request)) == code


def test_two_hundred_random_faults(server):
    """Truncated, lengthened, with flipped bytes, cut into pieces: always an answer, or a closed connection."""
    rng = random.Random(20)
    whole = [post(PATH, bytes(range(64)), RAW), post(PATH, b'{"x_bits":["0x0"]}', "Content-Type: application/json"),
             b"GET /v1/reference/gelu/float32/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"]  # fmt: skip
    answered = 0
    for _ in range(200):
        data = bytearray(rng.choice(whole))
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        cut = rng.randrange(len(data) + 1) if rng.random() < 0.5 else len(data)
        middle = rng.randrange(cut + 1)
        found = raw(server, bytes(data[:middle]), bytes(data[middle:cut]), half_close=True)
        if found:
            assert 200 <= status(found) < 500
            answered += 1
    assert answered > 100


@pytest.mark.parametrize("length", [0, 1, 3, 63, 64, 65, 10**6, 2**63])
def test_lengths_that_lie(server, length):
    done = raw(server, post(PATH, bytes(64), RAW, length=length), half_close=True)
    assert status(done) == {0: 200, 64: 200}.get(length, 409 if length < 64 else 413 if length > 10**7 else 400)


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(server):
    """And the connection can still be used to read the answer."""
    found = raw(server, post(PATH, bytes(1 << 20), RAW, length=1 << 40), half_close=True)
    assert status(found) == 413


def test_clients_that_are_slow(impatient):
    def drip(*pieces, wait=0.15, most=8.0):
        start = time.monotonic()
        with impatient.connect() as connection, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(wait)
            return read_to_end(connection)
        assert time.monotonic() - start < most
        return b""

    with ThreadPoolExecutor(4) as pool:
        silent = pool.submit(drip, b"")
        head = pool.submit(drip, b"GET /healthz HTTP/1.1\r\n")
        dripped = pool.submit(drip, *(b"GET /healthz HTTP/1.1\r\n", *[b"x: y\r\n"] * 6))
        body = pool.submit(drip, post(PATH, b"1234", RAW, length=64))
    assert {status(found.result()) for found in (silent, head, body)} == {408}
    assert dripped.result() == b"" or status(dripped.result()) == 408


def files_of(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_a_reader_that_never_reads_is_dropped(impatient):
    before = files_of(impatient)
    with impatient.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(post(PATH, bytes(32 << 20), RAW))
        for _ in range(100):
            time.sleep(0.05)
            if files_of(impatient) == before:
                break
        assert files_of(impatient) == before
    assert alive(impatient)


def test_more_connections_than_there_is_room_for(impatient):
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(impatient.connect()) for _ in range(60)]
        answers = [read_to_end(each) for each in crowd]
    codes = [status(found) for found in answers if found]
    assert 429 in codes
    assert set(codes) <= {408, 429}
    assert alive(impatient)


# ---- killed, full, read-only ---------------------------------------------------------------------


def upload(server, name="mine"):
    x, _ = inputs("default", "gelu", "float16", 0)
    headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {TOKEN}"}
    where = f"{server.url}/v1/verify?function=gelu&dtype=float16&name={name}"
    with urlopen(Request(where, reference_bits("gelu", "float16", x).tobytes(), headers), timeout=60) as answer:
        job = json.load(answer)
    while job["state"] in ("queued", "running"):  # 202: the machine was slow
        time.sleep(0.1)
        with urlopen(server.url + job["links"]["self"], timeout=60) as answer:
            job = json.load(answer)
    return job


def names(server):
    with urlopen(f"{server.url}/v1/runs", timeout=30) as done:
        return [run["id"] for run in json.load(done)["runs"]]


def test_killed_it_starts_again_with_all_that_it_had_said(tmp_path):
    told = []
    for wait in (0.0, 0.05):
        with serving("--store", tmp_path / "store") as server:
            assert set(told) <= set(names(server))
            told.append(upload(server)["links"]["run"].rpartition("/")[2])
            with ThreadPoolExecutor(1) as pool:
                late = pool.submit(lambda: upload(server))
                time.sleep(wait)
                server.kill()
                with contextlib.suppress(OSError):
                    told.append(late.result()["links"]["run"].rpartition("/")[2])
    with serving("--store", tmp_path / "store") as server:
        assert set(told) <= set(names(server))
        assert upload(server)["stored"] is True


def test_a_full_disk_is_a_clear_answer(tmp_path):
    """No file of this process may grow: what a full disk looks like from inside."""
    store = tmp_path / "store"
    with serving("--store", store) as server:
        first = upload(server)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, 0))
        with pytest.raises(OSError, match="507"):
            upload(server)
        assert alive(server)
        server.kill()
    with serving("--store", store) as server:
        assert names(server) == [first["links"]["run"].rpartition("/")[2]]


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ") or not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_nothing_leaks(server):
    """Neither descriptors nor memory grow with requests, answered or broken."""
    pid = server.process.pid

    def load(rounds):
        for i in range(rounds):
            raw(server, post(PATH, bytes(1 << 16), RAW))
            raw(server, post(PATH, bytes(64), RAW, length=100), half_close=True)
            raw(server, f"GET {PATH}/{i}?digits=50 HTTP/1.1\r\nConnection: close\r\n\r\n".encode())

    def held():
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), files_of(server)

    load(100)
    memory, files = held()
    load(100)
    more, files_after = held()
    assert files_after <= files + 1
    assert more - memory < 8 << 20


def mounting(script):
    """What a command is put behind to see other file systems than we do."""
    wrapper = ["unshare", "-m", "sh", "-c", f'{script} && exec "$@"', "sh"]
    tried = subprocess.run([requiring.program("unshare"), *wrapper[1:], "true"], capture_output=True, check=False)
    return wrapper if tried.returncode == 0 else requiring.missing("right to mount")


def test_a_read_only_store_is_published_and_not_written(tmp_path):
    store = tmp_path / "store"
    with serving("--store", store) as server:
        run = upload(server)["links"]["run"].rpartition("/")[2]
        server.stop()
    read_only = mounting(f"mount --bind {store} {store} && mount -o remount,ro,bind {store}")
    with serving("--store", store, wrapper=read_only) as server:
        assert names(server) == [run]
        with pytest.raises(OSError, match="507"):
            upload(server)


@pytest.mark.service
def test_a_disk_that_fills_up_keeps_what_was_told(tmp_path):
    """A disk of half a megabyte, filled by runs and by somebody else."""
    store = tmp_path / "store"
    store.mkdir()
    with serving("--store", store, wrapper=mounting(f"mount -t tmpfs -o size=512k tmpfs {store}")) as server:
        told = []
        with contextlib.suppress(HTTPError):
            for _ in range(200):
                told.append(upload(server)["links"]["run"].rpartition("/")[2])
        assert 0 < len(told) < 200
        with pytest.raises(OSError, match="507"):
            upload(server)
        assert sorted(names(server)) == sorted(told)
        assert alive(server)
        seen = Path(f"/proc/{server.process.pid}/root{store}/runs")
        assert sorted(path.name for path in seen.iterdir()) == sorted(told)
        shutil.rmtree(seen / told.pop(0))
        told.append(upload(server)["links"]["run"].rpartition("/")[2])  # there is room again
        assert set(told) <= set(names(server))
