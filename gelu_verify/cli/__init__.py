"""The command line: checks what was typed, calls the rooms below, prints. No numerics here."""

from __future__ import annotations

import click

from .. import __version__
from .attribute import attribute
from .bench import bench
from .export import export
from .gate import budget, gate
from .listing import list_command
from .lookup import lookup
from .program import Program
from .report import report
from .run import run
from .serve import serve


@click.group(
    cls=Program,
    commands=[run, list_command, lookup, report, attribute, gate, budget, bench, export, serve],
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="gelu-verify")
@click.pass_context
def main(context: click.Context) -> None:
    """How accurate is a GELU? Measures implementations against correctly rounded values.

    Exit codes: 0 ok, 1 over budget (or, with --strict, a failed check), 2 usage, 3 a required measurement is
    missing.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
