"""`report-bug`: what a library returns, as its maintainers would want to read it."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from .forms import show
from .program import OVER_BUDGET, warn


@click.command("report-bug")
@click.argument("run")
@click.argument("result")
@click.option("--format", "form", type=click.Choice(["markdown", "text", "html", "script"]), default="markdown",
              show_default=True, help="script: the program alone.")  # fmt: skip
@click.option(
    "--python", default=sys.executable, metavar="PYTHON", help="Interpreter of the program; default: this one."
)
@click.option("--out", type=click.Path(path_type=Path), help="File to write; default: print it.")
def report_bug(run: str, result: str, form: str, python: str, out: Path | None) -> None:
    """Write a bug report of one RESULT of a stored RUN.

    RESULT is written as TARGET/FUNCTION/DTYPE, as in torch.gelu/gelu/float32; the function may be left out. RUN is a
    folder, or latest. The report has a program that calls the library alone; it is run now. The exit code is 1 where
    that does not print what the run found.
    """
    from ..errors import UsageError
    from ..report.bug_report import bug_report, reproducer, shown_inputs
    from ..runs.integrity import verified
    from ..runs.references import find_run
    from ..runs.store import read_run
    from ..show.terminal import lines_of

    stored = verified(read_run(find_run(run)))
    keys = {name: each for each in stored.results for name in (each.key, f"{each.target}/{each.dtype}")}
    if result not in keys:
        close = difflib.get_close_matches(result, keys, 6, 0.2)
        raise UsageError(f"{run} has no result {result!r} (the nearest: {', '.join(close) or 'none'})")
    record = keys[result]
    found = reproducer(record, shown_inputs(record), python)
    if form == "script" and found is None:
        raise UsageError(f"no program of the library alone is known for {record.target}")
    document = bug_report(record, stored.results, stored.manifest, found)
    show(
        document, form, out,
        lines=lambda width: lines_of(document.blocks, width),
        document=lambda each: each,
        script=lambda _: found.program if found else "",
    )  # fmt: skip
    if found is not None and not found.shows:
        warn(f"the program printed {found.printed}, which is not what the run found")
        sys.exit(OVER_BUDGET)
