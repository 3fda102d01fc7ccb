"""Where the digits go: what the rounding of each single operation costs the result, to first order.

The error of a node counts as (derivative of the result by that node) times (what its rounding lost), in units of
u(y), the spacing of the floats at the exact result. Derivatives are taken in float64 at the rounded values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats import Format, get_format, is_finite, is_negative, spacing, to_float64
from ..truth.values import judge
from .evaluation import Arithmetic, Values, constant_error, evaluate, to_bits
from .expression import Node, nodes
from .operations import BLOCKS, OPERATIONS

SMALLEST = 2.0**-960  # unit of the seed: adjoints then stay inside float64 where results are subnormal


@dataclass(frozen=True)
class Share:
    """One operation's part: signed error in ULP, and the amplification |node * f'(node) / f|, at each input."""

    node: Node | None  # None: the rounding of the result to a narrower dtype
    error: np.ndarray
    amplification: np.ndarray


def shares(
    root: Node, dtype: str, x_bits: np.ndarray, arithmetic: Arithmetic, want: np.ndarray, unit: np.ndarray
) -> list[Share]:
    """The part of each operation that rounds, in the order of the computation.

    `arithmetic` has correctly rounded building blocks; `want` is the result and `unit` u(y) at each input, float64.
    """
    got, found = evaluate(root, dtype, x_bits, arithmetic)
    fmt = get_format(arithmetic.working)
    with np.errstate(all="ignore"):
        wide = {node: value.astype(np.float64) for node, value in found.items()}
        seed = np.maximum(unit, SMALLEST)
        scale, adjoints = seed / unit, _adjoints(root, wide, 1 / seed)
        result, size = to_float64(get_format(dtype), got), np.maximum(np.abs(want), unit)
        parts = []
        for node in nodes(root):
            lost = _lost(node, found, wide, fmt, arithmetic)
            if lost is not None:
                grown = np.abs(wide[node] * adjoints[node] * seed / size)
                parts.append(Share(node, _finite(adjoints[node] * lost * scale), grown))
        if dtype != arithmetic.working:
            parts.append(Share(None, _finite((result - wide[root]) / unit), np.ones_like(unit)))
        return parts


def _adjoints(root: Node, wide: Values, seed: np.ndarray) -> Values:
    """Derivative of the result by each node, times `seed`."""
    adjoints = {node: np.zeros_like(seed) for node in wide}
    adjoints[root] = seed
    for node in reversed(nodes(root)):
        arguments = [wide[each] for each in node.arguments]
        for argument, partial in zip(node.arguments, _partials(node, wide[node], arguments), strict=True):
            adjoints[argument] = adjoints[argument] + adjoints[node] * partial
    return adjoints


def _partials(node: Node, value: np.ndarray, arguments: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    if not arguments:
        return ()
    if node.operation in BLOCKS:
        return (BLOCKS[node.operation].derivative(value, arguments[0]),)
    return OPERATIONS[node.operation].partials(value, *arguments)


def _lost(node: Node, found: Values, wide: Values, fmt: Format, arithmetic: Arithmetic) -> np.ndarray | None:
    """Rounded value less the exact one of the same arguments; None where nothing is ever lost."""
    if node.constant is not None:
        error = constant_error(node.constant, fmt, arithmetic.stored.get(node.constant.text))
        return np.full(wide[node].shape, error) if error else None
    if node.operation in BLOCKS:
        return _lost_in_block(node, found, wide, fmt)
    lost = OPERATIONS[node.operation].lost if node.arguments else None
    if lost is None:
        return None
    s, e = lost(*(wide[each] for each in node.arguments))
    difference: np.ndarray = (wide[node] - s) - e
    return difference


def _lost_in_block(node: Node, found: Values, wide: Values, fmt: Format) -> np.ndarray:
    """By the judge; where a block has become 1, by what it is short of: the judge's own error would be amplified."""
    argument, value = (to_bits(fmt, found[each]) for each in (node.arguments[0], node))
    error = judge(node.operation, fmt.name, argument, value).error
    lost: np.ndarray = np.nan_to_num(error, nan=0.0, posinf=0.0, neginf=0.0) * unit_of(fmt, value, error)
    short_of_one = BLOCKS[node.operation].short_of_one
    if short_of_one is None:
        return lost
    one = np.flatnonzero(np.abs(wide[node]) == 1)
    lost[one] = np.copysign(short_of_one(wide[node.arguments[0]][one]), wide[node][one])
    return lost


def unit_of(fmt: Format, want_bits: np.ndarray, error: np.ndarray) -> np.ndarray:
    """u(y) in float64, from correctly rounded bits and their error: half where y lies below the power of two."""
    unit, power = spacing(fmt, want_bits)
    beyond = np.where(is_negative(fmt, want_bits), error < 0, error > 0)
    return np.where(power & beyond & is_finite(fmt, want_bits), unit / 2, unit)


def _finite(error: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(error), error, 0.0)
