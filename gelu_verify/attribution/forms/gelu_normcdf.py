"""SciPy, candle on CUDA: x times the library's normal distribution function."""

from ..expression import X, block

FORM = {
    "function": "gelu",
    "root": X * block("normcdf", X),
    "spellings": ("xndtrx", "xnorm.cdfx", "xnormcdfx"),
}
