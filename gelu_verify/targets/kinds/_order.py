"""Two pointers: which is the output, and whether they may be the same, by what a declaration in a source says of them.

Where it has no const, the names say which is the output, or the user is asked; where there is no declaration at all,
one call shows it.
"""

from __future__ import annotations

import re

import numpy as np

from ...errors import UsageError
from ...formats import get_format
from ._prototype import RESTRICTED, CParameter, parameters_of

EITHER = "either"  # what is declared as (T *, T *, n)
_INPUT = re.compile(r"(?:^|_)(?:x|xs|in|inp|inputs?|src|source|from|arg)\d*(?:_|$)", re.IGNORECASE)
_OUTPUT = re.compile(r"(?:^|_)(?:y|ys|out|outp|outputs?|dst|dest|res|results?|to)\d*(?:_|$)", re.IGNORECASE)
_KINDS = _INPUT, _OUTPUT
_TRIED = 256  # values in each array of that call
_RESTRICT = re.compile(r"restrict|no_?alias", re.IGNORECASE)  # also in the name of a macro
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def check_order(source: str, file: str, symbol: str, ctype: str) -> None:
    """UsageError, with the `--call` to be given, unless the names say that the input comes first."""
    unnamed = (CParameter(f"{ctype} *", ""), CParameter(f"{ctype} *", ""), CParameter("size_t", ""))
    found = _declared(source, symbol) or unnamed
    (x_first, x_second), (y_first, y_second) = ([bool(kind.search(p.name)) for p in found[:2]] for kind in _KINDS)
    forward, reverse = x_first or y_second, y_first or x_second
    if forward and not reverse:
        return
    in_order, reversed_ = (_line(found, roles) for roles in (("x", "y", "n"), ("y", "x", "n")))
    if reverse and not forward:
        names = " and ".join(repr(each.name) for each in found[:2])
        raise UsageError(
            f"{symbol!r} in {file} has no const, and by their names {names} the output comes first: "
            f"--call {reversed_!r} says so"
        )
    raise UsageError(
        f"{symbol!r} in {file} has no const, and its names do not say which pointer is the output: "
        f"give --call {in_order!r}, or --call {reversed_!r}"
    )


def why_apart(source: str, symbol: str) -> str:
    """Why input and output of `symbol` cannot be the same memory, by its declarations; empty where they can."""
    plain = symbol.rpartition("::")[2].partition("<")[0]
    found = re.findall(rf"\b{re.escape(plain)}\s*\(([^()]*\*[^()]*)\)", _COMMENT.sub(" ", source))
    if not found:
        return "its source does not show how its pointers are declared"
    return RESTRICTED if any(map(_RESTRICT.search, found)) else ""


def _declared(source: str, symbol: str) -> tuple[CParameter, ...] | None:
    """The three parameters of its declaration; None where no text of the file has it, as of a macro."""
    plain = symbol.rpartition("::")[2].partition("<")[0]
    text = _COMMENT.sub(" ", source)
    for found in re.finditer(rf"\b{re.escape(plain)}\s*\(([^()]*)\)\s*[{{;]", text):
        parameters = parameters_of(found[1])
        if parameters is not None and len(parameters) == 3:
            return parameters
    return None


def _line(parameters: tuple[CParameter, ...], roles: tuple[str, ...]) -> str:
    """The declaration with the names that say what each parameter is."""
    types = (each.type.replace("*", " * ").split() for each in parameters)
    words = (" ".join([*each, role]).replace("* ", "*") for each, role in zip(types, roles, strict=True))
    return f"void f({', '.join(words)})"


def reversed_line(ctype: str) -> str:
    """How (out, in, n) is declared."""
    return f"void f({ctype} *y, const {ctype} *x, size_t n)"


def check_written(shown: str, address: int, dtype: str, ctype: str) -> None:
    """UsageError, with the `--call` to be given, where a function writes to its first array and not to its second: it
    is (out, in, n). It is called once, in a process of its own; where it does not return, nothing is known."""
    from .. import _trampoline

    fmt = get_format(dtype)
    # from 1 and from -2 on, a bit apart: no array is what any of these functions makes of the other
    firsts = (fmt.one, fmt.one << 1 & fmt.infinity | fmt.sign_mask)
    values = np.concatenate([np.arange(_TRIED, dtype=fmt.uint) + fmt.uint.type(first) for first in firsts])
    if _trampoline.written(address, values.tobytes(), values.itemsize) == 1:
        raise UsageError(
            f"{shown} writes to its first array and not to its second: the output comes first there; "
            f"--call {reversed_line(ctype)!r} says so"
        )
