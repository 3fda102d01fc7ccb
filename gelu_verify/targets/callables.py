"""Any Python function as a target: "module:function" or "path/file.py:function"."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import Any

from ..environment import in_default_environment, left
from ..errors import TargetUnavailable, UsageError
from ..formats import DTYPES
from ..interrupts import is_from_user
from ._arrays import ArrayKind, compilers, get_kind, kind_of_module
from ._library import LibraryTarget, framework, ordinary_numbers, quiet
from .base import first_line


@in_default_environment
def load_callable(
    name: str,
    function: str,
    dtype: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    compile: str | None = None,
) -> LibraryTarget:
    """The callable `name`, imported, as a target; see `callable_target`.

    Raises
    ------
    UsageError
        No such file, module or attribute; it cannot be imported; it is not callable.
    """
    for kind_name in filter(None, (array, compile)):
        get_kind(kind_name)
    source, _, path = name.rpartition(":")
    if not source or not path:
        raise UsageError(f"{name!r} names no callable (accepted: module:function, path/file.py:function)")
    module = _load_file(Path(source)) if _is_path(source) else _import(source)
    environment = _left_by_import(module)
    compute = _attribute(name, module, path)
    if not (array or compile or _is_path(source) or _own_kind(compute)):  # torch.special:ndtr says builtins
        array = kind.name if (kind := kind_of_module(source)) else None
    target = callable_target(compute, function, dtype, name=name, kwargs=kwargs, array=array, compile=compile)
    if environment is not None:
        said = f"in the floating-point environment that its import leaves: {' and '.join(environment[1])}"
        target = dataclasses.replace(target, environment=environment, note=f"{target.note}, {said}")
    return dataclasses.replace(target, version=_version(module))


_environments: dict[str, tuple[bytes, list[str]]] = {}  # by module, because a second import leaves nothing


def _left_by_import(module: ModuleType) -> tuple[bytes, list[str]] | None:
    """The floating-point environment that importing it left, where that is not the default one; ours is that again.

    Who uses the module computes in it too, as after `torch.set_flush_denormal(True)` in its first lines.
    """
    if (found := left()) is not None:
        _environments[module.__name__] = found
    return _environments.get(module.__name__)


@in_default_environment
def callable_target(
    compute: Callable[..., Any],
    function: str = "gelu",
    dtype: str | None = None,
    *,
    name: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    array: str | None = None,
    compile: str | None = None,
) -> LibraryTarget:
    """A function of one array as a target that claims to compute `function`.

    It is called with a 1-D array of the kind `array` ("numpy", "torch", "jax", "tensorflow", or a module
    with `from_dlpack`; default: that of `compile`, of the package it comes from, else NumPy) and with `kwargs`,
    as it is or through the compiler of the kind `compile` (`torch.compile`, `jax.jit`). Its dtypes are
    `dtype`, or all in which it takes an array of ordinary numbers; all four when it takes none,
    so that what it raises is seen.
    """
    chosen = array or compile
    kind = get_kind(chosen) if chosen else _own_kind(compute) or get_kind("numpy")
    if compile and compile != kind.name:
        raise UsageError(f"--compile {compile} compiles for {compile} arrays, not for {kind.name} ones (--array)")
    text = ", ".join(f"{key}={value!r}" for key, value in (kwargs or {}).items())
    target = LibraryTarget(
        name=name
        or f"{getattr(compute, '__module__', None)}:{getattr(compute, '__qualname__', type(compute).__name__)}",
        function=function,
        dtypes=(dtype,) if dtype else DTYPES,
        note=f"called with {kind.name} arrays" + (f" and {text}" if text else ""),
        compiles_per_length=kind.compiles_per_length,
        arrays=_importable(kind),
        compute=functools.partial(compute, **(kwargs or {})),
    )
    if not dtype:
        taken = {name: said for name in DTYPES if (said := _taken(target, name)) is not None}
        answered = {} if compile else {name: said for name, said in taken.items() if said}
        target = dataclasses.replace(target, dtypes=tuple(taken) or DTYPES, answered=answered)
    return _compiled(target, kind) if compile else target


def _compiled(target: LibraryTarget, kind: ArrayKind) -> LibraryTarget:
    if not kind.compiler:
        raise UsageError(f"{kind.name} compiles nothing (accepted by --compile: {', '.join(compilers())})")
    note = f"{target.note}, compiled by {kind.compiler}"
    with quiet():
        return dataclasses.replace(target, compute=kind.compiled(target.compute), note=note)


def _own_kind(compute: Callable[..., Any]) -> ArrayKind | None:
    """Kind of the package that a callable says it is from; of its class, for an instance."""
    return kind_of_module(getattr(compute, "__module__", None))


def _is_path(source: str) -> bool:
    return source.endswith(".py") or os.sep in source or "/" in source


def _load_file(path: Path) -> ModuleType:
    """Run a Python file as a module of its own; its folder can be imported from, as when it is run as a script."""
    if not path.is_file():
        raise UsageError(f"no such file: {path}")
    path = path.resolve()
    plain = re.sub(r"\W", "_", path.stem)  # a dot would make it a module of a package
    name = f"{plain}_{hashlib.sha256(os.fsencode(path)).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file (accepted: path/file.py:function)")
    _append_to_path(path.parent)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a class up by its module
    try:
        with quiet():
            spec.loader.exec_module(module)
    except BaseException as error:  # the user's code: whatever it raises is named
        del sys.modules[name]
        if is_from_user(error):
            raise
        raise _not_imported(str(path), error) from error
    return module


def _import(source: str) -> ModuleType:
    _append_to_path(Path.cwd())
    try:
        with quiet():
            return import_module(source)
    except ModuleNotFoundError as error:
        if error.name and (source == error.name or source.startswith(f"{error.name}.")):
            raise UsageError(f"no module named {error.name!r} (a file is given as path/file.py:function)") from None
        raise _not_imported(f"module {source!r}", error) from error
    except BaseException as error:  # the user's code: whatever it raises is named
        if is_from_user(error):
            raise
        raise _not_imported(f"module {source!r}", error) from error


def _not_imported(what: str, error: BaseException) -> UsageError:
    return UsageError(f"{what} cannot be imported: {type(error).__name__}: {first_line(error)}")


def _append_to_path(folder: Path) -> None:
    """Let `folder` be imported from, after everything that is installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _attribute(name: str, module: ModuleType, path: str) -> Callable[..., Any]:
    found: Any = module
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            owner = f"{name.rpartition(':')[0]!r}" if found is module else f"{found!r}"
            raise UsageError(f"{owner} has no attribute {part!r} (in {name!r})") from None
    if not callable(found):
        raise UsageError(f"{name!r} is {type(found).__name__}, not callable")
    return found


