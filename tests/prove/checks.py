"""What must hold of the text of the headers, besides the bounds: constants and algorithms. Fast."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from prove.core import core_source
from prove.enclosures import CLAIMS, enclosure_source
from prove.exact import Exact
from prove.interpreter import Interpreter
from prove.source import ROOT, Source
from prove.stored import wrong_entries, wrong_literals
from prove.symbols import ENCLOSURE, PAIR, PIECE, QUICK, algorithm

GENERATORS = (
    *("make_core_tables.py", "make_enclosure_tables.py", "make_float64_tables.py"),
    *("make_float32_tables.py", "make_float32_cubics.py"),
    "make_bfloat16_tables.py",
)
CORE_TABLES = ("truth/tables.h", "carried/atan_table.h")
GENERATED = {*CORE_TABLES, "enclosure/tables.h"}
FOLDERS = ("truth", "math", "enclosure", "carried")


def literals(root: Path = ROOT) -> list[str]:
    """Long literals outside of generated files that do not say what they are, or are it not."""
    headers = sorted(path for folder in FOLDERS for path in (root / "src" / folder).glob("*.h"))
    written = [path for path in headers if str(path.relative_to(root / "src").as_posix()) not in GENERATED]
    return [wrong for path in written for wrong in wrong_literals(path)]


def tables(root: Path = ROOT) -> list[str]:
    """Entries of CORE_TABLES that are not the nearest double or pair to their definition."""
    tables_only = Interpreter(Source(*CORE_TABLES, root=root), Exact())
    return [wrong for name in tables_only.globals for wrong in wrong_entries(name, tables_only.plain(name))]


def algorithms(root: Path = ROOT) -> list[str]:
    """Functions that are not the algorithm that their bound was proved for."""
    wrong = []
    for quick, proved in ((False, PAIR), (True, QUICK)):
        source = core_source(quick, root)
        wrong += [name for name, want in proved.items() if algorithm(source, name) != want]
    for fma in (False, True):
        source = enclosure_source(fma, root)
        wrong += [name for name, want in ENCLOSURE.items() if algorithm(source, name) != want]
    return wrong


def piece_source(fma: bool, root: Path = ROOT) -> Source:
    """float64.h without its tables."""
    text = """typedef struct { double per_unit, q_loss; int derivative, count, wide; double whole; } gv_piecewise;
#define GV_CR_PIECEWISE_H
#define GV_PIECEWISE_FUNCTIONS(F)
#include "cr/float64.h"
"""
    return Source(text, root=root, macros={"GV_HAVE_FMA": str(int(fma)), "GV_F64_LANES": "1"})


def piece_algorithms(root: Path = ROOT) -> list[str]:
    """The same for the float64 kernels."""
    sources = [piece_source(fma, root) for fma in (False, True)]
    return [name for name, want in PIECE.items() for source in sources if algorithm(source, name) != want]


def claims(root: Path = ROOT) -> list[str]:
    """Errors that enclosures claim are identified by their value: no other number may have it."""
    headers = [path for path in (root / "src" / "enclosure").glob("*.h") if path.name != "tables.h"]
    found = [line for path in headers for line in path.read_text().splitlines()
             if any(float.fromhex(n) in CLAIMS for n in re.findall(r"\b0x1[.0-9a-f]*p-\d+", line))]  # fmt: skip
    return [line for line in found if not re.match(r"#define GV_\w+_ERROR 0x1", line)]


def generator_agrees(name: str, root: Path = ROOT, *arguments: str) -> bool:
    """Whether a script would write the tables that are there, byte for byte."""
    script = [sys.executable, str(root / "tools" / name), "--check", *arguments]
    return subprocess.run(script, capture_output=True, cwd=root).returncode == 0
