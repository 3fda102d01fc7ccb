"""Kernels that we ship to be tested: GELU as deployed implementations compute it, compiled from src/kernels/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType

import numpy as np

from ..errors import one_of
from ..formats import get_format
from . import _cpu


@dataclass(frozen=True)
class Kernel:
    """One compiled kernel in one dtype.

    `name` is `<function>_<form>`, with `-f32` where a 16-bit dtype is computed in float32 and rounded once,
    or `<library>-<path>` of a re-implementation; `note` the formula, or where it is published; `version` a
    hash of the C code that was compiled.
    """

    name: str
    function: str
    form: str
    dtype: str
    note: str
    version: str


class KernelTable:
    """The kernels of one compiled module, `kernels`, and how to run one."""

    def __init__(self, module: ModuleType) -> None:
        versions = module.versions()
        self._module = module
        self.kernels = tuple(
            Kernel(name, function, form, dtype, note, versions[PurePath(source).name])
            for name, function, form, dtype, note, source in module.kernels()
        )
        self._index = {(kernel.name, kernel.dtype): index for index, kernel in enumerate(self.kernels)}

    def run(self, name: str, dtype: str, x_bits: np.ndarray, out_bits: np.ndarray, *parameters: float) -> None:
        """As `gelu_verify.kernels.run`; `parameters` as the module takes them."""
        try:
            index = self._index[name, dtype]
        except KeyError:
            raise one_of("kernel", f"{name} in {dtype}", [f"{k.name} in {k.dtype}" for k in self.kernels]) from None
        for array in (x_bits, out_bits):
            if array.dtype != get_format(dtype).uint:
                raise one_of("array dtype for " + dtype, array.dtype.name, [get_format(dtype).uint.name])
        self._module.run(index, x_bits, out_bits, *parameters)


_OURS = KernelTable(_cpu)
KERNELS = _OURS.kernels


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
    _OURS.run(name, dtype, x_bits, out_bits)