def _importable(kind: ArrayKind) -> ArrayKind:
    """`kind`, when its library is there."""
    try:
        framework(kind.roots[0])
    except TargetUnavailable as reason:
        raise UsageError(f"array kind {kind.name!r} cannot be used: {reason}") from None
    return kind


def _taken(target: LibraryTarget, dtype: str) -> tuple[int, ...] | None:
    """Its answers to `ordinary_numbers`; none where they are not what they should be, which the sweep shows.

    None where it does not return at all.
    """
    x = ordinary_numbers(dtype)
    try:
        loaded = target.load(dtype, x)
        result = target.call(loaded)
    except BaseException as error:  # someone else's code: the sweep shows what it raises
        if is_from_user(error):
            raise
        return None
    try:
        y = target.store(dtype, loaded, result)
    except BaseException as error:  # as above
        if is_from_user(error):
            raise
        return ()
    return tuple(y.tolist()) if y.shape == x.shape else ()


def _version(module: ModuleType) -> str:
    """Version of the package that the module is from, or a hash of its source."""
    root = module.__name__.partition(".")[0]
    if root in sys.stdlib_module_names:
        return f"Python {sys.version.split()[0]}"
    version = getattr(sys.modules[root], "__version__", None)
    if isinstance(version, str):
        return version
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(root)
    source = inspect.getsourcefile(module)
    return f"sha256:{hashlib.sha256(Path(source).read_bytes()).hexdigest()[:12]}" if source else ""
