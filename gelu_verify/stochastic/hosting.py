"""The target of a verification in a process of its own: what crashes, hangs or writes beyond its arrays is a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats import get_format
from ..isolation.host import Host, Loading
from ..isolation.hosts import supported
from ..isolation.target import IsolatedTarget
from . import target as child

if TYPE_CHECKING:
    from ..targets.base import Target
    from .request import MapRequest


@dataclass(frozen=True, kw_only=True)
class IsolatedMap(IsolatedTarget):
    """A call is made once: another one would give other outputs, and leave another state."""

    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        fmt, case = get_format(dtype), self.host.case(self.key, self.index, dtype)
        return self._survived(case, lambda: self._placed(fmt, case, x_bits, at_start=False, twice=False), x_bits)


@contextmanager
def hosted(request: MapRequest) -> Iterator[Target]:
    """The target that was asked for; its process ends with the block."""
    arguments: tuple[Any, ...] = request.target, request.dtype, dict(request.kwargs), request.array, request.call
    if request.isolate is False or not supported():
        yield child.make(*arguments)[0]
        return
    host = Host(request.target, request.limits)
    try:
        made = f"{child.make.__module__}:{child.make.__qualname__}"
        (described,) = host.load("map", Loading("make", {"function": made, "arguments": arguments}))["targets"]
        fields: dict[str, Any] = {**described, "dtypes": tuple(described["dtypes"])}
        yield IsolatedMap(host=host, key="map", index=0, family_name=fields.pop("family"), **fields)
    finally:
        host.close()
