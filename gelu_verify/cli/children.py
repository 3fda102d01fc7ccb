"""What `run` and `list` share: implementations in processes of their own, unless somebody wants otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import UsageError
from .program import warn

if TYPE_CHECKING:
    from ..verify import Selector

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@contextmanager
def selector(
    time_limit: float | None = None, memory_limit: str | None = None, *, in_process: bool = False
) -> Iterator[Selector]:
    """What finds targets for `verify.jobs`; their processes end with the block."""
    from .. import targets
    from ..isolation import Hosts, Limits, supported

    limits = Limits(time_limit) if memory_limit is None else Limits(time_limit, _nbytes(memory_limit))
    if in_process or not supported():
        if not in_process:
            warn("this system cannot isolate implementations: they are called in this process, and may end it")
        yield targets.select
        return
    with Hosts(limits) as hosts:
        yield hosts.select


def _nbytes(text: str) -> int:
    """512M, 8G, 1.5GiB: bytes."""
    from ..isolation.limits import LEAST_MEMORY, memory_of_machine

    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTkmgt]?)(?:[iI]?[bB])?", text)
    nbytes = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if not LEAST_MEMORY <= nbytes <= memory_of_machine():
        wrong = "is not a size" if not match else "is too little" if nbytes < LEAST_MEMORY else "is more than there is"
        accepted = f"512M, 8G; from 1M to the {memory_of_machine() >> 20}M of this machine"
        raise UsageError(f"--memory-limit {text[:40]!r} {wrong} (accepted: {accepted})")
    return nbytes
