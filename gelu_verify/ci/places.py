"""Where the code of a target is: a file of the checkout and a line, so that CI can point at it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")  # of GitHub, of GitLab: where the repository was checked out
_FILE = re.compile(r"(?P<file>[^:]+\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|cu|py)):(?P<symbol>(?:[\w.]|::)+)")
_MODULE = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<symbol>[\w.]+)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True)
class FilePlace:
    """`path` is relative to the checkout where the file is in it; lines count from 1."""

    path: str
    line: int


def place_of(target: str, function: str) -> FilePlace | None:
    """Of a target that was named by its file or module, or of our own kernels in a checkout; else None."""
    if target.startswith("kernels."):
        form = re.split("[-@]", target.removeprefix(f"kernels.{function}_"))[0]
        return place_in(Path("src", "kernels", f"{function.removesuffix('_grad')}.h"), f"KERNEL({function}, {form},")
    for path, symbol in _candidates(target):
        if path.is_file():
            return FilePlace(_in_checkout(path), _line(path.resolve(), symbol))
    return None


def place_in(path: Path, text: str) -> FilePlace | None:
    """The first line of a file of the checkout that has this text."""
    place = _in_checkout(path)
    if Path(place).is_absolute() or not path.is_file():
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((FilePlace(place, number) for number, line in enumerate(lines, 1) if text in line), None)


def _candidates(target: str) -> Iterator[tuple[Path, str]]:
    """Files that may have it, each with the name that it has there."""
    if found := _FILE.match(target):
        yield Path(found["file"]), found["symbol"]
    elif found := _MODULE.match(target):
        inside = Path(*str(found["module"]).split("."))
        for folder in (Path(), Path("src")):
            yield (folder / inside).with_suffix(".py"), found["symbol"]
            yield folder / inside / "__init__.py", found["symbol"]


def _in_checkout(path: Path) -> str:
    whole = path.resolve()
    for root in (*filter(None, map(os.environ.get, _ROOTS)), "."):
        base = Path(root).resolve()
        if whole.is_relative_to(base):
            return whole.relative_to(base).as_posix()
    return path.as_posix()


def _line(path: Path, symbol: str) -> int:
    """Of the definition; else of the first mention; else 1."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py" and (line := _python_line(text, symbol)):
        return line
    code = _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)
    name = re.escape(symbol.rpartition("::")[2])
    for pattern in (rf"\b{name}\s*\([^;{{}}]*\)[^;{{}}()]*\{{", rf"\b{name}(?!\w)"):
        if found := re.search(pattern, code):
            return code.count("\n", 0, found.start()) + 1
    return 1


def _python_line(text: str, symbol: str) -> int | None:
    """Of a function, class or assignment; also of a method: "Layer.forward"."""
    try:
        nodes: list[ast.stmt] = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return None
    line = None
    for name in symbol.split("."):
        found = next((node for node in nodes if name in _names(node)), None)
        if found is None:
            return line
        line, nodes = found.lineno, getattr(found, "body", [])
    return line


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
