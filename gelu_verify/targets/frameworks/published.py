"""Published GELUs that do not install here, re-implemented in C: `published.<library>-<path>`.

What is measured is the formula with its constants, rounded where the library rounds, not the library: `note` says so,
and where the source is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import TargetUnavailable
from ..base import Target
from ..switches import LIBM
from .kernels import KernelTarget, by_name

SWITCHES = LIBM  # they are compiled for one level, and call the C library
OURS = True  # our code: called in this process
SHIPPED = True
ON_REQUEST = True  # nobody runs these on this machine: they are here to be compared with


def discover() -> Iterator[Target]:
    """One target for each path of each library."""
    try:
        from ...kernels.published import PUBLISHED, run
    except ImportError as error:
        raise TargetUnavailable(f"the re-implementations cannot be imported ({error}): install with pip") from error
    for fields in by_name(PUBLISHED):
        note = f"re-implementation of {fields.pop('note')}"
        yield KernelTarget(**fields, name=f"published.{fields['kernel']}", note=note, run=run)


def versions() -> frozenset[str]:
    """What results of today's code have as their version (recorded runs are compared with it)."""
    return frozenset(target.version for target in discover())
