"""A target whose outputs are all kept: whoever calls it, each is judged in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import TargetFailure
from ..formats import get_format
from .base import T
from .extra_outputs import ExtraOutputs, collecting, differences, pattern
from .wrapped import Wrapped


@dataclass(frozen=True, kw_only=True)
class Recorded(Wrapped):
    """`inner`, of which every output goes to `others`. What a function that is applied calls there is for who applies
    it."""

    others: ExtraOutputs = field(repr=False, compare=False)

    def evaluate(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        with self._listening():
            got = self.inner.evaluate(dtype, x_bits)
        self.others.add_call(x_bits, got, _where(x_bits))
        return got

    def timed(self, dtype: str, x_bits: np.ndarray) -> tuple[np.ndarray, float]:
        with self._listening():
            got, seconds = self.inner.timed(dtype, x_bits)
        self.others.add_call(x_bits, got, _where(x_bits))
        return got, seconds

    def compared(self, dtype: str, x_bits: np.ndarray, usual: np.ndarray) -> None:
        """A call with these inputs where they lie, not with a copy; what is not `usual` is kept with that."""
        try:
            with self._listening():
                got, _ = self.inner.timed(dtype, x_bits)
        except TargetFailure as failure:
            failure.inputs = x_bits.copy() if failure.inputs is None else failure.inputs
            raise
        for each in differences(get_format(dtype), x_bits, usual, got, ("at most indices", _where(x_bits))):
            also = f" (places affected: {pattern(each.at, len(x_bits))})" if len(each.at) > 1 else ""
            self.others.differences.append(each._replace(where=(each.where[0], each.where[1] + also)))

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """While it is called: second outputs that it notices are kept."""
        with collecting() as found:
            try:
                yield
            finally:
                self.others.differences.extend(found)

    def applied(self, calls: int | None, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        with self._listening():
            return self.inner.applied(calls, function, *arguments, **options)

    def applied_on_main_thread(self, function: Callable[..., T], *arguments: Any) -> T | None:
        with self._listening():
            return self.inner.applied_on_main_thread(function, *arguments)

    def noted(self, dtype: str) -> TargetFailure | None:
        return self.inner.noted(dtype)


def _where(x_bits: np.ndarray) -> str:
    return f"at index {{}} in a call of {len(x_bits)}"
