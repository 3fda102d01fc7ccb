"""What a call takes beside x and y: the gradient that comes into a backward pass (ones, but where a check asks for
others), a second input, or one array of x and that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from ..formats import Format, get_format
from ..work.packing import text_of_array
from .base import Target

_this_thread = threading.local()


@contextmanager
def incoming_gradient(values: list[float]) -> Iterator[None]:
    """While backward passes of this thread get these values, in a cycle."""
    _this_thread.values, _this_thread.is_used = values, False
    try:
        yield
    finally:
        del _this_thread.values


def is_given() -> bool:
    """Whether a check gives them in this thread."""
    return hasattr(_this_thread, "values")


def bits(fmt: Format, n: int) -> np.ndarray:
    """Of n of them."""
    asked = np.array([fmt.round(Fraction(value)) for value in _asked()], fmt.uint)
    return np.resize(asked, n)


def beside(target: Target, what: str, dtype: str, x_bits: np.ndarray) -> np.ndarray:
    """Bits of "dy", of the second input ("g", "b"), or of x and that one after the other ("xg", "gx")."""
    if what == "dy":
        return bits(get_format(dtype), x_bits.size)
    both = {"x": x_bits, target.second: target.second_bits(dtype, x_bits.size)}
    return np.concatenate([both[name] for name in what])


def scalar() -> float:
    """The one of a call with one number."""
    return _asked()[0]


def scaled(ones: Any) -> Any:
    """An array of any library with ones, times the value that all have; where they differ it stays as it is."""
    if len(getattr(_this_thread, "values", [1.0])) > 1:
        return ones
    (value,) = _asked()
    return ones if value == 1 else ones * value


def _asked() -> list[float]:
    _this_thread.is_used = True
    values: list[float] = getattr(_this_thread, "values", [1.0])
    return values


def outputs(target: Target, dtype: str, x_bits: list[int], gradients: list[list[float]]) -> list[str | None]:
    """Where the target lives: its outputs for each incoming gradient, as text; None where it did not ask for that."""
    found: list[str | None] = []
    for values in gradients:
        with incoming_gradient(values):
            got, _ = target.timed(dtype, np.array(x_bits, get_format(dtype).uint))
            found.append(text_of_array(got) if _this_thread.is_used else None)
    return found
