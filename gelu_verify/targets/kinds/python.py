"""A Python callable: "module:function" or "path/file.py:function", eager or compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..base import Target
from ..callables import load_callable
from .base import Asked, Kind, function_of


def load(name: str, match: re.Match[str], asked: Asked) -> Sequence[Target]:
    function = function_of(re.split("[:.]", name)[-1], asked)
    return [load_callable(name, function, asked.dtype, asked.kwargs, asked.array, asked.compile)]


KIND = Kind(
    name="Python callable",
    syntax={
        "module:function": "a function of one array (--array, --kwarg, --compile)",
        "path/file.py:function": "the same, from a file",
    },
    # a dotted name; a .py file, also without its function, which load asks for; a folder, which load refuses
    pattern=re.compile(r"[\w.]*:.*|.*\.py(:[^:]*)?|.*/[^./:]*:[^:]*"),
    load=load,
    options=frozenset({"kwargs", "array", "compile"}),
    general=True,
)
