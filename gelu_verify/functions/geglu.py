"""geglu(x) = g gelu(x), and its derivative: GEGLU, of which g is the other half."""

from ._product import gated
from .gelu import WITHOUT_NATIVE_CODE

ENTRIES = gated("geglu", *WITHOUT_NATIVE_CODE)
