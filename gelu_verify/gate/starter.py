"""The configuration that a project starts with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..atomic_files import replace_file
from ..calling import OPTIONS, Option
from ..errors import ResultsError, UsageError
from ..measure.jobs import find_jobs, selecting
from ..measure.request import Request
from ..targets.kinds import kind_of
from .project import BUDGETS, NAMES, TABLE, read_project

_START = """\
# Accuracy gate of this project: `gelu-verify budget` measures and writes {budgets}, `gelu-verify gate` checks
# against it and ends with 1 when something got worse. Commit both files.
{table}
targets = [{targets}]  # as `gelu-verify run` takes them; paths are relative to this file
{functions}
{dtypes}
{of_all}plan = "fixed"  # all inputs of 16 bits, of a fast target of float32 too; else a sample, the same one each time
# min_grade = "faithful"  # of all inputs: all of float32 are tried, which a fast target does in seconds
# policy = "formula"  # accepts the NaN that the formula gives at -inf
budgets = {budgets_text}

{accept}  # checks that may fail, each with the reason; docs/checks.md lists them
# minus_infinity = "NaN at -inf, as in PyTorch"

{tables}# {target}  # a target that is called or judged in another way than the others
# name = "kernels.c:fast_gelu"
# functions = ["gelu_tanh"]
# cflags = "-O3 -ffast-math"
# accept = {{ monotone = "the table has steps" }}
"""


def start(
    folder: Path, targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], **calling: Any
) -> tuple[Path, list[str]]:
    """Write the configuration of a project into a folder; its file, and what the targets are.

    Raises
    ------
    UsageError : there is a configuration already; a target cannot be found, or does not compute what is asked for
    MissingMeasurement : what a target needs is not here
    ResultsError : the file cannot be written
    """
    for name in NAMES:
        if (folder / name).is_file() and read_project(folder / name) is not None:
            raise UsageError(f"{folder / name} has a configuration already: edit that")
    request = Request(targets=tuple(targets), functions=tuple(functions), dtypes=tuple(dtypes), **calling)
    with selecting(request) as select:
        found = [job.label for job in find_jobs(request, select).jobs]
    file = folder / "pyproject.toml"
    if file.is_file():
        before = file.read_text(encoding="utf-8").rstrip() + "\n\n"
        text = before + _text(f"tool.{TABLE}.", f"[tool.{TABLE}]\n", request)
    else:
        file, text = folder / NAMES[0], _text("", "", request)
    try:
        replace_file(file, text.encode())
    except OSError as error:
        raise ResultsError(f"cannot write {file}: {error.strerror}") from error
    return file, found


def _text(prefix: str, table: str, request: Request) -> str:
    said = {each: f"{name} = {_toml(value)}\n" for name, each in OPTIONS.items()
            if each.is_said(value := getattr(request, name))}  # fmt: skip
    of_code = {name: _of_code(name, said) for name in map(str, request.targets)}
    return _START.format(
        table=table.rstrip("\n"),
        targets=_list(name for name, text in of_code.items() if not text),
        functions=_line("functions", request.functions, "gelu", "default: what the name of each target says"),
        dtypes=_line("dtypes", request.dtypes, "float32", "default: all that each target takes"),
        of_all="".join(text for option, text in said.items() if option.taken == "any"),
        tables="".join(f"[[{prefix}target]]\nname = {_toml(name)}\n{text}\n" for name, text in of_code.items() if text),
        budgets=BUDGETS,
        budgets_text=json.dumps(BUDGETS),
        accept=f"[{prefix}accept]",
        target=f"[[{prefix}target]]",
    )


def _of_code(target: str, said: Mapping[Option, str]) -> str:
    """The lines that are for this target."""
    kind = kind_of(target)
    return "".join(text for option, text in said.items() if option.taken != "any" and kind and kind.takes(option))


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_toml(each)}' for name, each in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _line(key: str, values: Iterable[str], example: str, default: str) -> str:
    given = _list(values)
    return f"{key} = [{given}]" if given else f'# {key} = ["{example}"]  # {default}'


def _list(values: Iterable[str]) -> str:
    return ", ".join(map(_toml, values))
