"""What a user names by file or command: one file per kind of thing, found by looking, no list to edit.

A kind is a module of this package with `KIND`. Importing it imports no framework.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from ..base import Target
from ._compiler import BUILDS
from .base import OPTIONS, Asked, Kind, misfit

__all__ = ["BUILDS", "OPTIONS", "Asked", "Kind", "kind_of", "kinds", "load", "misfit"]

_NO_KIND = ("base",)


@cache
def kinds() -> dict[str, Kind]:
    """Name -> kind, the general ones last."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    found = [import_module(f"{__name__}.{n}").KIND for n in names if n not in _NO_KIND and not n.startswith("_")]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: (kind.general, kind.name))}


def kind_of(name: str) -> Kind | None:
    """The kind that accepts `name`; None for a family or a target of one."""
    return next((kind for kind in kinds().values() if kind.pattern.fullmatch(name)), None)


def load(name: str, asked: Asked) -> Sequence[Target]:
    """What a name that some kind accepts stands for: the user's code, read, compiled or run."""
    kind = kind_of(name)
    assert kind is not None
    match = kind.pattern.fullmatch(name)
    assert match is not None
    return kind.load(name, match, asked)
