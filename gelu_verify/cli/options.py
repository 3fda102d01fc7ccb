"""Numbers as options take them: plain decimal digits in a range, and an error that names the option."""

from __future__ import annotations

import math
from typing import Any

import click

from ..numbers import LARGEST_SEED, LONGEST_S, MOST_WORKERS, parse_real, parse_whole


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


def _name(param: click.Parameter | None) -> str:
    return param.opts[-1] if param is not None else "the number"


WORKERS = Whole(1, MOST_WORKERS)
SEED = Whole(0, LARGEST_SEED)
SECONDS = Real(0.0, LONGEST_S, above=True)
