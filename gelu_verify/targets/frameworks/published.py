"""Published GELUs that do not install here, re-implemented in C: `published.<library>-<path>`.

What is measured is the formula with its constants, rounded where the library rounds, not the library: `note` says so,
and where the source is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...errors import TargetUnavailable
from ..base import Target
from .kernels import KernelTarget, Loaded, by_name

OURS = True  # our code: called in this process
ON_REQUEST = True  # nobody runs these on this machine: they are here to be compared with


@dataclass(frozen=True, kw_only=True)
class PublishedTarget(KernelTarget):
    """A re-implementation in every dtype that the library has."""

    def call(self, loaded: Loaded) -> Any:
        from ...kernels.published import run

        run(self.kernel, *loaded)


def discover() -> Iterator[Target]:
    """One target for each path of each library."""
    try:
        from ...kernels.published import PUBLISHED
    except ImportError as error:
        raise TargetUnavailable(f"the re-implementations cannot be imported ({error}): install with pip") from error
    for told in by_name(PUBLISHED):
        note = f"re-implementation of {told.pop('note')}"
        yield PublishedTarget(**told, name=f"published.{told['kernel']}", note=note)


def versions() -> frozenset[str]:
    """What results of today's code have as their version (recorded runs are held against it)."""
    return frozenset(target.version for target in discover())
