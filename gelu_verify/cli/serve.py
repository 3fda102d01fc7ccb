"""`serve`: reference values, verification by upload and a web page over HTTP."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import fields, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import MissingMeasurement, UsageError
from ..parsing import byte_count, parse_real, parse_whole
from .options import SIZE, Several, check_used, real_number, whole_number
from .program import warn

if TYPE_CHECKING:
    from ..service.settings import ServiceLimits, Settings
    from ..service.tokens import Token

TOKEN = "GELU_VERIFY_TOKEN"
FOLDER = click.Path(path_type=Path)
_NOT_IN_FILE = ("config", "show_config", "limit", "help")
_LIMITS = "gelu_verify.cli.serve.limits"  # key in the context: the limits of --config, to which --limit adds


def _read_config(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Make what the file says the defaults of the other options."""
    if path is None:
        return None
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read --config {path}: {error}") from None
    limits = found.pop("limits", {})
    known = {each.name for each in context.command.params} - set(_NOT_IN_FILE)
    for name, value in found.items():
        if name.replace("-", "_") not in known:
            raise UsageError(f"--config {path} has an unknown key {name!r} (accepted: the names of the options)")
        if isinstance(value, dict):
            raise UsageError(f"--config {path}: {name} is a table (accepted: a value; the only table is [limits])")
    if not isinstance(limits, dict):
        raise UsageError(f"--config {path}: limits is not a table (accepted: [limits] and a line for each limit)")
    context.default_map = {name.replace("-", "_"): _text(value) for name, value in found.items()}
    context.meta[_LIMITS] = tuple(f"{name}={value}" for name, value in limits.items())
    return path


