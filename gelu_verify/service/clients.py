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
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Lock

from .problems import Problem

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client of the request that is being answered."""


@lru_cache(maxsize=4096)
def client_of(address: str) -> str:
    """The client that has an address; the text itself if it is not an IP address."""
    found = _parsed(address)
    if found is None:
        return address[:64]
    return f"{IPv6Address(int(found) >> 64 << 64)}/64" if isinstance(found, IPv6Address) else str(found)


@lru_cache(maxsize=4096)
def is_among(address: str, places: frozenset[str]) -> bool:
    """Whether an address is one of `places`, or in a network that is; `*` stands for all."""
    if "*" in places or address in places:
        return True
    found = _parsed(address)
    return found is not None and any(found in network for network in map(_network, places) if network is not None)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """An address without its zone, of IPv4 also if it is written as one of IPv6; None if the text is none."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found


def _network(place: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(place, strict=False)
    except ValueError:  # a name
        return None


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
