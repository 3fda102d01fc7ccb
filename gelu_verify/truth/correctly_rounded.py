"""GELUs to compute with: `gelu(x, out=None)` and seven more, each result the exact value rounded once.

Round to nearest, ties to even, subnormals kept, whatever floating-point environment the caller is in. float32 and
float64 are computed (where the float64 bound cannot decide, by the oracle), 16-bit formats are looked up in tables of
all 65,536 results; AVX-512 computes half of the bfloat16 ones at the same time.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from ..arrays import float_array
from ..errors import UsageError, one_of
from ..fenv import in_default_environment
from ..formats import DTYPES, FORMATS, Format, numpy_dtype
from ..paths import resource
from . import _correctly_rounded

FORWARD = ("gelu", "gelu_tanh", "gelu_sigmoid", "silu")
FUNCTIONS = (*FORWARD, *(f"{name}_grad" for name in FORWARD))
MAX_ISA = "GELU_VERIFY_MAX_ISA"  # environment variable: the highest instruction-set level that kernels are chosen of
LEVELS = {"neon": 2} if _correctly_rounded.HAS_NEON else {"sse4_2": 2, "avx2": 3, "avx512": 4}  # its values, by cr/cr.h
_READ = ["readonly", "contig", "aligned"]
_WRITTEN = ["writeonly", "contig", "aligned", "overlap_assume_elementwise"]
CHUNK = 1 << 13  # elements: strided or misaligned arrays are copied piece by piece, through the first-level cache


def gelu(x: Any, out: np.ndarray | None = None) -> Any:
    """x Phi(x), correctly rounded.

    Parameters
    ----------
    x : float16, bfloat16 (ml_dtypes), float32 or float64
        A NumPy array of any shape and strides, anything with `__array__` (a torch CPU tensor), a NumPy scalar, or
        a Python number, which is taken as float64.
    out : np.ndarray, optional
        Where the results go: of the shape and dtype of x, writeable. It may be x, or overlap it in any way.

    Returns
    -------
    `out`; without it a new array, or a scalar for a scalar.

    Raises
    ------
    UsageError
        x of another dtype (nothing is converted) or in the other byte order; `out` that does not fit.

    Notes
    -----
    NaN gives the canonical quiet NaN, infinities and zeros the limits: -0.0 at -inf. The GIL is released. A
    matrix is taken as the array behind it; a masked array is refused.

    Examples
    --------
    >>> gelu(np.array([-6.5, 0.0, 1.0], np.float32))
    array([-2.6104005e-10,  0.0000000e+00,  8.4134477e-01], dtype=float32)
    >>> gelu(1.0)
    np.float64(0.8413447460685429)
    """
    return _gelu(x, out)


def gelu_tanh(x: Any, out: np.ndarray | None = None) -> Any:
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), correctly rounded; parameters as `gelu`."""
    return _gelu_tanh(x, out)


def gelu_sigmoid(x: Any, out: np.ndarray | None = None) -> Any:
    """x sigmoid(1.702 x), correctly rounded; parameters as `gelu`."""
    return _gelu_sigmoid(x, out)


def silu(x: Any, out: np.ndarray | None = None) -> Any:
    """x sigmoid(x), correctly rounded; parameters as `gelu`."""
    return _silu(x, out)


def gelu_grad(x: Any, out: np.ndarray | None = None) -> Any:
    """The derivative of `gelu`, Phi(x) + x phi(x), correctly rounded; parameters as `gelu`."""
    return _gelu_grad(x, out)


def gelu_tanh_grad(x: Any, out: np.ndarray | None = None) -> Any:
    """The derivative of `gelu_tanh`, correctly rounded; parameters as `gelu`."""
    return _gelu_tanh_grad(x, out)


def gelu_sigmoid_grad(x: Any, out: np.ndarray | None = None) -> Any:
    """The derivative of `gelu_sigmoid`, correctly rounded; parameters as `gelu`."""
    return _gelu_sigmoid_grad(x, out)


