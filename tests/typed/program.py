"""A user's program with every public call. `tox -e types` checks it with mypy and basedpyright, both strict."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import gelu_verify
from gelu_verify import exact, gelu_grad, reference, reference_bits, ulp_error, verify
from gelu_verify.testing import assert_gelu_accurate

Floats = npt.NDArray[np.float32]


def mine(x: Floats) -> Floats:
    return np.asarray(gelu_verify.gelu(x))


def main() -> None:
    x: Floats = np.linspace(-8, 3, 12, dtype=np.float32)
    right: Floats = reference("gelu", x)
    inside: np.float64 = reference("gelu", 1.0, mu=0.5, sigma="1/3")
    bits: int = reference_bits("gelu", np.float32, 0xC0D00000, rounding="up")
    many: npt.NDArray[np.uint32] = reference_bits("gelu", "float32", x.view(np.uint32))
    digits: str = exact("gelu", "0.1", "float32", digits=20)
    errors: npt.NDArray[np.float64] = ulp_error("gelu", x, mine(x))
    slope: Floats = gelu_grad(x)
    found = verify(mine, "gelu", np.float32, "quick")
    grade: str = found.grade
    largest: float | None = found.max_ulp
    assert_gelu_accurate(mine, dtype="float32", max_ulp=0.5)
    print(right, inside, bits, many, digits, errors, slope, grade, largest)


if __name__ == "__main__":
    main()
