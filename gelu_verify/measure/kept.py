"""The parts of one job in a journal, and its result once it is there: nothing is measured twice.

Before the first part stand the outputs by which its implementation is known: who goes on compares them (`changed`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..buckets.table import MonotonePieces, Table, finish
from ..formats import get_format
from ..functions import get_function
from ..inputs.plans import Plan
from ..records.result import Record, Result
from ..records.serialize import record_from_json, to_json
from ..targets import Target
from ..work.journal import Journal
from .identity import FEW, ProbeOutputs, another, only_by_version
from .parts import Merging, Part, packed, unpacked

RESULT = " result"  # ends the key of a result
OUTPUTS = " outputs"  # ends the key of outputs by which an implementation is known


def has_measured(journal: Journal) -> bool:
    """Whether there is anything but outputs by which implementations are known."""
    return not all(key.endswith(OUTPUTS) for key in journal.keys)


class Kept:
    """Parts under the key of the job, by first chunk; one record of its result."""

    def __init__(self, journal: Journal, key: str) -> None:
        self._journal, self._key = journal, key

    def of_round(self, number: int) -> Kept:
        """The same of a round in which more inputs were tried than the plan's own."""
        return Kept(self._journal, f"{self._key} round {number}")

    def outputs(self) -> Sequence[ProbeOutputs]:
        """By which the implementation is known: of each process that began or went on, the same where it is steady."""
        return [ProbeOutputs.unpacked(content) for _, content in self._journal.records(self._key + OUTPUTS)]

    def begin(self, target: Target, plan: Plan, count: int = FEW) -> None:
        """Keep outputs of the implementation, unless that was done: before anything is measured."""
        if not self.outputs():
            self.add_outputs(ProbeOutputs.of(target, plan, count))

    def add_outputs(self, outputs: ProbeOutputs) -> None:
        self._journal.append(self._key + OUTPUTS, 0, outputs.packed())

    def changed(self, target: Target) -> tuple[str, str]:
        """Why what is kept is of another implementation than this one; what to say where that is not certain.

        Both are empty where outputs say that it is the same, and where nothing is kept.
        """
        before = self.outputs()
        if not before:
            return f"no outputs of {target.name} are kept" if self._has_records else "", ""
        here = before[0].again(target)
        if reason := another(target.name, before[0], here):
            return reason, ""
        if not here.failure and not (before[0].steady & here.steady).all():
            self.add_outputs(here)  # to be judged: they are others
        return "", only_by_version(target.name, before[0], here)

    @property
    def _has_records(self) -> bool:
        """Whether anything was measured."""
        return not self._journal.keys.isdisjoint((self._key, self._key + RESULT))

    def parts(self) -> Iterator[Part]:
        """By first chunk; none overlaps another."""
        end = 0
        for part in sorted((unpacked(content) for _, content in self._journal.records(self._key)), key=_first):
            if part.first >= end:
                end = part.end
                yield part

    def add(self, part: Part) -> None:
        """What came of some chunks; the failure of the next one is for who measures it again."""
        if part.table is not None:
            self.add_packed(part.first, packed(replace(part, failure=None)))

    def add_packed(self, first: int, content: bytes) -> None:
        self._journal.append(self._key, first, content)

    def finish(self, result: Result, table: Table | None = None) -> None:
        """The result; `table` where it is not that of the parts."""
        record = json.dumps(to_json(result.record), ensure_ascii=False).encode()
        content = b"" if table is None else packed(Part(0, 0, table))
        self._journal.append(self._key + RESULT, 0, len(record).to_bytes(8, "little") + record + content)

    def result(self, plan: Plan) -> Result | None:
        """The result that was found before, with its table; None where it is not there, or a part of it is damaged."""
        found = next(self._journal.records(self._key + RESULT), None)
        if found is None:
            return None
        end = 8 + int.from_bytes(found[1][:8], "little")
        record: Record = record_from_json(json.loads(found[1][8:end]))
        if record.bits_sha256 is None:
            return Result(record, None)
        if found[1][end:]:
            return Result(record, unpacked(found[1][end:]).table)
        table = self._table(plan)
        return None if table is None else Result(record, table)

    def _table(self, plan: Plan) -> Table | None:
        """The table of all parts; None where one is missing."""
        merging, end = Merging(), 0
        for part in self.parts():
            if part.first != end or part.table is None:
                return None
            merging.add(part.table)
            end = part.end
        if end != len(plan.chunks):
            return None
        return finish(merging.merged(), MonotonePieces.of(get_function(plan.function), get_format(plan.dtype)))


def _first(part: Part) -> tuple[int, int]:
    return part.first, -part.end
