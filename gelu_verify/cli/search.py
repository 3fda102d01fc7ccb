"""`search`: the worst input of one implementation."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from .executor_options import takes_executor
from .forms import show, takes_form
from .options import DURATION, PARAMETERS, SEED, WORKERS, naming_options, takes_target, whole_number, with_parameters
from .program import INTERRUPTED, OVER_BUDGET, say, stdout_for_results, warn

if TYPE_CHECKING:
    from ..measure.request import Request
    from ..search.kept import KeptSearch
    from ..search.record import SearchRecord
    from ..search.search import SearchBudget
    from ..search.state import State
    from ..work.observer import Observer

SECONDS_OF_DEFAULT = 60.0
SAID_EVERY = 30.0  # seconds between two lines, where no bar is drawn
STEPS = 1000  # of the bar


@click.command()
@click.argument("target")
@click.option("--function", metavar="F", help="Function that TARGET computes; default: the one that it names.")
@PARAMETERS
@click.option("--dtype", metavar="D", help="Dtype to search; default: float64 where TARGET takes it.")
@click.option("--budget", type=DURATION, metavar="TIME", help="How long: 90s, 10m, 8h; default 60s.")
@click.option("--evaluations", type=whole_number(1000, 1 << 62), metavar="N",
              help="How many inputs, instead of a time or beside it: the same N finds the same.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Seed of all random numbers.")
@click.option("--no-seeds", is_flag=True, help="Do not start from inputs that are the worst of other implementations.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Keep the state and the result in DIR; the same command goes on from there.")  # fmt: skip
@click.option(
    "--workers",
    type=WORKERS,
    metavar="N",
    help="Number of threads, or of processes of --executor; default: one per core.",
)
@takes_form(text="Of what was found.")
@takes_target()
@takes_executor()
def search(
    target: str, budget: float | None, evaluations: int | None, seed: int, no_seeds: bool, out: Path | None,
    workers: int | None, form: str, **typed: Any,
) -> None:  # fmt: skip
    """Look for the worst input of TARGET.

    TARGET is named as in run; a function of the C library is libm.so.6:erf:scalar. float64 has 2^64 inputs, so what is
    found is a lower bound (>=) of the largest error, labelled "searched". The budget goes to intervals where errors are
    large or jump, to neighbours of the worst inputs, to numbers with few bits or digits, and to all binades.
    docs/search.md describes the method and what it cannot find.

    Ctrl-C ends the search with the best so far, and exit code 130. NaN, infinities and wrong signs are worse than any
    error. The exit code is 1 when TARGET failed, else 0.
    """
    from ..machine import cores
    from ..report.search import search_document
    from ..search.kept import kept_in
    from ..search.search import SearchBudget

    request = _request(target, typed, seed)
    if budget is None and evaluations is None:
        budget = SECONDS_OF_DEFAULT
    with ExitStack() as closing:
        kept = None if out is None else closing.enter_context(kept_in(out, warn))
        with stdout_for_results():
            record = _searched(request, SearchBudget(budget, evaluations), not no_seeds, kept, workers or cores())
        show(record, form, document=search_document)
        if kept is not None:
            kept.finish(f"{_json(record)}\n".encode())
    if record.ended == "interrupted":
        raise click.exceptions.Exit(INTERRUPTED)
    if record.failure is not None:
        raise click.exceptions.Exit(OVER_BUDGET)


def _request(target: str, typed: dict[str, Any], seed: int) -> Request:
    """What was typed, as the library takes it."""
    from ..measure.request import Request

    functions, dtypes = (tuple(filter(None, [typed.pop(name)])) for name in ("function", "dtype"))
    functions = with_parameters(functions, typed.pop("parameters"))
    with naming_options():
        return Request(targets=(target,), functions=functions, dtypes=dtypes, plan="landmarks", seed=seed, **typed)


def _searched(
    request: Request, budget: SearchBudget, seeds: bool, kept: KeptSearch | None, workers: int
) -> SearchRecord:
    from ..measure.jobs import selecting
    from ..search.session import searched
    from ..speed.throughput import one_thread_each
    from ..work.executors import opening
    from .progress import OnStderr

    one_thread_each()
    observer = OnStderr()
    with (
        selecting(request, observer) as select,
        opening(request.executor, workers, observer.warn) as executor,
        observer.phase(STEPS),
    ):
        return searched(
            request, select, budget, seeds=seeds, kept=kept, workers=workers, executor=executor, observer=observer,
            progress=_Progress(observer, budget),
        )  # fmt: skip


class _Progress:
    """How much of the budget is spent, and the best so far: a bar on a terminal, else a line now and then."""

    def __init__(self, observer: Observer, budget: SearchBudget) -> None:
        self._observer, self._budget = observer, budget
        self._start = self._said = monotonic()
        self._steps = 0

    def __call__(self, state: State) -> None:
        now = monotonic()
        shares = [0.0]
        if self._budget.seconds:
            shares.append((now - self._start) / self._budget.seconds)
        if self._budget.evaluations:
            shares.append(state.evaluations / self._budget.evaluations)
        steps = int(STEPS * min(max(shares), 1.0))
        self._observer.advance(steps - self._steps)
        self._steps = steps
        self._observer.start(_best(state))
        if now - self._said >= SAID_EVERY and not sys.stderr.isatty():
            self._said = now
            say(f"gelu-verify: {_best(state)}", err=True)


def _best(state: State) -> str:
    worst = state.worst
    counts = [
        f"{count} {what}"
        for count, what in zip(state.counts, ("not finite", "of the wrong sign"), strict=True)
        if count
    ]
    if worst is not None:
        counts.append(f"{worst.error:.6g} ULP at x = {state.fmt.hex_float(worst.x)}")
    return f"{state.evaluations:,} inputs, {', '.join(counts)}"


def _json(record: SearchRecord) -> str:
    from ..records.serialize import to_json

    return json.dumps(to_json(record), indent=1, allow_nan=False)
