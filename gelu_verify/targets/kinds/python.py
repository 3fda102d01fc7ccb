"""A Python callable: "module:function" or "path/file.py:function", eager or compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..base import Target
from ..call_line import CallLine
from ..names import claimed_by, symbol_of
from ..python_callables import load_callable
from .base import Asked, Kind, function_of


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    symbol, said = symbol_of(name), CallLine.parsed(asked.call) if asked.call else None
    gives_gradient, second = (said.gives_gradient, said.second) if said else (False, None)
    function = function_of(symbol, asked, gives_gradient, second)
    target = load_callable(name, function, asked.dtype or claimed_by(symbol)[1], asked)
    gives_gradient = bool(target.line and target.line.gives_gradient)  # also by the names of its parameters
    return [replace(target, function=function_of(symbol, asked, gives_gradient, target.second))]


KIND = Kind(
    name="Python callable",
    syntax={
        "module:function": "a function of one array; --call, --array, --shape and --kwarg say what else it takes",
        "path/file.py:function": "the same, from a file",
    },
    # a dotted name; a .py file, also without its function, which load asks for; a folder, which load refuses
    pattern=re.compile(r"[\w.]*:.*|.*\.py(:[^:]*)?|.*/[^./:]*:[^:]*"),
    load=load,
    options=frozenset({"kwargs", "array", "compile", "call", "shape", "thread_safe"}),
    general=True,
    calls_libraries=True,
    devices=("cpu", "cuda"),
)
