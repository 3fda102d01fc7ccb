"""JAX on the first CUDA device: the paths of the family `jax`, compiled by XLA for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...errors import TargetUnavailable
from ..arrays import get_kind
from ..base import Target, first_line
from ..importing import quiet
from ..library_target import Path, library_targets
from .jax_ import imported, names, paths, traces

NEEDS = "jax"

DEVICE = "cuda"


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    jax = imported()
    try:
        with quiet():
            device = jax.devices("cuda")[0]
    except RuntimeError as error:
        raise TargetUnavailable(f"jax sees no CUDA device: {first_line(error)}") from error
    return library_targets(
        "jax_cuda",
        jax.__version__,
        (_named(path) for path in paths(jax)),
        arrays=get_kind("jax"),
        names=names(jax),
        prepare=lambda x: (jax.device_put(x, device),),
        note=f"{device.device_kind}, one XLA computation per operation",
        takes=traces,
    )


def _named(path: Path) -> Path:
    """A path of the CPU's family, with a note that speaks of the device."""
    return replace(path, note=path.note.replace("CPU", "CUDA"))
