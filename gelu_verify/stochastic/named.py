"""Maps that have a name: our samplers, and those of libraries as their users call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..gpu import cuda, ptx_device
from ..gpu.cuda import Device
from . import sampler
from .device import applied
from .maps import Map


@dataclass(frozen=True)
class Named:
    """`map`: which one it is; `array`: what it is called with; `compute`: parameters as in `target.py`; `opens`: what
    else it needs, TargetUnavailable where that is missing."""

    map: str
    array: str
    compute: Callable[..., Any]
    text: str
    scaled: bool = True
    opens: Callable[[], object] = object


def _on(device: Callable[[], Device]) -> Callable[..., Any]:
    """Our sampler on a device, which is opened by the first call."""

    def gelu(x: Any, seed: int, call: int) -> Any:
        return applied(Map("gelu"), device(), x, seed, call=call)

    return gelu


def _torch_dropout(x: Any, rate: float) -> Any:
    import torch

    return torch.nn.functional.dropout(x, rate)


def _torch_gelu(x: Any) -> Any:
    import torch

    return x * (torch.rand_like(x) < torch.special.ndtr(x))


def _numpy_dropout(x: Any, rng: Any, rate: float) -> Any:
    return x * (rng.random(x.shape) >= rate)


def _numpy_dropout_float32(x: Any, rng: Any, rate: float) -> Any:
    return x * (rng.random(x.shape, np.float32) >= np.float32(rate))


def _jax_dropout(x: Any, key: Any, rate: float) -> Any:
    import jax

    return jax.numpy.where(jax.random.bernoulli(key, 1.0 - rate, x.shape), x / (1.0 - rate), 0.0)


NAMED = {
    "gelu": Named("gelu", "numpy", sampler.gelu, "our sampler"),
    "adaptive_dropout": Named("adaptive_dropout", "numpy", sampler.adaptive_dropout, "our sampler"),
    "dropout": Named("dropout", "numpy", sampler.dropout, "our sampler, scaled"),
    "dropout_unscaled": Named("dropout", "numpy", partial(sampler.dropout, scaled=False), "our sampler", scaled=False),
    "relu_dropout": Named("relu_dropout", "numpy", sampler.relu_dropout, "our sampler, scaled"),
    "zoneout": Named("zoneout", "numpy", sampler.zoneout, "our sampler"),
    "cuda.gelu": Named("gelu", "numpy", _on(cuda.device), "our CUDA sampler", opens=cuda.device),
    "ptx.gelu": Named(
        "gelu",
        "numpy",
        _on(ptx_device.device),
        "our CUDA sampler, nvcc's PTX executed on the CPU",
        opens=ptx_device.device,
    ),
    "torch.dropout": Named("dropout", "torch", _torch_dropout, "torch.nn.functional.dropout"),
    "torch.gelu": Named("gelu", "torch", _torch_gelu, "x * (torch.rand_like(x) < torch.special.ndtr(x))"),
    "numpy.dropout": Named("dropout", "numpy", _numpy_dropout, "x * (rng.random(n) >= rate)", scaled=False),
    "numpy.dropout_float32": Named(
        "dropout", "numpy", _numpy_dropout_float32, "x * (rng.random(n, float32) >= rate)", scaled=False
    ),
    "jax.dropout": Named("dropout", "jax", _jax_dropout, "jax.random.bernoulli(key, 1 - rate), scaled"),
}
