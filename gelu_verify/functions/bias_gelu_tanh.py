"""bias_gelu_tanh(x) = gelu_tanh(x + b), the sum exact, and its derivative."""

from . import _logistic
from ._sum import biased
from .enclosures import ratio
from .gelu_tanh import ENTRIES as OF_SUM
from .gelu_tanh import slope

ENTRIES = biased(
    "bias_gelu_tanh",
    *OF_SUM,
    lambda c, t: _logistic.share(c, slope, ratio(c, t)),
    lambda c, t: _logistic.gradient(c, slope, ratio(c, t)),
)
