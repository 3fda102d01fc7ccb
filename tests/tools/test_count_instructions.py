"""tools/count_instructions.py: the NEON kernels of aarch64 are those that are found there, and worth having."""

import numpy as np
import pytest
import requiring
from repository import tool

count = tool("count_instructions")


@pytest.mark.nightly
def test_neon_takes_fewer_instructions_than_portable_c(tmp_path):
    for program in (count.COMPILER, count.EMULATOR):
        requiring.program(program)
    command = count.built(tmp_path)
    x = 2 * np.random.default_rng(0).standard_normal(4096)
    for dtype in ("float32", "float64"):
        given = x.astype(dtype)
        best, portable, neon = (count.instructions(command, "gelu", dtype, level, given) for level in (0, 1, 2))
        assert best == neon
        assert neon < portable / 2
