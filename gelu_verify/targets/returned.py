"""What a callable returns where that is no result: several arrays, its own input, another shape; and the option
with which it is one, found by calling it so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..functions import second_of
from .call_line import CallLine
from .detection import Trial, shape_taken, trial
from .names import claimed_by, symbol_of
from .probing import ordinary_numbers

if TYPE_CHECKING:
    from .callable_target import CallableTarget

_MOST = 8  # parts of one value that are looked at
_DEEP = 2  # values in values


def option_found(target: CallableTarget, tries: Mapping[str, Trial]) -> tuple[str, str] | None:
    """What it returned in each dtype, in words, and the option that makes a result of that; None where it is one in a
    dtype, or where no option does."""
    if any(made.bits and not made.is_input for made in tries.values()):
        return None
    for dtype, made in tries.items():
        if text := next((text for text in _lines(target, made) if _gives_result(target, dtype, text)), None):
            quote = '"' if "'" in text else "'"
            return _in_words(made), f"--call {quote}{text}{quote}"
        if _shape(made) and target.dimensions == (None,) and (text := shape_taken(target, (dtype,))):
            return _in_words(made), f"--shape '{text}'"
        is_open = target.function == "gelu" and not target.line and claimed_by(symbol_of(target.name))[0] is None
        if is_open and _shape(made) == (len(ordinary_numbers(dtype)) // 2,):  # it takes two inputs in one
            return _in_words(made), "what it computes and how, such as --function swiglu --call 'f(packed(x, g))'"
    return None


def _gives_result(target: CallableTarget, dtype: str, text: str) -> bool:
    """Whether what that line returns has the dtype, and is not x as it was."""
    line = CallLine.parsed(text)
    made = trial(replace(target, line=line, second=line.second, if_it_writes=""), dtype)
    return made is not None and bool(made.bits) and made.bits != tuple(ordinary_numbers(dtype).tolist())


def _lines(target: CallableTarget, made: Trial) -> Iterator[str]:
    """Call lines that take a result out of what was returned."""
    text = target.line.text if target.line else "f(x)"
    if ";" in text:
        return
    one = made.result[0][0] if target.arrays.name == "scalar" else made.result[0]
    if one is None or made.is_input:
        yield f"{text}; x"
        return
    if text == "f(x)" and (second := second_of(target.function)):  # it takes both in one
        yield f"f(packed(x, {second}))"
    if isinstance(one, list | tuple) and text == "f(x)":  # it takes several arrays
        yield "f([x])[0]"
    if isinstance(one, Iterator):
        yield from (f"list({text})", f"next({text})")
    if _shape(made):
        yield f"{text}.reshape(-1)"
    level = [(text, one)]
    for _ in range(_DEEP):
        level = [inner for text, value in level for inner in parts(text, value)]
        yield from (text for text, _ in level)


def parts(text: str, value: Any) -> list[tuple[str, Any]]:
    """What a value is made of, and the expressions for that; of an array its rows."""
    found: list[tuple[str, Any]] = []
    with suppress(Exception):  # someone else's class: what it raises, it has no parts
        if hasattr(value, "keys"):  # a dictionary, a table of pandas
            keys = [key for key in islice(value.keys(), _MOST) if isinstance(key, str | int)]
            found = [(f"{text}[{key!r}]", value[key]) for key in keys]
        elif isinstance(value, list | tuple) or getattr(value, "shape", None):
            found = [(f"{text}[{k}]", value[k]) for k in range(min(len(value), _MOST))]
        elif not hasattr(value, "shape"):
            found = [(f"{text}.{name}", each) for name, each in islice(vars(value).items(), _MOST)]
    return found


def _shape(made: Trial) -> tuple[int, ...]:
    """Of an array with dimensions that was returned."""
    return tuple(getattr(made.result[0], "shape", ()))


def _in_words(made: Trial) -> str:
    if made.is_input:
        return "changes its input and returns it"
    if made.result[0] is None:
        return "returns nothing and changes its input"
    if not getattr(getattr(made.result[0], "dtype", None), "isnative", True):
        return f"returns {made.result[0].dtype.str}, whose bytes are in the other order"
    if _shape(made):
        return f"returns shape {_shape(made)} for an input of shape ({len(ordinary_numbers('float32'))},)"
    return f"returns {type(made.result[0]).__name__}"
