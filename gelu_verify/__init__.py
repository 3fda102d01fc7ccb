"""How accurate is a GELU? Reference values, correctly rounded, and a verifier for implementations.

The public names load on first use, so that importing the package costs nothing:
`reference`, `reference_bits`, `exact`, `ulp_error` (what is the right answer) and `verify` (how
wrong is this one).
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
}
__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
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
