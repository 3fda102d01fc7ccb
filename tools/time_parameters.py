"""CPU seconds per million reference values of functions without native code, as a judgement needs them: on one core.

python tools/time_parameters.py [FUNCTION ...]
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from gelu_verify.formats import get_format
from gelu_verify.functions import get_function
from gelu_verify.truth.enclosed import values_of

NAMES = (
    *("gelu[mu=0.5,sigma=1/3]", "gelu_grad[mu=0.5,sigma=1/3]", "gelu_grad_mu[mu=0.5,sigma=1/3]"),
    *("gelu_grad_sigma[mu=0.5,sigma=1/3]", "silu[beta=1.7]", "silu_grad[beta=1.7]", "silu_grad_beta[beta=1.7]"),
    *("elu[alpha=1.3]", "elu_grad[alpha=1.3]", "cauchy_unit", "softcap", "hard_swish", "selu", "logit"),
)
COUNT = 200_000


def main() -> None:
    for dtype in ("float32", "float64"):
        x = np.random.default_rng(5).normal(0, 3, COUNT).astype(dtype).view(get_format(dtype).uint)
        for name in sys.argv[1:] or NAMES:
            times = []
            for _ in range(3):
                start = process_time()
                values_of(get_function(name), get_format(dtype), x)
                times.append(process_time() - start)
            print(f"{dtype} {name:34} {sorted(times)[1] * 1e6 / COUNT:6.2f} s per million inputs of N(0, 3^2)")


if __name__ == "__main__":
    main()
