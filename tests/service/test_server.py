"""A real server on a real socket: broken requests, slow clients, limits, kills, full disks."""

import contextlib
import gzip
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
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
from gelu_verify.service.settings import ServiceLimits
from gelu_verify.service.store import Store
from gelu_verify.service.upload_record import inputs
from gelu_verify.truth.values import reference_bits
from gelu_verify.verification import verify

PATH = "/v1/reference/gelu/float32"
FACTS = {"versions": {}, "machine": {}, "git": None, "copy_bytes_per_s": None}
RAW = "Content-Type: application/octet-stream"


# Short time limits, so that the tests of slow clients are quick.
IMPATIENT = """
from gelu_verify.service import server, settings
limits = settings.ServiceLimits(head_s=0.4, body_idle_s=0.4, body_s=1.0, send_s=0.6, connections=40)
server.run_server(settings.Settings(port=0, limits=limits))
"""


@pytest.fixture(scope="module")
def impatient():
    """A server with short time limits."""
    with serving(program=IMPATIENT) as found:
        yield found
        assert alive(found)


def alive(server):
    with urlopen(f"{server.url}/healthz", timeout=10) as done:
        return done.status == 200


def readiness(server):
    """What /readyz says is wrong; empty if it is ready."""
    try:
        with urlopen(f"{server.url}/readyz", timeout=10):
            return ""
    except HTTPError as error:
        with error:
            return json.load(error)["detail"]


def test_it_logs_its_url_and_stops_on_sigterm_and_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    with serving("--store", tmp_path / "store") as server:
        assert alive(server)
        assert '"event": "stopped"' in server.stop()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_taken_port_and_a_bad_token_are_one_line(server, tmp_path):
    done = CliRunner().invoke(main, ["serve", "--port", str(server.port)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "cannot listen" in done.stderr
    (tmp_path / "token").write_text("short")
    wrong = {"--token-file": tmp_path / "token", "--runs": tmp_path / "none", "--answers": "nobody"}
    for option, value in wrong.items():
        assert CliRunner().invoke(main, ["serve", option, str(value)]).exit_code == 2


def test_remote_look_ups_equal_local_ones(server):
    for args in (
        ["gelu", "float32", "-6.5", "0x1"],
        ["silu", "bfloat16", "nan", "--json"],
        ["exp", "float64", "1", "--digits", "60"],
        ["gelu", "float32", "1", "--param", "mu=0.5", "--param", "sigma=1/3"],
        ["gelu", "float32", "1e400"],
    ):
        here = CliRunner().invoke(main, ["lookup", *args])
        there = CliRunner().invoke(main, ["lookup", *args, "--remote", server.url])
        assert here.exit_code == 0
        assert there.output == here.output


@pytest.mark.nightly
def test_the_page_links_to_documentation_and_source():
    with serving("--documentation", "/a&b", "--source", "/c") as found, urlopen(found.url, timeout=10) as response:
        page = response.read()
    links = b' <a href="/a&amp;b">Documentation</a> <a href="/c">Source</a>'
    assert b"for people who write, port or choose one." + links + b"</p>\n</header>" in page


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["gleu", "float32", "1", "--remote", "{url}"], 2, "did you mean"),
        (["gelu", "float32", "one", "--remote", "{url}"], 2, "not a number"),
        (["gelu", "float32", "1", "--remote", "file:///etc"], 2, "not an http"),
        (["gelu", "float32", "1", "--remote", "http://127.0.0.1:9"], 1, "cannot reach"),
        (["gelu", "float32", "1", "--remote", "{url}/nowhere"], 2, "Not Found"),
    ],
)
def test_remote_look_ups_that_fail(server, args, code, words):
    done = CliRunner().invoke(main, ["lookup", *(arg.format(url=server.url) for arg in args)])
    assert done.exit_code == code
    assert words in done.stderr


def test_large_batches_come_back_whole(server):
    x = np.random.default_rng(5).integers(0, 2**32, 1 << 21, dtype=np.uint32)
    request = Request(server.url + PATH, x.tobytes(), {"Content-Type": "application/octet-stream"})
    with urlopen(request, timeout=60) as done:
        assert np.array_equal(np.frombuffer(done.read(), "<u4"), reference_bits("gelu", "float32", x))


# ---- faults --------------------------------------------------------------------------------------

