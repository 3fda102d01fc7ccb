"""What every kind is: how its targets are written, which options it takes, and what makes targets of a name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ...calling import OPTIONS, Calling, Option
from ...errors import UsageError
from ...formats import DTYPES
from ...functions import FUNCTIONS, second_of
from ..base import Target
from ..names import MARKS, claimed_by
from ..switches import Switches


@dataclass(frozen=True, kw_only=True)
class Asked(Calling):
    """What a user asked for besides the name; `function` and `dtype` are None where they were not given."""

    function: str | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of thing that can be named.

    `syntax` is how its names are written and what each means; `pattern` matches those names, with the groups that
    `load` reads; `options` are the fields of `Calling` that it takes, of those that not all do; a `general` kind is
    asked after all others; `switches` limit it to an instruction-set level; `calls_libraries`: those of all families
    do, as it may call any; `devices`: where it can be asked to run.
    """

    name: str
    syntax: Mapping[str, str]
    pattern: re.Pattern[str]
    load: Callable[[str, re.Match[str], Asked], Sequence[Target]]
    options: frozenset[str] = frozenset()
    general: bool = False
    switches: Switches | None = None
    calls_libraries: bool = False
    devices: tuple[str, ...] = ("cpu",)

    def takes(self, option: Option) -> bool:
        """Whether its targets can be called with that option."""
        return option.taken == "code" or option.name in self.options


def when_named(module: str) -> Callable[[str, re.Match[str], Asked], Sequence[Target]]:
    """`load` of a module beside the kinds, imported with the first name of its kind: every process of an implementation
    knows all kinds, and most need one."""

    def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
        found: Sequence[Target] = import_module(f"{__package__}.{module}").load(name, match, asked)
        return found

    return load


def of_a_file(suffixes: str, *parts: str) -> re.Pattern[str]:
    """Names of a file with one of `suffixes` (a regular expression), and what may follow it: "file.c:symbol:abi"."""
    return re.compile(
        rf"(?P<file>[^:]+\.(?:{suffixes}))" + "".join(rf"(?::(?P<{part}>(?:[^:]|::)*))?" for part in parts)
    )


def misfit(asked: Calling, chosen: Iterable[Kind | None], every: Iterable[Kind]) -> UsageError | None:
    """Why an option that was given is of no use: nothing that was named takes it."""
    named = [kind for kind in chosen if kind is not None]
    for name in asked.call_options:
        option = OPTIONS[name]
        if option.taken != "any" and not any(kind.takes(option) for kind in named):
            takers = [kind.name for kind in every if kind.takes(option)]
            article = "an" if takers[0][0] in "AEIOU" else "a"
            return UsageError(f"{option.typed} is for {article} {' or '.join(takers)}, and none was named")
    return None


def second_claimed(symbol: str, asked: Asked) -> str:
    """The second input of the function that the user or the symbol says; empty for none."""
    function = asked.function or claimed_by(symbol)[0]
    return second_of(function) if function and function in FUNCTIONS else ""


def function_of(symbol: str, asked: Asked, gives_gradient: bool = False, second: str | None = "") -> str:
    """What is claimed: by the user, else by the symbol, else gelu; the gradient of that where it is called as one.

    `second`: the second input that it is called with; None: not known yet. UsageError where the symbol claims what is
    no function here, or a function of two numbers: called with one, it would be judged as if the other were the
    default; and where it is called with a second input that the function does not have.
    """
    function = asked.function or _claimed(symbol, gives_gradient)
    has = second_of(function)
    if second and second != has:
        having = ", ".join(each for each in FUNCTIONS if second_of(each) == second and not FUNCTIONS[each].gradient_of)
        what = f"{function} has no second input {second} (accepted by --function: {having})"
        raise UsageError(f"{symbol!r} is called with {second}, and {what}")
    if has and second == "" and asked.function is None:
        what = f"a function of x and {has}: --call 'f(x, {has})' says how it takes {has}, or --function"
        raise UsageError(f"{symbol!r} says {function} by its name, {what} '{function}[{has}=...]' which {has} is in it")
    return function


def _claimed(symbol: str, gives_gradient: bool) -> str:
    claimed = claimed_by(symbol)[0] or "gelu"
    gradient = f"{claimed}_grad"
    claimed = gradient if gives_gradient and gradient in FUNCTIONS else claimed
    if claimed not in FUNCTIONS:
        known = ", ".join(sorted(name for name in FUNCTIONS if not FUNCTIONS[name].gradient_of))
        what = "which are several functions" if " and " in claimed else "which is no function here"
        raise UsageError(f"{symbol!r} says {claimed} by its name, {what}: --function says which it is ({known})")
    return claimed


def dtype_of(name: str, symbol: str, asked: Asked) -> str:
    """The one dtype of a foreign function: that of its symbol, else the user's; UsageError without both."""
    dtype = claimed_by(symbol)[1] or asked.dtype
    if dtype is None:
        marks = ", ".join(f"_{marks[0]}" for marks in MARKS.values())
        or_else = f", or end its name in {marks}" if symbol else ""
        raise UsageError(f"nothing says which dtype {name} computes in: give --dtype ({', '.join(DTYPES)}){or_else}")
    return dtype


def existing(path: str) -> Path:
    """The file that was named, as an absolute path."""
    found = Path(path).expanduser()
    if not found.exists():
        raise UsageError(f"no such file: {path}")
    if not found.is_file():
        raise UsageError(f"{path} is a folder, not a file")
    return found.resolve()


def hash_of(*paths: Path) -> str:
    """`sha256:` and twelve digits of the files' contents."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while part := file.read(1 << 24):
                digest.update(part)
    return f"sha256:{digest.hexdigest()[:12]}"
