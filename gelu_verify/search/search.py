"""The search itself: rounds of batches, on threads, until the budget is spent.

What a round asks is decided by the answers to the rounds before it and by the seed, and answers are absorbed in the
order of the batches, so that a search of so many evaluations finds the same whatever the number of threads. A budget of
time ends it between two batches; with the evaluations that were done it can be repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from threading import Lock
from time import monotonic
from typing import Literal

from ..errors import TargetFailure
from ..fenv import in_default_environment
from ..targets import Target
from .batches import Batch, Found, evaluated
from .state import State, absorb, next_round

Why = Literal["budget", "complete", "interrupted", "failure"]
SAVED_EVERY = 5.0  # seconds between two states that are kept


@dataclass(frozen=True)
class Budget:
    """What a search may spend; whatever is spent first ends it. None: no limit."""

    seconds: float | None = None
    evaluations: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a search ended; a failure is that of the target."""

    why: Why
    seconds: float
    failure: TargetFailure | None = None


def _nothing(state: State) -> None:
    """The default of who is told."""


@in_default_environment
def search(
    target: Target,
    state: State,
    budget: Budget,
    *,
    workers: int,
    spent: float = 0.0,
    progress: Callable[[State], object] = _nothing,
    save: Callable[[State, float], object] | None = None,
    save_every: float = SAVED_EVERY,
) -> Ended:
    """Change `state` until the budget is spent, everything was tried, the target fails, or Ctrl-C.

    Parameters
    ----------
    spent : seconds that it took so far
    progress : told after every batch
    save : given the state between two rounds, and the seconds, every `save_every` seconds
    """
    start = monotonic() - spent
    saved = -inf  # the first time at once: hours of work are not lost because a folder cannot be written to
    turn = nullcontext() if target.safe_in_threads else Lock()

    def ask(batch: Batch) -> Found:
        return evaluated(target, state.asked.function, state.asked.dtype, batch, turn)

    def ended(why: Why, failure: TargetFailure | None = None) -> Ended:
        return Ended(why, monotonic() - start, failure)

    pool = ThreadPoolExecutor(workers)
    try:
        while not state.is_complete:
            if save is not None and monotonic() - saved >= save_every:
                save(state, monotonic() - start)
                saved = monotonic()
            batches = next_round(state)
            affordable = _affordable(batches, state, budget)
            for batch, found in _in_order(pool, ask, affordable, workers):
                absorb(state, batch, found)
                progress(state)
                if budget.seconds is not None and monotonic() - start >= budget.seconds:
                    return ended("budget")
            if len(affordable) < len(batches):
                return ended("budget")
            state.rounds += 1
        return ended("complete")
    except TargetFailure as failure:
        return ended("failure", failure)
    except KeyboardInterrupt:
        return ended("interrupted")
    finally:
        pool.shutdown(cancel_futures=True)  # nothing calls the target any more


def _affordable(batches: Sequence[Batch], state: State, budget: Budget) -> list[Batch]:
    """The first of them, as far as the evaluations allow."""
    found, total = [], state.evaluations
    for batch in batches:
        total += batch.size
        if budget.evaluations is not None and total > budget.evaluations:
            break
        found.append(batch)
    return found


def _in_order(
    pool: Executor, ask: Callable[[Batch], Found], batches: Sequence[Batch], workers: int
) -> Iterator[tuple[Batch, Found]]:
    """The answers in the order of the batches, some of which are asked ahead."""
    waiting: deque[tuple[Batch, Future[Found]]] = deque()
    for batch in batches:
        waiting.append((batch, pool.submit(ask, batch)))
        if len(waiting) > workers + 1:
            first, answer = waiting.popleft()
            yield first, answer.result()
    for batch, answer in waiting:
        yield batch, answer.result()
