"""Batches drawn and scored. `layout` is (width, precision, emin, emax); bits, values and answers are uint8 arrays."""

import numpy as np

ANSWER_SIZE: int

def draw_within(
    key: int, first: np.ndarray, last: np.ndarray, count: np.ndarray, shift: float, jitter: float, out: np.ndarray
) -> None: ...
def draw_around(
    key: int,
    centre: np.ndarray,
    count: np.ndarray,
    visits: np.ndarray,
    one_in: int,
    scale: float,
    most: int,
    out: np.ndarray,
) -> None: ...
def draw_ties(
    key: int,
    values: np.ndarray,
    centre: np.ndarray,
    count: np.ndarray,
    span: int,
    most: int,
    out: np.ndarray,
) -> None: ...
def score(
    values: np.ndarray,
    layout: tuple[int, int, int, int],
    limits: np.ndarray,
    at_zero: float,
    has_sign: bool,
    x_bits: np.ndarray,
    got_bits: np.ndarray,
    count: np.ndarray,
    answers: np.ndarray,
) -> tuple[tuple[int, int], tuple[int, int], int]: ...
