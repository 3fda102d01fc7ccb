"""Two pointers of a function without a declaration: one call shows which is the output."""

from __future__ import annotations

import numpy as np

from ...errors import UsageError
from ...formats import get_format

_TRIED = 256  # values in each array of that call


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
