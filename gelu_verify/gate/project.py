"""What a project wants to have gated: `[tool.gelu-verify]` of its pyproject.toml, or a gelu-verify.toml.

```toml
[tool.gelu-verify]
targets = ["kernels.c:gelu_f32", "torch.gelu"]   # as `gelu-verify run` takes them
plan = "fixed"                                   # the default: the same inputs whatever has changed
min_grade = "faithful"                           # of all inputs: in float32 all are tried
budgets = "gelu-budgets.toml"
hard_cases = "gelu-hard-cases.csv"               # inputs that every plan takes, here (`gelu-verify keep`)

[tool.gelu-verify.accept]                        # checks that may fail, and why
minus_infinity = "NaN, as in PyTorch"

[[tool.gelu-verify.target]]                      # one that is called or judged in another way
name = "kernels.c:fast_gelu"
functions = ["gelu_tanh"]
cflags = "-O3 -ffast-math"
accept = { monotone = "the table has steps" }
```

A gelu-verify.toml has the same keys without `tool.gelu-verify`. Paths are relative to the folder of that file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

from ..calling import OPTIONS, READINGS
from ..checks import CHECKS
from ..errors import UsageError, one_of
from ..inputs.found import HardCases, hard_cases_of, read_found
from ..inputs.plans import FIXED
from ..isa import split_level
from ..measure.levels import ALL
from ..measure.request import Request
from ..records.grades import GRADES
from ..records.parts import Grade
from ..records.result import Record

NAMES = ("gelu-verify.toml", "pyproject.toml")
TABLE = "gelu-verify"
BUDGETS, HARD_CASES = "gelu-budgets.toml", "gelu-hard-cases.csv"
_CALLED = tuple(OPTIONS)  # of a [[target]]; what is said of all does not concern how code is called
_SHARED = (
    *("functions", "dtypes", "plan", "seed", "policy", "min_grade", "accept"),
    *(name for name, option in OPTIONS.items() if option.taken == "any"),
)
_NAMED = "a list of names"
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    **{name: (READINGS[each.reading].types, READINGS[each.reading].accepted) for name, each in OPTIONS.items()},
    "targets": ((list,), _NAMED),
    "target": ((list,), "tables: [[target]]"),
    "functions": ((list,), _NAMED),
    "dtypes": ((list,), _NAMED),
    "accept": ((dict,), "a table of reasons by check"),
    "seed": ((int,), "a whole number"),
}


@dataclass(frozen=True)
class ProjectEntry:
    """Targets that are called and judged in the same way."""

    request: Request
    accept: Mapping[str, str]  # check: why it may fail

    def has(self, record: Record) -> bool:
        """Whether it asks for a record: names its target, the file or the family of that, at the same level."""
        stem, level = split_level(record.target)
        asked = self.request
        return (
            any(_is_at(level, at, asked.isa) and (name in (stem, record.family) or stem.startswith(f"{name}:"))
                for name, at in map(split_level, map(str, asked.targets)))
            and record.function in (asked.functions or (record.function,))
            and record.dtype in (asked.dtypes or (record.dtype,))
        )  # fmt: skip


def _is_at(level: str, named: str, levels: Sequence[str]) -> bool:
    """Whether results at a level are those of a name that ends in one, or is asked for at several."""
    return level == named or (not named and (level in levels or levels == (ALL,)))


@dataclass(frozen=True)
class Project:
    """What is measured, and which budgets it is held against."""

    file: Path  # that describes it
    entries: Sequence[ProjectEntry]
    budgets: Path
    hard_cases: Path

    @property
    def folder(self) -> Path:
        """Where its paths begin."""
        return self.file.parent

    @property
    def table(self) -> str:
        """How the names of its tables begin: those of a pyproject.toml with `tool.gelu-verify.`"""
        return f"tool.{TABLE}." if self.file.name == "pyproject.toml" else ""

    @cached_property
    def cases(self) -> HardCases:
        """What every plan takes beside its own inputs."""
        return hard_cases_of(read_found(self.hard_cases))

    def has(self, record: Record) -> bool:
        """Whether it asks for a record."""
        return self.entry(record) is not None

    def entry(self, record: Record) -> ProjectEntry | None:
        """The one that it is measured by: a [[target]] before what is for all."""
        return next((entry for entry in reversed(self.entries) if entry.has(record)), None)

    def reason(self, record: Record, check: str) -> str:
        """Why that check of a result may fail; empty where nobody says."""
        said = (entry.accept.get(check, "") for entry in reversed(self.entries) if entry.has(record))
        return next(filter(None, said), "")  # a [[target]] says more than what is for all

    def demand(self, record: Record) -> Grade | None:
        """The grade that it demands of a result."""
        entry = self.entry(record)
        return entry.request.demand if entry else None


def find_project(start: Path) -> Project | None:
    """The project of a folder: the nearest file with such a table, up to the root of the repository."""
    found = _described(start)
    return _project_of(*found) if found else None


def project_at(folder: Path) -> Project | None:
    """The project that a file in this very folder describes."""
    files = (file for name in NAMES if (file := folder / name).is_file())
    return next((found for file in files if (found := read_project(file))), None)


def hard_cases_file() -> Path | None:
    """Where the hard cases of the project of this folder are, whatever else that says; None where there is none."""
    found = _described(Path.cwd())
    return _hard_cases(*found) if found else None


def hard_cases_here() -> HardCases:
    """What every plan takes in this folder."""
    file = hard_cases_file()
    return hard_cases_of(read_found(file)) if file else {}


def read_project(file: Path) -> Project | None:
    """The project that a file describes; None where its pyproject.toml has no such table.

    Raises
    ------
    UsageError : the file cannot be read, a key is unknown, or its value cannot be used
    """
    table = _table(file)
    return None if table is None else _project_of(file, table)


def project_in(file: Path, text: str) -> Project:
    """The project that a file would describe with this text; UsageError as `read_project` has it."""
    return _project_of(file, _table_in(file, text))


def _described(start: Path) -> tuple[Path, Any] | None:
    """The nearest file with such a table, and that."""
    for folder in (start, *start.parents):
        for name in NAMES:
            if (file := folder / name).is_file() and (table := _table(file)) is not None:
                return file, table
        if (folder / ".git").exists():
            break
    return None


def _table(file: Path) -> Any:
    """What a file says of a project; None where it says nothing."""
    try:
        return _table_in(file, file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not TOML: {error}") from error


def _table_in(file: Path, text: str) -> Any:
    try:
        document: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not TOML: {str(error).splitlines()[0]}") from error
    return document.get("tool", {}).get(TABLE) if file.name == "pyproject.toml" else document


def _hard_cases(file: Path, table: Any) -> Path:
    """Where the hard cases of the project are that a file describes."""
    name = table.get("hard_cases", HARD_CASES) if isinstance(table, dict) else HARD_CASES
    return file.parent / str(name)


def _project_of(file: Path, table: Any) -> Project:
    try:
        return _project(file, table)
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def _project(file: Path, table: Any) -> Project:
    shared = _checked(table, ("targets", "target", "budgets", "hard_cases", *_SHARED), f"[tool.{TABLE}]")
    tables: list[Any] = shared.pop("target", [])
    names: list[str] = shared.pop("targets", [])
    budgets: str = shared.pop("budgets", BUDGETS)
    shared.pop("hard_cases", None)
    entries = [_entry({**shared, "targets": names})] if names else []
    for each in tables:
        own: dict[str, Any] = _checked(each, ("name", *_SHARED, *_CALLED), "[[target]]")
        name = own.pop("name", None)
        if name is None:
            raise UsageError("a [[target]] has no name (accepted: what `gelu-verify run` takes)")
        accept = {**shared.get("accept", {}), **own.pop("accept", {})}
        entries.append(_entry({**shared, **own, "accept": accept, "targets": [name]}))
    for one, other in combinations(entries[bool(names) :], 2):
        pairs = [[getattr(each.request, name) for each in (one, other)] for name in ("functions", "dtypes", "isa")]
        overlap = all(not mine or not theirs or set(mine) & set(theirs) for mine, theirs in pairs)
        if one.request.targets == other.request.targets and overlap:
            name = one.request.targets[0]
            raise UsageError(f"two [[target]] are named {name!r}, for the same functions, dtypes and levels")
    if not entries:
        raise UsageError("no targets are named (accepted: targets = [...], or [[target]] tables with a name)")
    return Project(file, entries, file.parent / budgets, _hard_cases(file, table))


def _checked(table: Any, accepted: tuple[str, ...], where: str) -> dict[str, Any]:
    """A table whose keys are all known, with values of the right types."""
    if not isinstance(table, dict):
        raise UsageError(f"{where} is not a table")
    for key, value in table.items():
        if key not in accepted:
            raise one_of(f"key of {where}", key, list(accepted))
        types, words = _TYPES.get(key, ((str,), "a text"))
        if type(value) not in types or (words == _NAMED and any(type(each) is not str for each in table[key])):
            raise UsageError(f"{key} = {value!r} of {where} cannot be used (accepted: {words})")
    return dict(table)


def _entry(options: dict[str, Any]) -> ProjectEntry:
    accept = options.pop("accept", {})
    for check, reason in accept.items():
        if check not in CHECKS:
            raise one_of("check", check, list(CHECKS))
        if type(reason) is not str or not reason.strip():
            raise UsageError(f"accept: {check} needs a reason, not {reason!r}")
    if (grade := options.pop("min_grade", None)) not in (None, *GRADES):
        raise one_of("min_grade", grade, list(GRADES))
    lists = ("targets", "functions", "dtypes")
    options.setdefault("plan", FIXED)
    given: dict[str, Any] = {key: tuple(value) if key in lists else value for key, value in options.items()}
    return ProjectEntry(Request(**given, demand=grade), accept)
