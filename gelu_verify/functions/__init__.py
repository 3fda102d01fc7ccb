"""The mathematical functions, one file each, found automatically."""

from __future__ import annotations

import importlib
import pkgutil

from ..errors import one_of
from .base import Function

__all__ = ["FUNCTIONS", "Function", "get_function"]


def _discover() -> dict[str, Function]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = [entry for module in modules for entry in getattr(module, "ENTRIES", ())]
    rank = {"gelu": 0, "baseline": 1, "block": 2}
    found.sort(key=lambda f: (rank[f.family], f.gradient_of is not None, names.index(f.gradient_of or f.name)))
    return {f.name: f for f in found}


FUNCTIONS: dict[str, Function] = _discover()


def get_function(name: str) -> Function:
    """The entry named `name`; UsageError lists the accepted names."""
    if name not in FUNCTIONS:
        raise one_of("function", name, list(FUNCTIONS))
    return FUNCTIONS[name]
