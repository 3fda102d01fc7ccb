"""Imports of frameworks: silent, and with the reason in one line where one is absent or broken."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

from ..errors import TargetUnavailable
from .base import first_line
from .under_way import loading


@contextmanager
def quiet() -> Iterator[None]:
    """Import-time chatter of a framework is not ours to print, nor to fail on under `-W error`; an import has a time
    limit where it is isolated."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow reads it once, when it is first imported
    level = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), loading():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)


def framework(module: str, package: str | None = None) -> ModuleType:
    """Import `module`; TargetUnavailable says that `package` is not installed, or why it does not import."""
    package = package or module.partition(".")[0]
    try:
        with quiet():
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name == module.partition(".")[0]:
            raise TargetUnavailable(not_installed(package)) from None
        raise TargetUnavailable(_broken(package, error)) from error
    except Exception as error:  # a broken installation may raise anything
        raise TargetUnavailable(_broken(package, error)) from error


def not_installed(package: str) -> str:
    """What is missing, and the command that installs it."""
    return f"{package} is not installed (pip install {_WITH_EXTRAS.get(package, package)})"


_WITH_EXTRAS = {"cupy": "cupy-cuda13x", "cupyx": "cupy-cuda13x", "mlx": "'mlx[cpu]'"}


def _broken(package: str, error: Exception) -> str:
    return f"{package} cannot be imported: {type(error).__name__}: {first_line(error)}"
