"""What `run` and `list` share: implementations in processes of their own, unless somebody wants otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .options import memory_bytes
from .program import warn

if TYPE_CHECKING:
    from ..measure.verification import Selector


@contextmanager
def selector(
    time_limit: float | None = None, memory_limit: str | None = None, *, in_process: bool = False
) -> Iterator[Selector]:
    """What finds targets for `verify.jobs`; their processes end with the block."""
    from .. import targets
    from ..isolation.hosts import Hosts, supported
    from ..isolation.limits import Limits

    limits = Limits(time_limit) if memory_limit is None else Limits(time_limit, memory_bytes(memory_limit))
    if in_process or not supported():
        if not in_process:
            warn(
                "this system cannot isolate implementations: they are called in this process, and a crash ends the run"
            )
        yield targets.select
        return
    with Hosts(limits) as hosts:
        yield hosts.select
