"""Would the world's own tests have noticed? The tolerances in use, as rules over outputs.

Each is applied to the worst output of every bucket of a sweep. A test takes some points of its range, here it is
granted the whole range: "not noticed" is certain as far as the sweep saw, "noticed" is the best that it can do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..buckets.table import Table
from ..formats import Format, is_finite, ordinals, to_float64
from ..functions import Function


@dataclass(frozen=True)
class Outputs:
    """Outputs for finite x, by x; values are float64."""

    function: Function
    fmt: Format
    x: np.ndarray
    got: np.ndarray
    want: np.ndarray
    floats: np.ndarray  # between got and want
    width: np.ndarray  # of the interval of x that each stands for, up to its neighbours in the table

    @classmethod
    def of(cls, function: Function, table: Table) -> Outputs:
        """The worst of every bucket, where it is not faithful (no tolerance here rejects a faithful output), and NaN
        for the first input of each that gave inf or NaN."""
        fmt, columns = table.fmt, table.columns
        bits = [columns[f"max_error_{name}"].astype(fmt.uint) for name in ("x", "got", "want")]
        judged = (columns["max_error"] > 1) & is_finite(fmt, bits[0])
        width = _widths(to_float64(fmt, bits[0]))[judged]
        bits = [column[judged] for column in bits]
        floats = np.abs(ordinals(fmt, bits[1]).astype(np.float64) - ordinals(fmt, bits[2]))
        x, got, want = (to_float64(fmt, column) for column in bits)
        lost = to_float64(fmt, columns["nonfinite_x"].astype(fmt.uint)[columns["nonfinite"] > 0])
        nothing, far = np.full(len(lost), np.nan), np.full(len(lost), np.inf)
        parts = ((x, lost), (got, nothing), (want, 0 * lost), (floats, far), (width, far))
        return cls(function, fmt, *(np.concatenate(part) for part in parts))

    def between(self, low: float, high: float) -> Outputs:
        """Those of an interval of x."""
        keep = (self.x >= low) & (self.x <= high)
        parts = (array[keep] for array in (self.x, self.got, self.want, self.floats, self.width))
        return Outputs(self.function, self.fmt, *parts)

    @property
    def difference(self) -> np.ndarray:
        """|got - want|; inf where one is not finite and the other is not the same."""
        with np.errstate(invalid="ignore", over="ignore"):
            away = np.abs(self.got - self.want)
        return np.where(self.got == self.want, 0.0, np.where(np.isnan(away), np.inf, away))

    @property
    def eps(self) -> float:
        return 2.0 ** (1 - self.fmt.precision)


def _widths(x: np.ndarray) -> np.ndarray:
    """Half the distance between the neighbours of each; ascending, NaN and infinities at the ends."""
    finite = np.isfinite(x)
    width = np.zeros(len(x))
    if finite.sum() > 1:
        with np.errstate(over="ignore"):
            width[finite] = np.gradient(x[finite] / 2) * 2
    return width


@dataclass(frozen=True)
class Tolerance:
    """What one project's test accepts; `noticed` says whether it rejects any of these outputs."""

    name: str
    source: str
    low: float
    high: float
    dtypes: tuple[str, ...]
    noticed: Callable[[Outputs], bool]


def _close(limits: Mapping[str, tuple[float, float]]) -> Callable[[Outputs], bool]:
    """|got - want| <= atol + rtol |want|, from (rtol, atol) by dtype."""

    def noticed(outputs: Outputs) -> bool:
        rtol, atol = limits[outputs.fmt.name]
        size = np.where(np.isinf(outputs.want), 0, np.abs(outputs.want))  # only an infinity is close to one
        return bool((outputs.difference > atol + rtol * size).any())

    return noticed


def _benchdnn(outputs: Outputs) -> bool:
    """Relative above 1e-5, absolute below, and absolute wherever 1 + erf or 1 + tanh cancels."""
    is_exact = outputs.function.name.startswith("gelu") and outputs.function.approximates is None
    limit = outputs.eps if outputs.fmt.name != "float32" else 4e-6 if is_exact else 4e-5
    size, away = np.abs(outputs.want), outputs.difference
    with np.errstate(divide="ignore", invalid="ignore"):
        sum_of_two = 2 * (size if outputs.function.gradient_of else np.abs(outputs.want / outputs.x))
        measured = np.where((size > 1e-5) & ~(sum_of_two <= 2.0**-22 / limit), away / size, away)
    return bool((measured > limit).any())


def _xnnpack(outputs: Outputs) -> bool:
    eps, size = outputs.eps, np.abs(outputs.want)
    limit = np.maximum(10 * eps, 5 * eps * size) if outputs.fmt.name == "float32" else 2 * eps + 6 * eps * size
    return bool((outputs.difference > limit).any())


def _nmse(outputs: Outputs) -> bool:
    """Mean square error over mean square; the worst of a bucket stands for the bucket."""
    low, high = UNIFORM
    mean_square = 0.5 if outputs.function.gradient_of else high**3 / 3 / (high - low)
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((outputs.width * outputs.difference**2).sum() > 1e-7 * mean_square * (high - low))


def _floats(limit: int) -> Callable[[Outputs], bool]:
    return lambda outputs: bool(((outputs.floats > limit) & (outputs.difference > 0)).any())


UNIFORM = (-150.0, 150.0)  # inputs of test-backend-ops
TORCH = {"float16": (1e-3, 1e-5), "bfloat16": (0.016, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
ALL = tuple(TORCH)
NARROW = ALL[:3]

TOLERANCES = (
    Tolerance("torch", "assert_close defaults, OpInfo samples in [-9, 9]", -9, 9, ALL, _close(TORCH)),
    Tolerance("jax", "nn_test: rtol 2e-5 on [-12, 5]", -12, 5, ("float32",), _close({"float32": (2e-5, 0)})),
    Tolerance("jax_tanh", "nn_test: atol 1e-3 on [-12, 5]", -12, 5, ("float32",), _close({"float32": (2e-5, 1e-3)})),
    Tolerance("benchdnn", "oneDNN eltwise.cpp: 4e-6 or 4e-5, absolute where sums cancel", -100, 100, NARROW, _benchdnn),
    Tolerance("xnnpack", "10 eps or 5 eps relative; float16 2 eps + 6 eps relative", -10, 10, ALL[::2], _xnnpack),
    Tolerance("ggml", "test-backend-ops: NMSE 1e-7, uniform in [-150, 150]", *UNIFORM, NARROW, _nmse),
    Tolerance("webnn", "WPT gelu: 18 ulp, points in (-1, 1)", -1, 1, ALL[::2], _floats(18)),
    Tolerance("liger", "test_geglu: atol 1.0 (Liger#959)", -10, 10, ("float32",), _close({"float32": (0, 1.0)})),
    Tolerance("aitemplate", "1e-2 (AITemplate#600, flashinfer#3501)", -10, 10, ALL,
              _close(dict.fromkeys(ALL, (1e-2, 1e-2)))),
)  # fmt: skip


def noticed(function: Function, table: Table) -> dict[str, bool]:
    """Name of each tolerance that is used for the dtype -> whether it would have noticed anything."""
    outputs = Outputs.of(function, table)
    inside = {rule.name: outputs.between(rule.low, rule.high) for rule in TOLERANCES if table.fmt.name in rule.dtypes}
    return {rule.name: rule.noticed(inside[rule.name]) for rule in TOLERANCES if rule.name in inside}
