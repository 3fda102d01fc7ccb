"""What a user names by file or command: one file per kind of thing, found automatically.

A kind is a module with `KIND`, of this package or of another distribution. Importing it imports no framework.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module

from ... import plugins
from ...errors import GeluVerifyError, UsageError
from ..base import Target
from ..contract import contracted
from ._compiler import BUILDS
from .base import Asked, Kind, misfit

__all__ = ["BUILDS", "Asked", "Kind", "kind_of", "kinds", "load", "misfit"]

_NO_KIND = ("base",)


@cache
def kinds() -> dict[str, Kind]:
    """Name -> kind, the general ones last."""
    names = [info.name for info in pkgutil.iter_modules(__path__)]
    own = [import_module(f"{__name__}.{n}").KIND for n in names if n not in _NO_KIND and not n.startswith("_")]
    found, owners = {kind.name: kind for kind in own}, dict.fromkeys((kind.name for kind in own), "gelu-verify")
    for plugin in of_plugins():
        kind = getattr(plugin.value, "KIND", plugin.value)
        if isinstance(kind, Kind) and plugins.add(plugin, kind.name, "kind of target", owners.get):
            found[kind.name], owners[kind.name] = kind, plugin.distribution
    return {kind.name: kind for kind in sorted(found.values(), key=lambda kind: (kind.general, kind.name))}


@cache
def of_plugins() -> tuple[plugins.Plugin, ...]:
    """What other distributions add to the targets: modules with `discover` (a family) or `KIND`, or a Kind."""
    found = []
    for plugin in plugins.load(plugins.TARGETS):
        if isinstance(plugin.value, Kind) or hasattr(plugin.value, "discover") or hasattr(plugin.value, "KIND"):
            found.append(plugin)
        else:
            accepted = "a module with discover() or KIND, a Kind"
            plugins.refuse(plugin, f"it names no targets (accepted: {accepted}): {plugin.value!r}")
    return tuple(found)


def kind_of(name: str, device: str | None = None) -> Kind | None:
    """The kind that accepts `name`, of several the one that runs on `device`; None for a family or a target of one."""
    accepting = (kind for kind in kinds().values() if kind.pattern.fullmatch(name))
    return min(accepting, key=lambda kind: (kind.general, device not in kind.devices), default=None)


def load(name: str, asked: Asked) -> Sequence[Target]:
    """What a name that some kind accepts stands for: the user's code, read, compiled or run."""
    kind = kind_of(name, asked.device)
    assert kind is not None
    match = kind.pattern.fullmatch(name)
    assert match is not None
    try:
        found = contracted(asked.contract, partial(kind.load, name, match, asked))
    except GeluVerifyError:
        raise
    except Exception as error:  # a kind of another distribution may raise anything; of ours, that is a fault of ours
        owner = next((each for each in of_plugins() if getattr(each.value, "KIND", each.value) is kind), None)
        if owner is None:
            raise
        raise UsageError(f"{name}: kind {kind.name} of {owner.distribution} {plugins.reason_of(error)}") from error
    return [replace(each, safe_in_threads=True) for each in found] if asked.thread_safe else found
