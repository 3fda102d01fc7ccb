"""How any number of values is handed to code that takes a fixed shape, or a shape with fixed dimensions, only.

The values fill pieces of one shape in their order; the last piece is filled up with ordinary numbers, whose results are
not looked at.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod

import numpy as np

from ..errors import UsageError
from ._library import ordinary_numbers

Dimensions = tuple[int | None, ...]  # None: of any size


@dataclass(frozen=True)
class Pieces:
    """`count` arrays of `shape`, which hold at least as many values as there are."""

    shape: tuple[int, ...]
    count: int

    @property
    def size(self) -> int:
        """Values in one piece."""
        return prod(self.shape)

    def filled(self, dtype: str, x_bits: np.ndarray) -> np.ndarray:
        """`x_bits`, with ordinary numbers behind them up to the size of all pieces; the same array where it is full."""
        missing = self.count * self.size - x_bits.size
        if not missing:
            return x_bits
        return np.concatenate([x_bits, np.resize(ordinary_numbers(dtype), missing)])


def pieces_of(dimensions: Dimensions, n: int) -> Pieces:
    """The pieces that hold `n` values: the first free dimension takes all of them, the other free ones are 1."""
    fixed = prod(size for size in dimensions if size is not None)
    if None not in dimensions:
        return Pieces(tuple(size for size in dimensions if size is not None), -(-n // fixed))
    first = dimensions.index(None)
    rows = -(-n // fixed)
    return Pieces(tuple((rows if axis == first else 1) if s is None else s for axis, s in enumerate(dimensions)), 1)


def parsed_shape(text: str) -> Dimensions:
    """The dimensions that `--shape` names: "(n, 16)", "(1, n, 1, 3)", "(16,)", "()"; n is of any size."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        tree = None
    parts = tree.elts if isinstance(tree, ast.Tuple) else [tree]
    dimensions = [_dimension(part) for part in parts]
    if 0 in dimensions or dimensions.count(None) > 1:
        raise UsageError(
            f"--shape {text!r} cannot be used (accepted: '(n, 16)', '(1, n, 1, 3)', '(16,)', '()'; n once)"
        )
    return tuple(dimensions)


def _dimension(part: ast.AST | None) -> int | None:
    """0 for what is no dimension."""
    if isinstance(part, ast.Name) and part.id == "n":
        return None
    if isinstance(part, ast.Constant) and type(part.value) is int and part.value > 0:
        return part.value
    return 0
