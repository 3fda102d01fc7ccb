"""`trend`: how results went over stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import GeluVerifyError, UsageError
from .forms import show, takes_form
from .options import Several
from .program import warn

if TYPE_CHECKING:
    from ..runs.store import Run

_SERIES = 6  # that are printed without --details


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only this family or target; may be repeated.")
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Only these functions.")
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Only these dtypes.")
@takes_form("csv", text="html: a page with charts.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write that form to FILE; default: print it.")  # fmt: skip
@click.option("--details", is_flag=True, help="Print every result, also those that never changed.")
@click.option("--runs", "root", type=click.Path(path_type=Path), default=Path("reports"), show_default=True,
              metavar="DIR", help="Where names such as latest~1 are looked up.")  # fmt: skip
def trend(
    runs: tuple[str, ...], targets: tuple[str, ...], functions: tuple[str, ...], dtypes: tuple[str, ...], form: str,
    out: Path | None, details: bool, root: Path,
) -> None:  # fmt: skip
    """Show how results went over several runs: error, grade, accurate range and speed by date.

    RUN is named as in compare; the default is every run in reports/. Results that changed most often come first.
    """
    from ..compare.trend import trend as over_runs
    from ..report.trend import trend_blocks, trend_csv, trend_document
    from ..show.terminal import lines_of

    found = over_runs(list(_read(runs, root)), targets, functions, dtypes)
    show(
        found,
        form,
        out,
        lines=lambda width: lines_of([*trend_blocks(found, None if details else _SERIES)], width),
        document=trend_document,
        csv=trend_csv,
    )


def _read(names: tuple[str, ...], root: Path) -> Iterator[Run]:
    """The runs that were named; else all, but for those that are damaged, which are told."""
    from ..runs.integrity import verified
    from ..runs.references import find_run, runs_in
    from ..runs.store import read_run

    places = {place.resolve(): place for place in (find_run(name, root) for name in names)}
    if names:
        yield from (verified(read_run(place)) for place in places.values())
        return
    every = runs_in(root)
    if not every:
        raise UsageError(f"there are no stored runs in {root} (accepted: gelu-verify trend RUN RUN ...)")
    for place in every:
        try:
            yield verified(read_run(place))
        except GeluVerifyError as error:
            warn(f"left out: {error}")
