"""Imports of frameworks: silent, and with the reason in one line where one is absent or broken."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from ..errors import TargetUnavailable, UsageError
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
    top = module.partition(".")[0]
    package = package or _PACKAGES.get(top, top)
    try:
        with quiet():
            return import_module(module)
    except ModuleNotFoundError as error:
        if error.name == top:
            raise TargetUnavailable(not_installed(package)) from None
        raise TargetUnavailable(_broken(package, error)) from error
    except Exception as error:  # a broken installation may raise anything
        raise TargetUnavailable(_broken(package, error)) from error


def missing(module: str) -> str | None:
    """That a top-level module is not installed, as `framework` says it; nothing is imported to see it."""
    try:
        return None if find_spec(module) else not_installed(_PACKAGES.get(module, module))
    except (ImportError, ValueError):  # whoever imports it learns more
        return None


def not_installed(package: str) -> str:
    """What is missing, and the command that installs it."""
    return f"{package} is not installed (pip install {_WITH_EXTRAS.get(package, package)})"


_PACKAGES = {"ai_edge_litert": "ai-edge-litert", "paddle": "paddlepaddle"}
_WITH_EXTRAS = {"cupy": "cupy-cuda13x", "cupyx": "cupy-cuda13x", "mlx": "'mlx[cpu]'", "pycuda": "'gelu-verify[gpu]'"}


def _broken(package: str, error: Exception) -> str:
    return f"{package} cannot be imported: {type(error).__name__}: {first_line(error)}"


_TO_LIBRARIES = {  # by suffix: what makes a shared library of a file
    **dict.fromkeys(("f", "for", "f77", "f90", "f95", "f03", "f08"), "gfortran -O2 -shared -fPIC {0} -o {1}.so"),
    **dict.fromkeys(("s", "o", "ll", "bc"), "clang -O2 -shared -fPIC {0} -o {1}.so"),
    "a": "cc -shared -Wl,--whole-archive {0} -Wl,--no-whole-archive -o {1}.so",
    "rs": "rustc -O --crate-type cdylib {0} -o {1}.so",
    "go": "go build -buildmode=c-shared -o {1}.so {0}",
    "zig": "zig build-lib -dynamic -O ReleaseFast {0}",
}


def unread_file(name: str) -> UsageError | None:
    """Of a name without a meaning that is a file's: that nothing reads it, and how else its function can be named."""
    file, _, symbol = name.partition(":")
    path = Path(file)
    if not path.is_file():
        return None
    if path.suffix in (".cubin", ".fatbin"):
        either = " or ".join(f"{path.stem}.{suffix}:{symbol or 'symbol'}" for suffix in ("cu", "ptx"))
        return UsageError(f"{file} is code of a device, which nothing reads here: name its source or its PTX, {either}")
    if path.suffix == ".pyx":
        named = f"{path.stem}:{symbol or 'function'}"
        return UsageError(
            f"{file} is a file that nothing here reads: `cythonize -i {file}` makes a module of it, {named}"
        )
    made = _TO_LIBRARIES.get(path.suffix[1:].lower())
    library = f" (such as by `{made.format(file, path.stem)}`)" if made else ""
    return UsageError(
        f"{file} is a file that nothing here reads: name a shared library of it, ./{path.stem}.so:{symbol or 'symbol'}"
        f"{library}, or a program that reads requests, 'pipe:./program'"
    )
