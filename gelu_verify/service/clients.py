"""Who sends a request, and what one client may hold of what all share.

A client is an IP address; of IPv6 the network of 64 bits, which one host usually has for itself. Behind a proxy the
address is that of `X-Forwarded-For`, if the proxy is one of `--trusted-proxies`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock

from .problems import Problem

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client of the request that is being answered."""


@lru_cache(maxsize=4096)
def client_of(address: str) -> str:
    """The client that has an address; the text itself if it is not an IP address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{IPv6Address(int(found) >> 64 << 64)}/64"


@lru_cache(maxsize=4096)
def is_among(address: str, places: frozenset[str]) -> bool:
    """Whether an address is one of `places`, or in a network that is; `*` stands for all."""
    if "*" in places or address in places:
        return True
    try:
        return any(ip_address(address) in ip_network(place, strict=False) for place in places if "/" in place)
    except ValueError:
        return False


class ByteBudget:
    """Bytes that all requests together may hold, of which one client gets at most a share."""

    def __init__(self, total: int, per_client: int) -> None:
        self.total, self.per_client = total, min(per_client, total)
        self.used = 0
        self.on_change: Callable[[float], None] = lambda used: None
        self._clients: Counter[str] = Counter()
        self._lock = Lock()

    @contextmanager
    def reserved(self, count: int) -> Iterator[None]:
        """Hold `count` bytes for the current client; Problem 429 if they are not free."""
        client = CLIENT.get()
        with self._lock:
            if self._clients[client] + count > max(self.per_client, count):
                raise busy(f"you are sending more than {self.per_client} bytes at the same time")
            if self.used + count > self.total:
                raise busy(f"all clients together are sending more than {self.total} bytes")
            self.used += count
            self._clients[client] += count
            self.on_change(self.used)
        try:
            yield
        finally:
            with self._lock:
                self.used -= count
                self._clients[client] -= count
                self.on_change(self.used)
                if not self._clients[client]:
                    del self._clients[client]


def busy(why: str, retry_s: int = 1) -> Problem:
    """429, with the time after which to try again."""
    return Problem(429, "busy", f"{why}: try again", {"Retry-After": str(retry_s)})
