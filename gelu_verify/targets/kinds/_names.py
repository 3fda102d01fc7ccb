"""Names and paths that cannot be used as they are: refused in one line, before anything is loaded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from unicodedata import category

from ...errors import UsageError


def usable(name: str) -> str:
    """`name` where a command can repeat it and a report can show it."""
    command = name.startswith("pipe:")  # a script may have several lines
    if not _is_text(name):
        raise UsageError(f"{name!r} is not text in UTF-8 (accepted: a file that is linked or renamed)")
    if any(category(each) in ("Cc", "Zl", "Zp") for each in name) and not command:
        raise UsageError(f"{name!r} has control characters (accepted: a file that is linked or renamed)")
    if name.startswith("-"):
        raise UsageError(f"{name!r} reads as an option (accepted: ./{name})")
    if not command and (file := _file_with_colon(name)):
        raise UsageError(
            f"{file!r} has a ':', which ends a file's name here (accepted: a file that is linked or renamed)"
        )
    return name


def includable(source: Path) -> Path:
    """The path of a source file where a line `#include "path"` can name it."""
    if any(each in str(source) for each in '"\n\r') or not _is_text(str(source)):
        raise UsageError(f"{str(source)!r} cannot be included by C (accepted: a path without quotes and line breaks)")
    return source


def exported(names: Sequence[str], symbol: str) -> str | None:
    """The kernel's name in the module, of which C++ makes one of its own: `_Z7my_geluPKfPfm`; None where it may be one
    of several."""
    symbol = symbol.partition("<")[0]
    parts = "".join(f"{len(part)}{part}" for part in symbol.split("::"))
    mangled = re.compile(rf"_Z(?:L|N(?:\d+_GLOBAL__N_\w*?)?)?{re.escape(parts)}(?!\d)\w*")
    found = [each for each in names if each == symbol or mangled.fullmatch(each)]
    return found[0] if len(found) == 1 else None


def _is_text(text: str) -> bool:
    return not any(category(each) == "Cs" for each in text)


def _file_with_colon(name: str) -> str:
    """The file that is there and was meant, where a colon in it splits it elsewhere; Python files are found anyway."""
    parts = name.split(":")
    files = (":".join(parts[:count]) for count in range(2, len(parts) + 1))
    return next((file for file in files if not file.endswith(".py") and Path(file).is_file()), "")
