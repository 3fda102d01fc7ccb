"""Compiling a user's source file into a shared library, once for each content, compiler and flags."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import MissingMeasurement, UsageError
from ...resources import cache_folder

DEFAULT_FLAGS = "-O2"
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)  # gcc, clang, nvcc; "undefined reference" has none, see below
_LINE_MARKER = re.compile(r'^#(line)? ?\d+ ".*\n', re.MULTILINE)  # where a line is from says nothing of what it is
_LINKER = re.compile(r"undefined reference|undefined symbol|cannot find -l")


@dataclass(frozen=True)
class Compiler:
    """A command that compiles; `version` is the line by which it names itself."""

    command: tuple[str, ...]
    version: str

    @classmethod
    def found(cls, language: str, variable: str, *names: str) -> Compiler:
        """That of the environment `variable`, or the first of `names` that is here.

        MissingMeasurement where there is none: what was asked for cannot be measured on this machine.
        """
        typed = shlex.split(os.environ.get(variable, ""))
        for command in [typed] if typed else [[name] for name in names]:
            if path := shutil.which(command[0]):
                return cls((path, *command[1:]), _version((path, *command[1:])))
        tried = typed[0] if typed else ", ".join(names)
        raise MissingMeasurement(f"no {language} compiler: there is no {tried} here; ${variable} may name another one")

    def library(
        self,
        source: Path,
        shown: str,
        flags: str | None,
        fixed: Sequence[str],
        libraries: Sequence[str] = (),
    ) -> Built:
        """The shared library of `source`, from the cache or compiled now.

        The source with all that it includes names it in the cache. `flags` are `DEFAULT_FLAGS` where they are None;
        `fixed` are the options that make a shared library; `libraries` stand after all others.

        Raises
        ------
        UsageError
            It does not compile: the compiler's first error, and the command that shows all of them.
        """
        flags = DEFAULT_FLAGS if flags is None else flags
        try:
            words = shlex.split(flags)
        except ValueError as error:
            raise UsageError(f"--cflags {flags!r} cannot be split into words: {error}") from None
        preprocessed = _LINE_MARKER.sub("", self._run(shown, [*self.command, "-E", str(source), *words]))
        digest = hashlib.sha256()
        for part in (preprocessed, self.version, *self.command, *words, *fixed, *libraries):
            digest.update(part.encode() + b"\0")
        place = cache_folder() / f"{digest.hexdigest()[:32]}.so"
        if not place.exists():
            with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
                made = Path(scratch) / place.name
                self._run(shown, [*self.command, *fixed, str(source), "-o", str(made), *words, *libraries])
                os.replace(made, place)  # whole or not at all, whoever else compiles the same
        return Built(place, self.version, flags, hashlib.sha256(preprocessed.encode()).hexdigest()[:12])

    def library_around(
        self,
        source: Path,
        text: str,
        shown: str,
        flags: str | None,
        fixed: Sequence[str],
        libraries: Sequence[str] = (),
    ) -> Built:
        """The shared library of `text`, which includes `source`; as `library`."""
        with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
            around = Path(scratch) / f"around_{source.name}"
            around.write_text(text, encoding="utf-8")
            return self.library(around, shown, flags, fixed, libraries)

    def _run(self, shown: str, command: list[str]) -> str:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise UsageError(_why(shown, command, done.stderr or done.stdout))
        return done.stdout


@dataclass(frozen=True)
class Built:
    """A compiled library and what it was made with."""

    library: Path
    compiler: str
    flags: str
    source_hash: str

    @property
    def version(self) -> str:
        return f"{self.compiler}, {self.flags or 'no flags'}, sha256:{self.source_hash}"

    @property
    def how(self) -> str:
        return f"compiled by {self.compiler} with {self.flags or 'no flags'}"


def _version(command: Sequence[str]) -> str:
    lines = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    release = next((line for line in lines if "release" in line), None)  # of nvcc: its first line says no number
    return (release or (lines or [Path(command[0]).name])[0]).strip()


def _why(shown: str, command: list[str], said: str) -> str:
    """The first error, how many more there are, and how to see all."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if _LINKER.search(line)] or [line for line in lines if _ERROR.search(line)]
    first = (errors or lines or ["the compiler says nothing"])[0]
    more = f" (and {len(errors) - 1} more lines)" if len(errors) > 1 else ""
    every = shlex.join([command[0], "-fsyntax-only" if "nvcc" not in command[0] else "-c", shown])
    return f"{shown} does not compile: {first}{more}; to see all: {every}"
