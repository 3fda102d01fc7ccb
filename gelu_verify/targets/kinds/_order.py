"""A function without a declaration: one call in each of some forms shows how it is called (src/targets/order.h)."""

from __future__ import annotations

import numpy as np

from ...errors import UsageError
from ...formats import get_format

_TRIED = 256  # values in each array of those calls
_ARRAYS, _COUNT_FIRST, _COUNT_BY_ADDRESS, _STRIDES, _VALUES, _HALVES = range(6)  # as there
_FIRST, _SECOND, _ENDED = 1, 2, 4
_COUNTED = {
    _COUNT_FIRST: "void f(size_t n, {0}, {1})",
    _COUNT_BY_ADDRESS: "void f({0}, {1}, const int64_t *n)",
    _STRIDES: "void f(size_t n, {0}, size_t step=1, {1}, size_t by=1)",
}
_HALF = {"float16": "_Float16 f(_Float16 x)", "bfloat16": "__bf16 f(__bf16 x)"}


def reversed_line(ctype: str) -> str:
    """How (out, in, n) is declared."""
    return f"void f({ctype} *y, const {ctype} *x, size_t n)"


def check_arrays(shown: str, address: int, dtype: str, ctype: str) -> None:
    """UsageError, with how it is called, where `f(x, y, n)` writes to its first array alone, or to none and a call in
    another form gives results. Where none does, what it does in the first form is a result."""
    found = _tried(address, _ARRAYS, dtype)
    if found == _FIRST:
        raise UsageError(
            f"{shown} writes to its first array and not to its second: the output comes first there; "
            f"--call {reversed_line(ctype)!r} says so"
        )
    if found in (0, _ENDED) and (form := _form(shown, address, dtype, ctype)):
        what = "ends its process" if found else "writes to neither array"
        raise UsageError(
            f"{shown} {what}, called as void f(const {ctype} *x, {ctype} *y, size_t n): give {form}, or another --call"
        )


def check_value(shown: str, address: int, dtype: str) -> None:
    """UsageError where a function of one value takes 16 bits as a number with a fraction, not as a whole one."""
    if dtype in _HALF and _tried(address, _VALUES, dtype) != _SECOND and _tried(address, _HALVES, dtype) == _SECOND:
        raise UsageError(f"{shown} takes no uint16_t: give --call {_HALF[dtype]!r} in place of :scalar")


def _form(shown: str, address: int, dtype: str, ctype: str) -> str:
    """The first form in which a call gives results; empty where none does."""
    if _tried(address, _VALUES, dtype) == _SECOND:
        return f"{shown}:scalar"
    if dtype in _HALF and _tried(address, _HALVES, dtype) == _SECOND:
        return f"--call {_HALF[dtype]!r}"
    for form, line in _COUNTED.items():  # where the first array alone is written, it may be in place
        if _tried(address, form, dtype) == _SECOND:
            return f"--call {line.format(f'const {ctype} *x', f'{ctype} *y')!r}"
    return ""


def _tried(address: int, form: int, dtype: str) -> int:
    """What a call in a process of its own writes to."""
    from .. import _trampoline

    fmt = get_format(dtype)
    # from 1 and from -2 on, a bit apart: no array is what any of these functions makes of the other
    firsts = (fmt.one, fmt.one << 1 & fmt.infinity | fmt.sign_mask)
    values = np.array([np.arange(_TRIED, dtype=fmt.uint) + fmt.uint.type(first) for first in firsts])
    values = values if form == _ARRAYS else values.T  # both signs: a relu is its input elsewhere
    return _trampoline.written(address, form, values.tobytes(), values.itemsize)
