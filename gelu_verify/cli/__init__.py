"""The command line: checks the arguments, calls the library, prints the result. No numerics here."""

from __future__ import annotations

import sys

import click

from .. import __version__
from .ask import ask
from .attribute import attribute
from .backup import backup, restore
from .bench import bench
from .budget import budget
from .compare import compare
from .export import export
from .facts import facts
from .gate import gate, init
from .hardest import hardest
from .keep import keep
from .listing import list_command
from .lookup import lookup
from .merge import merge
from .program import Program
from .report import report
from .report_bug import report_bug
from .run import run
from .runs import runs
from .search import search
from .serve import serve
from .stochastic import stochastic
from .study import study
from .trend import trend
from .versions import upgrade, versions

HANDOVER = 2e-4  # seconds after which a thread lets another one go on: the work is thousands of calls far shorter


@click.group(
    cls=Program,
    commands=[
        *(run, merge, list_command, ask, lookup, hardest, facts, report, report_bug, attribute, search),
        *(compare, trend, runs, versions, upgrade),
        *(init, budget, gate, keep, bench, stochastic, study, export, serve, backup, restore),
    ],
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
