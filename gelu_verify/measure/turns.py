"""Targets that are called one at a time, whichever thread asks: a user's function need not bear anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from threading import Lock
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..targets import Target
from ..targets.base import T


@dataclass(frozen=True, kw_only=True)
class TakingTurns(Target):
    """A target of this process that shares `turn` with others, unless it is safe in threads."""

    inner: Target
    turn: Lock

    @classmethod
    def of(cls, inner: Target, turn: Lock) -> TakingTurns:
        return cls(inner=inner, turn=turn, **{each.name: getattr(inner, each.name) for each in fields(Target)})

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        return self.inner.load(dtype, x_bits)

    def call(self, loaded: Any) -> Any:
        return self.inner.call(loaded)

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return self.inner.store(dtype, loaded, result)

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
