"""What an operator sees and sets: log lines, metrics, settings from flags, environment and file; stops and restarts."""

import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
from click.testing import CliRunner
from hostile_clients import processes
from serving import post, raw, read_to_end, serving, status

from gelu_verify.cli import main
from gelu_verify.service.request_log import LineWriter

PATH = "/v1/reference/gelu/float32"
RAW = "Content-Type: application/octet-stream"


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def requests_in(text):
    return [line for line in lines_of(text) if line["event"] == "request"]


def test_every_request_is_one_line_and_one_count():
    with serving("--answers", "none") as server:
        for _ in range(2):
            assert status(raw(server, post(PATH, bytes(8), RAW, "X-Request-Id: from-the-proxy"))) == 200
            urlopen(f"{server.url}{PATH}/0.25").read()
        assert status(raw(server, b"GET /healthz HTTP/1.1\r\n\r\n")) == 400
        assert status(raw(server, post("/v1/verify?function=gelu&dtype=float16", b"", RAW))) == 409
        with urlopen(f"{server.url}/metrics") as answer:
            metrics = answer.read().decode()
        found = requests_in(server.stop())
    assert [line["status"] for line in found] == [200, 200, 200, 200, 400, 409, 200]
    assert [line["route"] for line in found][:2] == [
        "/v1/reference/{function}/{dtype}",
        "/v1/reference/{function}/{dtype}/{x}",
    ]
    assert [line["id"] for line in found[0:4:2]] == ["from-the-proxy"] * 2
    assert len({line["id"] for line in found}) == len(found) - 1
    assert {line["client"] for line in found} == {"127.0.0.1"}
    assert found[0]["bytes"] == 8
    assert found[1]["bytes"] == found[3]["bytes"] > 500
    assert all(line["seconds"] >= 0 for line in found)
    for route in ("/v1/reference/{function}/{dtype}", "/v1/reference/{function}/{dtype}/{x}"):
        assert re.search(rf'requests_total\{{.*route="{re.escape(route)}",status="200"\}} 2\.0', metrics)
        assert re.search(rf'request_seconds_count\{{route="{re.escape(route)}"\}} 2\.0', metrics)
    assert "process_resident_memory_bytes" in metrics


