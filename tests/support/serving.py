"""A real server in a process of its own, and raw HTTP requests to it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys

from repository import ROOT

TOKEN = "a-token-of-the-tests"


class Server:
    """`gelu-verify serve --port 0`, or `program`; `port` as soon as it listens."""

    def __init__(self, *options, env=None, wrapper=(), program=None):
        command = (
            ["-m", "gelu_verify", "serve", "--port", "0", *map(str, options)] if program is None else ["-c", program]
        )
        command = [*wrapper, sys.executable, "-P", *command]
        env = {**os.environ, "GELU_VERIFY_TOKEN": TOKEN, **(env or {})}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            found = re.search(r'"url": "http://127.0.0.1:(\d+)"', line)
            if found:
                self.port = int(found[1])
                break
        else:
            self.kill()
            raise AssertionError("".join(lines))
        self.url = f"http://127.0.0.1:{self.port}"

    def connect(self, timeout=20):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        """SIGTERM; what it logged until it ended."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=20)[1]


@contextlib.contextmanager
def serving(*options, env=None, wrapper=(), program=None):
    server = Server(*options, env=env, wrapper=wrapper, program=program)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def raw(server, *pieces, half_close=False):
    """Everything that comes back until the server closes."""
    with server.connect() as connection:
        for piece in pieces:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(piece)
        if half_close:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        return read_to_end(connection)


def read_to_end(connection):
    found = b""
    with contextlib.suppress(ConnectionResetError, TimeoutError):
        while piece := connection.recv(65536):
            found += piece
    return found


def status(answer):
    """Status code of raw bytes; the body must be a problem where it is an error."""
    head, _, body = answer.partition(b"\r\n\r\n")
    code = int(head.split()[1])
    if code >= 400:
        assert b"application/problem+json" in head.lower()
        assert json.loads(body)["status"] == code
    return code


def post(path, body, *headers, length=None):
    """A POST as bytes."""
    size = len(body) if length is None else length
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", f"Content-Length: {size}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
