"""`report`: the page and the tables, from stored runs."""

from __future__ import annotations

from pathlib import Path

import click

LATEST = "reports/latest"


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report; default: that of the only RUN.")
def report(runs: tuple[str, ...], out: Path | None) -> None:
    """Rebuild the report from stored RUNs (default: reports/latest), side by side when there are several."""
    from ..errors import UsageError
    from ..report import write_report
    from ..results import read_run

    paths = [Path(run) for run in runs or (LATEST,)]
    if out is None and len(paths) > 1:
        raise UsageError("several runs need --out, the folder of the report")
    for path in write_report([read_run(path) for path in paths], out or paths[0]):
        click.echo(path)