def test_a_5xx_has_its_cause(tmp_path):
    program = """
from gelu_verify.service import server, settings
from gelu_verify.service.routes import tables
def catalogue(static): raise RuntimeError("a hidden reason")
tables.catalogue = catalogue
server.run_server(settings.Settings(port=0, log_requests="errors"))
"""
    with serving(program=program) as server:
        urlopen(f"{server.url}/healthz").read()
        answer = raw(server, b"GET /v1/functions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert (status(answer), b"hidden" in answer) == (500, False)
        (line,) = requests_in(server.stop())
    assert (line["level"], line["status"], line["cause"]) == ("error", 500, "RuntimeError('a hidden reason')")


def test_a_log_that_nobody_reads_stops_nobody():
    class Stuck(io.StringIO):
        reading = threading.Event()

        def write(self, text):
            self.reading.wait()
            return super().write(text)

    stream = Stuck()
    writer = LineWriter(stream)
    writer.put("first", soon=True)
    time.sleep(0.05)
    for _ in range((2 << 10) + 10):
        writer.put("x" * 1024)
    stream.reading.set()
    writer.close()
    written = stream.getvalue().splitlines()
    assert written[0] == "first"
    assert json.loads(written[-1])["count"] == 10, "2 MiB wait"


# ---- settings ------------------------------------------------------------------------------------


def shown(*options, **environment):
    done = CliRunner().invoke(main, ["serve", "--show-config", *map(str, options)], env=environment)
    assert done.exit_code == 0, done.output
    return tomllib.loads(done.stdout)


def test_settings_come_from_flags_environment_and_file_in_this_order(tmp_path):
    file = tmp_path / "serve.toml"
    file.write_text('port = 1\nhost = "::1"\nlog-requests = "errors"\n[limits]\nbody_bytes = "8M"\nsend_s = 2.5\n')
    found = shown("--config", file, "--port", "3", GELU_VERIFY_PORT="2", GELU_VERIFY_HOST="0.0.0.0")
    assert (found["port"], found["host"], found["log_requests"]) == (3, "0.0.0.0", "errors")
    assert (found["limits"]["body_bytes"], found["limits"]["send_s"]) == (8 << 20, 2.5)
    more = shown("--config", file, "--limit", "send_s=3")["limits"]
    assert (more["body_bytes"], more["send_s"]) == (8 << 20, 3.0), "--limit changes one limit of the file"
    again = tmp_path / "again.toml"
    again.write_text(CliRunner().invoke(main, ["serve", "--show-config", "--config", str(file)]).stdout)
    assert shown("--config", again) == shown("--config", file)
    assert "secret-token-secret" not in str(shown(GELU_VERIFY_TOKEN="secret-token-secret"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--limit", "bodies=1"], "unknown limit"),
        (["--trusted-proxies", "nginx"], "'nginx' does not appear to be"),
        (["--trusted-proxies", "10.0.0.1/8"], "has host bits set"),
        (["--trusted-proxies", "*,127.0.0.1"], "or * alone"),
        (["--limit", "body_bytes=many"], "not a size"),
        (["--limit", "send_s=-1"], "send_s"),
        (["--limit", "small_processes=0"], "below 1"),
        (["--workers", "0"], "workers"),
        (["--spool", "/nowhere"], "--spool"),
        (["--config", "/nowhere"], "--config"),
    ],
)
def test_settings_that_are_wrong_are_one_line(options, words):
    done = CliRunner().invoke(main, ["serve", "--show-config", *options])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert words in done.stderr


@pytest.mark.parametrize(("text", "words"), [("prot = 1", "'prot'"), ("limits = 5", "limits"), ("[store]", "store")])
def test_a_file_with_an_unknown_key_or_table_is_refused(tmp_path, text, words):
    (tmp_path / "serve.toml").write_text(text)
    done = CliRunner().invoke(main, ["serve", "--config", str(tmp_path / "serve.toml")])
    assert (done.exit_code, done.stderr.count("\n"), words in done.stderr) == (2, 1, True)


def test_a_foreign_host_is_refused_on_loopback(server):
    request = "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
    for name, code in {"localhost": 200, "127.0.0.1:80": 200, "[::1]:8000": 200, "rebound.example": 421}.items():
        assert status(raw(server, request.format(name).encode())) == code, name


@pytest.mark.service
def test_a_foreign_host_is_refused_where_hosts_are_named():
    request = "GET /healthz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
    with serving("--allowed-hosts", "gelu.example", "--answers", "none") as named:
        found = [status(raw(named, request.format(name).encode())) for name in ("GELU.example:443", "localhost")]
    assert found == [200, 421]


@pytest.mark.service
def test_the_client_is_that_of_a_trusted_proxy_only():
    address = {"X-Forwarded-For": "198.51.100.7"}
    for trusted, client in (("127.0.0.1", "198.51.100.7"), ("192.0.2.1", "127.0.0.1")):
        with serving("--trusted-proxies", trusted, "--answers", "none") as server:
            urlopen(Request(f"{server.url}/healthz", headers=address)).read()
            (line,) = requests_in(server.stop())
        assert line["client"] == client


# ---- sockets, stops, restarts --------------------------------------------------------------------


@pytest.mark.service
def test_a_unix_socket(tmp_path):
    path = tmp_path / "socket"
    command = [sys.executable, "-P", "-m", "gelu_verify", "serve", "--unix-socket", str(path), "--answers", "none"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert f"unix:{path}" in process.stderr.readline()
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
            assert b"200 OK" in connection.recv(65536)
        process.terminate()
        assert '"client": ""' in process.communicate(timeout=20)[1]


ACTIVATE = """
import os, socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.executable, [sys.executable, "-P", "-m", "gelu_verify", "serve", "--port", "1", "--answers", "none"])
"""


@pytest.mark.service
def test_a_socket_that_systemd_passes():
    with serving(program=ACTIVATE.replace("sys.argv[1]", "0")) as server:
        assert urlopen(f"{server.url}/healthz").status == 200


@pytest.mark.service
def test_sigterm_makes_it_unready_and_lets_running_requests_end():
    with serving("--shutdown-delay", "0.7", "--answers", "none") as server:
        kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        kept.request("GET", "/readyz")
        assert kept.getresponse().read()
        upload = server.connect()
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        kept.request("GET", "/readyz")
        answer = kept.getresponse()
        assert (answer.status, answer.headers["connection"]) == (503, "close")
        kept.close()
        with upload:
            upload.sendall(post(PATH, bytes(4), RAW, length=8))
            time.sleep(0.8)
            upload.sendall(bytes(4))
            assert status(read_to_end(upload)) == 200
        assert '"event": "stopped"' in server.process.communicate(timeout=20)[1]


class Load:
    """Look-ups from several threads until it is stopped; what failed."""

    def __init__(self, server, threads=4):
        self.server, self.over, self.done, self.failed = server, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self.ask, args=(i,), daemon=True) for i in range(threads)]
        for each in self.threads:
            each.start()

    def ask(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        while not self.over.is_set():
            try:
                connection.request("GET", f"{PATH}/{number}.{self.done}")
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failed.append(answer.status)
                self.done += 1
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
                connection.close()
        connection.close()

    def stop(self):
        self.over.set()
        for each in self.threads:
            each.join()


def workers_of(server):
    """Ids of the worker processes."""
    commands = {each: Path(f"/proc/{each}/cmdline") for each in processes(server.process.pid)}
    return {each for each, command in commands.items() if command.exists() and b"spawn_main" in command.read_bytes()}


@pytest.mark.service
def test_a_rolling_restart_under_load_loses_no_request():
    with serving("--workers", "2", "--answers", "none") as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        before, load = workers_of(server), Load(server)
        time.sleep(2)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: not workers_of(server) & before)
        time.sleep(2)
        load.stop()
        assert (load.failed, load.done > 100) == ([], True)
        with urlopen(f"{server.url}/metrics") as answer:
            counted = re.findall(r'requests_total\{.*\{x\}",status="200"\} (\d+)', answer.read().decode())
        assert int(counted[0]) >= load.done, "the metrics are those of all workers"
        server.stop()


