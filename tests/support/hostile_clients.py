"""Attacks on a server of ours on this machine, with its memory and the answers to another client watched from outside.

`python tests/support/hostile_clients.py` starts a server for each attack and prints a table: the resident memory of
the server and its processes before and at the most; and for each kind of request of another client the median before
the attack, the median during it, and the slowest answer.
Every attack is bounded in time and number, and reaches no address but this machine's.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.client
import itertools
import os
import random
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import proxies
from serving import read_to_end, serving

RAW = "Content-Type: application/octet-stream"
BATCH = "/v1/reference/gelu/float32"
ATTACKER, OTHER = "127.0.0.1", "127.0.0.2"  # the attackers' address and everybody else's
UNTRUSTED = ssl.create_default_context()
UNTRUSTED.check_hostname, UNTRUSTED.verify_mode = False, ssl.CERT_NONE
ALONE_S = 4.0  # for so long the other client is watched before the attack


def processes(pid):
    """The process and all below it."""
    found, parents = [pid], {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def resident(pid):
    """Bytes of memory of the process and all below it."""
    pages = 0
    for each in processes(pid):
        with contextlib.suppress(OSError):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def connect(place, source=ATTACKER, timeout=20.0):
    plain = socket.create_connection(("127.0.0.1", place.port), timeout, (source, 0))
    return plain if place.tls is None else place.tls.wrap_socket(plain)


@dataclass
class Watch:
    """What was seen from outside: memory, and the answers to requests of a client that does no harm."""

    before: int = 0
    most: int = 0
    alone: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in HONEST})
    meanwhile: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in HONEST})
    refused: int = 0

    def median(self, name):
        """Of the answers to one kind of request: alone, and during the attack."""
        return tuple(statistics.median(each[name] or [float("inf")]) for each in (self.alone, self.meanwhile))

    def slowest(self):
        """The slowest answer to each kind of request during the attack."""
        return {name: max(seconds, default=float("inf")) for name, seconds in self.meanwhile.items()}


HONEST = {
    "look-up": lambda rng: ("GET", f"{BATCH}/{rng.uniform(-5, 5):.7f}", None),
    "30 digits": lambda rng: ("GET", f"{BATCH}/{rng.uniform(-5, 5):.7f}?digits=30", None),
    "16 bytes": lambda rng: ("POST", BATCH, rng.randbytes(16)),
    "256 KiB": lambda rng: ("POST", BATCH, rng.randbytes(1 << 18)),
    "upload": lambda rng: ("POST", "/v1/verify?function=gelu&dtype=float16&plan=landmarks", bytes(2 * 2551)),
}
"""Requests of a client that does no harm."""
UPLOADS_S = 0.6  # between two uploads: nginx as shipped takes two a second


def answered(place, method, path, body):
    """Seconds until the whole answer of 200 was there; None for another status."""
    start = time.perf_counter()
    try:
        kind = http.client.HTTPConnection if place.tls is None else functools.partial(
            http.client.HTTPSConnection, context=place.tls)  # fmt: skip
        asked = kind("127.0.0.1", place.port, timeout=60, source_address=(OTHER, 0))
        headers = {"Host": "127.0.0.1", "Content-Type": "application/octet-stream", "Prefer": "wait=20"}
        asked.request(method, path, body, headers)
        answer = asked.getresponse()
        answer.read()
        asked.close()
    except OSError:
        return None
    return time.perf_counter() - start if answer.status == 200 else None


@dataclass
class Place:
    """Where a server is asked: its own port, or that of a proxy before it."""

    process: subprocess.Popen
    port: int
    tls: ssl.SSLContext | None = None


@contextlib.contextmanager
def watching(place):
    """Memory of the server twenty times a second, and one request after the other of a client that does no harm."""
    over, attack, found = threading.Event(), threading.Event(), Watch()

    def memory():
        while not over.wait(0.05):
            found.most = max(found.most, resident(place.process.pid))

    def ask():
        rng, uploaded = random.Random(7), -UPLOADS_S
        while not over.is_set():
            for name, request in HONEST.items():
                if name == "upload":
                    if time.monotonic() < uploaded + UPLOADS_S:
                        continue
                    uploaded = time.monotonic()
                started = attack.is_set()
                seconds = answered(place, *request(rng))
                if seconds is None:
                    found.refused += 1
                elif started == attack.is_set():
                    (found.meanwhile if started else found.alone)[name].append(seconds)
                over.wait(0.02)

    for request in HONEST.values():  # what is loaded with the first request is loaded
        answered(place, *request(random.Random(1)))
    found.before = resident(place.process.pid)
    threads = [threading.Thread(target=each) for each in (memory, ask)]
    for each in threads:
        each.start()
    time.sleep(ALONE_S)
    attack.set()
    try:
        yield found
    finally:
        over.set()
        for each in threads:
            each.join()


def crowd(work, count):
    """`work(i)` in as many threads."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def head(path, *headers, method="POST"):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


