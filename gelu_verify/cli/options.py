"""What options take: numbers in plain decimal digits, sizes, K=V; and an error that names the option."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError, one_of
from ..parsing import LARGEST_SEED, LONGEST_S, MOST_WORKERS, parse_real, parse_whole

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic before click 8.5
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTkmgt]?)(?:[iI]?[bB])?")
_DURATION = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([smhd]?)")
_SECONDS_OF = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_OPTION_OF = {"ranges": "--bits", "isolate": "--in-process"}  # where it is not named as the argument of a request


class Whole(ParamType):
    """An integer from `low` to `high`."""

    name = "whole number"

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return parse_whole(_name(param), value, self._low, self._high) if isinstance(value, str) else value


class Seed(Whole):
    """A seed; `today`: the date as a number, so that a scheduled run has other inputs every day, and says which."""

    name = "seed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "today":
            return int(datetime.now(UTC).strftime("%Y%m%d"))
        return super().convert(value, param, ctx)


class Real(ParamType):
    """A finite number from `low` to `high`; `above`: not `low` itself."""

    name = "number"

    def __init__(self, low: float = 0.0, high: float = math.inf, *, above: bool = False) -> None:
        self._low, self._high, self._above = low, high, above

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        return parse_real(_name(param), value, self._low, self._high, above=self._above)


class Duration(ParamType):
    """A time in seconds: 90, 90s, 10m, 1.5h."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        match = _DURATION.fullmatch(value)
        seconds = float(match[1]) * _SECONDS_OF[match[2]] if match else 0.0
        if not 0 < seconds <= LONGEST_S:
            wrong = "is not a time" if match is None else "is out of range"
            raise UsageError(f"{_name(param)} {value[:40]!r} {wrong} (accepted: 90s, 10m, 8h; up to {LONGEST_S:g} s)")
        return seconds


class Memory(ParamType):
    """A size of memory in bytes, as `memory_bytes` reads it."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return memory_bytes(value) if isinstance(value, str) else value


class Size(ParamType):
    """A number of bytes, as `byte_count` reads it."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return byte_count(_name(param), value) if isinstance(value, str) else value


class Keyword(ParamType):
    """K=V as a pair; V is a Python literal where it reads as one, else text."""

    name = "K=V"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from ..measure.request import literal_or_text

        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"{_name(param)} {value!r} cannot be used (accepted: name=value)")
        return name, literal_or_text(text)


class Number(ParamType):
    """NAME=NUMBER as a pair of the name and the text: an exact number of a function's parameter."""

    name = "NAME=NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name.isidentifier():
            raise UsageError(f"{_name(param)} {value!r} cannot be used (accepted: mu=0.5, sigma=1/3, beta=0x1.8p+0)")
        return name, text


class Reason(ParamType):
    """CHECK=REASON as a pair."""

    name = "CHECK=REASON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from ..checks import CHECKS

        if not isinstance(value, str):
            return value
        check, _, reason = value.partition("=")
        if check not in CHECKS:
            raise one_of("check", check, list(CHECKS))
        if not reason.strip():
            raise UsageError(f"{_name(param)} {value!r} has no reason (accepted: CHECK=REASON)")
        return check, reason


class Names(ParamType):
    """Names, separated by commas, as a tuple."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        found = tuple(dict.fromkeys(part.strip() for part in value.split(",")))
        if "" in found:
            raise UsageError(f"{_name(param)} {value!r} has an empty name (accepted: one or more, with commas between)")
        return found


class Span(ParamType):
    """A:B as a pair of whole numbers, A below B."""

    name = "A:B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        first, colon, end = value.partition(":")
        if not (colon and first.isdecimal() and end.isdecimal() and int(first) < int(end)):
            raise UsageError(f"{_name(param)} {value!r} cannot be used (accepted: A:B, A below B, such as 0:1024)")
        return int(first), int(end)


def byte_count(name: str, text: str) -> int:
    """65536, 512M, 1.5GiB as a number of bytes."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise UsageError(f"{name}: {text[:40]!r} is not a size (accepted: 65536, 512M, 8GiB)")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def memory_bytes(text: str) -> int:
    """512M, 8G, 1.5GiB: bytes, from 1 MiB to what this machine has."""
    from ..isolation.limits import LEAST_MEMORY, memory_of_machine

    match = _SIZE.fullmatch(text)
    nbytes = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if not LEAST_MEMORY <= nbytes <= memory_of_machine():
        wrong = "is not a size" if not match else "is too little" if nbytes < LEAST_MEMORY else "is more than there is"
        accepted = f"512M, 8G; from 1M to the {memory_of_machine() >> 20}M of this machine"
        raise UsageError(f"--memory-limit {text[:40]!r} {wrong} (accepted: {accepted})")
    return nbytes


@contextmanager
def naming_options() -> Iterator[None]:
    """An argument of a request that cannot be used, named as the option that it was typed as."""
    from ..measure.request import ArgumentError

    try:
        yield
    except ArgumentError as error:
        option = _OPTION_OF.get(error.argument, f"--{error.argument}")
        raise UsageError(f"{option}: {error.reason}") from None


def _name(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "the number"


WORKERS = Whole(1, MOST_WORKERS)
SEED = Seed(0, LARGEST_SEED)
MIN_GRADES = ("correctly_rounded", "faithful", "accurate", "accurate_range", "absolute", "coarse")  # all but the worst
LENGTH = Whole(1, 1 << 26)  # `plans.LONGEST`
SECONDS = Real(0.0, LONGEST_S, above=True)
