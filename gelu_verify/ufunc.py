"""NumPy ufuncs, correctly rounded: `gelu(x, out=..., where=..., dtype=..., casting=...)` and seven more.

As NumPy's own functions of one argument (`np.tanh`), they take any strides and byte order, lists, scalars, and
arrays of other libraries that know ufuncs. Integers are converted as NumPy converts them: of 8 bits to float16, of 16
to float32, of 32 and 64 to float64. bfloat16 is ml_dtypes' dtype. Each result is the exact value for the converted
x, rounded once. `gelu_verify.gelu` is the same without conversions.

>>> import numpy as np
>>> gelu(np.array([-1, 0, 2], np.int16))
array([-0.15865526,  0.        ,  1.9544997 ], dtype=float32)
>>> gelu(1.0, dtype=np.float16)
np.float16(0.8413)

The caller's floating-point environment changes nothing, and `np.errstate` sees no overflow or underflow.
"""

from __future__ import annotations

from .formats import numpy_dtype
from .truth import correctly_rounded
from .truth._correctly_rounded import UFunc

__all__ = [
    *("gelu", "gelu_grad", "gelu_sigmoid", "gelu_sigmoid_grad", "gelu_tanh", "gelu_tanh_grad"),
    *("silu", "silu_grad"),
]


def _made(function: str) -> UFunc:
    doc = (getattr(correctly_rounded, function).__doc__ or "").partition(", correctly rounded")[0]
    kernel = correctly_rounded.KERNELS[function]
    return UFunc(kernel, function, f"{doc}, correctly rounded.", numpy_dtype("bfloat16").num)


_MADE = {function: _made(function) for function in correctly_rounded.FUNCTIONS}  # kept: NumPy points to them
gelu, gelu_grad = _MADE["gelu"].ufunc, _MADE["gelu_grad"].ufunc
gelu_tanh, gelu_tanh_grad = _MADE["gelu_tanh"].ufunc, _MADE["gelu_tanh_grad"].ufunc
gelu_sigmoid, gelu_sigmoid_grad = _MADE["gelu_sigmoid"].ufunc, _MADE["gelu_sigmoid_grad"].ufunc
silu, silu_grad = _MADE["silu"].ufunc, _MADE["silu_grad"].ufunc
