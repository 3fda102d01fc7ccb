"""The parts of one job in a journal: what is measured already, and where the rest goes."""

from __future__ import annotations

from collections.abc import Iterator

from .journal import Journal
from .parts import Part, unpacked


class Kept:
    """Under the key of the job, by first chunk."""

    def __init__(self, journal: Journal, key: str) -> None:
        self._journal, self._key = journal, key

    def parts(self) -> Iterator[Part]:
        """By first chunk; none overlaps another."""
        end = 0
        for part in sorted((unpacked(content) for _, content in self._journal.records(self._key)), key=_first):
            if part.first >= end:
                end = part.end
                yield part

    def add(self, first: int, content: bytes) -> None:
        """A packed part."""
        self._journal.append(self._key, first, content)


def _first(part: Part) -> tuple[int, int]:
    return part.first, -part.end
