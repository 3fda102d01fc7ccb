"""The files and lines that a command leaves for CI."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..atomic_files import replace_file
from ..errors import UsageError
from .cases import Case
from .github import annotation_lines
from .junit import junit
from .sarif import sarif
from .summary import LIMIT, summary


@dataclass(frozen=True)
class CiOutputs:
    """What was asked for.

    Parameters
    ----------
    title : "gelu-verify gate"
    junit, sarif : files to write, whose folders are made
    github : whether to print annotations, and to write the step summary where there is a file for it
    """

    title: str
    junit: Path | None = None
    sarif: Path | None = None
    github: bool = False

    def remove_earlier(self) -> None:
        """Files of an earlier call: what is killed before it writes them must not seem to have passed.

        Raises
        ------
        UsageError : a file is there that no such command wrote, or both are one
        """
        if self.junit and self.sarif and self.junit.resolve() == self.sarif.resolve():
            raise UsageError(f"{self.junit}: JUnit XML and SARIF would be one file")
        for path, what, mark in ((self.junit, "JUnit XML", b"<testsuite"), (self.sarif, "SARIF", b'"runs"')):
            with suppress(OSError):  # said when it is written
                if path and path.is_file():
                    content = path.read_bytes()
                    if content and mark not in content:
                        raise UsageError(f"{path} is there, and is no {what}: it is not replaced")
                    if not path.is_symlink():
                        path.unlink(missing_ok=True)

    def write(self, cases: Sequence[Case], exit_code: int, say: Callable[[str], object]) -> list[str]:
        """Write everything, annotations by `say`; returns what could not be written, and why."""
        problems = []
        for path, write in self._files(cases, exit_code):
            try:
                write()
            except OSError as error:
                problems.append(f"cannot write {path}: {error.strerror or error}")
        if self.github:
            for line in annotation_lines(self.title, cases):
                say(line)
        return problems

    def _files(self, cases: Sequence[Case], exit_code: int) -> Iterator[tuple[Path, Callable[[], None]]]:
        if self.junit is not None:
            yield self.junit, partial(_write, self.junit, junit(self.title, cases))
        if self.sarif is not None:
            yield self.sarif, partial(_write, self.sarif, sarif(self.title, cases, exit_code))
        if self.github and (place := os.environ.get("GITHUB_STEP_SUMMARY")):
            yield Path(place), partial(_append_summary, Path(place), self.title, cases)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)


def _append_summary(path: Path, title: str, cases: Sequence[Case]) -> None:
    """After what earlier commands of the step left there: the limit is one of the whole file."""
    there = path.stat().st_size if path.is_file() else 0
    with path.open("ab") as file:
        file.write(summary(title, cases, LIMIT - there).encode())
