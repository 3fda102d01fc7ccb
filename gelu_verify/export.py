"""The C headers as a folder of their own, with a test program and correct results to compare with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from . import __version__
from .atomic_files import is_free
from .errors import ResultsError, UsageError, one_of
from .formats import DTYPES, FORMATS
from .inputs.hard_cases import hard_cases
from .paths import resource
from .truth.correctly_rounded import FUNCTIONS
from .truth.values import reference_bits

FOLDERS = ("cr", "enclosure", "math", "tables", "truth")  # of src/: what the correctly rounded kernels are made of
STEP = 129  # of the 16-bit inputs in the test: all binades, all low bits
_SPDX = {
    **dict.fromkeys((".h", ".c"), ("/*", " */")),
    ".md": ("<!--", " -->"),
    "": ("#", ""),  # Makefile
}
_ALL = Path("gelu_verify.h")
_FIRST = Path("truth/value.h")  # which all others include
_HEX_FLOAT = re.compile(r"(/\*.*?\*/|//[^\n]*)|(0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?[pP][-+]?\d+)([fF]?)", re.DOTALL)
SUFFIXES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def write_headers(folder: Path, functions: Sequence[str] = ()) -> list[Path]:
    """Write the headers, their kernels, README, Makefile, test program and its table; returns the files.

    With `functions`, only what these need, one value at a time: no kernels of arrays. UsageError for one that has none,
    and where `folder` is there and not empty; ResultsError where it cannot be written.
    """
    for function in functions:
        if function not in FUNCTIONS:
            raise one_of("function with headers", function, list(FUNCTIONS))
    if not is_free(folder):
        what = "not empty" if folder.is_dir() else "not a folder"
        raise UsageError(f"{folder} is {what}: name a new or an empty folder")
    try:
        return list(_written(folder, tuple(functions)))
    except OSError as error:
        raise ResultsError(f"cannot write to {error.filename}: {error.strerror}") from None


def _written(folder: Path, functions: tuple[str, ...]) -> Iterator[Path]:
    texts = {place: source.read_text(encoding="utf-8") for source, place in _sources()}
    if functions:
        texts[_ALL] = _of_these(texts[_ALL], functions)
        needed = {_ALL, *_included(texts, _ALL), *_included(texts, _FIRST)}
        texts = {place: text for place, text in texts.items() if len(place.parts) == 1 or place in needed}
    texts[Path("test_table.h")] = "\n".join([*_table_lines(functions or FUNCTIONS), ""])
    for place, text in texts.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(vendored(place, text), encoding="utf-8")
        yield target
    (folder / "LICENSE").write_text(_license(), encoding="utf-8")
    yield folder / "LICENSE"


def _of_these(text: str, functions: tuple[str, ...]) -> str:
    """`gelu_verify.h` with these functions alone."""
    bases = {function.removesuffix("_grad") for function in functions}
    text = re.sub(r'#include "math/(\w+)\.h"\n', lambda found: found[0] if found[1] in bases else "", text)
    made = r"GV_CORRECTLY_ROUNDED\((\w+), [01]\)\n"
    return re.sub(made, lambda found: found[0] if found[1] in functions else "", text)


def _included(texts: dict[Path, str], place: Path) -> Iterator[Path]:
    """What a file includes, and what that includes."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', texts[place], re.MULTILINE):
        other = Path(os.path.normpath(place.parent / name))
        yield other
        yield from _included(texts, other)


def vendored(place: Path, text: str) -> str:
    """A file as another project can have it: with its license, and, of a header, for C++11, which has no hexadecimal
    floating-point constants: the same numbers in decimal."""
    before, after = _SPDX.get(place.suffix, _SPDX[""])
    if place.suffix == ".h":
        text = _HEX_FLOAT.sub(lambda found: found[1] or _decimal(found[2], found[3]), text)
    if place == _FIRST or (place.suffix == ".c" and place.parent.name == "cr"):
        text = f'#include "../strict.h"\n{text}'
    return f"{before} SPDX-License-Identifier: Apache-2.0{after}\n{text}"


def _decimal(digits: str, suffix: str) -> str:
    """The shortest that is the same number; `suffix`: of a float."""
    return f"{float.fromhex(digits)!r}{suffix}"


def _sources() -> Iterator[tuple[Path, Path]]:
    """Each file, and where it goes: the folders of src/ as they are, the files of src/export/ at the top."""
    root = resource("src")
    for path in sorted(root.rglob("*.[ch]")):
        place = path.relative_to(root)
        if place.parts[0] in FOLDERS and (path.suffix == ".h" or place.parts[0] == "cr"):
            yield path, place
    for path in sorted((root / "export").iterdir()):
        yield path, Path(path.name)


def _license() -> str:
    root = resource("src").parent
    if (root / "setup.py").exists():  # a checkout
        return (root / "LICENSE").read_text(encoding="utf-8")
    return distribution("gelu-verify").read_text("licenses/LICENSE") or ""


def _table_lines(functions: Sequence[str]) -> Iterator[str]:
    yield f"/* Generated by `gelu-verify export headers` ({__version__}); do not edit. Input bits, result bits. */"
    yield "#ifndef GV_TEST_TABLE_H"
    yield "#define GV_TEST_TABLE_H"
    yield "#include <stdint.h>"
    for function in functions:
        for dtype in DTYPES:
            yield f"static const uint64_t gv_test_{function}_{SUFFIXES[dtype]}[][2] = {{"
            digits = FORMATS[dtype].width // 4
            yield from (f"    {{0x{x:0{digits}x}, 0x{y:0{digits}x}}}," for x, y in _rows(function, dtype))
            yield "};"
    pairs = (f"T({function}, {SUFFIXES[dtype]})" for function in functions for dtype in DTYPES)
    yield "#define GV_TEST_TABLES(T) \\\n    " + " \\\n    ".join(pairs)
    yield "#endif"


def _rows(function: str, dtype: str) -> list[tuple[int, int]]:
    """Inputs and results: the hard cases of the wide formats, every 129th input of the others; limits everywhere."""
    fmt = FORMATS[dtype]
    ends = (0, 1, fmt.max_finite, fmt.infinity, fmt.nan)
    limits = [bits | sign for bits in ends for sign in (0, fmt.sign_mask)]
    if fmt.width == 16:
        inputs = np.array([*limits, *range(0, 1 << 16, STEP)], fmt.uint)
        return list(zip(inputs.tolist(), reference_bits(function, dtype, inputs).tolist(), strict=True))
    hard = [(case.x_bits, case.y_bits) for case in hard_cases(function, dtype)]
    return [(bits, reference_bits(function, dtype, bits)) for bits in limits] + hard
