"""A target around another one, which is what it is but for what a subclass changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..errors import TargetFailure
from .base import T, Target

if TYPE_CHECKING:
    from .execution_errors import ExecutionErrors


@dataclass(frozen=True, kw_only=True)
class Wrapped(Target):
    """`inner`, called through what a subclass adds: that calls it by its own `timed`, or by this one's parts."""

    inner: Target = field(repr=False)

    @classmethod
    def around(cls, inner: Target, **more: Any) -> Self:
        """`more`: the fields that the subclass adds."""
        return cls(inner=inner, **{each.name: getattr(inner, each.name) for each in fields(Target)} | more)

    @property
    def family(self) -> str:
        return self.inner.family

    def with_second(self, function: str, given: tuple[int, ...] = ()) -> Self:
        inner = self.inner.with_second(function, given)
        return replace(self, function=function, given=given, probe_outputs={}, inner=inner)

    @property
    def environment_words(self) -> list[str]:
        return self.inner.environment_words

    @property
    def why_not_in_place(self) -> str:
        return self.inner.why_not_in_place

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        return self.inner.load(dtype, x_bits)

    def call(self, loaded: Any) -> Any:
        return self.inner.call(loaded)

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return self.inner.store(dtype, loaded, result)

    def execution_errors(self, dtype: str) -> ExecutionErrors | None:
        return self.inner.execution_errors(dtype)

    def input_memory(self, dtype: str, n: int) -> np.ndarray:
        return self.inner.input_memory(dtype, n)

    def fresh(self) -> bool:
        return self.inner.fresh()

    def search_seconds(self, dtype: str) -> float:
        return self.inner.search_seconds(dtype)

    def alone(self) -> AbstractContextManager[Any]:
        return self.inner.alone()


@dataclass(frozen=True, kw_only=True)
class TakingTurns(Wrapped):
    """A target of this process that shares `turn` with others, unless it is safe in threads: a user's function need
    not bear anything else, whichever thread asks."""

    turn: Lock

    def applied(self, calls: int | None, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        with self.turn:
            return self.inner.applied(calls, function, *arguments, **options)

    def noted(self, dtype: str) -> TargetFailure | None:
        return self.inner.noted(dtype)

    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        if self.safe_in_threads:
            return self.inner.timed(dtype, x_bits)
        with self.turn:
            return self.inner.timed(dtype, x_bits)
