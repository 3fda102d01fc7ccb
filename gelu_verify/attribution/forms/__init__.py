"""The formulas in use: `FORMS` of each module here, by name; a module is for one function and its gradient."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from .base import Form

__all__ = ["FORMS", "Form"]


def _found() -> dict[str, Form]:
    modules = [import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    forms = [form for module in modules for form in getattr(module, "FORMS", ())]
    return {form.name: form for form in sorted(forms, key=lambda form: form.name)}


FORMS = _found()
