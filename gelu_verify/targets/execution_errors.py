"""How the executions of a target differ, of which the worst outputs are returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ExecutionErrors:
    """Of some calls: how many outputs there are, how many of them are the same in all executions, and how many floats
    they are apart at most at one input (bits); by execution, its largest error in ULP, the input and the output (bits);
    None where none could be scored."""

    outputs: int
    same: int
    apart: tuple[int, int]
    largest: Mapping[str, tuple[float, int, int] | None]

    @classmethod
    def of_json(cls, found: Any) -> ExecutionErrors:
        largest = {name: each and tuple(each) for name, each in found["largest"].items()}
        return cls(found["outputs"], found["same"], tuple(found["apart"]), largest)


def joined(one: ExecutionErrors | None, other: ExecutionErrors | None) -> ExecutionErrors | None:
    """Of the calls of both; of equal errors that of the lower bits, so that the order of calls does not matter."""
    if one is None or other is None:
        return one or other
    largest = {
        name: max(filter(None, (found, other.largest[name])), key=lambda each: (each[0], -each[1]), default=None)
        for name, found in one.largest.items()
    }
    return ExecutionErrors(
        one.outputs + other.outputs,
        one.same + other.same,
        max(one.apart, other.apart, key=lambda each: (each[0], -each[1])),
        largest,
    )
