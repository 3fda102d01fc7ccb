"""Targets that are right, and targets with one planted fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gelu_verify.formats import DTYPES, from_ordinals, get_format, is_finite, is_zero, ordinals, to_float64
from gelu_verify.reference import judge, reference_bits
from gelu_verify.targets.base import Target

Answer = Callable[[str, np.ndarray], np.ndarray]
Fault = Callable[[str, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, kw_only=True)
class BitsTarget(Target):
    """A target made of a function from (dtype, bits) to bits."""

    answer: Answer

    def load(self, dtype: str, x_bits: np.ndarray) -> Any:
        return dtype, x_bits

    def call(self, loaded: Any) -> Any:
        return self.answer(*loaded)

    def store(self, dtype: str, loaded: Any, result: Any) -> np.ndarray:
        return result


def target(function: str, answer: Answer, name: str = "test.mutant") -> BitsTarget:
    return BitsTarget(name=name, function=function, dtypes=DTYPES, answer=answer)


def correct(function: str, really: str | None = None) -> BitsTarget:
    """Correctly rounded `really` under the name of `function`."""
    return target(function, lambda dtype, x: reference_bits(really or function, dtype, x))


def faulty(function: str, fault: Fault) -> BitsTarget:
    """Correctly rounded, but for `fault(dtype, x_bits, y_bits) -> y_bits`."""
    return target(function, lambda dtype, x: fault(dtype, x, np.array(reference_bits(function, dtype, x))))


def at(value: float, wrong: str) -> Fault:
    """One input, `value`, gives `wrong`."""
    return where(lambda x: x == value, wrong)


def where(condition: Callable[[np.ndarray], np.ndarray], wrong: str) -> Fault:
    """Where the condition on the value of x holds, the result is `wrong`."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        return np.where(condition(to_float64(fmt, x)), fmt.uint.type(fmt.parse(wrong)), y)

    return fault


def moved(value: float, floats: int) -> Fault:
    """The result at `value` is that many floats off."""

    def fault(dtype: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        hit = to_float64(fmt, x) == value
        return np.where(hit, from_ordinals(fmt, ordinals(fmt, y) + floats), y)

    return fault


def rounded(function: str, way: str) -> BitsTarget:
    """Rounded "up", "down", or one way and the other in turn ("wiggling"): faithful, but not correctly rounded."""

    def answer(dtype: str, x: np.ndarray) -> np.ndarray:
        fmt = get_format(dtype)
        want = reference_bits(function, dtype, x)
        error = judge(function, dtype, x, want).error
        ordinal = ordinals(fmt, want)
        up = {"up": True, "down": False, "wiggling": x % 2 == 0}[way]
        step = np.where(up, error < 0, 0) - np.where(up, 0, error > 0)
        beside = from_ordinals(fmt, ordinal + step)
        across = is_zero(fmt, want) & (step != 0) & (step == np.where(ordinal < 0, 1, -1))
        beside = np.where(
            across, from_ordinals(fmt, np.where(ordinal < 0, 1, -2)), beside
        )  # the other zero lies between
        return np.where(is_finite(fmt, x) & is_finite(fmt, want), beside, want).astype(fmt.uint)

    return target(function, answer)
