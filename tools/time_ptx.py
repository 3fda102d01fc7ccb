"""How fast our correctly rounded CUDA kernels are when their PTX is executed on one core of the CPU.

    python tools/time_ptx.py

Elements per second of CPU time, the best of three calls on 2^20 inputs: normal(0, 2), and random bits of the format.
"""

import time

import numpy as np

from gelu_verify.formats import FORMATS, numpy_dtype
from gelu_verify.gpu import nvcc, ptx_device

N = 1 << 20
SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def inputs(dtype: str) -> dict[str, np.ndarray]:
    fmt, rng = FORMATS[dtype], np.random.default_rng(0)
    return {
        "normal(0, 2)": rng.normal(0, 2, N).astype(numpy_dtype(dtype)).view(fmt.uint),
        "random bits": rng.integers(0, 1 << fmt.width, N, dtype=fmt.uint),
    }


def rate(device: ptx_device.PtxDevice, function: object, x: np.ndarray) -> float:
    source, to = device.alloc(x.nbytes), device.alloc(x.nbytes)
    device.copy_in(source, x)
    times = []
    for _ in range(3):
        start = time.process_time()
        device.launch(function, device.blocks(function, x.size, x.itemsize), function.threads, source, to, x.size)
        device.synchronize()
        times.append(time.process_time() - start)
    return x.size / min(times)


def main() -> None:
    device = ptx_device.device()
    print(f"{'kernel':<16}{'inputs':<16}{'M elements/s':>12}")
    for dtype, mark in SHORT.items():
        build = next(build for build in nvcc.builds() if build.source.name == f"{dtype}_cr.cu")
        function = device.compile(build.source, build.options).function(f"gelu_cr_{mark}")
        for name, x in inputs(dtype).items():
            print(f"{f'gelu_cr_{mark}':<16}{name:<16}{rate(device, function, x) / 1e6:>12.1f}")


if __name__ == "__main__":
    main()
