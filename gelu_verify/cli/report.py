"""`report`: the HTML page and the tables of stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .program import say

if TYPE_CHECKING:
    from ..report.frames import RunLike

LATEST = "reports/latest"


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder to write to; default: the folder of RUN, of figures its folder `figures`.",
)
@click.option("--recorded", "root", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
              help="Folder of recorded runs (data/runs): families that RUN has not measured are added.")  # fmt: skip
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown", "latex", "svg", "pdf"]),
    default="html",
    show_default=True,
    help="html: write all files of the report; markdown, latex: print that form, and write nothing; svg, pdf: write "
    "every figure as a file.",
)
def report(runs: tuple[str, ...], out: Path | None, root: Path | None, form: str) -> None:
    """Rebuild the report of stored runs.

    RUN defaults to reports/latest; several runs are put side by side. What is taken from recorded runs is marked with
    date and device.
    """
    from ..errors import UsageError
    from ..report import report_text, write_figures, write_report
    from ..runs.committed import committed_runs
    from ..runs.integrity import verified
    from ..runs.store import read_run

    paths = [Path(run) for run in runs or (LATEST,)]
    prints = form in ("markdown", "latex")
    if prints and out is not None:
        raise UsageError(f"--out goes with files: --format {form} prints (accepted: > FILE)")
    if out is None and len(paths) > 1 and not prints:
        raise UsageError("--out is needed for several runs (accepted: the folder of the report)")
    live = [verified(read_run(path)) for path in paths]
    measured = {record.family for run in live for record in run.results}
    committed = [] if root is None else committed_runs(root, without=measured)
    found: list[RunLike] = [*live, *committed]
    if prints:
        for line in report_text(found, form).splitlines():
            say(line)
    elif form == "html":
        for path in write_report(found, out or paths[0]):
            say(str(path))
    else:
        for path in write_figures(found, out or paths[0] / "figures", form):
            say(str(path))
