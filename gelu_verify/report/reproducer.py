"""A program of a library alone for what a run found: written, run, and compared with what the run has."""

from __future__ import annotations

import ast
import importlib.metadata
import math
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..formats import Format, get_format
from ..records.parts import FindingRecord, Witness
from ..records.result import Record
from ..targets import program_of
from ..targets.expressions import value_text

SECONDS = 300.0  # for all programs that are tried, most of which they import
_LONG = 1000  # values of a call, where one alone shows nothing: every place of a vector, and a remainder
_INPUTS = 10
_ABOVE = 4.0  # ULP: what is listed of a part of x is above it, and what is called right is not
_LONGEST = 200  # characters of what a program printed
_LENGTH = re.compile(r"calls? of ([\d,]+)")


@dataclass(frozen=True)
class ShownInput:
    """An input, and what was returned for it; `why`: the check or the part of x that it is of."""

    x_bits: str
    got_bits: str
    want_bits: str
    why: str


@dataclass(frozen=True)
class Reproducer:
    """A program of the library alone for an input.

    `printed`: the last line that it printed, None where it was not run; `shows`: that this is what the run found;
    `ran_with`: the versions of what it imports, which may not be those of the run.
    """

    program: str
    input: ShownInput
    printed: str | None = None
    shows: bool = False
    ran_with: str = ""


def shown_inputs(record: Record) -> list[ShownInput]:
    """Of defects, the largest error, of each part of x and of losses; each input once."""
    failed = [record.findings[name] for name in record.failed_checks if name in record.findings]
    of = {
        severity: [_shown(each, each.detail) for each in failed if each.severity == severity]
        for severity in ("defect", "loss")
    }
    parts = [part for part in record.regions or () if part.max_ulp is not None and part.max_ulp > _ABOVE]
    found = [*of["defect"], _shown(record.witness, "largest error")]
    found += [*(_shown(part.witness, f"worst of {part.region}") for part in parts), *of["loss"]]
    once: dict[str, ShownInput] = {}
    for each in found:
        if each is not None:
            once.setdefault(each.x_bits, each)
    return list(once.values())[:_INPUTS]


def _shown(found: FindingRecord | Witness | None, why: str) -> ShownInput | None:
    if found is None or not found.x_bits or not found.got_bits or not found.want_bits:
        return None
    return ShownInput(found.x_bits, found.got_bits, found.want_bits, why)


def first_program(record: Record, inputs: Sequence[ShownInput]) -> Reproducer | None:
    """The program of the first input, not run; None where there is none."""
    return next(_programs(record, inputs), None)


def reproduced(
    record: Record, inputs: Sequence[ShownInput], switches: Mapping[str, str], seconds: float = SECONDS
) -> Reproducer | None:
    """The first program that prints what the run found, or else the first of all, as they printed it here.

    Parameters
    ----------
    switches : environment variables that limit the library to the instruction-set level of the result
    """
    tried, until = None, time.monotonic() + seconds
    for each in _programs(record, inputs, switches):
        done = _run(each.program, until - time.monotonic())
        fmt = get_format(record.dtype)
        shows = done.ended and any(_is(fmt, word, int(each.input.got_bits, 16)) for word in done.last_line.split())
        found = Reproducer(each.program, each.input, done.last_line, shows, _versions(each.program))
        if shows:
            return found
        tried = tried or found
        if not done.ended or time.monotonic() > until:  # neither would the others
            break
    return tried


def _programs(
    record: Record, inputs: Sequence[ShownInput], switches: Mapping[str, str] | None = None
) -> Iterator[Reproducer]:
    """Of each input alone, then in a call of many, and in calls of the lengths that the run names."""
    for each in inputs:
        where = [each.why, *(other.where for other in record.beside or () if other.x_bits == each.x_bits)]
        named = (int(text.replace(",", "")) for words in where for text in _LENGTH.findall(words))
        for n in dict.fromkeys((1, _LONG, *named)):
            program = program_of(record.family, record.expression, record.dtype, int(each.x_bits, 16), n)
            if program:
                yield Reproducer(_limited(program, switches or {}), each)


def _limited(program: str, switches: Mapping[str, str]) -> str:
    """The program with environment variables, which are read when a library is loaded."""
    lines = [f'os.environ["{name}"] = "{value}"\n' for name, value in switches.items()]
    return f"import os\n\n{''.join(lines)}\n{program}" if lines else program


