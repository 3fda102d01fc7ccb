"""Files that foreign code reads: part of what it is, as its source is.

Python code in this process is listened to while it is loaded and tried (`watching`): what it opens, loads as a library
or starts as a program belongs to the sources that do so. Scripts that run elsewhere are only read: what they import
from their own folder, and the names of files in them (`named_by`). Installed packages, the system's files, caches,
and what was written meanwhile are no part of it: those would differ where the code is the same.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from .python_sources import imported_names, is_local

T = TypeVar("T")  # what is returned by a function that is called
WHOLE = 1 << 28  # bytes of a file that are hashed; of a larger one, a block of BLOCK from each WHOLE / 64, and the end
BLOCK = 1 << 20
TEXT = 1 << 20  # bytes of a script that is looked through for names, at most
_CACHES = {"__pycache__", ".cache", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache", "node_modules"}
_PASSING = {".pyc", ".pyo", ".nbi", ".nbc", ".lock", ".log", ".tmp"}  # suffixes of files that are written again
_SYSTEM = tuple(map(Path, ("/proc", "/sys", "/dev", "/run", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/var")))
_QUOTED = re.compile(r"""(["'`])((?:(?!\1)[^\n\\]){1,200})\1""")
_WORD = re.compile(r"""[^\s"'`$;|&<>(){}=,]{1,200}""")
_WRITES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND


# ---- what code in this process reads -------------------------------------------------------------

_listeners = 0
_opened: dict[str, dict[str, None]] = {}  # by the source that did it
_written: set[str] = set()


@dataclass
class FileWatch:
    """While code is loaded and tried: when that began, and which files are mapped since."""

    began: float = field(default_factory=time.time)
    mapped: set[str] = field(default_factory=set)


@contextmanager
def watching() -> Iterator[FileWatch]:
    """Hear what is opened meanwhile.

    Nothing is compiled to a __pycache__: a file there may be older than its source.
    """
    global _listeners
    _hear()
    watch, before, writes = FileWatch(), _mapped(), sys.dont_write_bytecode
    _listeners, sys.dont_write_bytecode = _listeners + 1, True
    try:
        yield watch
    finally:
        _listeners, sys.dont_write_bytecode = _listeners - 1, writes
        watch.mapped |= _mapped() - before


@lru_cache(maxsize=1)
def _hear() -> None:
    """Once in a process: there is no way back."""
    sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listeners or event not in ("open", "ctypes.dlopen", "subprocess.Popen"):
        return
    with suppress(Exception):  # it would end what the user's code does
        for name in _names(event, arguments):
            path = os.path.abspath(os.fsdecode(os.fspath(name)))
            if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
                _written.add(path)
            elif not _is_installed(path):
                for owner in _owners(sys._getframe(1)):
                    _opened.setdefault(owner, {})[path] = None


def _names(event: str, arguments: tuple[Any, ...]) -> Iterator[Any]:
    """What may be the name of a file."""
    if event == "subprocess.Popen":
        given = arguments[1]
        yield from [given] if isinstance(given, str | bytes | os.PathLike) else given
    elif isinstance(arguments[0], str | bytes | os.PathLike):
        yield arguments[0]


def _owners(frame: FrameType | None) -> Iterator[str]:
    """The local sources that are running, up to where an installed module is imported: what that reads is its own."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith("<"):
            if _is_source(name):
                yield os.path.realpath(name)
            elif frame.f_code.co_name == "<module>":
                return
        frame = frame.f_back


@lru_cache(maxsize=4096)
def _is_source(name: str) -> bool:
    return is_local(Path(name))


def _is_installed(path: str) -> bool:
    """At a glance: thousands of these are opened where a framework is imported."""
    return "/site-packages/" in path or "/dist-packages/" in path


def _mapped() -> set[str]:
    """Files in the memory of this process, which are libraries or data; none where the system does not say."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            names = [words[5].rstrip("\n") for line in file if len(words := line.split(maxsplit=5)) == 6]
    except OSError:
        return set()
    return {name for name in names if name.startswith("/") and not _is_installed(name)}


def mapped_by(load: Callable[[], T], folder: Path, began: float) -> tuple[T, set[Path]]:
    """What `load` returns, and the files that are mapped since, and count for sources in `folder`."""
    before = _mapped()
    loaded = load()
    return loaded, {path for name in _mapped() - before if _counts(path := Path(name).resolve(), [folder], began)}


def read_by(sources: Iterable[Path], main: Path, watch: FileWatch) -> set[Path]:
    """All that these Python sources read so far, or name, and the sources among that in turn; without themselves.

    Files that were mapped while they were loaded are those of `main`.
    """
    _opened.setdefault(str(main), {}).update(dict.fromkeys(watch.mapped))
    known = set(sources)
    folders = {path.parent for path in known}
    found: set[Path] = set()
    waiting = list(known)
    for source in waiting:  # grows
        opened = [_source_of(Path(name)) for name in _opened.get(str(source), ())]
        for path in [*opened, *(_named_in(source) if source.suffix == ".py" else ())]:
            path = path.resolve()
            if path not in known and path not in found and _counts(path, folders, watch.began):
                found.add(path)
                if path.suffix == ".py":
                    waiting.append(path)
    return found


def _source_of(path: Path) -> Path:
    """Of a file in a __pycache__, that which it was compiled from."""
    if path.suffix == ".pyc" and path.parent.name == "__pycache__":
        with suppress(ValueError):
            return Path(source_from_cache(str(path)))
    return path


# ---- what scripts name ---------------------------------------------------------------------------


def named_by(scripts: Iterable[Path], began: float) -> set[Path]:
    """The files that scripts in any language name or import, and those in turn, with the scripts."""
    found = {path.resolve() for path in scripts}
    folders = {path.parent for path in found}
    waiting = list(found)
    for path in waiting:  # grows
        for name in (each.resolve() for each in _named_in(path)):
            if name not in found and _counts(name, folders, began):
                found.add(name)
                waiting.append(name)
    return found


def _named_in(path: Path) -> Iterator[Path]:
    """Files that one file names; none where it is not text."""
    try:
        with path.open("rb") as file:
            content = file.read(TEXT + 1)
    except OSError:
        return
    if len(content) > TEXT or b"\0" in content or not is_local(path):
        return
    first = content.partition(b"\n")[0]
    if path.suffix == ".py" or (first.startswith(b"#!") and b"python" in first):
        yield from _existing(_python_names(path), path.parent)
        yield from _imported_files(path)
        return
    text = content.decode(errors="replace")
    names = {match[2] for match in _QUOTED.finditer(text)}
    if path.suffix in (".sh", "") or first.startswith(b"#!"):
        names |= set(_WORD.findall(text))
    yield from _existing(sorted(names), path.parent, path.suffix)


def _package(path: Path) -> list[str]:
    """The package that a file is in, by the folders around it that have an __init__."""
    parts: list[str] = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return parts


def _imported_files(path: Path) -> Iterator[Path]:
    """The files of the modules that a Python file imports, where its own folder, or that of its package, has them; none
    of this package, which a working folder may have the sources of: ours is loaded already."""
    package, ours = _package(path), __name__.partition(".")[0]
    for name in imported_names(path, ".".join(package)):
        if name.partition(".")[0] != ours:
            yield from module_files(name, path.parents[len(package)])


def module_files(name: str, folder: Path) -> Iterator[Path]:
    """The file of a module in a folder, in the working folder or on PYTHONPATH; none where it is installed."""
    extensions = ["/__init__.py", ".py", sysconfig.get_config_var("EXT_SUFFIX") or ".so", ".abi3.so", ".so"]
    for place in [folder, Path.cwd(), *map(Path, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))]:
        for extension in extensions:
            path = place / (name.replace(".", "/") + extension)
            if path.is_file():
                yield path
                return


