"""`backup` and `restore`: what a server keeps, as one file, and the folders of a server from it."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(path_type=Path)
_STORE = click.option("--store", type=_FOLDER, metavar="DIR", required=True, help="Folder of --store of the server.")
_JOBS = click.option("--jobs", type=_FOLDER, metavar="DIR", help="Folder of --jobs of the server.")
_TOKENS = click.option("--token-file", type=_FOLDER, metavar="FILE", help="File of --token-file of the server.")


@click.command()
@click.argument("archive", type=_FOLDER)
@_STORE
@_JOBS
@_TOKENS
def backup(archive: Path, store: Path, jobs: Path | None, token_file: Path | None) -> None:
    """Write what a server keeps into ARCHIVE, a tar file, while the server runs: stored runs, and what else is named.

    A run is in it whole or not at all. Only its owner may read the file: tokens are in it as they are.
    """
    from ..service.backup import back_up

    click.echo(f"{archive}: {back_up(archive, store, jobs, token_file)} runs")


@click.command()
@click.argument("archive", type=_FOLDER)
@_STORE
@_JOBS
@_TOKENS
def restore(archive: Path, store: Path, jobs: Path | None, token_file: Path | None) -> None:
    """Make the folders of a server of what `backup` wrote: new or empty ones, which `serve` is then started with.

    Every run is checked against its manifest first; nothing is written if one is damaged.
    """
    from ..service.backup import restore as restored

    click.echo(f"{store}: {restored(archive, store, jobs, token_file)} runs")
