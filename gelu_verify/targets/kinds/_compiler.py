"""Compiling a user's source file into a shared library. What is compiled is never reused by a later run.

What a compiler and a linker read cannot be listed in full: headers, archives, objects, linker scripts, files that the
assembler includes, plugins, the processor that -march=native asks. So nothing is looked up by what went in: every run
compiles, and what came out is the library's version. Only the processes of one target in one run share what was
compiled, so that one that crashed is followed by one with the same code.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ...errors import MissingMeasurement, UsageError
from ...paths import cache_folder
from ._elf import RUNTIME, Elf, NotElf, elf_or_none

DEFAULT_FLAGS = "-O2"
BUILDS = "GELU_VERIFY_BUILDS"  # variable: the folder of what this run has compiled
_of_this_run = os.environ.pop(BUILDS, "")  # for this process alone, not for those that it starts
# What the linker reads is listed; the user's own symbols come first; no hash of debug information is written.
_LISTED = [word for option in ("--trace", "-Bsymbolic", "--build-id=none") for word in ("-Xlinker", option)]
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)  # gcc, clang, nvcc; "undefined reference" has none, see below
_LINKER_ERROR = re.compile(r"undefined reference|undefined symbol|cannot find -l")
_SYSTEM = (Path("/lib"), Path("/usr/lib"), Path("/lib64"), Path("/usr/lib64"))


@dataclass(frozen=True)
class Built:
    """A compiled library and what it was made with; `linked` are the shared libraries that the linker read."""

    library: str
    compiler: str
    flags: str
    linked: Sequence[str]

    @property
    def how(self) -> str:
        return f"compiled by {self.compiler} with {self.flags or 'no flags'}"

    def version(self, content: str) -> str:
        """Compiler, flags, and the hash of what was loaded."""
        return f"{self.compiler}, {self.flags or 'no flags'}, {content}"


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
        file_name: str,
        text: str,
        shown: str,
        flags: str | None,
        fixed: Sequence[str],
        libraries: Sequence[str] = (),
    ) -> Built:
        """The shared library of `text`, which includes the user's file, as one run compiles it once.

        `flags` are `DEFAULT_FLAGS` where they are None; `fixed` are the options that make a shared library; `libraries`
        stand after all others.

        Raises
        ------
        UsageError
            It does not compile: the compiler's first error, and the command that shows all of them.
        """
        flags = DEFAULT_FLAGS if flags is None else flags
        folder = _builds()
        asked = json.dumps([self.command, self.version, flags, fixed, libraries, file_name, text])
        record = folder / f"{_hash(asked)}.json"
        if _of_this_run and record.exists():
            return Built(**json.loads(record.read_text(encoding="utf-8")))
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            source, made = Path(scratch) / file_name, Path(scratch) / "made.so"
            source.write_text(text, encoding="utf-8")
            linked = self._compiled(source, made, shown, [*fixed, *_LISTED], [*words_of(flags), *libraries])
            try:
                place = folder / f"{_hash(' '.join([Elf(made).loaded_content, flags, *self.command]))}.so"
            except (NotElf, FileNotFoundError):
                raise UsageError(f"{shown}: the compiler makes no shared library with --cflags {flags!r}") from None
            os.replace(made, place)
            built = Built(str(place), self.version, flags, [str(path) for path in linked])
            if _of_this_run:
                source.write_text(json.dumps(asdict(built)), encoding="utf-8")
                os.replace(source, record)  # whole or not at all
        return built

    def preprocessed(
        self, file_name: str, text: str, shown: str, flags: Sequence[str], every: Sequence[str] = ()
    ) -> str:
        """What the compiler's preprocessor makes of `text`, which includes the user's file; UsageError as `library`.

        `every`: the command that shows all errors, where that is not one of this compiler.
        """
        with tempfile.TemporaryDirectory(dir=_builds()) as scratch:
            source = Path(scratch) / file_name
            source.write_text(text, encoding="utf-8")
            command = [*self.command, "-E", *flags, str(source)]
            return self._run(shown, command, every or self._shows_all(shown, flags))

    def _compiled(self, source: Path, made: Path, shown: str, before: list[str], after: list[str]) -> list[Path]:
        """Compile `source` to `made`; the shared libraries that the linker read, which the loader will find."""
        command = [*self.command, *before, str(source), *after]
        linked = self._linked(self._run(shown, [*command, "-o", str(made)], self._shows_all(shown, after)))
        if folders := dict.fromkeys(str(path.parent) for path in linked if not self._finds(path)):
            searched = ["--disable-new-dtags", *(word for folder in folders for word in ("-rpath", folder))]
            command += [part for word in searched for part in ("-Xlinker", word)]  # before LD_LIBRARY_PATH
            self._run(shown, [*command, "-o", str(made)], self._shows_all(shown, after))
        return linked

    def _linked(self, trace: str) -> list[Path]:
        """The shared libraries among the files that the linker read, but for a process's own."""
        files = [Path(line) for line in dict.fromkeys(trace.splitlines())]
        shared = [path.absolute() for path in files if path.is_file() and elf_or_none(path) is not None]
        return [path for path in shared if not self._is_own(path)]

    def _is_own(self, library: Path) -> bool:
        """Whether every process has its own: the C library, the compiler's, a driver that is linked as a stub."""
        return library.parent.name == "stubs" or (bool(RUNTIME.fullmatch(library.name)) and self._finds(library))

    def _finds(self, library: Path) -> bool:
        """Whether it lies where this compiler, or the loader, looks by default."""
        folder = library.resolve().parent
        if folder in _SYSTEM or (folder.parent in _SYSTEM and "linux-gnu" in folder.name):
            return True
        asked = [*self.command, f"-print-file-name={library.name}"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        return os.path.isabs(found) and library.samefile(found)  # else it is the name that was asked for

    def _shows_all(self, shown: str, after: Sequence[str]) -> list[str]:
        """A command that says all that is wrong with the user's own file, with the user's own flags."""
        is_header = Path(shown).suffix in (".h", ".hh", ".hpp", ".hxx")  # which a compiler would precompile
        language = ["-x", "c++" if any("++" in each for each in (*self.command, *after)) else "c"] * is_header
        only = ["-ptx"] if "nvcc" in self.command[0] else ["-shared", "-fPIC"]
        return [*self.command, *only, *language, shown, *(["-x", "none"] * is_header), *after, "-o", os.devnull]

    def _run(self, shown: str, command: list[str], every: Sequence[str]) -> str:
        plain = {**os.environ, "LC_ALL": "C"}  # errors are looked for by English words
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=plain)
        if done.returncode:
            raise UsageError(_why(shown, done.stderr or done.stdout, every))
        return done.stdout


def words_of(flags: str) -> list[str]:
    """The flags as a shell would split them."""
    try:
        return shlex.split(flags)
    except ValueError as error:
        raise UsageError(f"--cflags {flags!r} cannot be split into words: {error}") from None


def _builds() -> Path:
    """Where libraries are put: the run's own folder, or this user's."""
    if not _of_this_run:
        return cache_folder()
    folder = Path(_of_this_run)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _version(command: Sequence[str]) -> str:
    lines = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    release = next((line for line in lines if "release" in line), None)  # of nvcc: its first line has no number
    return (release or (lines or [Path(command[0]).name])[0]).strip()


def _why(shown: str, output: str, every: Sequence[str]) -> str:
    """The first error, how many more there are, and how to see all: by the command `every`."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if _LINKER_ERROR.search(line)] or [line for line in lines if _ERROR.search(line)]
    first = (errors or lines or ["the compiler printed nothing"])[0]
    more = f" (and {len(errors) - 1} more lines)" if len(errors) > 1 else ""
    return f"{shown} does not compile: {first}{more}; to see all: {shlex.join(every)}"
