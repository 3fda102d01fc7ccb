"""Python code of the user's own: imported from its source, and known by a hash of all of it that was read.

A file in __pycache__ is current when its recorded time and size are those of the source: an edit within the same second
that keeps the size is not seen, and other code would run than the one that is read, hashed and shown. So modules
outside the installed packages are compiled from their source whenever they are imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType

_read: dict[str, bytes] = {}  # path of a source -> sha256 of what was compiled


class SourceLoader(SourceFileLoader):
    """Never reads or writes a __pycache__."""

    def get_code(self, fullname: str) -> CodeType:
        data = self.get_data(self.path)
        _read[str(Path(self.path).resolve())] = hashlib.sha256(data).digest()
        return self.source_to_code(data, self.path)


def import_from_source() -> None:
    """From now on, modules of folders that hold no installed packages are compiled from their source."""
    if _hook not in sys.path_hooks:
        sys.path_hooks.insert(0, _hook)
        for folder in list(sys.path_importer_cache):  # other threads import meanwhile
            if is_local(Path(folder)):
                sys.path_importer_cache.pop(folder, None)


def _hook(folder: str) -> FileFinder:
    path = Path(folder or ".")
    if not path.is_dir() or not is_local(path):
        raise ImportError(f"{folder} is not for this finder")
    without_source = (SourcelessFileLoader, BYTECODE_SUFFIXES)  # a .pyc beside where its source would be
    return FileFinder(folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (SourceLoader, [".py"]), without_source)


def is_local(path: Path) -> bool:
    """Whether it lies outside the standard library and the installed packages (and outside this package)."""
    path = path.resolve()
    inside = {"site-packages", "dist-packages"} & set(path.parts)
    return not inside and not any(path.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[Path, ...]:
    named = sysconfig.get_paths()
    folders = [named[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages(), str(Path(__file__).parent.parent)]
    return tuple(Path(folder).resolve() for folder in folders)


def file_of(module: ModuleType) -> Path | None:
    """The file that a module was loaded from; None where it names none that exists (`torch.ops` says "_ops.py")."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and Path(file).is_file() else None


def source_hash(module: ModuleType) -> str:
    """`sha256:` and twelve digits: of the module's file and of every local module that it imports, and so on."""
    digest = hashlib.sha256()
    for path in sorted(sources(module)):
        digest.update(_read.get(str(path)) or hashlib.sha256(path.read_bytes()).digest())
    return f"sha256:{digest.hexdigest()[:12]}"


def sources(module: ModuleType) -> set[Path]:
    """Files of a module and of what it imports, as far as they are local; the first one counts wherever it is."""
    found: set[Path] = set()
    waiting = [(file_of(module), getattr(module, "__package__", "") or "")]
    waiting += [(_file_of_name(name), name) for name in _parents(module.__name__)]
    while waiting:
        path, package = waiting.pop()
        if path is None or path in found or (found and not is_local(path)):
            continue
        found.add(path)
        if path.suffix == ".py":
            waiting += [(_file_of_name(name), _package_of(name)) for name in imported_names(path, package)]
    return found


def libraries_imported(files: Iterable[Path]) -> list[str]:
    """The installed packages with a version that these files import themselves."""
    paths = [path for path in files if path.suffix == ".py"]
    roots = {name.partition(".")[0] for path in paths for name in imported_names(path, "")}
    foreign = (name for name in sorted(roots - set(sys.stdlib_module_names)) if _is_foreign(name))
    return [name for name in foreign if release_of(name)]


def _is_foreign(root: str) -> bool:
    file = _file_of_name(root)
    return file is not None and not is_local(file)


def release_of(root: str) -> str:
    """Version of a top-level module, as it or its distribution says; empty where neither does."""
    version = getattr(sys.modules.get(root), "__version__", None)
    if isinstance(version, str):
        return version
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(root)
    return ""


def _parents(name: str) -> Iterator[str]:
    """The packages around a module: their __init__ runs too."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _package_of(name: str) -> str:
    """The package that relative imports of a module start from."""
    loaded, file = sys.modules.get(name), _file_of_name(name)
    if loaded is None and file is not None and file.stem == "__init__":
        return name
    return getattr(loaded, "__package__", None) or name.rpartition(".")[0]


def _file_of_name(name: str) -> Path | None:
    """The file of a module, loaded or not: a function may import it later. Nothing is imported to find it."""
    if name in sys.modules:
        return file_of(sys.modules[name])
    root, *parts = name.split(".")
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not parts:
        return Path(spec.origin).resolve() if spec.has_location and spec.origin else None
    for folder in map(Path, spec.submodule_search_locations or ()):
        for path in (folder.joinpath(*parts, "__init__.py"), folder.joinpath(*parts).with_suffix(".py")):
            if path.is_file():
                return path.resolve()
    return None


def imported_names(path: Path, package: str) -> Iterator[str]:
    """Full names of the modules that a file may import, wherever in it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*parts, *([node.module] if node.module else [])])
            names = [home, *(f"{home}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in filter(None, names):
            yield from (name, *_parents(name))
