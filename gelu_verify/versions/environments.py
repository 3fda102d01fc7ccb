"""An environment of one release: a folder with a Python of its own, made by uv, or by venv and pip where uv is missing.

What a release depends on is resolved as of the day after it came, so that releases of years ago find the NumPy that
they were made for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from ..atomic_files import remove_abandoned, unfinished_folder
from ..errors import GeluVerifyError, UsageError
from ..paths import cache_folder
from .stubs import stub_missing_libraries

_LISTED = (
    "import json, platform, importlib.metadata as m; "
    "print(json.dumps([platform.python_version(), {d.metadata['Name']: d.version for d in m.distributions()}]))"
)
_ALWAYS = ("numpy",)  # the worker needs it
_LATER = timedelta(days=1)
_NUMPY_2 = "2024-06-16"  # the day that it came


class CannotBeInstalled(GeluVerifyError):
    """A release that is not to be had here, with the reason."""


@dataclass(frozen=True)
class Installed:
    """An environment: its Python, the version of that, and those of what is in it."""

    python: Path
    version: str
    packages: Mapping[str, str]


@dataclass(frozen=True)
class Installer:
    """How environments are made.

    Parameters
    ----------
    python : interpreter, a path or what uv finds by its version ("3.12")
    find_links : folder of wheels, beside which nothing is asked
    """

    python: str = sys.executable
    find_links: Path | None = None

    @property
    def python_version(self) -> tuple[int, ...]:
        """Of the interpreter; UsageError where there is none."""
        words = [self.python]
        try:
            if not os.path.exists(self.python) and (uv := shutil.which("uv")):
                words = [_called([uv, "python", "find", self.python]).strip()]
            return tuple(map(int, _called([*words, "-c", "import sys; print(*sys.version_info[:3])"]).split()))
        except (CannotBeInstalled, ValueError) as error:
            raise UsageError(f"--python {self.python}: {str(error).removeprefix('error: ')}") from None

    @contextmanager
    def environment(
        self, requirements: Sequence[str], released: str = "", alone: Sequence[str] = (), besides: Sequence[str] = ()
    ) -> Iterator[Installed]:
        """A new environment with these requirements; of those in `alone` nothing that they depend on,
        and what of `besides` there is.

        Raises CannotBeInstalled, with the last line of what the installer said.
        """
        parent = cache_folder() / "releases"
        parent.mkdir(exist_ok=True)
        remove_abandoned(parent)  # gigabytes of a process that was killed
        with unfinished_folder(parent) as folder:
            place, uv = folder / "environment", shutil.which("uv")
            variables = {"UV_CACHE_DIR": f"{folder}/cache"}  # goes with the environment: wheels of torch fill a disk
            if mirror := os.environ.get("PIP_INDEX_URL"):
                variables.setdefault("UV_DEFAULT_INDEX", mirror)
            python = place / "bin" / "python"
            if uv:
                _called([uv, "venv", "-q", "--python", self.python, str(place)], variables)
                install = [uv, "pip", "install", "-q", "--python", str(python)]
            else:
                _called([self.python, "-m", "venv", str(place)])
                install = [str(python), "-m", "pip", "install", "-q", "--no-cache-dir"]
            options = self._options(install, released)
            _called([*install, *options, *_ALWAYS, *requirements], variables)
            if alone:
                _called([*install, *options, "--no-deps", *alone], variables)
                stub_missing_libraries(place)
            for each in besides:
                with suppress(CannotBeInstalled):
                    _called([*install, *options, each], variables)
            version, packages = json.loads(_called([str(python), "-I", "-c", _LISTED]))
            yield Installed(python, version, packages)

    def _options(self, install: Sequence[str], released: str) -> list[str]:
        """Where packages come from, and of which day at the latest."""
        if self.find_links:
            return ["--no-index", "--find-links", str(self.find_links)]
        if not released:
            return []
        day = f"{date.fromisoformat(released[:10]) + _LATER}T23:59:59Z"
        if install[1] == "pip":  # of uv
            return ["--exclude-newer", day]
        if "--uploaded-prior-to" in _called([*install, "--help"]):
            return ["--uploaded-prior-to", day]
        return ["numpy<2"] if released < _NUMPY_2 else []  # an older pip knows no days


def _called(words: Sequence[str], variables: Mapping[str, str] | None = None) -> str:
    environment = {**(variables or {}), **os.environ}
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, env=environment)
    except FileNotFoundError:
        raise UsageError(f"there is no {words[0]} here") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise CannotBeInstalled(" ".join(lines)[:300] or f"{words[0]} ended with {done.returncode}")
    return done.stdout
