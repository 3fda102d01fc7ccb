"""The search itself: rounds of batches, through an executor, until the budget is spent.

What a round asks is decided by the answers to the rounds before it and by the seed, and answers are absorbed in the
order of the batches, so that a search of so many evaluations finds the same whoever answers. A budget of time ends it
between two batches; with the evaluations that were done it can be repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Literal

from ..errors import TargetFailure, UsageError
from ..measure.elsewhere import Elsewhere
from ..targets import Target
from ..work.executors import Pool, on_threads, results
from .answers import Answers, Asking, BatchRange, unpacked
from .batches import BatchAnswers, CallBatch
from .state import State, absorb, next_round

Why = Literal["budget", "complete", "interrupted", "failure"]
Save = Callable[[State, Sequence[BatchAnswers], float], object]
"""Keeps the state before a round, the answers to its first batches, and the seconds of all."""
SAVED_EVERY = 5.0  # seconds between two states that are kept


@dataclass(frozen=True)
class SearchBudget:
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


def search(
    target: Target,
    state: State,
    budget: SearchBudget,
    *,
    workers: int,
    length: int | None = None,
    spent: float = 0.0,
    known: Sequence[BatchAnswers] = (),
    progress: Callable[[State], object] = _nothing,
    save: Save | None = None,
    save_every: float = SAVED_EVERY,
    elsewhere: Elsewhere[BatchRange] | None = None,
) -> Ended:
    """Change `state` until the budget is spent, everything was tried, the target fails, or Ctrl-C.

    Parameters
    ----------
    length : inputs of every call; default: those of a batch
    spent : seconds that it took so far
    known : the answers to the first batches of the round that comes next
    progress : told after every batch
    save : called every `save_every` seconds, and at the end
    elsewhere : an executor whose workers find the target by themselves; default: `workers` threads of this process
    """
    start = monotonic() - spent
    saving = _Saving(save, save_every, start)

    def is_spent() -> bool:
        return budget.seconds is not None and monotonic() - start >= budget.seconds

    def rounds() -> Why:
        left = known
        while not state.is_complete:
            saving.begin(state, left)
            if is_spent() and not left:
                return "budget"
            batches = next_round(state)
            affordable = _affordable(batches, state, budget)
            if not (affordable or state.evaluations):
                least = f"{batches[0].size}, a batch (accepted: that and more)"
                raise UsageError(f"--evaluations {budget.evaluations} is below {least}")
            for number, found in enumerate(answering.in_order(state.rounds, affordable, left)):
                absorb(state, affordable[number], found)
                saving.add(number, found)
                progress(state)
                if is_spent() and number + 1 >= len(left):
                    return "budget"
            if len(affordable) < len(batches):
                return "budget"
            state.rounds += 1
            left = ()
        saving.begin(state, ())
        return "complete"

    with saving, _answering(target, state, workers, length, elsewhere) as answering:
        try:
            return Ended(rounds(), monotonic() - start)
        except TargetFailure as failure:
            return Ended("failure", monotonic() - start, failure)
        except KeyboardInterrupt:
            return Ended("interrupted", monotonic() - start)


class _Saving:
    """The state before the round, and the answers since: what a search that is killed goes on from.

    A context manager, which saves at the end, whatever ended it.
    """

    def __init__(self, save: Save | None, every: float, start: float) -> None:
        self._save, self._every, self._start = save, every, start
        self._saved = -inf  # the first time at once: hours of work are not lost because a folder cannot be written to
        self._state: State | None = None
        self._answers: list[BatchAnswers] = []

    def begin(self, state: State, known: Sequence[BatchAnswers]) -> None:
        """A round begins."""
        if self._save is not None:
            self._state = deepcopy(state, {id(state.asked): state.asked})
            self._answers = list(known)
            self._save_when_due()

    def add(self, number: int, found: BatchAnswers) -> None:
        """Batch `number` of the round was answered."""
        if self._save is not None and number >= len(self._answers):
            self._answers.append(found)
            self._save_when_due()

    def _save_when_due(self) -> None:
        if monotonic() - self._saved >= self._every:
            self._save_now()

    def _save_now(self) -> None:
        if self._save is not None and self._state is not None:
            self._save(self._state, self._answers, monotonic() - self._start)
            self._saved = monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._save_now()


class _Answering:
    """An executor, and what it does with an item."""

    def __init__(
        self, pool: Pool, ask: Callable[[BatchRange], Answers | bytes], elsewhere: Elsewhere[BatchRange] | None
    ) -> None:
        self._pool, self._ask, self._elsewhere = pool, ask, elsewhere

    def in_order(
        self, number: int, batches: Sequence[CallBatch], known: Sequence[BatchAnswers]
    ) -> Iterator[BatchAnswers]:
        """The answers to the batches of a round, in their order; the first ones are known. Raises TargetFailure."""
        yield from known[: len(batches)]
        ready: dict[int, BatchAnswers | TargetFailure] = {}
        place = len(known)
        items = deque(self._items(number, batches, place))
        for item, came in results(self._pool, self._ask, items):
            answers = self._arrived(came) if isinstance(came, bytes) else came
            ready |= dict(enumerate(answers.found, item.start))
            done = len(answers.found)
            if answers.failure is not None:
                ready[item.start + done] = answers.failure
            elif done < len(item.batches):
                items.appendleft(BatchRange(number, item.start + done, item.batches[done:]))
            while place in ready:
                found = ready.pop(place)
                if isinstance(found, TargetFailure):
                    raise found
                yield found
                place += 1

    def _items(self, number: int, batches: Sequence[CallBatch], start: int) -> Iterator[BatchRange]:
        """On threads, each batch is one; elsewhere, where an item costs something, each worker gets one of several."""
        left = len(batches) - start
        length = 1 if self._pool.shares_memory else max(1, -(-left // max(self._pool.width, 1)))
        for first in range(start, len(batches), length):
            yield BatchRange(number, first, tuple(batches[first : first + length]))

    def _arrived(self, content: bytes) -> Answers:
        answers = unpacked(content)
        if self._elsewhere:
            self._elsewhere.saw(answers.seconds, answers.worker)
        return answers


@contextmanager
def _answering(
    target: Target, state: State, workers: int, length: int | None, elsewhere: Elsewhere[BatchRange] | None
) -> Iterator[_Answering]:
    if elsewhere is not None:
        yield _Answering(elsewhere.pool, elsewhere.measured, elsewhere)
        return
    asking = Asking(target, state.asked.function, state.asked.dtype, 0.0, length)
    with on_threads(workers) as pool:
        yield _Answering(pool, asking.answers, None)


def _affordable(batches: Sequence[CallBatch], state: State, budget: SearchBudget) -> list[CallBatch]:
    """The first of them, as far as the evaluations allow."""
    found, total = [], state.evaluations
    for batch in batches:
        total += batch.size
        if budget.evaluations is not None and total > budget.evaluations:
            break
        found.append(batch)
    return found
