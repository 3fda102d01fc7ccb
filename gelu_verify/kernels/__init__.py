"""The kernels that we ship to be tested: GELUs as the world codes them, compiled from src/kernels/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from ..errors import one_of
from ..formats import get_format
from . import _cpu


@dataclass(frozen=True)
class Kernel:
    """One compiled kernel in one dtype.

    `name` is `<function>_<form>`, with `-f32` where a 16-bit dtype is computed in float32 and rounded
    once; `note` the formula; `version` a hash of the C code that was compiled.
    """

    name: str
    function: str
    form: str
    dtype: str
    note: str
    version: str


def _compiled() -> tuple[Kernel, ...]:
    versions = _cpu.versions()
    return tuple(
        Kernel(name, function, form, dtype, note, versions[PurePath(source).name])
        for name, function, form, dtype, note, source in _cpu.kernels()
    )


KERNELS = _compiled()
_INDEX = {(kernel.name, kernel.dtype): index for index, kernel in enumerate(KERNELS)}


def run(name: str, dtype: str, x_bits: np.ndarray, out_bits: np.ndarray) -> None:
    """Evaluate a kernel on bits, into preallocated bits; the GIL is released.

    Parameters
    ----------
    name, dtype : str
        A kernel of `KERNELS`.
    x_bits, out_bits : np.ndarray
        1-D, contiguous, of the dtype's unsigned integers and of equal length, not overlapping.

    Examples
    --------
    >>> x_bits = np.array([0xC0D00000], np.uint32)  # -6.5
    >>> y_bits = np.empty_like(x_bits)
    >>> run("gelu_erf", "float32", x_bits, y_bits)
    >>> hex(y_bits[0])  # 1 + erf cancelled to nothing
    '0x80000000'
    """
    try:
        index = _INDEX[name, dtype]
    except KeyError:
        raise one_of("kernel", f"{name} in {dtype}", [f"{k.name} in {k.dtype}" for k in KERNELS]) from None
    for array in (x_bits, out_bits):
        if array.dtype != get_format(dtype).uint:
            raise one_of("array dtype for " + dtype, array.dtype.name, [get_format(dtype).uint.name])
    _cpu.run(index, x_bits, out_bits)
