"""How accurate is a GELU? Correctly rounded reference values and kernels, and a verifier of implementations.

The public names load on first use, so that importing the package costs nothing:
`gelu`, `gelu_tanh`, `gelu_sigmoid`, `silu` and their gradients `gelu_grad` ... (correctly rounded kernels),
`reference`, `reference_bits`, `exact`, `ulp_error` (correct values) and `verify` (test an implementation).
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from .fenv import LoadedInDefaultEnvironment, default_environment

if TYPE_CHECKING:
    from .truth.correctly_rounded import gelu as gelu
    from .truth.correctly_rounded import gelu_grad as gelu_grad
    from .truth.correctly_rounded import gelu_sigmoid as gelu_sigmoid
    from .truth.correctly_rounded import gelu_sigmoid_grad as gelu_sigmoid_grad
    from .truth.correctly_rounded import gelu_tanh as gelu_tanh
    from .truth.correctly_rounded import gelu_tanh_grad as gelu_tanh_grad
    from .truth.correctly_rounded import silu as silu
    from .truth.correctly_rounded import silu_grad as silu_grad
    from .truth.values import exact as exact
    from .truth.values import reference as reference
    from .truth.values import reference_bits as reference_bits
    from .truth.values import ulp_error as ulp_error
    from .verification import verify as verify

__version__ = "0.1.0"

_HOME = {
    "reference": "truth.values",
    "reference_bits": "truth.values",
    "exact": "truth.values",
    "ulp_error": "truth.values",
    "verify": "verification",
    "gelu": "truth.correctly_rounded",
    "gelu_grad": "truth.correctly_rounded",
    "gelu_sigmoid": "truth.correctly_rounded",
    "gelu_sigmoid_grad": "truth.correctly_rounded",
    "gelu_tanh": "truth.correctly_rounded",
    "gelu_tanh_grad": "truth.correctly_rounded",
    "silu": "truth.correctly_rounded",
    "silu_grad": "truth.correctly_rounded",
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with default_environment():
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


sys.meta_path.insert(0, LoadedInDefaultEnvironment)
