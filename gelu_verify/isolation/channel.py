"""Messages between parent and child, over a socket that keeps them apart.

JSON, and files beside it; but for the one reply that comes thousands of times a second: seconds, and nothing else.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

PIECE = 1 << 16  # a longer message travels in several packets, because a packet must fit into the socket's buffer
_LAST, _MORE, _SECONDS = b".", b"+", b"="
_DOUBLE = struct.Struct("<d")


class Closed(Exception):
    """The other side is gone."""


def text_of(message: Any) -> bytes:
    """A message as it travels, one packet or what is cut into several."""
    return json.dumps(message, separators=(",", ":")).encode()


def question(name: str, **arguments: Any) -> bytes:
    """What a parent asks, as it travels."""
    return text_of((name, arguments))


class Channel:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @staticmethod
    def pair(patience: float) -> tuple[Channel, socket.socket]:
        """One end as a channel whose `receive` waits for so many seconds, the other to be handed over."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        seconds, rest = divmod(patience, 1)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", int(seconds), int(rest * 1e6)))
        return Channel(ours), theirs

    def send(self, text: bytes, files: Sequence[int] = ()) -> None:
        """A message by its text; raises Closed."""
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        try:
            for piece in pieces[:-1]:
                self.socket.send(_MORE + piece)
            if files:
                socket.send_fds(self.socket, [_LAST + pieces[-1]], list(files))
            else:
                self.socket.send(_LAST + pieces[-1])
        except OSError as error:
            raise Closed from error

    def send_seconds(self, seconds: float) -> None:
        """The short reply; raises Closed."""
        try:
            self.socket.send(_SECONDS + _DOUBLE.pack(seconds))
        except OSError as error:
            raise Closed from error

    def receive(self) -> Any:
        """The next message, decoded; raises Closed, or BlockingIOError when there is none yet."""
        text = b""
        while True:
            try:
                piece = self.socket.recv(PIECE + 1)
            except BlockingIOError:
                if text:
                    continue
                raise
            except OSError as error:
                raise Closed from error
            if piece[:1] == _SECONDS:
                return {"value": {"seconds": _DOUBLE.unpack(piece[1:])[0]}}
            if not piece:
                raise Closed
            text += piece[1:]
            if piece[:1] == _LAST:
                return json.loads(text)

    def receive_text(self) -> tuple[bytes, list[int]]:
        """The text of the next message, and the file that came with it; raises Closed."""
        text, files = b"", []
        while True:
            try:
                piece, came, _, _ = socket.recv_fds(self.socket, PIECE + 1, 1, socket.MSG_CMSG_CLOEXEC)
            except OSError as error:
                raise Closed from error
            if not piece:
                raise Closed
            files += came
            text += piece[1:]
            if piece[:1] == _LAST:
                return text, files

    def close(self) -> None:
        self.socket.close()
