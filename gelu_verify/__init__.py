"""How accurate is a GELU? Reference values, correctly rounded, a verifier for implementations, and right ones.

The public names load on first use, so that importing the package costs nothing:
`gelu`, `gelu_tanh`, `gelu_sigmoid`, `silu` and their gradients `gelu_grad` ... (correctly rounded, to
compute with), `reference`, `reference_bits`, `exact`, `ulp_error` (what is the right answer) and
`verify` (how wrong is this one).
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

from .environment import LoadedInDefaultEnvironment, default_environment

if TYPE_CHECKING:
    from .correctly_rounded import gelu as gelu
    from .correctly_rounded import gelu_grad as gelu_grad
    from .correctly_rounded import gelu_sigmoid as gelu_sigmoid
    from .correctly_rounded import gelu_sigmoid_grad as gelu_sigmoid_grad
    from .correctly_rounded import gelu_tanh as gelu_tanh
    from .correctly_rounded import gelu_tanh_grad as gelu_tanh_grad
    from .correctly_rounded import silu as silu
    from .correctly_rounded import silu_grad as silu_grad
    from .reference import exact as exact
    from .reference import reference as reference
    from .reference import reference_bits as reference_bits
    from .reference import ulp_error as ulp_error
    from .verify import verify as verify

__version__ = "0.1.0"

_HOME = {
    "reference": "reference",
    "reference_bits": "reference",
    "exact": "reference",
    "ulp_error": "reference",
    "verify": "verify",
    "gelu": "correctly_rounded",
    "gelu_grad": "correctly_rounded",
    "gelu_sigmoid": "correctly_rounded",
    "gelu_sigmoid_grad": "correctly_rounded",
    "gelu_tanh": "correctly_rounded",
    "gelu_tanh_grad": "correctly_rounded",
    "silu": "correctly_rounded",
    "silu_grad": "correctly_rounded",
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


class _Package(types.ModuleType):
    """A public name is the function, also after the module of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, types.ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
sys.meta_path.insert(0, LoadedInDefaultEnvironment)
