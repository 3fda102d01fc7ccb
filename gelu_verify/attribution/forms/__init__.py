"""The formulas in use, one file each: `FORMS`, found by looking."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from .base import Form

__all__ = ["FORMS", "Form"]


def _discovered() -> dict[str, Form]:
    names = sorted(info.name for info in pkgutil.iter_modules(__path__) if info.name != "base")
    return {name: Form(name=name, **import_module(f"{__name__}.{name}").FORM) for name in names}


FORMS = _discovered()
