"""Implementations with a fault that the check `gradient_variant` must catch, each with a dtype."""

from judging import scaled
from mutants import correct, faulty

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((correct("gelu_grad", "gelu_tanh_grad"), d) for d in DTYPES),
    (correct("silu_grad", "gelu_sigmoid_grad"), "bfloat16"),
    (correct("gelu_grad", "gelu"), "float32"),
    *((correct("gelu_grad", "normcdf"), d) for d in DTYPES),  # the term x phi(x) is missing
    (faulty("gelu_grad", scaled(1.22)), "float32"),
]
