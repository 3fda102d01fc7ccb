"""Options of commands whose work may run elsewhere: on which executor, and how a scheduler is reached."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from .options import Real

_FILE = click.Path(exists=True, dir_okay=False)
_OPTIONS = (
    click.option("--executor", "executor_name", default="threads", show_default=True, metavar="E",
                 help="Where inputs are judged: threads, processes, dask (workers of this machine), or the Dask "
                 "scheduler at tcp://host:port or tls://host:port (docs/scale.md)."),
    click.option("--tls-ca", type=_FILE, metavar="FILE", help="Certificate of the authority, for tls://."),
    click.option("--tls-cert", type=_FILE, metavar="FILE", help="Our certificate, for tls://."),
    click.option("--tls-key", type=_FILE, metavar="FILE", help="Its key."),
    click.option("--item-seconds", type=Real(0.01, 86400.0), default=1.0, show_default=True, metavar="S",
                 help="How long an item of work is for a worker; more on a large cluster (docs/scale.md)."),
    click.option("--dashboard", is_flag=True, help="With Dask: print the address of the page that shows its work."),
)  # fmt: skip


def takes_executor(command: Callable[..., None]) -> Callable[..., None]:
    """Adds these options to a command, which gets them as one `executor`."""

    @wraps(command)
    def taking(
        *context: Any,
        executor_name: str,
        tls_ca: str | None,
        tls_cert: str | None,
        tls_key: str | None,
        dashboard: bool,
        item_seconds: float,
        **typed: Any,
    ) -> None:
        from ..measure.pools import Where

        tls = {"tls_ca": tls_ca, "tls_cert": tls_cert, "tls_key": tls_key}
        where = Where(name=executor_name, **tls, dashboard=dashboard, item_seconds=item_seconds)
        command(*context, executor=where, **typed)

    for option in reversed(_OPTIONS):
        taking = option(taking)
    return taking
