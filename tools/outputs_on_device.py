"""Outputs of every CUDA kernel of ours on a GPU, for tests/ptx/test_h100.py: python tools/outputs_on_device.py FILE.npz

Of 256 inputs in each dtype, half of them random patterns, half normal; a key is `kernel|dtype`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from cuda_inputs import few_bits

from gelu_verify.errors import TargetUnavailable
from gelu_verify.targets import find


def main() -> None:
    kernels, absent = find(["cuda"])
    if absent:
        raise TargetUnavailable(absent["cuda"])
    outputs = {
        f"{target.name.partition('.')[2]}|{dtype}": target.evaluate(dtype, few_bits(dtype))
        for target in kernels
        for dtype in target.dtypes
    }
    np.savez_compressed(sys.argv[1], **outputs)
    print(f"{len(outputs)} kernels and dtypes")


if __name__ == "__main__":
    main()
