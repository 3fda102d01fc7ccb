"""A program in any language, over a pipe: "pipe:./mygelu --flag". The protocol is in docs/targets.md."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from time import time

import numpy as np

from ...errors import TargetFailure, UsageError
from ...functions import base_name
from ..base import HostCall, HostTarget, Target
from ..call_line import SECOND
from ..contract import as_demanded
from ..files_read import digest_of, digests, module_files, named_by
from ..names import claimed_by
from ..output_memory import output_like
from ..probing import ordinary_numbers
from ..python_sources import is_local
from ..switches import LIBM
from ._exchange import Exchange
from .base import Asked, Kind, dtype_of, function_of, hash_of

_ADAPTERS = Path(__file__).parents[1] / "adapters"
_HINTS = {  # by what it does with ordinary numbers: it may not read requests as they are sent
    "shape": "stdout is for responses only: as many values as were sent, and their number before them.",
    "hang": "A request is bits, not lines; a response is flushed; more requests follow before stdin ends.",
    "partial write": "More requests follow, until stdin ends.",
    "exit": "A request is bits, not lines, and more follow, until stdin ends.",
}
_WHERE = "docs/targets.md has the protocol, and an example"
_LONGEST = 120.0  # seconds until a first response, which may compile
_IMPORT = re.compile(r"(?:^|[\n;])\s*(?:import|from)\s+([\w.]+)")


@dataclass(frozen=True, kw_only=True)
class ProgramTarget(HostTarget):
    """A program that is started when it is first called, and stays; one that fails is started anew."""

    arguments: tuple[str, ...]
    _running: list[Exchange] = field(default_factory=list, compare=False, repr=False)

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        y_bits = output_like(x_bits)
        return HostCall(self._request(dtype, x_bits, y_bits), x_bits, y_bits, x_bits)

    def _request(self, dtype: str, x_bits: np.ndarray, y_bits: np.ndarray) -> partial[None]:
        """What asks the program, which is started where it is not there."""
        if not (self._running and self._running[0].usable):
            function = base_name(self.function) if self.second else self.function  # it stays while values change
            variables = {
                "GELU_VERIFY_FUNCTION": function,
                "GELU_VERIFY_DTYPE": dtype,
                "GELU_VERIFY_SECOND_INPUT": self.second,
            }
            self._running[:] = [Exchange(self.name, self.arguments, variables, self.second)]
        beside = (self.second_bits(dtype, x_bits.size),) if self.second else ()
        return partial(self._running[0].ask, x_bits, y_bits, *beside)

    def answers(self, seconds: float) -> tuple[int, ...]:
        """What two requests of ordinary numbers return, one after the other. UsageError where it does not read them as
        they are sent, or says that it cannot compute; that a signal ends it is a result."""
        (dtype,) = self.dtypes
        ordinary, found = ordinary_numbers(dtype), list[int]()
        x_bits = as_demanded(ordinary)
        for request in ("first", "second"):
            y_bits = output_like(x_bits)
            try:
                self._request(dtype, x_bits, y_bits)(seconds=seconds)
            except TargetFailure as failure:
                if failure.kind in _HINTS:
                    asked = f"; its {request} request was {len(x_bits)} values of {dtype}. {_HINTS[failure.kind]}"
                    is_ours = any(Path(word).parent == _ADAPTERS for word in self.arguments)  # they read requests
                    raise UsageError(str(failure) if is_ours else f"{failure}{asked} {_WHERE}") from None
                break
            found += y_bits[: len(ordinary)].tolist()
        return tuple(found)


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    try:
        arguments = shlex.split(match["command"])
    except ValueError as error:
        raise UsageError(f"{name!r} cannot be split into words: {error}") from None
    if not arguments:
        raise UsageError(f"{name!r} names no program (accepted: 'pipe:./program --flag')")
    program, words = _program(arguments[0]), [_adapter(word) or word for word in arguments[1:]]
    files = list(_files(words))  # `node gelu.js` is what gelu.js is
    second = _second(name, asked.call) if asked.call else ""
    stem = next((file.stem for file in (program, *files) if claimed_by(file.stem)[0]), "")
    version, home = hash_of(program, *files, *_libraries(program)), files[0].resolve().parent if files else Path.cwd()
    known = named_by([*files, *_modules(program, words), *[program] * is_local(program)], time())
    if also := known - {path.resolve() for path in (program, *files)}:
        version = digest_of({"": version, **digests(also, home)})
    target = ProgramTarget(
        name=name,
        function=function_of(stem, asked, second=second),
        second=second,
        dtypes=(dtype_of(name, stem, asked),),
        note=", ".join(filter(None, ("a program, over a pipe", second and f"called as f(x, {second})"))),
        version=version,
        files=digests(known, home),
        arguments=(str(program), *words),
    )
    answers = target.answers(0.9 * (asked.time_limit or _LONGEST))  # who waits for us has that limit, too
    return [target if second else replace(target, probe_outputs={target.dtypes[0]: answers})]


def _second(name: str, call: str) -> str:
    """The second input that its requests have after x."""
    lines = {f"f(x,{second})": second for second in SECOND} | {"f(x)": ""}
    if (second := lines.get("".join(call.split()))) is None:
        raise UsageError(
            f"--call {call!r} says nothing of {name} (accepted of a program: 'f(x, g)', 'f(x, b)', 'f(x)')"
        )
    return second


def _adapter(word: str) -> str | None:
    """The adapter of the package with that name, where the working folder has no such file."""
    file = _ADAPTERS / word
    return str(file) if file.parent == _ADAPTERS and file.is_file() and not os.path.exists(word) else None


def _files(words: Sequence[str]) -> Iterator[Path]:
    """The files that arguments name, also as --table=FILE."""
    for word in words:
        if name := next(filter(os.path.isfile, (word, word.partition("=")[2])), None):
            yield Path(name)


def _modules(program: Path, words: Sequence[str]) -> Iterator[Path]:
    """What `python -m module` runs, and what `python -c code` imports."""
    if not program.name.startswith("python"):
        return
    names = list[str]()
    for option, word in pairwise(words):
        names += [word, f"{word}.__main__"] if option == "-m" else []
        names += _IMPORT.findall(word) if option == "-c" else []
    for name in names:
        for each in accumulate(name.split("."), "{}.{}".format):
            yield from module_files(each, Path.cwd())


def _libraries(program: Path) -> list[Path]:
    """The shared libraries that a program is started with; none of a script, which names another program."""
    if (ldd := shutil.which("ldd")) is None:
        return []
    listed = subprocess.run([ldd, str(program)], capture_output=True, text=True, check=False).stdout
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", listed)]


def _program(typed: str) -> Path:
    """The file that will be run: a path, or a name that is looked up in PATH."""
    if found := shutil.which(typed):
        return Path(found).absolute()
    if os.path.isfile(typed):
        raise UsageError(f"{typed} is not executable (chmod +x, or name what runs it: 'pipe:node {typed}')")
    raise UsageError(f"no such program: {typed}" + ("" if "/" in typed else " (in PATH; one in this folder is ./NAME)"))


KIND = Kind(
    name="program",
    syntax={
        "pipe:./program --flag": "any language, bits in and bits out on a pipe (docs/targets.md)",
        "pipe:node adapter.js 'x.map(Math.tanh)'": "an expression of JavaScript; or of R, Octave, Go, Rust",
    },
    pattern=re.compile(r"pipe:(?P<command>.*)", re.DOTALL),
    load=load,
    options=frozenset({"call"}),
    switches=LIBM,
)
