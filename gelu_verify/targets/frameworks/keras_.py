"""Keras: `keras.activations` and `keras.ops`, on the backend that is configured."""

from __future__ import annotations

from collections.abc import Iterator

from ..arrays import ArrayKind, get_kind
from ..base import Target
from ..expressions import python_program
from ..importing import framework
from ..library_target import Path, library_targets

NEEDS = "keras"

ON_REQUEST = True  # importing it with its backend takes seconds
PROGRAM = python_program(  # an array of NumPy: keras.ops.full loses the sign of a 16-bit zero
    "import keras\nimport ml_dtypes\nimport numpy", 'keras.ops.convert_to_tensor(numpy.full({n}, {value}, "{dtype}"))'
)


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    keras = framework("keras")
    backend = keras.backend.backend()
    kind: ArrayKind = get_kind(backend)
    return library_targets(
        "keras",
        keras.__version__,
        PATHS,
        arrays=kind,
        names={"keras": keras},
        note=f"CPU, eager, backend {backend}",
    )


PATHS = tuple(
    Path(name, function, form, expression=f"keras.{expression}")
    for name, function, form, expression in (
        ("gelu", "gelu", "activations.gelu, its default", "activations.gelu(x)"),
        ("gelu_tanh", "gelu_tanh", "activations.gelu(approximate=True)", "activations.gelu(x, approximate=True)"),
        ("gelu-ops", "gelu", "ops.gelu(approximate=False)", "ops.gelu(x, approximate=False)"),
        ("gelu_tanh-ops", "gelu_tanh", "ops.gelu, its default", "ops.gelu(x)"),
        *((name, name, f"activations.{name}", f"activations.{name}(x)") for name in ("silu", "elu", "sigmoid", "tanh")),
        ("erf", "erf", "ops.erf", "ops.erf(x)"),
    )
)
