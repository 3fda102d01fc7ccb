"""Implementations with a fault that the check `lane` must catch, each with a dtype."""

from mutants import beside, faulty, in_lane, in_remainder, when_long

from gelu_verify.formats import DTYPES

MUTANTS = [
    *((faulty("gelu", in_lane(3, 8, 2)), d) for d in DTYPES),
    *((faulty("gelu_tanh", in_lane(31, 32, 1)), d) for d in DTYPES),
    *((faulty("gelu", in_lane(5, 16, 40, lambda x: (x < -2) & (x > -5))), d) for d in DTYPES),
    *((faulty("silu", in_remainder(16, 3)), d) for d in DTYPES),
    *((faulty("gelu_grad", beside(4)), d) for d in DTYPES),
    *((faulty("gelu", when_long(100, 2)), d) for d in DTYPES),
]