# ---- the attacks ---------------------------------------------------------------------------------


def trailers(place, megabytes=60):
    """Chunked trailers without end."""
    with connect(place) as one, contextlib.suppress(OSError):
        one.sendall(head(BATCH, RAW, "Transfer-Encoding: chunked") + b"4\r\n0000\r\n0\r\n")
        for i in range(megabytes * 16):
            one.sendall(b"".join(b"X-%d-%d: %s\r\n" % (i, j, b"a" * 48) for j in range(1024)))
        time.sleep(1)


def large_bodies(place, clients=40, megabytes=60):
    """Bodies that arrive at the same time, and stay."""

    def send(_):
        with connect(place) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, RAW, f"Content-Length: {megabytes << 20}"))
            block = bytes(1 << 20)
            for _ in range(megabytes - 1):
                one.sendall(block)
            time.sleep(6)

    crowd(send, clients)


def slow_bodies(place, clients=100):
    """Bodies that are announced and come at a kilobyte a second."""

    def send(_):
        with connect(place) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, RAW, f"Content-Length: {60 << 20}"))
            for _ in range(8):
                one.sendall(bytes(1024))
                time.sleep(1)

    crowd(send, clients)


def idle_sockets(place, count=600):
    """Connections that never send anything."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(place))
        time.sleep(6)


def idle_sockets_of_many(place, count=600):
    """The same from forty addresses."""
    with contextlib.ExitStack() as stack:
        for i in range(count):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(place, f"127.0.1.{i % 40 + 1}"))
        time.sleep(6)


def thousand_digits(place, clients=8, seconds=8):
    """Expensive look-ups."""
    end = time.monotonic() + seconds

    def send(i):
        rng = random.Random(i)
        while time.monotonic() < end:
            with connect(place) as one, contextlib.suppress(OSError):
                path = f"/v1/reference/gelu/float64/{rng.uniform(-30, 30)!r}?digits=1000&also=all"
                one.sendall(head(path, "Connection: close", method="GET"))
                read_to_end(one)

    crowd(send, clients)


def abandoned(place, seconds=8):
    """Expensive look-ups whose clients leave at once; then how long one of a client who stays takes."""
    rng, end = random.Random(3), time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), connect(place) as one:
            path = f"/v1/reference/gelu/float64/{rng.uniform(-30, 30)!r}?digits=1000&also=all"
            one.sendall(head(path, "Connection: close", method="GET"))
    start, status = time.monotonic(), 0
    while status != 200 and time.monotonic() < start + 30:
        asked = http.client.HTTPConnection("127.0.0.1", place.port, timeout=30, source_address=(OTHER, 0))
        asked.request("GET", "/v1/reference/gelu/float64/1.25?digits=30", headers={"Host": "127.0.0.1"})
        status = asked.getresponse().status
        asked.close()
    return f"a look-up of 30 digits was answered after {time.monotonic() - start:.2f} s"


def kept_connections(place, clients=100, seconds=8):
    """Expensive look-ups, nearly all of which are refused, one after the other in connections that stay open."""
    end = time.monotonic() + seconds

    def send(i):
        rng = random.Random(i)
        with connect(place) as one, contextlib.suppress(OSError):
            while time.monotonic() < end:
                one.sendall(head(f"{BATCH}/{rng.uniform(-30, 30)!r}?digits=1000&also=all", method="GET"))
                while not one.recv(65536).endswith(b"}"):
                    pass

    crowd(send, clients)


def json_bodies(place, clients=40):
    """Batches of JSON as large as is accepted."""
    body = b'{"x_bits":[' + b",".join(b'"0x%08x"' % i for i in range(65000)) + b"]" + b" " * (3 << 20) + b"}"

    def send(_):
        with connect(place, timeout=60) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, "Content-Type: application/json", f"Content-Length: {len(body)}",
                             "Connection: close") + body)  # fmt: skip
            read_to_end(one)

    crowd(send, clients)


def slow_readers(place, clients=40, megabytes=32):
    """Responses that nobody reads."""

    def send(_):
        with connect(place) as one, contextlib.suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(head(BATCH, RAW, f"Content-Length: {megabytes << 20}"))
            for _ in range(megabytes):
                one.sendall(bytes(1 << 20))
            time.sleep(8)

    crowd(send, clients)


def uploads(place, count=33):
    """One client's uploads; then whether another client's result is still there."""
    path = "/v1/verify?function=gelu&dtype=float16"

    def upload(source):
        asked = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60, source_address=(source, 0))
        asked.request("POST", path, bytes(2 * 65536), {"Host": "127.0.0.1", "Content-Type": "application/octet-stream"})
        answer = asked.getresponse()
        answer.read()
        asked.close()
        return answer.headers["Location"]

    kept = upload(OTHER)
    for _ in range(count):
        upload(ATTACKER)
    asked = http.client.HTTPConnection("127.0.0.1", place.port, timeout=60, source_address=(OTHER, 0))
    asked.request("GET", kept, headers={"Host": "127.0.0.1"})
    status = asked.getresponse().status
    asked.close()
    return f"the other client's result: {status}"


def repeated(place, requests, seconds, clients, sources=(ATTACKER,)):
    """Each client sends one request after the other, and reads the answer."""
    end = time.monotonic() + seconds

    def send(i):
        while time.monotonic() < end:
            with contextlib.suppress(OSError), connect(place, sources[i % len(sources)], 60) as one:
                one.sendall(next(requests))
                read_to_end(one)

    crowd(send, clients)


def slow_batches(place, clients=4, seconds=12):
    """Batches of the values that take longest, from one address."""
    x = np.random.default_rng(0).integers(8 << 23, 9 << 23, 60_000, dtype="<u4").tobytes()  # about 2^-119
    body = head("/v1/reference/cauchy_unit/float32", RAW, f"Content-Length: {len(x)}", "Connection: close") + x
    repeated(place, itertools.repeat(body), seconds, clients)


def many_slow_batches(place):
    """The same from 24 connections."""
    slow_batches(place, 24)


def slow_batches_of_six(place):
    """The same from six addresses."""
    x = np.random.default_rng(0).integers(8 << 23, 9 << 23, 60_000, dtype="<u4").tobytes()
    body = head("/v1/reference/cauchy_unit/float32", RAW, f"Content-Length: {len(x)}", "Connection: close") + x
    repeated(place, itertools.repeat(body), 12, 12, [f"127.0.1.{i}" for i in range(1, 7)])


def tables_of_parameters(place, clients=8, seconds=10):
    """Tables that nobody asked for before, so that no cache has them."""
    numbers = itertools.count(1)
    requests = (
        head(f"/v1/tables/gelu/{dtype}.csv?mu={next(numbers)}/977", "Connection: close", method="GET")
        for dtype in itertools.cycle(("float16", "bfloat16", "float64"))
    )
    repeated(place, _shared(requests), seconds, clients)


def slow_uploads(place, clients=8, seconds=15):
    """Uploads of a function that takes long to judge."""
    function, outputs = "softcap", bytes(4 * 262_144)
    path = f"/v1/verify?function={function}&dtype=float32"
    size = f"Content-Length: {len(outputs)}"
    body = head(path, RAW, size, "Connection: close", "Prefer: wait=20") + outputs
    repeated(place, itertools.repeat(body), seconds, clients)


def next_to_zero(place, clients=8, seconds=12):
    """Look-ups where results are too small to be written as decimals, or nearly."""
    rng, functions = random.Random(1), itertools.cycle(("gelu", "gelu_grad", "gelu_tanh", "gelu_tanh_grad", "erfc"))
    requests = (
        head(f"/v1/reference/{next(functions)}/float64/{x}?also=all", "Connection: close", method="GET")
        for x in (f"-{rng.uniform(1, 9):.6f}e{rng.randrange(8, 308)}" for _ in itertools.count())
    )
    repeated(place, _shared(requests), seconds, clients)


def pipelined(place, clients=24, seconds=12):
    """Two hundred look-ups in one packet, of connections whose clients soon leave."""
    end = time.monotonic() + seconds

    def send(i):
        rng = random.Random(i)
        while time.monotonic() < end:
            with contextlib.suppress(OSError), connect(place) as one:
                xs = (rng.uniform(-9, 9) for _ in range(200))
                one.sendall(b"".join(head(f"{BATCH}/{x!r}", method="GET") for x in xs))
                one.shutdown(socket.SHUT_WR)
                time.sleep(rng.uniform(0, 1))

    crowd(send, clients)


def _shared(iterator):
    """The same for several threads."""
    lock = threading.Lock()
    while True:
        with lock:
            found = next(iterator)
        yield found


def slow_bodies_through_a_proxy(place, clients=48, seconds=25):
    """Bodies that are announced and come at a kilobyte a second in total, from twelve addresses."""

    def send(i):
        with contextlib.suppress(OSError), connect(place, f"127.0.1.{i % 12 + 1}") as one:
            one.sendall(head(BATCH, RAW, f"Content-Length: {60 << 20}"))
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                one.sendall(bytes(22))
                time.sleep(1)

    crowd(send, clients)


ATTACKS: dict[str, Callable] = {
    each.__name__: each
    for each in (
        trailers, large_bodies, slow_bodies, idle_sockets, idle_sockets_of_many, thousand_digits, abandoned,
        kept_connections, json_bodies, slow_readers, uploads, slow_batches, many_slow_batches, slow_batches_of_six,
        tables_of_parameters, slow_uploads, next_to_zero, pipelined,
    )
}  # fmt: skip
PROXIES: dict[str, Callable] = {"caddy": proxies.caddy, "nginx": proxies.nginx}


def attacked(name, proxy=None):
    """What was seen during an attack on a fresh server, and what the attack says."""
    attack = ATTACKS.get(name, slow_bodies_through_a_proxy)
    with contextlib.ExitStack() as opened:
        options = ("--answers", "none", "--trusted-proxies", "127.0.0.1" if proxy else "127.255.255.255")
        server = opened.enter_context(serving(*options))
        place = Place(server.process, server.port)
        if proxy is not None:
            folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
            place.port = opened.enter_context(PROXIES[proxy](folder, server.port))
            place.tls = UNTRUSTED if proxy == "nginx" else None
        with watching(place) as found:
            said = attack(place) or ""
        alive = server.process.poll() is None
    return found, said if alive else "the server has ended"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("attacks", nargs="*", default=[*ATTACKS, *PROXIES],
                        help=f"some of {', '.join([*ATTACKS, *PROXIES])}: a proxy gets slow bodies")  # fmt: skip
    columns = ["attack", "MiB before", "MiB at most", *HONEST, "refused", ""]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in parser.parse_args().attacks:
        seen, said = attacked(name, name if name in PROXIES else None)
        cells = []
        for kind, most in seen.slowest().items():
            alone, meanwhile = seen.median(kind)
            cells.append(f"{1e3 * alone:.1f}, {1e3 * meanwhile:.1f}, at most {1e3 * most:.0f} ms")
        print(f"| {name} | {seen.before >> 20} | {seen.most >> 20} | {' | '.join(cells)} | {seen.refused} | {said} |",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
