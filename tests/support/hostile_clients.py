"""Attacks on a server of ours on this machine, with its memory and the waiting times of others watched from outside.

`python tests/support/hostile_clients.py` starts a server for each attack and prints a table: the resident memory of
the server and its processes before and at the most, and how long look-ups of other clients took meanwhile.
Every attack is bounded in time and number, and reaches no address but this machine's.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import random
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from serving import read_to_end, serving

RAW = "Content-Type: application/octet-stream"
BATCH = "/v1/reference/gelu/float32"
ATTACKER, OTHER = "127.0.0.1", "127.0.0.2"  # the attackers' address and everybody else's


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


def connect(server, source=ATTACKER, timeout=20.0):
    return socket.create_connection(("127.0.0.1", server.port), timeout, (source, 0))


@dataclass
class Watch:
    """What was seen from outside during an attack."""

    before: int = 0
    most: int = 0
    seconds: list[float] = field(default_factory=list)
    refused: int = 0

    def latency(self, share):
        """The time within which this share of the look-ups of others was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


@contextlib.contextmanager
def watching(server):
    """Memory of the server twenty times a second, and the time of a look-up of a new number by another client."""
    found, over = Watch(before=resident(server.process.pid)), threading.Event()

    def memory():
        while not over.wait(0.05):
            found.most = max(found.most, resident(server.process.pid))

    def look_ups():
        rng = random.Random(7)
        while not over.wait(0.01):
            start = time.perf_counter()
            try:
                asked = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10, source_address=(OTHER, 0))
                asked.request("GET", f"{BATCH}/{rng.uniform(-5, 5):.7f}", headers={"Host": "localhost"})
                ok = asked.getresponse().status == 200
                asked.close()
            except OSError:
                ok = False
            if ok:
                found.seconds.append(time.perf_counter() - start)
            else:
                found.refused += 1

    threads = [threading.Thread(target=each) for each in (memory, look_ups)]
    for each in threads:
        each.start()
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
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


# ---- the attacks ---------------------------------------------------------------------------------


def trailers(server, megabytes=60):
    """Chunked trailers without end."""
    with connect(server) as one, contextlib.suppress(OSError):
        one.sendall(head(BATCH, RAW, "Transfer-Encoding: chunked") + b"4\r\n0000\r\n0\r\n")
        for i in range(megabytes * 16):
            one.sendall(b"".join(b"X-%d-%d: %s\r\n" % (i, j, b"a" * 48) for j in range(1024)))
        time.sleep(1)


def large_bodies(server, clients=40, megabytes=60):
    """Bodies that arrive at the same time, and stay."""

    def send(_):
        with connect(server) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, RAW, f"Content-Length: {megabytes << 20}"))
            block = bytes(1 << 20)
            for _ in range(megabytes - 1):
                one.sendall(block)
            time.sleep(6)

    crowd(send, clients)


def slow_bodies(server, clients=100):
    """Bodies that are announced and come at a kilobyte a second."""

    def send(_):
        with connect(server) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, RAW, f"Content-Length: {60 << 20}"))
            for _ in range(8):
                one.sendall(bytes(1024))
                time.sleep(1)

    crowd(send, clients)


def idle_sockets(server, count=600):
    """Connections that never send anything."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(server))
        time.sleep(6)


def idle_sockets_of_many(server, count=600):
    """The same from forty addresses."""
    with contextlib.ExitStack() as stack:
        for i in range(count):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(server, f"127.0.1.{i % 40 + 1}"))
        time.sleep(6)


def thousand_digits(server, clients=8, seconds=8):
    """Expensive look-ups."""
    end = time.monotonic() + seconds

    def send(i):
        rng = random.Random(i)
        while time.monotonic() < end:
            with connect(server) as one, contextlib.suppress(OSError):
                path = f"/v1/reference/gelu/float64/{rng.uniform(-30, 30)!r}?digits=1000&also=all"
                one.sendall(head(path, "Connection: close", method="GET"))
                read_to_end(one)

    crowd(send, clients)


def abandoned(server, count=400):
    """Expensive look-ups whose clients leave at once; then how long one of a client who stays takes."""
    rng = random.Random(3)
    for _ in range(count):
        with contextlib.suppress(OSError), connect(server) as one:
            path = f"/v1/reference/gelu/float64/{rng.uniform(-30, 30)!r}?digits=1000&also=all"
            one.sendall(head(path, "Connection: close", method="GET"))
    start, status = time.monotonic(), 0
    while status != 200 and time.monotonic() < start + 30:
        asked = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30, source_address=(OTHER, 0))
        asked.request("GET", "/v1/reference/gelu/float64/1.25?digits=30", headers={"Host": "localhost"})
        status = asked.getresponse().status
        asked.close()
    return f"a look-up of 30 digits was answered after {time.monotonic() - start:.2f} s"


def json_bodies(server, clients=40):
    """Batches of JSON as large as is accepted."""
    body = b'{"x_bits":[' + b",".join(b'"0x%08x"' % i for i in range(65000)) + b"]" + b" " * (3 << 20) + b"}"

    def send(_):
        with connect(server, timeout=60) as one, contextlib.suppress(OSError):
            one.sendall(head(BATCH, "Content-Type: application/json", f"Content-Length: {len(body)}",
                             "Connection: close") + body)  # fmt: skip
            read_to_end(one)

    crowd(send, clients)


def slow_readers(server, clients=40, megabytes=32):
    """Responses that nobody reads."""

    def send(_):
        with connect(server) as one, contextlib.suppress(OSError):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.sendall(head(BATCH, RAW, f"Content-Length: {megabytes << 20}"))
            for _ in range(megabytes):
                one.sendall(bytes(1 << 20))
            time.sleep(8)

    crowd(send, clients)


def uploads(server, count=33):
    """One client's uploads; then whether another client's result is still there."""
    path = "/v1/verify?function=gelu&dtype=float16"

    def upload(source):
        asked = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(source, 0))
        asked.request("POST", path, bytes(2 * 65536), {"Host": "localhost", "Content-Type": "application/octet-stream"})
        answer = asked.getresponse()
        answer.read()
        asked.close()
        return answer.headers["Location"]

    kept = upload(OTHER)
    for _ in range(count):
        upload(ATTACKER)
    asked = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(OTHER, 0))
    asked.request("GET", kept, headers={"Host": "localhost"})
    status = asked.getresponse().status
    asked.close()
    return f"the other client's result: {status}"


ATTACKS: dict[str, Callable] = {
    each.__name__: each
    for each in (
        trailers, large_bodies, slow_bodies, idle_sockets, idle_sockets_of_many, thousand_digits, abandoned,
        json_bodies, slow_readers, uploads,
    )
}  # fmt: skip


def attacked(name):
    """What was seen during an attack on a fresh server, and what the attack says."""
    with serving("--answers", "none") as server:
        with watching(server) as found:
            time.sleep(0.5)
            said = ATTACKS[name](server) or ""
        alive = server.process.poll() is None
    return found, said if alive else "the server has ended"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("attacks", nargs="*", default=list(ATTACKS), help=f"some of {', '.join(ATTACKS)}")
    print("| attack | MiB before | MiB at most | others: median | 99 % | refused | |\n|---|---|---|---|---|---|---|")
    for name in parser.parse_args().attacks:
        seen, said = attacked(name)
        half = statistics.median(seen.seconds) if seen.seconds else float("inf")
        print(f"| {name} | {seen.before >> 20} | {seen.most >> 20} | {1e3 * half:.1f} ms "
              f"| {1e3 * seen.latency(0.99):.1f} ms | {seen.refused} of {seen.refused + len(seen.seconds)} | {said} |",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