def _python_names(path: Path) -> list[str]:
    """The strings in a Python file, but for those of calls that write."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    written = {text for call in calls if _is_writing(call) for text in _strings(call)}
    return [text for text in dict.fromkeys(_strings(tree)) if text not in written]


def _strings(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and 0 < len(each.value) <= 200:
            yield each.value


def _is_writing(call: ast.Call) -> bool:
    """Whether it is open(..., "w"), or has a name that says so: np.save, to_csv, write_text."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [text for text in _strings(call) if re.fullmatch(r"[rwaxbt+U]{1,4}", text)]
    opens = name == "open" and any(set(mode) & set("wax+") for mode in modes)
    return opens or bool(re.match(r"(save|dump|write|to_|tofile)", name))


def _existing(names: Iterable[str], folder: Path, suffix: str = "") -> Iterator[Path]:
    """The files of those names, from a folder or from the working folder."""
    for name in names:
        if "\n" in name or "\0" in name or not re.search(r"\w", name) or not re.search("[./]", name):
            continue
        if path := next(filter(os.path.isfile, (folder / name, Path.cwd() / name, folder / (name + suffix))), None):
            yield path


# ---- which files count, and their contents -------------------------------------------------------


def _counts(path: Path, folders: Iterable[Path], began: float) -> bool:
    """Whether a file is part of an implementation whose sources lie in `folders`."""
    if not path.is_file() or str(path) in _written or _CACHES & set(path.parts) or path.suffix in _PASSING:
        return False
    if not is_local(path) or path.stat().st_mtime >= began:
        return False
    homes = [*folders, Path.cwd().resolve()]
    if any(path.is_relative_to(folder) for folder in homes):
        return True
    system = [folder for folder in (*_SYSTEM, Path(sys.prefix), Path(sys.base_prefix)) if path.is_relative_to(folder)]
    local = path.is_relative_to("/usr/local") and not path.is_relative_to(sys.base_prefix)
    return not (system and not local) and not _is_temporary(path, homes)


