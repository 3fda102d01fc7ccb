"""The command line: checks the arguments, calls the library, prints the result. No numerics here."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from .. import __version__
from .program import Commands, Program

HANDOVER = 2e-4  # seconds after which a thread lets another one go on: the work is thousands of calls far shorter


COMMANDS = {
    **{name: f"{__name__}.{name.replace('-', '_')}" for name in (
        *("run", "merge", "ask", "lookup", "hardest", "facts", "report", "report-bug", "attribute", "search"),
        *("compare", "trend", "runs", "versions", "budget", "gate", "keep", "bench", "stochastic", "study"),
        *("export", "serve", "backup"),
    )},
    "list": f"{__name__}.listing", "init": f"{__name__}.gate", "upgrade": f"{__name__}.versions",
    "restore": f"{__name__}.backup",
}  # fmt: skip
"""The module of each command."""


def _report_wrong_arguments(words: Sequence[str], why: str, code: int) -> None:
    from .ci_options import report_wrong_arguments

    report_wrong_arguments(words, why, code)


@click.group(
    cls=Program,
    when_refused=_report_wrong_arguments,
    commands=Commands(COMMANDS),
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="gelu-verify")
@click.pass_context
def main(context: click.Context) -> None:
    """Measure how accurate implementations of GELU are, against correctly rounded values.

    Exit codes: 0 success; 1 a target crashed, a budget or a limit (run --max-ulp ...) is exceeded; 2 wrong usage;
    3 a required measurement is missing.
    """
    sys.setswitchinterval(HANDOVER)
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
