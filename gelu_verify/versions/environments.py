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
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from ..errors import GeluVerifyError, UsageError
from .stubs import stub_missing_libraries

_LISTED = (
    "import json, platform, importlib.metadata as m; "
    "print(json.dumps([platform.python_version(), {d.metadata['Name']: d.version for d in m.distributions()}]))"
)
_ALWAYS = ("numpy",)  # the worker needs it
_LATER = timedelta(days=1)


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
        if not os.path.exists(self.python) and (uv := shutil.which("uv")):
            words = [_called([uv, "python", "find", self.python]).strip()]
        return tuple(map(int, _called([*words, "-c", "import sys; print(*sys.version_info[:3])"]).split()))

    @contextmanager
    def environment(
        self, requirements: Sequence[str], released: str = "", alone: Sequence[str] = ()
    ) -> Iterator[Installed]:
        """A new environment with these requirements; of those in `alone` nothing that they depend on.

        Raises CannotBeInstalled, with the last line of what the installer said.
        """
        with tempfile.TemporaryDirectory(prefix="gelu-verify-release-", ignore_cleanup_errors=True) as folder:
            place = Path(folder) / "environment"
            uv = shutil.which("uv")
            if uv:
                _called([uv, "venv", "-q", "--python", self.python, str(place)])
            else:
                _called([self.python, "-m", "venv", str(place)])
            python = place / "bin" / "python"
            options = self._options(released, is_uv=bool(uv))
            pip = [uv, "pip"] if uv else [str(python), "-m", "pip"]
            install = [*pip, "install", "-q", *(["--python", str(python)] if uv else [])]
            _called([*install, *options, *_ALWAYS, *requirements])
            if alone:
                _called([*install, *options, "--no-deps", *alone])
                stub_missing_libraries(place)
            yield Installed(python, *json.loads(_called([str(python), "-I", "-c", _LISTED])))

    def _options(self, released: str, is_uv: bool) -> list[str]:
        if self.find_links:
            return ["--no-index", "--find-links", str(self.find_links)]
        if not released:
            return []
        day = str(date.fromisoformat(released[:10]) + _LATER)
        return ["--exclude-newer", f"{day}T23:59:59Z"] if is_uv else ["--uploaded-prior-to", f"{day}T23:59:59Z"]


def _called(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise UsageError(f"there is no {words[0]} here") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise CannotBeInstalled(" ".join(lines)[:300] or f"{words[0]} ended with {done.returncode}")
    return done.stdout
