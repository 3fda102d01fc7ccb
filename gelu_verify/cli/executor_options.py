"""Options of commands whose work may run elsewhere: on which executor, and how a scheduler is reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import click

from .options import real_number

_FILE = click.Path(exists=True, dir_okay=False)
_ITEM = 1.0  # seconds


def _options(default: str, what: str, sized: bool) -> Iterator[Callable[..., Any]]:
    yield click.option(
        "--executor", "executor_name", default=default, show_default=True, metavar="E",
        help=f"Where {what}: threads, processes, dask (workers of this machine), or the Dask "
        "scheduler at tcp://host:port or tls://host:port (docs/scale.md).",
    )  # fmt: skip
    yield click.option("--tls-ca", type=_FILE, metavar="FILE", help="Certificate of the authority, for tls://.")
    yield click.option("--tls-cert", type=_FILE, metavar="FILE", help="Our certificate, for tls://.")
    yield click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key.")
    if sized:
        yield click.option(
            "--item-seconds", type=real_number(0.01, 86400.0), default=_ITEM, show_default=True, metavar="S",
            help="How long an item of work is for a worker; more on a large cluster (docs/scale.md).",
        )  # fmt: skip
    yield click.option(
        "--dashboard", is_flag=True, help="With Dask: print the address of the page that shows its work."
    )


def takes_executor(
    default: str = "threads", what: str = "inputs are judged", sized: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds these options to a command, which gets them as one `executor`; `sized`: its items end after a time."""

    def adding(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def taking(
            *context: Any,
            executor_name: str,
            tls_ca: str | None,
            tls_cert: str | None,
            tls_key: str | None,
            dashboard: bool,
            item_seconds: float = _ITEM,
            **typed: Any,
        ) -> None:
            from ..work.pools import Where

            tls = {"tls_ca": tls_ca, "tls_cert": tls_cert, "tls_key": tls_key}
            where = Where(name=executor_name, **tls, dashboard=dashboard, item_seconds=item_seconds)
            command(*context, executor=where, **typed)

        for option in reversed([*_options(default, what, sized)]):
            taking = option(taking)
        return taking

    return adding
