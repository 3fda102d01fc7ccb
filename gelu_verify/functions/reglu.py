"""reglu(x) = g relu(x), and its derivative: ReGLU, of which g is the other half."""

from ._product import gated
from .relu import ENTRIES as OF_X

ENTRIES = gated("reglu", *OF_X[:2])
