"""What other distributions add by entry points: functions, checks, families of targets and kinds of target.

A distribution names a group in its metadata (`GROUPS`), for example in pyproject.toml:

    [project.entry-points."gelu_verify.functions"]
    mish = "my_package.mish"

Groups are looked up on first use, which takes some milliseconds; what cannot be used is left out, and `problems` says
which entry point of which distribution that is, and why.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import message_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FUNCTIONS, CHECKS, TARGETS = GROUPS = ("gelu_verify.functions", "gelu_verify.checks", "gelu_verify.targets")


@dataclass(frozen=True)
class Plugin:
    """One entry point: where it comes from, and the object that it names."""

    group: str
    name: str
    distribution: str
    release: str
    value: Any

    def __str__(self) -> str:
        return f"entry point {self.name} of {self.distribution} {self.release} ({self.group})"

    @property
    def module(self) -> ModuleType:
        """The module that the entry point names, or in which its object is."""
        return self.value if isinstance(self.value, ModuleType) else sys.modules[self.value.__module__]

    @property
    def version(self) -> str:
        """Release, and `sha256:` with twelve digits of the code: a checkout changes without a new release."""
        return f"{self.release} sha256:{code_hash(self.module)[:12]}"


_loaded: dict[str, Plugin] = {}  # by distribution: one of what is in use
_accepted: list[Plugin] = []
_problems: list[str] = []


def load(group: str) -> Iterator[Plugin]:
    """The plugins of a group, by distribution and name; one that cannot be imported is a problem."""
    for entry in _entry_points(group):
        distribution, release = (entry.dist.name, entry.dist.version) if entry.dist else ("(no distribution)", "")
        plugin = Plugin(group, entry.name, distribution, release, None)
        try:
            value = entry.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's code: named, not fatal
            refuse(plugin, f"{type(error).__name__}: {message_of(error)}")
            continue
        yield Plugin(group, entry.name, distribution, release, value)


def tell(plugin: Plugin, reason: str) -> str:
    """What it did while it was used: `problems` says it, too."""
    _problems.append(f"{plugin} {reason}")
    return reason


def reason_of(error: BaseException) -> str:
    """What somebody else's code raised, in a line."""
    return " ".join(f"raised {type(error).__name__}: {message_of(error)}".split())


def raiser_of(error: BaseException) -> Plugin | None:
    """The plugin whose own code raised it: in the last Python frame, where that is not an implementation's."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return None
    file = Path(frames[-1].filename)
    return next((each for each in _accepted if each.group == TARGETS and _is_in(file, each.module)), None)


def _is_in(file: Path, module: ModuleType) -> bool:
    """Whether it is a file of the package that a module belongs to, or the module's own."""
    top = sys.modules[module.__name__.partition(".")[0]]
    folders = [Path(folder) for folder in getattr(top, "__path__", ())]
    return any(file.is_relative_to(folder) for folder in folders) or str(file) == getattr(module, "__file__", None)


def accept(plugin: Plugin) -> None:
    """From now on it counts: `versions` names its distribution."""
    _loaded.setdefault(plugin.distribution, plugin)
    _accepted.append(plugin)


def refuse(plugin: Plugin, reason: str) -> None:
    """It is left out, and `problems` says why."""
    _problems.append(f"{plugin} is left out: {' '.join(reason.split())}")


def add(plugin: Plugin, name: str, what: str, there: Callable[[str], str | None]) -> bool:
    """Whether `name` is free and so added; else it is refused, by the name of whose it is (`there`)."""
    owner = there(name)
    if owner is not None:
        refuse(plugin, f"there is a {what} {name} already, of {owner}")
        return False
    accept(plugin)
    return True


def problems() -> tuple[str, ...]:
    """One line for each plugin that was left out so far, or failed."""
    return tuple(dict.fromkeys(_problems))


def versions() -> dict[str, str]:
    """Distribution -> version of its code, of all plugins in use."""
    return {name: plugin.version for name, plugin in sorted(_loaded.items())}


def code_hash(module: ModuleType) -> str:
    """SHA-256 of the Python sources of a module, or of all of the package at whose top it is."""
    return _hash_of(module.__name__.partition(".")[0])


@cache
def _hash_of(name: str) -> str:
    top = sys.modules[name]
    folders = [Path(folder) for folder in getattr(top, "__path__", ())]
    file = getattr(top, "__file__", None)
    found = [path for folder in folders for path in sorted(folder.rglob("*.py"))] or ([Path(file)] if file else [])
    digest = hashlib.sha256()
    for path in found:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _entry_points(group: str) -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda entry: (entry.dist.name if entry.dist else "", entry.name))
