"""bias_gelu(x) = gelu(x + b), the sum exact, and its derivative."""

from . import _scaled_gauss
from ._sum import biased
from .gelu import WITHOUT_NATIVE_CODE

ENTRIES = biased("bias_gelu", *WITHOUT_NATIVE_CODE, _scaled_gauss.normal, lambda c, t: _scaled_gauss.gradient(c, t, t))
