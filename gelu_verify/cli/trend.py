"""`trend`: how results went over stored runs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import GeluVerifyError, UsageError
from .program import say, warn

if TYPE_CHECKING:
    from ..compare.trend import Trend
    from ..runs.store import Run
    from .lines import Line

_SERIES = 6  # that are printed without --details


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only this family or target; may be repeated.")
@click.option("--function", "functions", multiple=True, metavar="F", help="Only function F; may be repeated.")
@click.option("--dtype", "dtypes", multiple=True, metavar="D", help="Only dtype D; may be repeated.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "csv", "json", "html"]), default="text",
              show_default=True, help="html: a page with charts.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write that form to FILE; default: print it.")  # fmt: skip
@click.option("--details", is_flag=True, help="Print every result, also those that never changed.")
@click.option("--runs", "root", type=click.Path(path_type=Path), default=Path("reports"), show_default=True,
              metavar="DIR", help="Where names such as latest~1 are looked up.")  # fmt: skip
def trend(
    runs: tuple[str, ...], targets: tuple[str, ...], functions: tuple[str, ...], dtypes: tuple[str, ...], form: str,
    as_json: bool, out: Path | None, details: bool, root: Path,
) -> None:  # fmt: skip
    """Show how results went over several runs: error, grade, accurate range and speed by date.

    RUN is named as in compare; the default is every run in reports/. Results that changed most often come first.
    """
    from ..compare.trend import trend as over_runs

    found = over_runs(list(_read(runs, root)), targets, functions, dtypes)
    text = _text(found, "json" if as_json else form, details, is_file=out is not None)
    if out is None:
        click.echo(text, nl=False)
        return
    from ..report.files import write_file

    write_file(out, text)
    say(f"written: {out}", err=True)


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


def _text(found: Trend, form: str, details: bool, is_file: bool) -> str:
    if form == "json":
        from ..records.serialize import to_json

        return json.dumps(to_json(found), indent=1, allow_nan=False) + "\n"
    if form == "html":
        from ..report.trend_page import trend_page

        return trend_page(found)
    from ..report.trend_text import trend_csv, trend_markdown

    if form in ("csv", "markdown"):
        return trend_csv(found) if form == "csv" else trend_markdown(found)
    from .lines import plain, write

    lines = list(_lines(found, shutil.get_terminal_size().columns, details))
    if is_file:
        return plain(lines)
    write(lines, sys.stdout)
    return ""


def _lines(found: Trend, width: int, details: bool) -> Iterator[Line]:
    """A block of rows for each result that changed; the others are counted."""
    from ..report.trend_text import HEAD, name_of, rows, summary
    from .lines import wrapped

    shown = [each for each in found.series if details or each.changes]
    chosen = shown if details else shown[:_SERIES]
    for series in chosen:
        table = [HEAD, *(row.cells for row in rows(found, series))]
        widths = [max(len(row[column]) for row in table) for column in range(len(HEAD))]
        yield [(name_of(series), "bold")]
        for place, row in enumerate(table):
            cells = (cell.ljust(size) for cell, size in zip(row, widths, strict=True))
            yield [(f" {'  '.join(cells)}", "" if place else "dim")]
    if len(shown) > len(chosen):
        yield [(f"and {len(shown) - len(chosen)} more results that changed (--details)", "dim")]
    yield from ([(part, "bold")] for part in wrapped(summary(found), width))
