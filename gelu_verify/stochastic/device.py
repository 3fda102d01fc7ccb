"""The sampler on a CUDA device, or with nvcc's PTX executed on the CPU: the same code, the same bits."""

from __future__ import annotations

import struct

import numpy as np

from ..gpu.cuda import Device
from ..paths import resource
from ._native import LAWS
from .maps import Map

_SYMBOLS = {"float32": "gv_map_f32", "float64": "gv_map_f64"}
_THREADS = 256


def applied(of: Map, device: Device, x: np.ndarray, seed: int, *, call: int = 0, start: int = 0) -> np.ndarray:
    """m x of an array of float32 or float64, not scaled, computed on the device."""
    module = device.compile(resource("src/stochastic/maps.cu"), ("-fmad=false", f"-I{resource('src')}"))
    function = module.function(_SYMBOLS[x.dtype.name])
    source, target = device.alloc(x.nbytes), device.alloc(x.nbytes)
    device.copy_in(source, np.ascontiguousarray(x))
    (rate,) = struct.unpack("<Q", struct.pack("<d", of.rate))
    grid = max(1, min(1024, -(-x.size // _THREADS)))
    law = LAWS.index(of.law)
    device.launch(function, grid, _THREADS, source, target, x.size, law, rate, seed, call, start)
    device.synchronize()
    return device.copy_out(target, np.empty_like(x))
