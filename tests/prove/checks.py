"""What must hold of the text of the headers, besides the bounds: constants and algorithms. Fast."""

from __future__ import annotations

from pathlib import Path

from prove.core import core_source
from prove.exact import Exact
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.stored import wrong_entries, wrong_literals
from prove.symbols import PAIR, QUICK, algorithm

GENERATED = {"core/tables.h", "bracket/tables.h"}
FOLDERS = ("core", "math", "bracket")


def literals(root: Path = ROOT) -> list[str]:
    """Long literals outside of generated files that do not say what they are, or are it not."""
    headers = sorted(path for folder in FOLDERS for path in (root / "src" / folder).glob("*.h"))
    written = [path for path in headers if str(path.relative_to(root / "src").as_posix()) not in GENERATED]
    return [wrong for path in written for wrong in wrong_literals(path)]


def tables(root: Path = ROOT) -> list[str]:
    """Entries of src/core/tables.h that are not the nearest double or pair to their definition."""
    tables_only = Interpreter(Source("core/tables.h", root=root), Exact())
    return [wrong for name in tables_only.globals for wrong in wrong_entries(name, tables_only.plain(name))]


def algorithms(root: Path = ROOT) -> list[str]:
    """Functions that are not the algorithm that their bound was proved for."""
    wrong = []
    for quick, proved in ((False, PAIR), (True, QUICK)):
        source = core_source(quick, root)
        wrong += [name for name, want in proved.items() if algorithm(source, name) != want]
    return wrong
