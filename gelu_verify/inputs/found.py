"""Inputs at which an implementation of a project failed once: a file of the project, which every plan there takes.

Sampled inputs change with the seed, and a scheduled run rotates it; what it found wrong is tried for ever by this.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..atomic_files import editing, replace_file
from ..errors import UsageError
from ..formats import get_format
from ..functions import get_function

CONFLICT = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.MULTILINE)  # how git marks one
HardCases = Mapping[str, tuple[int, ...]]
"""Bits of x, by function/dtype."""


class KeptInput(NamedTuple):
    """One row of such a file: an input, and what failed there."""

    function: str
    dtype: str
    x_bits: str
    by: str

    @property
    def input(self) -> tuple[str, str, str]:
        """What a plan takes of it."""
        return self[:3]


def found_case(function: str, dtype: str, x: str, by: str) -> KeptInput:
    """A row of arguments as `lookup` takes them; UsageError names what cannot be used."""
    fmt = get_format(dtype)
    return KeptInput(get_function(function).name, fmt.name, fmt.bits_text(fmt.parse(x)), by)


def read_found(file: Path) -> list[KeptInput]:
    """The rows of a file; none where there is none. UsageError names a line that cannot be used."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:  # ValueError: of UTF-8
        raise UsageError(f"cannot read {file}: {error}") from None
    if CONFLICT.search(text):
        raise UsageError(f"{file} has conflicts of git: take out its marks, and leave the lines of both branches")
    try:
        rows = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise UsageError(f"{file} is not CSV: {error}") from None
    if rows and tuple(rows[0]) != KeptInput._fields:
        raise UsageError(f"{file}:1: {','.join(rows[0])} (accepted: the header, {','.join(KeptInput._fields)})")
    found = []
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(KeptInput._fields):
            raise UsageError(f"{file}:{line}: {len(row)} cells (accepted: {','.join(KeptInput._fields)})")
        try:
            found.append(found_case(*row))
        except UsageError as error:
            raise UsageError(f"{file}:{line}: {error}") from None
    return found


def add_found(file: Path, cases: Iterable[KeptInput]) -> int:
    """Write cases to a file, in order, but for inputs that it has; how many it did not have."""
    with editing(file):
        old = read_found(file)
        known = {each.input for each in old}
        fresh = {each.input: each for each in cases if each.input not in known}
        if fresh:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([KeptInput._fields, *sorted([*old, *fresh.values()])])
            replace_file(file, text.getvalue().encode())
    return len(fresh)


def hard_cases_of(found: Iterable[KeptInput]) -> HardCases:
    """The inputs of each plan."""
    cases: dict[str, tuple[int, ...]] = {}
    for each in found:
        key = f"{each.function}/{each.dtype}"
        cases[key] = (*cases.get(key, ()), int(each.x_bits, 16))
    return cases
