"""The configuration that a project starts with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..atomic_files import editing, replace_text
from ..calling import OPTIONS, Calling, Option
from ..errors import ResultsError, TargetFailure, UsageError
from ..measure.jobs import Job, find_jobs, selecting
from ..measure.request import Request
from ..targets.kinds import Kind, kind_of
from ..targets.probing import ordinary_numbers
from .budgets import toml_text
from .project import BUDGETS, NAMES, TABLE, Project, project_in, read_project

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


@dataclass
class Started:
    """What `start` did: the file, a line for each thing that it found, and whether it wrote anything."""

    file: Path
    lines: list[str] = field(default_factory=list)
    has_written: bool = False


def start(
    folder: Path, targets: Sequence[str], functions: Sequence[str], dtypes: Sequence[str], **calling: Any
) -> Started:
    """Write the configuration of a project into a folder, or add the targets that the one there does not have.

    Each target is called in each dtype that it may take; one in which it does not return that dtype is left out.

    Raises
    ------
    UsageError : a target cannot be found, or does not compute what is asked for
    MissingMeasurement : what a target needs is not here
    ResultsError : the file cannot be written
    """
    with editing(folder / NAMES[0]):
        return _started(
            folder, Request(targets=tuple(targets), functions=tuple(functions), dtypes=tuple(dtypes), **calling)
        )


def _started(folder: Path, request: Request) -> Started:
    project = _project_in(folder)
    started = Started(project.file if project else folder / NAMES[0])
    there = {str(name) for entry in (project.entries if project else ()) for name in entry.request.targets}
    started.lines += [f"is there already: {name}" for name in request.targets if name in there]
    request = replace(request, targets=tuple(name for name in request.targets if name not in there))
    if not request.targets:
        return started
    found = {name: _found(_request_of(name, request), started) for name in map(str, request.targets)}
    pyproject = folder / "pyproject.toml"
    if project:
        before = started.file.read_text(encoding="utf-8-sig").rstrip() + "\n"
        text = before + _added(project, before, request, found)
    elif pyproject.is_file():
        started.file = pyproject
        before = pyproject.read_text(encoding="utf-8-sig").rstrip() + "\n\n"
        text = before + _text(f"tool.{TABLE}.", f"[tool.{TABLE}]\n", request, found)
    else:
        text = _text("", "", request, found)
    project_in(started.file, text)
    try:
        replace_text(started.file, text)
    except OSError as error:
        raise ResultsError(f"cannot write {started.file}: {error.strerror}") from error
    started.has_written = True
    return started


def _request_of(name: str, request: Request) -> Request:
    """Of one target, with the options that are for it."""
    kind, unsaid = kind_of(name, request.device), Calling()
    foreign = [key for key, each in OPTIONS.items() if each.taken != "any" and not (kind and kind.takes(each))]
    return replace(request, targets=(name,), **{key: getattr(unsaid, key) for key in foreign})


def _project_in(folder: Path) -> Project | None:
    """The project that a file of this very folder describes."""
    files = (folder / name for name in NAMES)
    return next(filter(None, (read_project(file) for file in files if file.is_file())), None)


@dataclass(frozen=True)
class _Found:
    """The functions and dtypes in which a target can be called; `in_all`: all of those that were meant."""

    functions: tuple[str, ...]
    dtypes: tuple[str, ...]
    in_all: bool

    @property
    def own_dtypes(self) -> tuple[str, ...]:
        """Those that a configuration has to say."""
        return () if self.in_all else self.dtypes


def _found(request: Request, started: Started) -> _Found:
    """How a target can be called; adds the lines that say it.

    Of the name of a library nothing is called: it was, when its implementations were looked for.
    """
    (name,) = map(str, request.targets)
    with selecting(request) as select:
        found = find_jobs(request, select)
        jobs, absent = found.jobs, found.absent if kind_of(name) else {}
        wrong = {job.key: _why_not(job) for job in jobs} if kind_of(name) else {}
    works = [job for job in jobs if not wrong.get(job.key)]
    if not works:
        raise UsageError(f"{name} cannot be called: {wrong[jobs[0].key]}")
    started.lines += [f"found: {job.label}" for job in works]
    started.lines += [f"left out: {what}: {why}" for what, why in absent.items()]
    started.lines += [f"left out: {job.label}: {wrong[job.key]}" for job in jobs if job not in works]
    functions, dtypes = ((job.plan.function for job in works), (job.plan.dtype for job in works))
    return _Found(tuple(dict.fromkeys(functions)), tuple(dict.fromkeys(dtypes)), len(works) == len(jobs) and not absent)


def _why_not(job: Job) -> str:
    """How a call in a dtype fails; empty where it returns what it should."""
    try:
        job.target.evaluate_in_calls(job.plan.dtype, ordinary_numbers(job.plan.dtype), job.plan.length)
    except TargetFailure as failure:
        return str(failure)
    return ""


def _added(project: Project, before: str, request: Request, found: Mapping[str, _Found]) -> str:
    """Tables for targets that a configuration does not have; whatever stands in that stays as it is."""
    head, said = f"\n[[{project.table}target]]\nname = ", _said(request)
    for_all = project_in(project.file, f'{before}{head}"a:b"\n').entries[-1].request
    text = ""
    for name, each in found.items():
        functions = request.functions or (each.functions if for_all.functions else ())
        dtypes = each.own_dtypes or request.dtypes or (each.dtypes if for_all.dtypes else ())
        text += f"{head}{toml_text(name)}\n"
        text += f"functions = [{_list(functions)}]\n" if functions else ""
        text += f"dtypes = [{_list(dtypes)}]\n" if dtypes else ""
        text += _of_code(kind_of(name, request.device), said, shared=True)
    return text


def _said(request: Request) -> dict[Option, str]:
    """The lines of the options that are given."""
    return {each: f"{name} = {toml_text(value)}\n" for name, each in OPTIONS.items()
            if each.is_said(value := getattr(request, name))}  # fmt: skip


def _text(prefix: str, table: str, request: Request, found: Mapping[str, _Found]) -> str:
    said = _said(request)
    of_code = {
        name: (f"dtypes = [{_list(each.own_dtypes)}]\n" if each.own_dtypes else "")
        + _of_code(kind_of(name, request.device), said)
        for name, each in found.items()
    }
    return _START.format(
        table=table.rstrip("\n"),
        targets=_list(name for name, text in of_code.items() if not text),
        functions=_line("functions", request.functions, "gelu", "default: what the name of each target says"),
        dtypes=_line("dtypes", request.dtypes, "float32", "default: all that each target takes"),
        of_all="".join(text for option, text in said.items() if option.taken == "any"),
        tables="".join(
            f"[[{prefix}target]]\nname = {toml_text(name)}\n{text}\n" for name, text in of_code.items() if text
        ),
        budgets=BUDGETS,
        budgets_text=toml_text(BUDGETS),
        accept=f"[{prefix}accept]",
        target=f"[[{prefix}target]]",
    )


def _of_code(kind: Kind | None, said: Mapping[Option, str], shared: bool = False) -> str:
    """The lines that are for a target of this kind; `shared`: with those that can stand above, for all."""
    return "".join(
        text
        for option, text in said.items()
        if (shared if option.taken == "any" else kind is not None and kind.takes(option))
    )


def _line(key: str, values: Iterable[str], example: str, default: str) -> str:
    given = _list(values)
    return f"{key} = [{given}]" if given else f'# {key} = ["{example}"]  # {default}'


def _list(values: Iterable[str]) -> str:
    return ", ".join(map(toml_text, values))