@pytest.mark.service
def test_workers_share_jobs_and_a_dead_one_is_replaced():
    with serving("--workers", "2", "--answers", "none") as server:
        wait_until(lambda: len(workers_of(server)) == 2)
        headers = {"Content-Type": "application/octet-stream"}
        url = f"{server.url}/v1/verify?function=gelu&dtype=float16"
        with urlopen(Request(url, bytes(2 << 16), headers), timeout=60) as answer:
            job = json.load(answer)["links"]["self"]
        for _ in range(20):  # whichever worker answers
            assert get(server, job)["id"] in job
        victim = min(workers_of(server))
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: len(workers_of(server) - {victim}) == 2)
        assert get(server, job)["id"] in job
        server.stop()


def get(server, path):
    with urlopen(server.url + path, timeout=30) as answer:
        return json.load(answer)


def wait_until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_log_that_nobody_reads_holds_up_nobody_who_flushes_the_stream():
    """As multiprocessing does whenever it starts a process."""
    ours, theirs = os.pipe()
    with open(theirs, "w") as stream:
        writer = LineWriter(stream)
        for _ in range(1000):
            writer.put("x" * 500, soon=True)
        time.sleep(0.5)
        flushed = threading.Thread(target=stream.flush, daemon=True)
        flushed.start()
        flushed.join(10)
        held_up = flushed.is_alive()
        reading = threading.Thread(
            target=lambda: [None for _ in iter(lambda: os.read(ours, 1 << 16), b"")], daemon=True
        )
        reading.start()
        writer.close()
    reading.join(10)
    os.close(ours)
    assert not held_up
