"""Targets that are called one at a time, whichever thread asks: a user's function need not bear anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..targets.base import T
from ..targets.wrapped import Wrapped


@dataclass(frozen=True, kw_only=True)
class TakingTurns(Wrapped):
    """A target of this process that shares `turn` with others, unless it is safe in threads."""

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
