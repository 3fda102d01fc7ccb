"""`keep`: inputs that failed once, for every plan of a project."""

from __future__ import annotations

import click

from ..errors import UsageError
from .options import check_given, check_order, parsed_inputs
from .program import say


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["-h", "--help"]})
@click.argument("function")
@click.argument("dtype")
@click.argument("x", nargs=-1)
@click.option("--by", default="", metavar="TEXT", help="What failed there, for who reads the file.")
def keep(function: str, dtype: str, x: tuple[str, ...], by: str) -> None:
    """Add inputs X to every plan of this project: what failed once is tried in every later run.

    They are written to gelu-hard-cases.csv (`hard_cases` in the configuration), which `run`, `verify`, `budget` and
    `gate` read in the folder of the project and below it; commit it. A gate or a run that fails at inputs that its plan
    has only by chance prints this command. X is as `gelu-verify lookup` takes it.
    """
    from ..gate.project import hard_cases_file
    from ..inputs.found import add_found, found_case, read_found

    check_order("keep", function, dtype)
    check_given(x)
    file = hard_cases_file()
    if file is None:
        raise UsageError("no project is here (`gelu-verify init TARGET` makes one)")
    parsed_inputs(dtype, x)  # for its note
    fresh = add_found(file, [found_case(function, dtype, text, by) for text in x])
    say(f"{f'written: {file}' if fresh else file} ({fresh} new of {len(read_found(file))} inputs)")
