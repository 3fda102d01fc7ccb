"""`export`: what others build on, as files."""

from __future__ import annotations

from pathlib import Path

import click


@click.group()
def export() -> None:
    """Write what other projects can build on: C headers."""


@export.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def headers(folder: Path) -> None:
    """Write the C headers of the correctly rounded functions into DIR, a new or an empty folder.

    With a README, a Makefile, and a test program that holds them against a table of results: `make -C DIR test`.
    """
    from ..export import write_headers

    written = write_headers(folder)
    click.echo(f"written: {folder} ({len(written)} files; begin with {folder / 'README.md'}, or make -C {folder} test)")