HOST = b"Host: localhost\r\n"
BROKEN = {
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /healthz HTTP/1.1\r\n" + 2 * HOST + b"\r\n", 400),
    "compressed chunks": (
        b"POST /v1/verify HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        501,
    ),
    "chunked twice": (
        b"POST /v1/verify HTTP/1.1\r\n" + HOST + 2 * b"Transfer-Encoding: chunked\r\n" + b"\r\n0\r\n\r\n",
        400,
    ),
    "compressed body": (post(PATH, gzip.compress(bytes(64)), RAW, "Content-Encoding: gzip"), 415),
    "digits of another script": (b"GET /v1/reference/gelu/float32/%D9%A3 HTTP/1.0\r\n\r\n", 404),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), 400),
    "no method": (b"/ HTTP/1.1\r\n\r\n", 400),
    "no version": (b"GET /healthz FTP/9\r\n\r\n", 400),
    "space in name": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nbad name: 1\r\n\r\n", 400),
    "two lengths": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400),
    "length is not a number": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: many\r\n\r\nx", 400),
    "length is negative": (b"POST /v1/verify HTTP/1.1\r\nContent-Length: -1\r\n\r\nx", 400),
    "bad chunk": (f"POST {PATH} HTTP/1.1\r\n{RAW}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".encode(), 400),
    "huge header": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 200_000 + b"\r\n\r\n", 431),
    "many headers": (b"GET /healthz HTTP/1.1\r\n" + b"X: a\r\n" * 40_000 + b"\r\n", 431),
    "huge path": (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", 431),
    "endless path": (b"GET /" + b"a" * 300_000, 431),
}


def test_of_requests_that_are_sent_ahead_some_are_answered(server):
    """In their order; then the connection ends, and the client sends the rest again."""
    most, head = 1 + ServiceLimits().pipelined, b"GET /v1/reference/gelu/float32/%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for count in (1, most, 200):
        found = raw(server, b"".join(head % x for x in range(count)), half_close=count <= most)
        answered = [float(part.partition(b'"x":"')[2].partition(b'"')[0]) for part in found.split(b"HTTP/1.1 ")[1:]]
        assert answered == [*range(min(count, most))]
        assert found.count(b"HTTP/1.1 200 ") == len(answered)
        assert count <= most or b"connection: close" in found.rpartition(b"HTTP/1.1 ")[2].lower()


def test_broken_requests_get_a_clear_answer(server):
    found = {name: status(raw(server, request)) for name, (request, _) in BROKEN.items()}
    assert found == {name: code for name, (_, code) in BROKEN.items()}


def test_two_hundred_random_faults(server):
    """Truncated, lengthened, with flipped bytes, cut into pieces: always an answer, or a closed connection."""
    rng = random.Random(20)
    whole = [post(PATH, bytes(range(64)), RAW), post(PATH, b'{"x_bits":["0x0"]}', "Content-Type: application/json"),
             b"GET /v1/reference/gelu/float32/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"]  # fmt: skip
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


def test_lengths_that_do_not_match_the_body(server):
    for length, code in {0: 200, 1: 409, 3: 409, 63: 409, 64: 200, 65: 400, 10**6: 400, 2**63: 413}.items():
        assert status(raw(server, post(PATH, bytes(64), RAW, length=length), half_close=True)) == code, length


def chunked(body, trailers=b""):
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{RAW}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    return head.encode() + b"%x\r\n%s\r\n0\r\n" % (len(body), body) + trailers


def test_trailers_are_ignored_and_limited(server):
    """They come after the body, when the head was accepted long ago."""
    found = raw(server, chunked(bytes(64), b"X-Note: 1\r\nIf-None-Match: *\r\n\r\n"))
    assert (status(found), found.endswith(bytes(64))) == (200, True)
    for endless in (b"X: a\r\n" * 200_000, b"X: " + b"a" * 1_000_000):
        assert status(raw(server, chunked(bytes(64), endless))) == 431


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


def test_the_time_limit_of_the_head_holds_for_every_request_of_a_connection(impatient):
    """Not for an idle connection between two requests."""
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with impatient.connect() as connection:
        connection.sendall(request)
        assert status(connection.recv(65536)) == 200
        time.sleep(0.6)
        connection.sendall(request + b"GET /health")  # and the start of a second one
        answers = read_to_end(connection)
    assert status(answers) == 200
    assert b"HTTP/1.1 408 " in answers


