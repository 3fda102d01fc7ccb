"""`serve`: reference values, verification by upload and a web page over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import MissingMeasurement, UsageError
from .options import Whole
from .program import warn

if TYPE_CHECKING:
    from ..service.settings import Settings

TOKEN = "GELU_VERIFY_TOKEN"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: all addresses.")
@click.option(
    "--port", type=Whole(0, 65535), default=8000, show_default=True, help="Port to listen on; 0: any free one."
)
@click.option(
    "--store", type=click.Path(path_type=Path), metavar="DIR", help="Folder for uploads that are sent with the token."
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"File with the token for uploads; default ${TOKEN}.",
)
@click.option("--runs", type=click.Path(path_type=Path), metavar="DIR", help="Folder of stored runs to publish.")
@click.option("--answers", "families", metavar="A,B", default="installed", show_default=True,
              help="Target families whose outputs the page shows beside the reference value, each in its own process; "
              "installed: all that are found; none: no family.")  # fmt: skip
@click.option("--access-log", is_flag=True, help="Log every request as a line of JSON on stderr, not only errors.")
def serve(
    host: str, port: int, store: Path | None, token_file: Path | None, runs: Path | None, families: str,
    access_log: bool,
) -> None:  # fmt: skip
    """Serve reference values and verification over HTTP.

    The server offers reference values, tables, verification by upload and a web page. Without --store and a token it
    never writes to disk. docs/deploy.md shows how to run several copies behind a proxy.
    """
    settings = _settings(store, token_file, runs, families)
    try:
        from ..service.server import run_server
    except ModuleNotFoundError as error:
        raise MissingMeasurement(f"{error.name} is not installed: pip install 'gelu-verify[serve]'") from None

    if host not in LOOPBACK:
        warn(f"listening on {host}: everybody who can reach this machine can use the service")
    run_server(settings, host, port, access_log=access_log)


def _settings(store: Path | None, token_file: Path | None, runs: Path | None, families: str) -> Settings:
    from ..service.settings import Settings
    from ..targets import families as all_families

    names = None if families == "installed" else tuple(name for name in families.split(",") if name not in ("", "none"))
    for name in names or ():
        if name not in all_families():
            raise UsageError(f"unknown target family {name!r} (accepted: {', '.join(all_families())}, installed, none)")
    if runs is not None and not runs.is_dir():
        raise UsageError(f"--runs {runs} is not a folder")
    token = _token(token_file)
    if store is not None and token is None:
        warn(f"--store without a token: uploads cannot be stored (give --token-file or ${TOKEN})")
    return Settings(store=store, token=token, runs=runs, families=names)


def _token(path: Path | None) -> str | None:
    try:
        text = path.read_text(encoding="utf-8") if path is not None else os.environ.get(TOKEN)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the token in {path}: {error}") from None
    if text is None:
        return None
    token = text.strip()
    if len(token) < 16 or not token.isascii() or not token.isprintable():
        raise UsageError("the token must have at least 16 printable ASCII characters")
    return token
