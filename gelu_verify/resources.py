"""Files that are shipped with the package: `data/`, and the C headers of `src/`."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource(path: str) -> Path:
    """Where `path` ("data/budgets.toml") is: inside the installed package, or in the checkout."""
    installed = _PACKAGE / path
    return installed if installed.exists() else _PACKAGE.parent / path
