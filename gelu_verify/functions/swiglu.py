"""swiglu(x) = g silu(x), and its derivative: SwiGLU, of which g is the other half."""

from ._product import gated
from .silu import ENTRIES as OF_X

ENTRIES = gated("swiglu", *OF_X[:2])
