"""The native core: arrays of bits in, values and judgements out. `layout` is (width, precision, emin, emax)."""

import numpy as np

VALUE_SIZE: int
DECIDED: int
FAITHFUL: int

def functions() -> tuple[str, ...]: ...
def evaluate(function: str, layout: tuple[int, int, int, int], x_bits: np.ndarray, values: np.ndarray) -> None: ...
def judge(
    values: np.ndarray,
    layout: tuple[int, int, int, int],
    limits: np.ndarray,
    at_zero: float,
    x_bits: np.ndarray,
    got_bits: np.ndarray,
    want: np.ndarray,
    error: np.ndarray,
    flags: np.ndarray,
) -> None: ...
def round_directed(
    values: np.ndarray,
    layout: tuple[int, int, int, int],
    limits: np.ndarray,
    rounding: str,
    x_bits: np.ndarray,
    want: np.ndarray,
    flags: np.ndarray,
) -> None: ...
def mark_near(values: np.ndarray, layout: tuple[int, int, int, int], limit: float, marks: np.ndarray) -> None: ...
def hard_runs(
    function: str, layout: tuple[int, int, int, int], first: int, limit: float, runs: np.ndarray, n: int
) -> int: ...
def search_linear(h: np.ndarray, n: int, pieces: int, limit: int, found: np.ndarray) -> int: ...
def value(function: str, x: float, quick: bool = False) -> tuple[float, float, float, int]: ...
