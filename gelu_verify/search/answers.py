"""Items of work of a search: consecutive batches of a round, asked of a target here or in another process.

Answers cross processes, and stay in the file of a search, as bytes, without pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..measure.elsewhere import RemoteWork
from ..measure.identity import worker_facts
from ..measure.jobs import Job
from ..measure.parts import failure_fields, failure_of
from ..targets import Target
from ..work.packing import compressed, uncompressed
from .batches import BatchAnswers, CallBatch, evaluated

_ARRAYS = ("error", "x", "got", "want", "mean")  # of an answer; all else of it are few numbers


@dataclass(frozen=True)
class BatchRange:
    """Batches of a round, of which the first is number `start`."""

    round: int
    start: int
    batches: tuple[CallBatch, ...]

    def __str__(self) -> str:
        return f"{self.start}:{self.start + len(self.batches)} of round {self.round}"


@dataclass(frozen=True)
class Answers:
    """The answers to the first batches of an item: to as many as fit into it, until the target fails.

    `failure` is that of the batch after them. `seconds` of one thread; `worker`: whose.
    """

    found: tuple[BatchAnswers, ...]
    failure: TargetFailure | None = None
    seconds: float = 0.0
    worker: Mapping[str, str] | None = None


class Asking:
    """Asks a target, one thread at a time unless it is safe in threads."""

    def __init__(
        self, target: Target, function: str, dtype: str, item_seconds: float, length: int | None = None
    ) -> None:
        self._target, self._function, self._dtype = target, function, dtype
        self._seconds, self._length = item_seconds, length
        self._turn: AbstractContextManager[object] = nullcontext() if target.safe_in_threads else Lock()

    def answers(self, item: BatchRange) -> Answers:
        """The answers to one batch at least, and to more within `item_seconds`."""
        start, found = perf_counter(), list[BatchAnswers]()
        for batch in item.batches:
            if found and perf_counter() - start >= self._seconds:
                break
            try:
                asked = self._target, self._function, self._dtype, batch, self._turn, self._length
                found.append(evaluated(*asked))
            except TargetFailure as failure:
                return Answers(tuple(found), failure, perf_counter() - start)
        return Answers(tuple(found), None, perf_counter() - start)


@dataclass(frozen=True)
class RemoteBatches(RemoteWork[BatchRange, Asking]):
    """Items, asked in another process."""

    def measured(self, item: BatchRange) -> bytes:
        return packed(replace(self.loaded().answers(item), worker=worker_facts()))

    def loading(self, job: Job) -> Asking:
        return Asking(job.target, job.plan.function, job.plan.dtype, self.item_seconds, job.plan.length)


# ---- as bytes ------------------------------------------------------------------------------------


def packed(answers: Answers) -> bytes:
    """The bytes that `unpacked` reads."""
    arrays: dict[str, np.ndarray] = {}
    fields: dict[str, Any] = {"seconds": answers.seconds, "worker": answers.worker, "found": []}
    for index, each in enumerate(answers.found):
        fields["found"].append([each.counts, each.nonfinite, each.wrong_sign])
        arrays |= {f"{index}.{name}": getattr(each, name) for name in _ARRAYS}
    if answers.failure is not None:
        fields["failure"] = failure_fields(answers.failure, "failure", arrays)
    return compressed(fields, arrays)


def unpacked(content: bytes) -> Answers:
    """The answers that `packed` wrote."""
    fields, arrays = uncompressed(content)
    found = [
        BatchAnswers._make([*(arrays[f"{index}.{name}"] for name in _ARRAYS), *(each and tuple(each) for each in rest)])
        for index, rest in enumerate(fields["found"])
    ]
    failure = failure_of(fields["failure"], arrays) if "failure" in fields else None
    return Answers(tuple(found), failure, fields["seconds"], fields["worker"])