def _is_temporary(path: Path, homes: Iterable[Path]) -> bool:
    """Whether it is in the folder of temporary files, but in another folder there than the sources."""
    folder = Path(tempfile.gettempdir()).resolve()
    if not path.is_relative_to(folder):
        return False
    top = path.relative_to(folder).parts[:1]
    return len(path.relative_to(folder).parts) > 1 and not any(
        home.is_relative_to(folder) and home.relative_to(folder).parts[:1] == top for home in homes
    )


def digests(paths: Iterable[Path], folder: Path) -> dict[str, str]:
    """The content of each file, by its name as seen from `folder`, in the order of the names."""
    return dict(sorted((shown(path, folder), digest(path)) for path in paths))


def shown(path: Path, folder: Path) -> str:
    """Its name as seen from a folder: the same on each machine where both lie likewise."""
    common = os.path.commonpath([path, folder])
    return str(path) if common == os.sep else os.path.relpath(path, folder)


def digest(path: Path) -> str:
    """`sha256:` and twelve digits of what is in a file; of one larger than WHOLE, of its size and of parts of it."""
    found, size = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        if size <= WHOLE:
            while part := file.read(1 << 24):
                found.update(part)
        else:
            found.update(str(size).encode())
            for at in (*range(0, size - BLOCK, WHOLE // 64), size - BLOCK):
                file.seek(at)
                found.update(file.read(BLOCK))
    return f"sha256:{found.hexdigest()[:12]}"


def digest_of(digests: dict[str, str]) -> str:
    """`sha256:` and twelve digits of several files, by name and content."""
    lines = "\n".join(f"{name} {each}" for name, each in sorted(digests.items()))
    return f"sha256:{hashlib.sha256(os.fsencode(lines)).hexdigest()[:12]}"
