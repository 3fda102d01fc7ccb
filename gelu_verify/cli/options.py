"""Numbers as options take them: plain decimal digits in a range, and an error that names the option."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from ..errors import UsageError
from ..parsing import LARGEST_SEED, LONGEST_S, MOST_WORKERS, parse_real, parse_whole

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Whole(click.ParamType):
    """An integer from `low` to `high`."""

    name = "whole number"

    def __init__(self, low: int, high: int) -> None:
        self._low, self._high = low, high

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return parse_whole(_name(param), value, self._low, self._high) if isinstance(value, str) else value


class Real(click.ParamType):
    """A finite number from `low` to `high`; `above`: not `low` itself."""

    name = "number"

    def __init__(self, low: float = 0.0, high: float = math.inf, *, above: bool = False) -> None:
        self._low, self._high, self._above = low, high, above

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if not isinstance(value, str):
            return value
        return parse_real(_name(param), value, self._low, self._high, above=self._above)


class Memory(click.ParamType):
    """A size of memory, as `memory_bytes` reads it; its text is kept."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        memory_bytes(value)
        return value


def memory_bytes(text: str) -> int:
    """512M, 8G, 1.5GiB: bytes, from 1 MiB to what this machine has."""
    from ..isolation.limits import LEAST_MEMORY, memory_of_machine

    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?([KMGTkmgt]?)(?:[iI]?[bB])?", text)
    nbytes = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if not LEAST_MEMORY <= nbytes <= memory_of_machine():
        wrong = "is not a size" if not match else "is too little" if nbytes < LEAST_MEMORY else "is more than there is"
        accepted = f"512M, 8G; from 1M to the {memory_of_machine() >> 20}M of this machine"
        raise UsageError(f"--memory-limit {text[:40]!r} {wrong} (accepted: {accepted})")
    return nbytes


def _name(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "the number"


WORKERS = Whole(1, MOST_WORKERS)
SEED = Whole(0, LARGEST_SEED)
LENGTH = Whole(1, 1 << 26)  # `plans.LONGEST`
SECONDS = Real(0.0, LONGEST_S, above=True)
