"""In which dtypes a target computes, found by calling it with four ordinary numbers; what was left out, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

import numpy as np

from ..errors import TargetFailure
from ..formats import get_format
from .base import Target

AnyTarget = TypeVar("AnyTarget", bound=Target)
Taken = bool | tuple[int, ...]  # whether it takes a dtype, or what it returned in that dtype


@dataclasses.dataclass(frozen=True)
class _Search:
    """What is looked for, and what was left out: why, by path, or by path and dtype where another one is returned."""

    function: str | None = None
    dtype: str | None = None
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)


_search: ContextVar[_Search | None] = ContextVar("search", default=None)


@contextmanager
def looking_for(function: str | None, dtype: str | None) -> Iterator[dict[str, str]]:
    """While paths that compute another function, and other dtypes, need not be tried.

    Yields what is left out: "path dtype" -> reason, of paths that take a dtype but return another one, and "path" ->
    reason; full when all were probed.
    """
    search = _Search(function, dtype)
    token = _search.set(search)
    try:
        yield search.left_out
    finally:
        _search.reset(token)


def probed(targets: Iterable[AnyTarget], takes: Callable[[AnyTarget, str], Taken]) -> Iterator[AnyTarget]:
    """Each target with those of its dtypes that it takes, and what it returned; those that take none are left out."""
    search = _search.get() or _Search()
    for target in targets:
        if search.function not in (None, target.function):
            continue
        tried = [dtype for dtype in target.dtypes if search.dtype in (None, dtype)]
        taken = {dtype: result for dtype in tried if (result := takes(target, dtype))}
        if taken:
            outputs = {dtype: result for dtype, result in taken.items() if isinstance(result, tuple)}
            yield dataclasses.replace(target, dtypes=tuple(taken), probe_outputs=outputs)


def outputs_of_probe(target: Target, dtype: str) -> tuple[int, ...]:
    """What it returns for `ordinary_numbers` in that dtype; nothing where it fails.

    A library that does not take a dtype raises. One that takes it and returns another one promotes it: that is said.
    """
    try:
        return tuple(target.evaluate(dtype, ordinary_numbers(dtype)).tolist())
    except TargetFailure as failure:
        if failure.kind == "dtype":
            leave_out(f"{target.name} {dtype}", f"not tested: {failure}")
        return ()


def leave_out(what: str, reason: str) -> None:
    """Have it said why a path, or "path dtype", is not there."""
    if search := _search.get():
        search.left_out[what] = reason


def ordinary_numbers(dtype: str) -> np.ndarray:
    """Bits of -1, 1/2, 1 and 2: what any implementation that takes the dtype at all computes."""
    fmt = get_format(dtype)
    return np.array([fmt.parse(text) for text in ("-1", "0.5", "1", "2")], fmt.uint)