def silu_grad(x: Any, out: np.ndarray | None = None) -> Any:
    """The derivative of `silu`, correctly rounded; parameters as `gelu`."""
    return _silu_grad(x, out)


@in_default_environment
def _table(function: str, kind: int) -> np.ndarray:
    """All results of a 16-bit format, by input bits."""
    table: np.ndarray = np.load(resource(f"data/reference/{function}/{DTYPES[kind]}.npy"))
    return table


@in_default_environment
def exactly(function: str, bits: int) -> int:
    """The result of a float64 that a kernel's bound does not decide, by the oracle."""
    from ..functions import get_function
    from .oracle import round_exactly

    return round_exactly(get_function(function), FORMATS["float64"], bits)


def _general(kernel: _correctly_rounded.Kernel, x: Any, out: np.ndarray | None) -> Any:
    """For inputs that the kernel does not take as they are: not an array yet, any strides, overlapping."""
    array, fmt = float_array(x, accepted=DTYPES)
    target = None if out is None else _checked_out(out, array)
    y = _by_pieces(kernel, array, fmt, target) if array is x else kernel(array, target)
    if out is not None:
        return out
    return y if np.ndim(x) or isinstance(x, np.ndarray) else y[()]


def _by_pieces(kernel: _correctly_rounded.Kernel, x: np.ndarray, fmt: Format, out: np.ndarray | None) -> np.ndarray:
    """Evaluate x into `out`; strided or misaligned pieces are copied, x as a whole where `out` overlaps it."""
    y = np.empty_like(x) if out is None else out
    kind = DTYPES.index(fmt.name)
    with np.nditer(  # NumPy before 2.3 does not copy a misaligned array without axes
        [np.atleast_1d(x).view(fmt.uint), np.atleast_1d(y).view(fmt.uint)],
        ["external_loop", "buffered", "grow_inner", "zerosize_ok", "copy_if_overlap"],
        [_READ, _WRITTEN],  # type: ignore[list-item]  # numpy's stubs know no flags for each operand
        buffersize=CHUNK,
    ) as pieces:
        for source, target in pieces:
            kernel.run(kind, source, target)
    return y


def _checked_out(out: Any, x: np.ndarray) -> np.ndarray:
    if not isinstance(out, np.ndarray):
        raise UsageError(f"out must be a NumPy array, not {type(out).__name__}")
    if out.dtype != x.dtype:
        raise UsageError(f"out is {out.dtype}, x is {x.dtype}: they must have one dtype")
    if out.shape != x.shape:
        raise UsageError(f"out has shape {out.shape}, x {x.shape}: they must have one shape")
    if not out.flags.writeable:
        raise UsageError("out is read-only")
    if any(n > 1 and not step for n, step in zip(out.shape, out.strides, strict=True)):
        raise UsageError("out has one place for several values (a stride of 0)")
    return np.asarray(out)


def _kernel(function: str) -> _correctly_rounded.Kernel:
    return _correctly_rounded.Kernel(
        function,
        np.ndarray,
        np.empty_like,
        _KINDS,
        partial(_table, function),
        partial(exactly, function),
        _general,
        LEVEL,
    )


def _level() -> int:
    """The level whose kernels are used: the highest that the processor has and MAX_ISA allows."""
    allowed = os.environ.get(MAX_ISA)
    if allowed and allowed not in LEVELS:
        raise one_of(f"instruction-set level in {MAX_ISA}", allowed, list(LEVELS))
    return min(LEVELS[allowed], _correctly_rounded.BEST_LEVEL) if allowed else _correctly_rounded.BEST_LEVEL


LEVEL = _level()


_KINDS = {numpy_dtype(dtype): kind for kind, dtype in enumerate(_correctly_rounded.KINDS)}
KERNELS = {function: _kernel(function) for function in FUNCTIONS}
_gelu, _gelu_tanh, _gelu_sigmoid, _silu = map(KERNELS.__getitem__, FORWARD)
_gelu_grad, _gelu_tanh_grad, _gelu_sigmoid_grad, _silu_grad = map(KERNELS.__getitem__, FUNCTIONS[4:])
