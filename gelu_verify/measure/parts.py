"""What came of consecutive chunks of a plan: a table that merges with others, and what else was seen meanwhile.

A part crosses processes, and stays in a journal, as bytes (`packed`, `unpacked`): JSON and arrays, compressed. Nothing
in them is executed when they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..buckets.table import Table, merge
from ..buckets.table_text import parts_of_table, table_of_parts
from ..errors import TargetFailure
from ..inputs.plans import Plan
from ..targets.execution_errors import ExecutionErrors
from ..targets.extra_outputs import Differences
from ..work.packing import compressed, uncompressed

FAN_IN = 8  # tables that are merged at once


@dataclass(frozen=True)
class Part:
    """What came of the chunks from `first` up to `end`, which is not among them.

    `table` is None where there are none; `failure` is that of chunk `end`. `noted`: what the target did beside
    returning outputs. `seconds` of one thread, and `target_s` of them inside the target; `worker`: whose thread.
    `outputs`: bits for the explicit inputs of these chunks, by ordinal, where they are kept. `executions`: how they
    differed, of a target that has several.
    """

    first: int
    end: int
    table: Table | None
    target_s: float = 0.0
    seconds: float = 0.0
    differences: tuple[Differences, ...] = ()
    noted: tuple[TargetFailure, ...] = ()
    failure: TargetFailure | None = None
    worker: Mapping[str, str] | None = None
    outputs: np.ndarray | None = None
    executions: ExecutionErrors | None = None

    def size(self, plan: Plan) -> int:
        """How many inputs it is of."""
        return sum(plan.chunks[index].size for index in range(self.first, self.end))


class Merging:
    """Tables merged as they come, by eights in a tree: few are in memory, and none is merged often."""

    def __init__(self) -> None:
        self._levels: list[list[Table]] = []

    def add(self, table: Table) -> None:
        for level in self._levels:
            level.append(table)
            if len(level) < FAN_IN:
                return
            table = merge(level)
            level.clear()
        self._levels.append([table])

    def merged(self) -> Table:
        """The table of all, of which there is at least one."""
        return merge([table for level in self._levels for table in level])


# ---- as bytes ------------------------------------------------------------------------------------


def packed(part: Part) -> bytes:
    """The bytes that `unpacked` reads."""
    fields: dict[str, Any] = {name: getattr(part, name) for name in ("first", "end", "target_s", "seconds", "worker")}
    arrays: dict[str, np.ndarray] = {}
    if part.table is not None:
        fields["table"], arrays = parts_of_table(part.table)
    if part.executions is not None:
        fields["executions"] = asdict(part.executions)
    fields["differences"] = places_of(part.differences, arrays)
    if part.outputs is not None:
        arrays["outputs"] = part.outputs
    fields["failures"] = [failure_fields(each, name, arrays) for name, each in _failures(part)]
    return compressed(fields, arrays)


def unpacked(content: bytes) -> Part:
    """The part that `packed` wrote."""
    fields, arrays = uncompressed(content)
    found = {each["name"]: failure_of(each, arrays) for each in fields["failures"]}
    return Part(
        first=fields["first"],
        end=fields["end"],
        table=table_of_parts(fields["table"], arrays) if "table" in fields else None,
        target_s=fields["target_s"],
        seconds=fields["seconds"],
        differences=differences_of(fields["differences"], arrays),
        failure=found.pop("failure", None),
        noted=tuple(found.values()),
        worker=fields["worker"],
        outputs=arrays.get("outputs"),
        executions=ExecutionErrors.of_json(fields["executions"]) if "executions" in fields else None,
    )


def places_of(differences: Sequence[Differences], arrays: dict[str, np.ndarray]) -> list[tuple[str, str]]:
    """Where outputs differ, as JSON has it; the inputs and outputs are added to `arrays`."""
    for index, each in enumerate(differences):
        arrays |= {f"{index}.{name}": getattr(each, name) for name in _OF_DIFFERENCES}
    return [each.where for each in differences]


def differences_of(places: Sequence[Sequence[str]], arrays: Mapping[str, np.ndarray]) -> tuple[Differences, ...]:
    """The differences that `places_of` described."""
    return tuple(
        Differences._make([*(arrays[f"{index}.{name}"] for name in _OF_DIFFERENCES), tuple(where)])
        for index, where in enumerate(places)
    )


_OF_DIFFERENCES = ("x", "first", "second", "at")


def _failures(part: Part) -> list[tuple[str, TargetFailure]]:
    noted = [(f"noted{index}", each) for index, each in enumerate(part.noted)]
    return noted if part.failure is None else [*noted, ("failure", part.failure)]


def failure_fields(failure: TargetFailure, name: str, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """A failure as JSON has it, under a name; its inputs are added to `arrays`."""
    if failure.inputs is not None:
        arrays[f"{name}.inputs"] = failure.inputs
    message = Exception.__str__(failure)
    ends = {"first_bits": failure.first_bits, "last_bits": failure.last_bits}
    return {"name": name, "message": message, "kind": failure.kind, "length": failure.length, **ends}


def failure_of(fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> TargetFailure:
    """The failure that `failure_fields` described."""
    ends = {name: fields[name] for name in ("first_bits", "last_bits")}
    failure = TargetFailure(fields["message"], fields["kind"], **ends)
    failure.inputs, failure.length = arrays.get(f"{fields['name']}.inputs"), fields["length"]
    return failure