def is_connected_to(port):
    """Whether the other end of a connection from that port is open: its own processes may have more files or fewer."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(remote.rpartition(":")[2], 16) == port and state == "01" for _, _, remote, state, *_ in rows)


def files_of(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_a_reader_that_never_reads_is_dropped(impatient):
    with impatient.connect() as connection:
        ours = connection.getsockname()[1]
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(post(PATH, bytes(32 << 20), RAW))
        assert is_connected_to(ours)
        for _ in range(1200):
            time.sleep(0.05)
            if not is_connected_to(ours):
                break
        assert not is_connected_to(ours)
    assert alive(impatient)


def test_idle_connections_are_closed_for_new_ones(impatient):
    """Those of the client that has most; a client that is not idle is not touched."""
    path = "/v1/reference/gelu/float32/0.5?digits=900"
    with contextlib.ExitStack() as stack:
        working = stack.enter_context(impatient.connect())
        working.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        crowd = [stack.enter_context(impatient.connect()) for _ in range(60)]
        assert alive(impatient)
        assert status(read_to_end(working)) == 200
        answers = [read_to_end(each) for each in crowd]
    assert answers.count(b"") >= 20
    assert {status(found) for found in answers if found} <= {408}


def test_connections_beyond_the_limit_get_429_if_none_is_idle(impatient):
    request = post(PATH, b"1234", RAW, length=64)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(impatient.connect()) for _ in range(60)]
        for each in crowd[:40]:
            each.sendall(request)
        answers = [read_to_end(each) for each in crowd]
    assert {status(found) for found in answers if found} <= {408, 429}


# ---- killed, full, read-only ---------------------------------------------------------------------


class Refused(Exception):
    """The server answered with an error."""


def upload(server, name="mine"):
    """Name of the stored run."""
    x = np.frombuffer(inputs("default", "gelu", "float16", 0), "<u2")
    headers = {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {TOKEN}"}
    url = f"{server.url}/v1/verify?function=gelu&dtype=float16&name={name}"
    try:
        with urlopen(Request(url, reference_bits("gelu", "float16", x).tobytes(), headers), timeout=60) as answer:
            job = json.load(answer)
        while job["state"] == "running":  # 202: the machine was slow
            time.sleep(0.1)
            with urlopen(server.url + job["links"]["self"], timeout=60) as answer:
                job = json.load(answer)
    except HTTPError as error:
        with error:
            raise Refused(error.code) from None
    return job["links"]["run"].rpartition("/")[2]


def names(server):
    with urlopen(f"{server.url}/v1/runs", timeout=30) as done:
        return [run["id"] for run in json.load(done)["runs"]]


@pytest.mark.service
def test_after_a_kill_every_run_that_was_reported_is_there(tmp_path):
    with serving("--store", tmp_path / "store") as server, ThreadPoolExecutor(1) as pool:
        reported = [upload(server)]
        late = pool.submit(upload, server)
        time.sleep(0.05)
        server.kill()
        with contextlib.suppress(OSError):
            reported.append(late.result())
    with serving("--store", tmp_path / "store") as server:
        assert set(reported) <= set(names(server))
        assert upload(server) in names(server)


def test_a_full_disk_is_507_until_there_is_space(tmp_path):
    """No file of the process may grow: to the process that is a full disk."""
    with serving("--store", tmp_path / "store") as server:
        first = upload(server)
        pid = server.process.pid
        limits = resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        with pytest.raises(Refused, match="507"):
            upload(server)
        assert alive(server)
        assert "cannot be written" in readiness(server)
        assert names(server) == [first]
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        assert readiness(server) == ""
        second = upload(server)
        assert sorted(names(server)) == sorted([first, second])


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ") or not Path("/proc/self/fd").exists(), reason="needs Linux")
def test_nothing_leaks(server):
    """Neither descriptors nor memory grow with requests, answered or broken."""
    pid = server.process.pid

    def load(rounds):
        for i in range(rounds):
            raw(server, post(PATH, bytes(1 << 16), RAW))
            raw(server, post(PATH, bytes(64), RAW, length=100), half_close=True)
            raw(server, f"GET {PATH}/{i}?digits=50 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())

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


@pytest.mark.nightly
def test_a_read_only_store_is_published_and_not_written(tmp_path):
    store = tmp_path / "store"
    result = verify("kernels.silu_exp", "silu", "float16", "landmarks")
    writer = Store(store)
    run = writer.add(result, command="test", facts=FACTS)
    writer.close()
    read_only = mounting(f"mount --bind {store} {store} && mount -o remount,ro,bind {store}")
    with serving("--store", store, wrapper=read_only) as server:
        assert names(server) == [run]
        assert "read-only" in readiness(server)
        with pytest.raises(Refused, match="507"):
            upload(server)


@pytest.mark.service
def test_a_disk_that_fills_up_keeps_what_was_reported(tmp_path):
    """A disk of half a megabyte, filled by runs and by another process."""
    store = tmp_path / "store"
    store.mkdir()
    with serving("--store", store, wrapper=mounting(f"mount -t tmpfs -o size=512k tmpfs {store}")) as server:
        reported = []
        with contextlib.suppress(Refused):
            for _ in range(200):
                reported.append(upload(server))
        assert 0 < len(reported) < 200
        with pytest.raises(Refused, match="507"):
            upload(server)
        assert sorted(names(server)) == sorted(reported)
        assert alive(server)
        runs = Path(f"/proc/{server.process.pid}/root{store}/runs")
        assert sorted(path.name for path in runs.iterdir()) == sorted(reported)
        shutil.rmtree(runs / reported.pop(0))
        reported.append(upload(server))  # there is space again
        assert set(reported) <= set(names(server))
