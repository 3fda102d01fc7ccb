"""`export`: what others build on, as files."""

from __future__ import annotations

from pathlib import Path

import click

from .program import say


@click.group()
def export() -> None:
    """Write what others can build on: C headers, or the read-only part of the service as files."""


@export.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def headers(folder: Path) -> None:
    """Write the C headers of the correctly rounded functions into DIR, a new or an empty folder.

    With a README, a Makefile, and a test program that holds them against a table of results: `make -C DIR test`.
    """
    from ..export import write_headers

    written = write_headers(folder)
    say(f"written: {folder} ({len(written)} files; begin with {folder / 'README.md'}, or make -C {folder} test)")


@export.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--runs", type=click.Path(path_type=Path), metavar="DIR", help="Folder of stored runs to publish.")
@click.option("--function", "functions", multiple=True, metavar="F", help="Tables of F only; may repeat.")
def site(folder: Path, runs: Path | None, functions: tuple[str, ...]) -> None:
    """Write the read-only part of the service into DIR, a new or an empty folder, as static files.

    The page, all tables, the inputs of the plans, published runs with their reports: for any web server or CDN.
    """
    from ..errors import MissingMeasurement

    try:
        from ..service.site import write_site
    except ModuleNotFoundError as error:
        raise MissingMeasurement(f"{error.name} is not installed: pip install 'gelu-verify[serve]'") from None
    written = write_site(folder, runs, functions)
    say(f"written: {folder} ({len(written)} files; try python -m http.server -d {folder})")
