"""Building blocks as a library has them: its own erf, erfc, exp, tanh ... as calls from bits to bits."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..errors import UsageError, one_of
from ..formats import get_format, numpy_dtype
from ..targets import Target, families, find, select
from .evaluation import BlockCall, Private, to_bits
from .expression import BLOCKS, nodes
from .forms import Form

LIBM = "libm"
_IN_LIBM = ("erf", "erfc", "exp", "tanh")
_OURS = "kernels"  # they call the C library, as C programs do


@dataclass(frozen=True)
class Block:
    """What computes a building block: for people, and to be called."""

    title: str
    call: BlockCall | Private


def blocks_of(form: Form, working: str, family: str, named: Mapping[str, str]) -> dict[str, Block]:
    """The form's building blocks as a family of targets has them; one that it does not have is left out.

    Parameters
    ----------
    named : block -> "libm", "exact" (correctly rounded), or the name of a target that computes it
    """
    used = list(dict.fromkeys(node.operation for node in nodes(form.root) if node.operation in BLOCKS))
    privates = {name: Private.of(build) for name, build in form.private.items()}
    inner = [n.operation for p in privates.values() for n in nodes(p.root) if n.operation in BLOCKS]
    for name in named:
        if name not in (*used, *inner):
            raise one_of(f"building block of {form.name}", name, list(dict.fromkeys([*used, *inner])))
    found: dict[str, Block] = {}
    for name in dict.fromkeys([*used, *inner]):
        if name in named:
            block = _named(name, working, named[name])
        elif name in privates:
            block = Block(form.private_text, privates[name])
        else:
            block = _family(name, working, family)
        if block is not None:
            found[name] = block
    return found


def _named(name: str, working: str, by: str) -> Block | None:
    if by == "exact":
        return None
    if by == LIBM:
        block = libm_block(name, working)
        if block is None:
            raise one_of("building block of the C library", name, list(_IN_LIBM))
        return block
    (target, *more), _ = select([by], function=name, dtype=working)
    if more:
        raise UsageError(f"{by!r} matches {1 + len(more)} targets (accepted: the name of one)")
    return _of_target(target, working)


def _family(name: str, working: str, family: str) -> Block | None:
    if family == _OURS:
        return libm_block(name, working)
    if family not in families():  # a user's own code: it may call anything
        return None
    able = [t for t in find([family])[0] if t.function == name and working in t.dtypes]
    plain = [t for t in able if t.name == f"{family}.{name}"] or able
    return _of_target(plain[0], working) if plain else None


def _of_target(target: Target, working: str) -> Block:
    def call(bits: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return target.evaluate(working, np.ascontiguousarray(bits))

    return Block(f"{target.function} of {target.name}", call)


@cache
def libm_block(name: str, working: str) -> Block | None:
    """A function of the C library: of float for the 16-bit dtypes, rounded to them; None where it has none."""
    if name not in _IN_LIBM:
        return None
    fmt, double = get_format(working), working == "float64"
    function, real = _libm(name, double), np.float64 if double else np.float32

    def call(bits: np.ndarray) -> np.ndarray:
        carried = bits.view(numpy_dtype(working)).astype(real)
        unique, place = np.unique(carried, return_inverse=True)
        return to_bits(fmt, function(unique).astype(real)[place])

    return Block(f"{name}{'' if double else 'f'} of the C library", call)


def _libm(name: str, double: bool) -> Callable[[np.ndarray], np.ndarray]:
    found: Any = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name if double else f"{name}f")
    found.restype = ctypes.c_double if double else ctypes.c_float
    found.argtypes = [found.restype]
    of_arrays: Callable[[np.ndarray], np.ndarray] = np.frompyfunc(found, 1, 1)
    return of_arrays
