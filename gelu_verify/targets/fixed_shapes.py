"""How any number of values is passed to code that takes only arrays of a fixed shape, or with fixed dimensions.

The values fill batches of one shape in their order; the last batch is padded with the first values again, and what they
give there is compared with what they gave before.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod

import numpy as np

from ..errors import UsageError
from ..formats import Format
from .extra_outputs import differences, report

Dimensions = tuple[int | None, ...]  # None: of any size


@dataclass(frozen=True)
class Batches:
    """`count` arrays of `shape`, which hold at least as many values as there are."""

    shape: tuple[int, ...]
    count: int

    @property
    def size(self) -> int:
        """Values in one of them."""
        return prod(self.shape)

    def padded(self, x_bits: np.ndarray) -> np.ndarray:
        """`x_bits`, and its first values again up to the size of all batches; the same array where it fills them."""
        size = self.count * self.size
        return x_bits if x_bits.size == size else np.resize(x_bits, size)


def without_padding(fmt: Format, x_bits: np.ndarray, y_bits: np.ndarray, n: int) -> np.ndarray:
    """The results of the first `n` inputs; those of the others, which are the same inputs again, are compared."""
    got, more = y_bits[:n], y_bits[n:]
    if len(more):
        first = np.resize(got, len(more))
        where = "at index {}", "at index {} of what fills the shape up"
        report(differences(fmt, x_bits[n:], first, more, where))
    return got


def batches_for(dimensions: Dimensions, n: int) -> Batches:
    """The batches that hold `n` values: the first free dimension takes all of them, the other free ones are 1."""
    fixed = prod(size for size in dimensions if size is not None)
    if None not in dimensions:
        return Batches(tuple(size for size in dimensions if size is not None), -(-n // fixed))
    first = dimensions.index(None)
    rows = -(-n // fixed)
    return Batches(tuple((rows if axis == first else 1) if s is None else s for axis, s in enumerate(dimensions)), 1)


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
