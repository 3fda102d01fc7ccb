"""geglu_tanh(x) = g gelu_tanh(x), and its derivative: GEGLU by the tanh form, of which g is the other half."""

from ._product import gated
from .gelu_tanh import ENTRIES as OF_X

ENTRIES = gated("geglu_tanh", *OF_X[:2])
