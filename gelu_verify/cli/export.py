"""`export`: C headers, and the read-only part of the service, as files."""

from __future__ import annotations

from pathlib import Path

import click

from .options import Several
from .program import say


@click.group()
def export() -> None:
    """Write the C headers, or the read-only service, as files."""


@export.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Write only what these need.")
def headers(folder: Path, functions: tuple[str, ...]) -> None:
    """Write the C headers of the correctly rounded functions.

    DIR is a new or an empty folder. It also gets a README, a Makefile and a test program that compares the functions
    with a table of correct results: `make -C DIR test`.
    """
    from ..export import write_headers

    written = write_headers(folder, functions)
    say(f"written: {folder} ({len(written)} files; see {folder / 'README.md'}; to test: make -C {folder} test)")


@export.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--runs", type=click.Path(path_type=Path), metavar="DIR", help="Folder of stored runs to publish.")
@click.option("--function", "functions", cls=Several, metavar="F,F", help="Write only the tables of these.")
@click.option("--documentation", metavar="URL", help="Documentation that the page links to.")
@click.option("--source", metavar="URL", help="Source code that the page links to.")
def site(
    folder: Path, runs: Path | None, functions: tuple[str, ...], documentation: str | None, source: str | None
) -> None:
    """Write the read-only part of the service as static files.

    DIR is a new or an empty folder. It gets the web page, all tables, the inputs of the plans and the published runs
    with their reports, ready for any web server or CDN.
    """
    from ..errors import MissingMeasurement

    try:
        from ..service.site import write_site
    except ModuleNotFoundError as error:
        raise MissingMeasurement(f"{error.name} is not installed: pip install 'gelu-verify[serve]'") from None
    written = write_site(folder, runs, functions, documentation, source)
    say(f"written: {folder} ({len(written)} files; to try it: python -m http.server -d {folder})")
