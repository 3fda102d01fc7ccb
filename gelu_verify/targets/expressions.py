"""What users of a library write: an expression of x, and a program that needs nothing of ours."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..formats import Format

Program = Callable[[str, str, str, int], str]  # (expression, dtype, value of all x, how many) -> source text


def evaluating(expression: str, names: Mapping[str, Any], second: str = "") -> Callable[..., Any]:
    """The function of x, and of a second input, that an expression is; modules of the library have these names."""
    function: Callable[..., Any] = eval(f"lambda {f'x, {second}' if second else 'x'}: {expression}", dict(names))
    return function


def is_plain(expression: str) -> bool:
    """Whether it is one function or method of the library on x alone: no formula of several, which somebody writes."""
    tree = _parsed(expression)
    if not isinstance(tree, ast.Call):
        return False
    named = tree.func
    while isinstance(named, ast.Attribute | ast.Subscript):
        named = named.value
    arguments = [*tree.args, *(each.value for each in tree.keywords)]
    return isinstance(named, ast.Name) and all(
        isinstance(each, ast.Constant) or (isinstance(each, ast.Name) and each.id == "x") for each in arguments
    )


def is_formula(expression: str) -> bool:
    """Whether it computes with results of the library: what somebody writes with its functions, and none of them."""
    tree = _parsed(expression)
    found = ast.walk(tree) if tree else ()
    return any(isinstance(each, ast.BinOp | ast.Compare) and _has_name(each, "x") for each in found)


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> ast.expr | None:
    """None where it is no expression: a stored run may say anything."""
    try:
        return ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _has_name(tree: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))


def python_program(
    imports: str,
    array: str,
    further: Mapping[str, str] | None = None,
    before: Mapping[str, str] | None = None,
    values: str = "y",
) -> Program:
    """Programs of a library of arrays; `array` is text with `{n}`, `{value}` and `{dtype}`.

    `further`: what follows the array where the expression has a word; `before`: what goes before it in a dtype;
    `values`: y as what has numbers of Python, or such as become those.
    """

    def program(expression: str, dtype: str, value: str, n: int) -> str:
        x = array.format(n=n, value=value, dtype=dtype)
        x += "".join(text for word, text in (further or {}).items() if word in expression)
        first = f"{(before or {})[dtype]}\n" if dtype in (before or {}) else ""
        body = f"{first}x = {x}\ny = {expression}\n{printing(n, values)}\n"
        return with_imports(imports, body, dtype)

    return program


def with_imports(imports: str, body: str, dtype: str) -> str:
    """A program that imports what it names, and ml_dtypes where NumPy needs it for bfloat16."""

    def is_needed(line: str) -> bool:
        module = line.removeprefix("import ")
        return module == line or module in body or (module == "ml_dtypes" and dtype == "bfloat16")

    return "\n".join([*filter(is_needed, imports.split("\n")), "", body])


def printing(n: int, values: str = "y") -> str:
    """What shows y: its only value, or which values there are, each once (all NaNs are the same, both zeros not)."""
    if n > 1:
        return f"print(*dict.fromkeys(str(float(each)) for each in {values}))"
    return f"print(float({values}[0]))"


def value_text(fmt: Format, bits: int) -> str:
    """A float as a Python program writes it, exactly."""
    sign = "-" if fmt.is_negative(bits) else ""
    if not fmt.is_finite(bits):
        return f'float("{"nan" if fmt.is_nan(bits) else f"{sign}inf"}")'
    return f"{sign}{float(abs(fmt.fraction(bits)))!r}".replace("e+", "e")
