"""Options of all commands that judge: files and lines for CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import GeluVerifyError, UsageError
from .program import USAGE, exit_code, options_of, warn

if TYPE_CHECKING:
    from ..ci.cases import Case
    from ..ci.outputs import CiOutputs

_FILE = click.Path(path_type=Path, dir_okay=False)
_OPTIONS = (
    click.option("--junit", type=_FILE, metavar="FILE", help="Also write the cases to FILE as JUnit XML."),
    click.option("--sarif", type=_FILE, metavar="FILE", help="Also write what failed to FILE as SARIF 2.1.0."),
    click.option(
        "--github/--no-github",
        default=None,
        help="Print annotations of GitHub Actions and add to the step summary; default: when GITHUB_ACTIONS is true.",
    ),
)


@dataclass(frozen=True)
class Reporter:
    """Hands a command's cases to CI, by the fields of `CiOutputs`; `on_stderr`: stdout is for JSON and the like."""

    title: str
    junit: Path | None = None
    sarif: Path | None = None
    github: bool = False
    on_stderr: bool = False

    @cached_property
    def outputs(self) -> CiOutputs:
        """Imported late: what cases are made of takes a third of a second, in which a run can load its targets."""
        from ..ci.outputs import CiOutputs

        return CiOutputs(self.title, self.junit, self.sarif, self.github)

    def finish(self, cases: Sequence[Case], code: int) -> None:
        """Write what was asked for, and end with `code`, or with 2 where only the writing failed."""
        from ..ci.cases import Case

        if code and not cases:
            cases = [Case(self.title, "not measured", ("there is nothing to judge",))]
        written = self.write(cases, code)
        if code or not written:
            raise click.exceptions.Exit(code or USAGE)

    def write(self, cases: Sequence[Case], code: int) -> bool:
        """Whether all could be written; else a line says what could not."""
        problems = self.outputs.write(cases, code, partial(click.echo, err=self.on_stderr))
        for problem in problems:
            warn(f"error: {problem}")
        return not problems


def reports_to_ci(command: Callable[..., None]) -> Callable[..., None]:
    """Adds --junit, --sarif and --github to a command, which gets a `reporter` for its cases.

    Where the command ends in an error, the files say that nothing was measured, and why.
    """

    @wraps(command)
    def reporting(*context: Any, junit: Path | None, sarif: Path | None, github: bool | None, **typed: Any) -> None:
        title = f"gelu-verify {click.get_current_context().info_name}"
        annotated = os.environ.get("GITHUB_ACTIONS") == "true" if github is None else github
        is_data = bool(typed.get("as_json")) or typed.get("form", "text") != "text"
        reporter = Reporter(title, junit, sarif, annotated, on_stderr=is_data)
        if junit or sarif:
            reporter.outputs.remove_earlier()
        try:
            command(*context, reporter=reporter, **typed)
        except GeluVerifyError as error:
            from ..ci.cases import Case

            reporter.write([Case(title, "not measured", (str(error),))], exit_code(error))
            raise

    for option in reversed(_OPTIONS):
        reporting = option(reporting)
    return reporting


def report_wrong_arguments(words: Sequence[str], why: str, code: int) -> None:
    """Where arguments cannot be understood, the files that they name say so, and not what an earlier call found."""
    asked = ((option, value) for option, value in options_of(words) if option in ("--junit", "--sarif"))
    files = {option.removeprefix("--"): Path(value) for option, value in asked if value}
    if files:
        from ..ci.cases import Case

        reporter = Reporter(f"gelu-verify {words[0]}", files.get("junit"), files.get("sarif"), on_stderr=True)
        with suppress(UsageError):
            reporter.outputs.remove_earlier()
            reporter.write([Case(reporter.title, "not measured", (why,))], code)
