"""Files that ship with the package, `data/` and the C sources of `src/`, and a folder for compiled files."""

import os
import tempfile
from pathlib import Path

from .errors import UsageError

_PACKAGE = Path(__file__).parent


def resource(path: str) -> Path:
    """Where `path` ("data/budgets.toml") is: inside the installed package, or in the checkout."""
    installed = _PACKAGE / path
    return installed if installed.exists() else _PACKAGE.parent / path


def cache_folder() -> Path:
    """A folder of this user's own, of this machine's own (what -march=native makes is of no use on another).

    Raises UsageError where another user has made it: whoever can write there decides what we run.
    """
    folder = Path(tempfile.gettempdir()) / f"gelu-verify-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise UsageError(f"{folder} is not private (mode 700, own user): remove it, or set TMPDIR")
    return folder
