"""Grids, blocks and arguments of a launch that no C compiler makes: numbers, and what C's arithmetic makes of n.

A declaration does not say how a kernel is launched. Its kernel is tried in one launch after another until one works.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from ...errors import UsageError
from ...formats import DTYPES, get_format
from ...ptx.ir import ParsedFunction
from ..declarations.parameters import CParameter, Declared
from ..declarations.prototype import ADDED_TO, Prototype, own_name, separated
from ..declarations.ptx_kernels import has_vectors, reads_what_it_writes
from ..parameter_names import counts_rows

_WORDS = {"NULL": "0", "nullptr": "0", "false": "0", "true": "1"}
_SUFFIX = re.compile(r"(?<=[\d.])(?:[uUlL]+|[fF])\b")
_CAST = re.compile(r"\(\s*(?!(?:n|bytes)\b)[A-Za-z_][\w: ]*\)(?=\s*[\w(-])")
_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
              ast.LShift: operator.lshift, ast.RShift: operator.rshift}  # fmt: skip


_THREADS = (256, 128, 512, 1024, 64, 32)  # of a block
_SHARED = 48 << 10  # bytes that a block can have without further ado


def is_launched(call: str | None) -> bool:
    """Whether a `--call` says the launch."""
    return "<<<" in (call or "")


def launches_of(
    said: Prototype, symbol: str, declared: Declared, undeclared: ParsedFunction | None = None
) -> Iterator[Prototype]:
    """The same call in other launches: with a thread for each value, with shared memory, with a row of 256 values for
    each block, with one block; and in other forms of a kernel of which nothing is declared."""
    for line in chain(_lines(said, declared), _forms(said, declared, undeclared) if undeclared else ()):
        with suppress(UsageError):
            yield Prototype.parsed(line, symbol, declared)


def _forms(said: Prototype, declared: Declared, kernel: ParsedFunction) -> Iterator[str]:
    """With whole groups of values where it moves several at once, with n as the number of groups or bytes, and with
    what it adds to as zero: only what the kernel shows, so that no fault is hidden."""
    given = [f"{each.name}={each.value}" if each.value else each.name for each in said.parameters]
    if said.contract.demands:
        if found := re.search(r"/ (\d+),(.*)", declared.launch):  # a block for each row of so many values
            yield f"f<<<n / {found[1]},{found[2]}>>>({', '.join(given)}); multiple_of={found[1]}"
        return
    if has_vectors(kernel):
        yield f"f<<<{said.launch}>>>({', '.join(given)}); multiple_of=16"
    if "n" in given:
        at = given.index("n")
        own = own_name(declared.parameters[at].name, at)
        for lanes in (2, 4, 8):
            grid = re.sub(r"\bn\b", f"n / {lanes}", said.launch)
            groups = ", ".join([*given[:at], f"{own}=n / {lanes}", *given[at + 1 :]])
            yield f"f<<<{grid}>>>({groups}); multiple_of={lanes}"
        yield f"f<<<{said.launch}>>>({', '.join([*given[:at], f'{own}=bytes', *given[at + 1 :]])})"
    if "y" in given and reads_what_it_writes(kernel):
        yield f"f<<<{said.launch}>>>({', '.join(f'y={ADDED_TO}' if each == 'y' else each for each in given)})"


def _lines(said: Prototype, declared: Declared) -> Iterator[str]:
    also = said.text.rpartition(")")[2]
    given = [f"{each.name}={each.value}" if each.value else each.name for each in said.parameters]
    for threads in _THREADS:
        yield f"f<<<(n + {threads - 1}) / {threads}, {threads}>>>({', '.join(given)}){also}"
    grid, block, *_ = separated(said.launch)
    yield f"f<<<{grid},{block}, {_SHARED}>>>({', '.join(given)}){also}"
    rows = [
        f"{own_name(own.name, i)}=256" if each.name == "n" else f"{own.name}=n / 256" if counts_rows(own.name) else text
        for i, (each, own, text) in enumerate(zip(said.parameters, declared.parameters, given, strict=True))
    ]
    yield f"f<<<n / 256, 256>>>({', '.join(rows)}); multiple_of=256"
    yield f"f<<<1, 256>>>({', '.join(given)}){also}"


def launch_of(prototype: Prototype, n: int, itemsize: int) -> tuple[int, int, int]:
    """Grid, block and bytes of shared memory for n values."""
    parts = [_number(prototype, part, n, itemsize) for part in separated(prototype.launch)]
    if len(parts) not in (2, 3, 4) or not all(isinstance(each, int) for each in parts):
        raise UsageError(f"<<<{prototype.launch}>>> is not a grid and a block (accepted: <<<(n + 255) / 256, 256>>>)")
    grid, block, *more = map(int, parts)
    if grid < 1 or block < 1:
        raise UsageError(
            f"<<<{prototype.launch}>>> has no threads for {n} values (multiple_of=... behind it, or (n + 255) / 256)"
        )
    return grid, block, more[0] if more else 0


def packed(prototype: Prototype, parameter: CParameter, size: int, n: int, itemsize: int) -> Any:
    """An argument as the kernel takes it."""
    text = {"n": "n", "bytes": "bytes"}.get(parameter.name) or parameter.value
    if text == "{}" and size in (1, 2, 4, 8):  # of a class: all its members are 0, or it has none
        return np.zeros((), f"u{size}")[()]
    value = _number(prototype, text, n, itemsize)
    if not parameter.pointers and parameter.dtype in DTYPES and get_format(str(parameter.dtype)).width == 8 * size:
        fmt = get_format(str(parameter.dtype))
        return fmt.uint.type(fmt.parse(repr(value)))
    if size not in (1, 2, 4, 8) or not isinstance(value, int):
        raise UsageError(
            f"--call: {parameter.name}={parameter.value} cannot be given to a parameter of {size} bytes on ptx"
        )
    return np.uint64(value % (1 << 64)).astype(f"u{size}")


def _number(prototype: Prototype, text: str, n: int, itemsize: int) -> int | float:
    """What an expression of C is for n values."""
    plain = _CAST.sub("", _SUFFIX.sub("", text.strip()))
    try:
        return _evaluated(ast.parse(plain, mode="eval").body, {"n": n, "bytes": n * itemsize})
    except (SyntaxError, KeyError, ValueError, ZeroDivisionError):
        raise UsageError(
            f"--call: {text.strip()!r} is not known without the compiler of the host, which --device ptx does not use "
            "(accepted: numbers, n, bytes, NULL, true, false, + - * / % << >>)"
        ) from None


def _evaluated(node: ast.expr, names: dict[str, int]) -> int | float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.Name):
        return int(_WORDS[node.id]) if node.id in _WORDS else names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand, names)
    if isinstance(node, ast.BinOp):
        left, right = _evaluated(node.left, names), _evaluated(node.right, names)
        if isinstance(node.op, ast.Div):
            return left // right if isinstance(left, int) and isinstance(right, int) else left / right
        value: int | float = _OPERATORS[type(node.op)](left, right)
        return value
    raise ValueError(ast.dump(node))
