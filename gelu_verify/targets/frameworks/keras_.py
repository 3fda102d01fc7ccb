"""Keras: `keras.activations` and `keras.ops`, on the backend that is configured."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType

from ..arrays import ArrayKind, get_kind
from ..base import Target
from ..importing import framework
from ..library_target import Path, library_targets

ON_REQUEST = True  # importing it with its backend takes seconds


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    keras = framework("keras")
    backend = keras.backend.backend()
    kind: ArrayKind = get_kind(backend)
    return library_targets(
        "keras", keras.__version__, _paths(keras), arrays=kind, note=f"CPU, eager, backend {backend}"
    )


def _paths(keras: ModuleType) -> tuple[Path, ...]:
    activations, ops = keras.activations, keras.ops
    return (
        Path("gelu", "gelu", "activations.gelu, its default", activations.gelu),
        Path(
            "gelu_tanh", "gelu_tanh", "activations.gelu(approximate=True)", partial(activations.gelu, approximate=True)
        ),
        Path("gelu-ops", "gelu", "ops.gelu(approximate=False)", partial(ops.gelu, approximate=False)),
        Path("gelu_tanh-ops", "gelu_tanh", "ops.gelu, its default", ops.gelu),
        Path("silu", "silu", "activations.silu", activations.silu),
        Path("elu", "elu", "activations.elu", activations.elu),
        Path("sigmoid", "sigmoid", "activations.sigmoid", activations.sigmoid),
        Path("tanh", "tanh", "activations.tanh", activations.tanh),
        Path("erf", "erf", "ops.erf", ops.erf),
    )
