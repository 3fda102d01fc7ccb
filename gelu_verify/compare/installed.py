"""Packages that are installed from the working tree (`pip install -e .`), which other revisions must not import.

Without this, `import my_package` in the code of a revision would find the files of the working tree, and the two sides
of a comparison would be the same code.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

_ROOTS = ("", "src", "lib", "python")  # where a repository keeps its packages
_OURS = "gelu_verify"  # what measures is the same for both sides
_LISTS = ("PYTHONPATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")


def environment_of(top: Path, tree: Path, overlay: Path) -> dict[str, str]:
    """Environment variables with which the packages of `tree` are imported where those of `top` would be.

    `overlay`: a new folder for links to them. Nothing else in the tree comes before what is installed: a random.py
    beside the code hides no module of Python.
    """
    variables = {name: _moved(os.environ[name], top, tree) for name in _LISTS if os.environ.get(name)}
    overlay.mkdir()
    for root in _ROOTS:
        for path in sorted((tree / root).glob("*")) if (tree / root).is_dir() else ():
            name = path.name.removesuffix(".py")
            is_package = path.suffix == ".py" or (path.is_dir() and name.isidentifier())
            if is_package and name.isidentifier() and name != _OURS and _is_inside(_installed(name, top), top):
                (overlay / path.name).symlink_to(path)
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(overlay), variables.get("PYTHONPATH")]))
    return variables


def _moved(paths: str, top: Path, tree: Path) -> str:
    """A list of paths with those of the working tree replaced by those of the revision."""
    entries = [Path(entry) for entry in paths.split(os.pathsep) if entry]
    inside = [each.is_absolute() and each.resolve().is_relative_to(top) for each in entries]
    moved = [tree / e.resolve().relative_to(top) if is_in else e for e, is_in in zip(entries, inside, strict=True)]
    return os.pathsep.join(map(str, moved))


def _installed(name: str, top: Path) -> ModuleSpec | None:
    """Where a module of that name is installed, whatever the current folder has."""
    folders = [entry for entry in sys.path if entry and Path(entry).resolve() != Path.cwd()]
    if found := PathFinder.find_spec(name, folders):
        return found
    others = [finder for finder in sys.meta_path if finder is not PathFinder]  # of editable installations
    return next(filter(None, (finder.find_spec(name, None) for finder in others)), None)


def _is_inside(found: ModuleSpec | None, top: Path) -> bool:
    places = [*(found.submodule_search_locations or ()), found.origin] if found else []
    return any(place and Path(place).resolve().is_relative_to(top) for place in places)
