"""A search kept in a folder: the state before its round, and the answers since, so that the same command goes on.

Beside them stand the outputs by which the implementation is known: a search of another one is not gone on with.

The file is a sealed journal, replaced at once and flushed to the disk: whatever ends the search, there is an old one or
a new one, and a power cut costs no more than a kill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..atomic_files import claimed, remove_partial, replace_file
from ..errors import ResultsError
from ..inputs.plans import Plan
from ..measure.identity import ProbeOutputs, another, only_by_version
from ..targets import Target
from ..work.journal import Contents, Facts, contents, differing, sealed
from ..work.packing import compressed, uncompressed
from .answers import Answers, packed, unpacked
from .batches import BatchAnswers
from .intervals import COLUMNS
from .state import SearchAsked, State, WorstInput

FILE, RECORD = "state", "search.json"
_STATE, _ANSWERS, _OUTPUTS = "state", "answers", "outputs"  # keys of the records
_PLAIN = ("evaluations", "rounds", "looked_at", "tried_in_order", "of_source", "counts", "nonfinite", "wrong_sign")
INSTEAD = "name another --out, or remove that folder"
Restored = tuple[State, Sequence[BatchAnswers], float]
"""The state before a round, the answers to its first batches, and the seconds of all."""


class KeptSearch:
    """The folder of one search; `warn` is told when it cannot be written to any more, and when it can be again."""

    def __init__(self, folder: Path, warn: Callable[[str], object]) -> None:
        self._folder, self._warn = folder, warn
        self._was_written, self._problem = False, ""
        self._outputs = b""

    def begin(self, target: Target, plan: Plan) -> None:
        """Know the implementation by its outputs, those that are kept or else new ones.

        ResultsError where what is kept is of another one; said where outputs do not tell.
        """
        path = self._folder / FILE
        if path.exists():
            before = ProbeOutputs.unpacked(_contents(path).records[_OUTPUTS][0][1])
            here = before.again(target)
            if reason := another(target.name, before, here):
                raise ResultsError(f"{path} is of another implementation: {reason} ({INSTEAD})")
            if uncertain := only_by_version(target.name, before, here):
                self._warn(uncertain)
        else:
            before = ProbeOutputs.of(target, plan)
        self._outputs = before.packed()

    def save(self, facts: Facts, state: State, answers: Sequence[BatchAnswers], seconds: float) -> None:
        """Replace what is kept. ResultsError where nothing can be written; later, the search goes on without."""
        try:
            self._write(FILE, saved(facts, state, answers, seconds, self._outputs))
        except ResultsError as error:
            if not self._was_written:
                raise
            if not self._problem:
                self._warn(f"{error}; the search goes on, and tries again")
            self._problem = str(error)
        else:
            self._was_written, self._problem = True, ""

    def restored(self, facts: Facts, asked: SearchAsked) -> Restored | None:
        """What is kept; None where nothing is. ResultsError where it is of another search, or damaged."""
        path = self._folder / FILE
        return restored(path, facts, asked) if path.exists() else None

    def finish(self, record: bytes) -> None:
        """Write the result; ResultsError where that is not possible, or where the last state is not kept."""
        self._write(RECORD, record)
        if self._problem:
            raise ResultsError(self._problem)

    def _write(self, name: str, content: bytes) -> None:
        try:
            replace_file(self._folder / name, content, flush=True)
        except OSError as error:
            raise ResultsError(f"cannot write {error.filename}: {error.strerror}") from None


@contextmanager
def kept_in(folder: Path, warn: Callable[[str], object] = lambda message: None) -> Iterator[KeptSearch]:
    """A folder for one search, which no other one uses meanwhile; ResultsError where that cannot be."""
    with ExitStack() as closing:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            if not closing.enter_context(claimed(folder)):
                raise ResultsError(f"{folder}: another search uses it, or it cannot be locked")
            remove_partial(folder)
        except OSError as error:
            raise ResultsError(f"cannot write {error.filename or folder}: {error.strerror}") from None
        yield KeptSearch(folder, warn)


# ---- as bytes ------------------------------------------------------------------------------------


def saved(facts: Facts, state: State, answers: Sequence[BatchAnswers], seconds: float, outputs: bytes = b"") -> bytes:
    """The bytes that `restored` reads."""
    fields: dict[str, Any] = {name: getattr(state, name) for name in _PLAIN} | {"seconds": seconds}
    fields["places"] = [[cell, asdict(place)] for cell, place in state.places.items()]
    arrays = {name: getattr(state.intervals, name) for name in COLUMNS}
    known = packed(Answers(tuple(answers)))
    records = [(_OUTPUTS, 0, outputs), (_STATE, 0, compressed(fields, arrays)), (_ANSWERS, 0, known)]
    return sealed(_with_asked(facts, state.asked), records)


def restored(path: Path, facts: Facts, asked: SearchAsked) -> Restored:
    """What a file holds; ResultsError where it is of another search, or damaged."""
    found = _contents(path)
    if reason := differing(found.facts, _with_asked(facts, asked)):
        raise ResultsError(f"{path} is of another search: {reason} ({INSTEAD})")
    fields, columns = uncompressed(found.records[_STATE][0][1])
    state = State.start(asked)
    for name in COLUMNS:
        setattr(state.intervals, name, columns[name])
    for name in _PLAIN:
        value = fields[name]
        setattr(state, name, tuple(value) if isinstance(value, list) else value)
    state.places = {cell: WorstInput(**place) for cell, place in fields["places"]}
    return state, unpacked(found.records[_ANSWERS][0][1]).found, float(fields["seconds"])


def _contents(path: Path) -> Contents:
    found = contents(path)
    if found is None or found.damaged or not found.is_whole or {_STATE, _ANSWERS, _OUTPUTS} - set(found.records):
        raise ResultsError(f"{path} is not the state of a search, or is damaged, or of an earlier version ({INSTEAD})")
    return found


def _with_asked(facts: Facts, asked: SearchAsked) -> Facts:
    return {**{name: str(value) for name, value in asdict(asked).items()}, **facts}
