"""A program in any language, over a pipe: "pipe:./mygelu --flag". The protocol is in docs/targets.md."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from ...errors import UsageError
from ..base import HostCall, HostTarget, Target
from ..output_memory import output_like
from ..switches import LIBM
from ._exchange import Exchange
from .base import Asked, Kind, claimed_by, dtype_of, function_of, hash_of


@dataclass(frozen=True, kw_only=True)
class ProgramTarget(HostTarget):
    """A program that is started when it is first called, and stays; one that fails is started anew."""

    arguments: tuple[str, ...]
    _running: list[Exchange] = field(default_factory=list, compare=False, repr=False)

    def load(self, dtype: str, x_bits: np.ndarray) -> HostCall:
        if not (self._running and self._running[0].usable):
            variables = {"GELU_VERIFY_FUNCTION": self.function, "GELU_VERIFY_DTYPE": dtype}
            self._running[:] = [Exchange(self.name, self.arguments, variables)]
        y_bits = output_like(x_bits)
        return HostCall(partial(self._running[0].ask, x_bits, y_bits), x_bits, y_bits, x_bits)


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    try:
        arguments = shlex.split(match["command"])
    except ValueError as error:
        raise UsageError(f"{name!r} cannot be split into words: {error}") from None
    if not arguments:
        raise UsageError(f"{name!r} names no program (accepted: 'pipe:./program --flag')")
    program = _program(arguments[0])
    files = [path for path in map(Path, arguments[1:]) if path.is_file()]  # `node gelu.js` is what gelu.js is
    stem = next((file.stem for file in (program, *files) if claimed_by(file.stem)[0]), "")
    target = ProgramTarget(
        name=name,
        function=function_of(stem, asked),
        dtypes=(dtype_of(name, stem, asked),),
        note="a program, over a pipe",
        version=hash_of(program, *files, *_libraries(program)),
        arguments=(str(program), *arguments[1:]),
    )
    return [target]


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
    syntax={"pipe:./program --flag": "any language, bits in and bits out on a pipe (docs/targets.md)"},
    pattern=re.compile(r"pipe:(?P<command>.*)", re.DOTALL),
    load=load,
    switches=LIBM,
)
