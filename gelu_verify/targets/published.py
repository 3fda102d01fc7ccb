"""Published GELUs that do not install here, re-implemented in C: `published.<library>-<path>`.

What is measured is the formula with its constants, rounded where the library rounds, not the library: `note` says so,
and where the source is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import TargetUnavailable
from .base import Target
from .kernels import KernelTarget, Loaded

OURS = True  # our code: called in this process
ON_REQUEST = True  # nobody runs these on this machine: they are here to be compared with


@dataclass(frozen=True, kw_only=True)
class PublishedTarget(KernelTarget):
    """A re-implementation in every dtype that the library has."""

    def call(self, loaded: Loaded) -> Any:
        from ..kernels.published import run

        run(self.kernel, *loaded)


def discover() -> Iterator[Target]:
    """One target for each path of each library; where its dtypes differ in formula or source, all are said."""
    try:
        from ..kernels.published import PUBLISHED
    except ImportError as error:
        raise TargetUnavailable(f"the re-implementations cannot be imported ({error}): install with pip") from error
    for name in dict.fromkeys(kernel.name for kernel in PUBLISHED):
        same = [kernel for kernel in PUBLISHED if kernel.name == name]
        yield PublishedTarget(
            name=f"published.{name}",
            kernel=name,
            function=same[0].function,
            dtypes=tuple(kernel.dtype for kernel in same),
            form=_all(kernel.form for kernel in same),
            note=f"re-implementation of {_all(kernel.note for kernel in same)}",
            version=same[0].version,
        )


def versions() -> frozenset[str]:
    """What results of today's code have as their version (recorded runs are held against it)."""
    return frozenset(target.version for target in discover())


def _all(texts: Iterator[str]) -> str:
    return " | ".join(dict.fromkeys(texts))