def _text(value: Any) -> Any:
    """As it would be given on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@click.command(context_settings={"auto_envvar_prefix": "GELU_VERIFY"})
@click.option("--config", type=FOLDER, metavar="FILE", is_eager=True, callback=_read_config,
              help="TOML file of these options by name, and of limits in a table [limits].")  # fmt: skip
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0: all addresses.")
@click.option("--port", type=whole_number(0, 65535), default=8000, show_default=True,
              help="Port to listen on; 0: any free one.")  # fmt: skip
@click.option(
    "--unix-socket", type=FOLDER, metavar="FILE", help="Unix socket to listen on, instead of --host and --port."
)
@click.option("--workers", type=whole_number(1, 256), default=1, show_default=True, metavar="N",
              help="Processes; each has the limits for itself. SIGHUP replaces several one by one.")  # fmt: skip
@click.option("--allowed-hosts", cls=Several, metavar="A,B",
              help="Names that `Host` may have; default any, or on a loopback address its names.")  # fmt: skip
@click.option("--trusted-proxies", cls=Several, metavar="A,B",
              help="Addresses or networks of proxies whose X-Forwarded-For says who the client is; *: "
              "everybody.")  # fmt: skip
@click.option("--store", type=FOLDER, metavar="DIR", help="Folder for uploads that are sent with the token.")
@click.option("--store-bytes", type=SIZE, metavar="SIZE", help="Size of the store beyond which nothing is stored.")
@click.option(
    "--retain-days", type=real_number(above=True), metavar="DAYS", help="Stored runs that are older are deleted."
)
@click.option(
    "--token-file",
    type=FOLDER,
    metavar="FILE",
    help=f"File with the token for uploads, or a line for each client: name, scopes, token; default ${TOKEN}.",
)
@click.option("--runs", type=FOLDER, metavar="DIR", help="Folder of stored runs to publish.")
@click.option("--answers", cls=Several, metavar="A,B", default=("installed",), show_default=True,
              help="Target families whose outputs the page shows beside the reference value, each in its own process; "
              "installed: all that are found; none: no family.")  # fmt: skip
@click.option("--spool", type=FOLDER, metavar="DIR", help="Folder for request bodies while they are used; default the "
              "system's folder for temporary files.")  # fmt: skip
@click.option("--jobs", type=FOLDER, metavar="DIR", help="Folder in which the results of uploads without a token "
              "outlive the server; default a temporary file.")  # fmt: skip
@click.option("--documentation", metavar="URL", help="Documentation that the page links to.")
@click.option("--source", metavar="URL", help="Source code that the page links to.")
@click.option("--log-requests", type=click.Choice(["all", "errors"]), default="all", show_default=True,
              help="Which requests are logged on stderr.")  # fmt: skip
@click.option("--shutdown-delay", type=real_number(), default=0.0, show_default=True, metavar="S",
              help="After SIGTERM, seconds in which /readyz is 503 and requests are still answered.")  # fmt: skip
@click.option("--drain", type=real_number(), default=10.0, show_default=True, metavar="S",
              help="Seconds that running requests then have to finish.")  # fmt: skip
@click.option("--limit", multiple=True, metavar="NAME=VALUE",
              help="One limit of docs/deploy.md, for example body_bytes=8M; can be repeated.")  # fmt: skip
@click.option("--show-config", is_flag=True, help="Print all settings as a file for --config, and exit.")
@click.pass_context
def serve(context: click.Context, /, **options: Any) -> None:
    """Serve reference values and verification over HTTP.

    The server offers reference values, tables, verification by upload and a web page. Without --store and a token it
    stores nothing. Every option can also be given in the environment (--port as GELU_VERIFY_PORT) or in a file
    (--config). docs/deploy.md shows how to run it for everybody.
    """
    try:
        from ..service.server import run_server
        from ..service.settings import LOOPBACK
    except ModuleNotFoundError as error:
        raise MissingMeasurement(f"{error.name} is not installed: pip install 'gelu-verify[serve]'") from None

    check_used(options["unix_socket"] is None, "--unix-socket is where it listens", "--host", "--port")
    check_used(options["store"], "there is no --store", "--store-bytes", "--retain-days")
    settings = _settings({**options, "limit": (*context.meta.get(_LIMITS, ()), *options["limit"])})
    if options["show_config"]:
        click.echo(_as_toml(context, options, settings.limits))
        return
    if settings.host not in LOOPBACK and settings.unix_socket is None:
        warn(f"listening on {settings.host}: everybody who can reach this machine can use the service")
    run_server(settings)


def _settings(options: dict[str, Any]) -> Settings:
    from ..service.settings import Settings

    runs, store, tokens = options["runs"], options["store"], _tokens(options["token_file"])
    if runs is not None and not runs.is_dir():
        raise UsageError(f"--runs {runs} is not a folder")
    for name in ("spool", "jobs"):
        if options[name] is not None and not options[name].is_dir():
            raise UsageError(f"--{name} {options[name]} is not a folder")
    if store is not None and not tokens:
        warn(f"--store without a token: uploads cannot be stored (give --token-file or ${TOKEN})")
    same = ("host", "port", "unix_socket", "workers", "store", "store_bytes", "retain_days", "runs", "spool",
            "documentation", "source", "log_requests", "trusted_proxies")  # fmt: skip
    return Settings(
        **{name: options[name] for name in same}, tokens=tokens, families=_families(options["answers"]),
        allowed_hosts=tuple(name.lower() for name in options["allowed_hosts"]) or None, jobs_folder=options["jobs"],
        shutdown_delay_s=options["shutdown_delay"], drain_s=options["drain"], limits=_limits(options["limit"]),
    )  # fmt: skip


def _families(given: tuple[str, ...]) -> tuple[str, ...] | None:
    """Target families; None for those that are installed."""
    from ..targets import families

    if given == ("installed",):
        return None
    names = tuple(name for name in given if name != "none")
    for name in names:
        if name not in families():
            raise UsageError(f"unknown target family {name!r} (accepted: {', '.join(families())}, installed, none)")
    return names


def _limits(given: tuple[str, ...]) -> ServiceLimits:
    from ..service.settings import ServiceLimits

    defaults = ServiceLimits()
    known = [field.name for field in fields(defaults)]
    changed: dict[str, Any] = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            raise UsageError(f"--limit {text!r}: unknown limit (accepted: {', '.join(known)})")
        if name.endswith("bytes") or "bytes_" in name:
            changed[name] = byte_count(f"--limit {name}", value)
        elif isinstance(getattr(defaults, name), float):
            changed[name] = parse_real(f"--limit {name}", value, 0.0, inf)
        else:
            least = 1 if name.endswith(("_threads", "_processes", "_per_s")) else 0
            changed[name] = parse_whole(f"--limit {name}", value, least, 1 << 40)
    return replace(defaults, **changed)


def _as_toml(context: click.Context, options: dict[str, Any], limits: ServiceLimits) -> str:
    """All settings, with where each comes from; the token is not printed."""
    lines = []
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _NOT_IN_FILE:
            continue
        value, source = options[name], context.get_parameter_source(name)
        where = "default" if source is None else source.name.lower().replace("default_map", "file").replace("_", " ")
        is_set = value not in (None, ())
        lines.append(f"{name} = {_toml(value)}  # {where}" if is_set else f"# {name} is not set")
    lines += ["", "[limits]", *(f"{field.name} = {_toml(getattr(limits, field.name))}" for field in fields(limits))]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    return json.dumps(value if isinstance(value, int | float) else _text(value), ensure_ascii=False)


def _tokens(path: Path | None) -> tuple[Token, ...]:
    from ..service.tokens import parse_tokens

    try:
        text = path.read_text(encoding="utf-8") if path is not None else os.environ.get(TOKEN)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the tokens in {path}: {error}") from None
    return () if text is None else parse_tokens(text)
