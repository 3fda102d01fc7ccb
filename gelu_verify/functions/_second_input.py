"""A function of x and a second exact number, of which the default changes nothing: made from the function of x."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from .base import Function
from .parameters import Parameter


def with_second(
    name: str,
    formula: str,
    function: Function,
    second: Parameter,
    with_value: Callable[[Function, Fraction], Function],
    gradient_of: str | None = None,
) -> Function:
    """The entry of `name`; a building block, as no target is told by its results from the function of x."""
    landmarks = {label: text for label, text in function.landmarks.items() if label == "root" or "inflection" in label}
    entry = replace(
        function,
        name=name,
        formula=f"{formula}, {second.name} = {second.default}",
        general=formula,
        group="block",
        gradient_of=gradient_of,
        approximates=None,
        constants=(),
        landmarks=landmarks,
        inner=function.name,
    )
    return replace(entry, parameters=(second,), with_values=lambda values: with_value(entry, values[second.name]))
