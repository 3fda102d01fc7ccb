"""What people write with functions of a library for a function of two inputs: `F.silu(x) * g`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..functions import Function, base_name, second_of
from .base import Target
from .expressions import evaluating
from .python_callables import callable_target


def two_input_targets(
    family: str, version: str, expressions: Mapping[str, str], function: Function, names: Mapping[str, Any], **how: Any
) -> Iterator[Target]:
    """The targets of a family for a function, of which `expressions`, by the base of its name, say how it is written;
    `how`: fields of `Calling`, `note`, and `around`, which makes what is called of an expression and its function."""
    note, around = how.pop("note"), how.pop("around", lambda expression, compute: compute)
    base, second = base_name(function.name), second_of(function.name)
    if base in expressions:
        text = expressions[base]
        compute, call = around(text, evaluating(text, names, second)), f"f(x, {second})"
        made = callable_target(compute, function.name, name=f"{family}.{base}", call=call, **how)
        yield replace(made, form=text, note=note, version=version)