# ---- running -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Done:
    last_line: str  # of what it printed, or of its error
    ended: bool  # without an error, and in time


def _run(program: str, seconds: float) -> _Done:
    """Run a program in a folder of its own; whatever it started ends with it."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdout", "stderr")]
        with streams[0].open("wb") as out, streams[1].open("wb") as err:
            child = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", program],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip
            try:
                code = child.wait(max(seconds, 1))
            except subprocess.TimeoutExpired:
                return _Done(f"nothing within {seconds:.0f} seconds", False)
            finally:
                if child.returncode is None:  # it, and what it started
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        if code < 0:
            return _Done(f"nothing, and died of {signal.Signals(-code).name}", False)
        return _Done(_last_line(streams[bool(code)]), code == 0)


def _last_line(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - 4096, 0))
        lines = file.read().decode(errors="replace").split("\n")
    line = next((line.strip() for line in reversed(lines) if line.strip()), "nothing")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def _is(fmt: Format, word: str, got: int) -> bool:
    """Whether a word is the float that was returned: exactly, not only after rounding."""
    try:
        value = float(word)
    except ValueError:
        return False
    if math.isnan(value):
        return fmt.is_nan(got)
    return not fmt.is_nan(got) and value == as_float(fmt, got) and (math.copysign(1, value) < 0) == fmt.is_negative(got)


def as_float(fmt: Format, bits: int) -> float:
    """The value, which is one of float64 in every format."""
    return math.ldexp(*fmt.dyadic(bits)) if fmt.is_finite(bits) else float(fmt.hex_float(bits))


def _imports(program: str) -> list[ast.Import | ast.ImportFrom]:
    return [node for node in ast.parse(program).body if isinstance(node, ast.Import | ast.ImportFrom)]


def _versions(program: str) -> str:
    """ "torch 2.13.0, Python 3.12.1": the distributions that a program imports."""
    nodes = _imports(program)
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    modules = dict.fromkeys(name.partition(".")[0] for name in names)
    owners = importlib.metadata.packages_distributions()
    distributions = dict.fromkeys(name for module in modules for name in owners.get(module, ()))
    found = [f"{name} {importlib.metadata.version(name)}" for name in distributions]
    return ", ".join([*found, f"Python {platform.python_version()}"])


# ---- a script that keeps an eye on it ---------------------------------------------------------------


def check_script(record: Record, found: Reproducer, title: str) -> str:
    """A script whose exit code says whether a library still returns what is wrong."""
    fmt, want = get_format(record.dtype), int(found.input.want_bits, 16)
    imported = max(node.end_lineno or 0 for node in _imports(found.program))
    lines = found.program.rstrip().split("\n")[:-1]  # without what prints y
    head, body = filter(None, lines[:imported]), "\n".join(lines[imported:]).strip()
    right = 'float("nan")' if fmt.is_nan(want) else value_text(fmt, want)
    wrong = "value == value" if fmt.is_nan(want) else "value != right"
    if fmt.is_finite(want):
        wrong = f"not abs(value - right) <= {_nearness(fmt, want, int(found.input.got_bits, 16))}"
    return f'''"""{_docstring(title)}

The exit code is 0 while this is so, 1 when it is not any more, 3 where a library is not installed.
"""

import sys

try:
{chr(10).join(f"    {line}" for line in head)}
except ImportError as missing:
    print(missing)
    sys.exit(3)

{body}
right = {right}
wrong = [value for value in map(float, y) if {wrong}]
print("still wrong:" if wrong else "not wrong:", *dict.fromkeys(str(float(each)) for each in y), "- right:", right)
sys.exit(0 if wrong else 1)
'''


def _nearness(fmt: Format, want: int, got: int) -> str:
    """How far a right result may be: 4 ULP, or half of what was found where that is less."""
    ulp = float(fmt.ulp(fmt.fraction(want)))
    found = abs(as_float(fmt, got) - as_float(fmt, want)) if fmt.is_finite(got) else math.inf
    return repr(min(_ABOVE * ulp, found / 2)).replace("e+", "e")


def _docstring(title: str) -> str:
    """What may stand in one."""
    line = " ".join(title.split()).replace("\\", "\\\\").replace('"""', "'''").rstrip('"')
    return textwrap.fill(line, 110, break_on_hyphens=False)
