"""Messages between parent and child: JSON over a socket that keeps them apart, and files beside them."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any

PIECE = 1 << 16  # a longer message travels in several packets, because a packet must fit into the socket's buffer
_LAST, _MORE = b".", b"+"


class Closed(Exception):
    """The other side is gone."""


class Channel:
    """One end of a connection."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @staticmethod
    def pair() -> tuple[Channel, socket.socket]:
        """One end as a channel, the other to be handed over."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return Channel(ours), theirs

    def send(self, message: Any, files: Sequence[int] = ()) -> None:
        """Raises Closed."""
        text = json.dumps(message, separators=(",", ":")).encode()
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

    def receive(self, most_files: int = 0) -> tuple[Any, list[int]]:
        """The next message and the files that came with it; raises Closed."""
        text, files = b"", []
        while True:
            try:
                if most_files:
                    piece, came, _, _ = socket.recv_fds(self.socket, PIECE + 1, most_files, socket.MSG_CMSG_CLOEXEC)
                    files += came
                else:
                    piece = self.socket.recv(PIECE + 1)
            except OSError as error:
                raise Closed from error
            if not piece:
                raise Closed
            text += piece[1:]
            if piece[:1] == _LAST:
                return json.loads(text), files

    def close(self) -> None:
        self.socket.close()
