"""Who sends a request, and what a client is told of the places that it has.

A client is an IP address; of IPv6 the network of 64 bits, which one host usually has for itself. Behind a proxy the
address is that of `X-Forwarded-For`, if the proxy is one of `--trusted-proxies`.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from .problems import Problem

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client of the request that is being answered."""
QUOTAS: ContextVar[dict[str, tuple[int, int]] | None] = ContextVar("quotas", default=None)
"""For the headers of its response: the places that the client has in each queue that was asked, and those left."""


@lru_cache(maxsize=4096)
def client_of(address: str) -> str:
    """The client that has an address; the text itself if it is not an IP address."""
    found = _parsed(address)
    if found is None:
        return address[:64]
    return f"{IPv6Address(int(found) >> 64 << 64)}/64" if isinstance(found, IPv6Address) else str(found)


@lru_cache(maxsize=4096)
def is_among(address: str, places: frozenset[str]) -> bool:
    """Whether an address is one of `places`, or in a network that is; `*` alone stands for all."""
    if "*" in places:
        return True
    found = _parsed(address)
    return found is not None and any(found in ip_network(place) for place in places)


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    """An address without its zone, of IPv4 also if it is written as one of IPv6; None if the text is none."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(found, IPv6Address) and found.ipv4_mapped) or found


def note_quota(queue: str, most: int, left: int) -> None:
    """Tell the current client of its places in a queue."""
    quotas = QUOTAS.get()
    if quotas is not None:
        quotas[queue] = most, left


def busy(why: str) -> Problem:
    """429, with the time after which to try again."""
    return Problem(429, "busy", f"{why}: try again", {"Retry-After": "1"})


class Rate:
    """How often each client may do something: so often a second, after so many times at once."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}  # when the client will have used its share; the longest unchanged first

    def admits(self, client: str, now: float, per_s: float, at_once: int) -> bool:
        """Whether it may now; only what it may counts."""
        until = max(self._until.pop(client, now), now)
        admitted = until - now < at_once / per_s
        self._until[client] = until + admitted / per_s
        oldest = next(iter(self._until))
        if self._until[oldest] <= now:
            del self._until[oldest]
        return admitted
