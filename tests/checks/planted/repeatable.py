"""Implementations with a fault that the check `repeatable` must catch, each with a dtype."""

from mutants import every_other_call, faulty, noisy, racing

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((faulty("gelu", every_other_call(1)), d) for d in DTYPES),
    *((faulty("gelu_grad", noisy(1)), d) for d in DTYPES),
    (racing("gelu"), "float16"),
]
NIGHTLY = [(racing("gelu"), dtype) for dtype in DTYPES if dtype != "float16"]  # as many threads, the same path
