"""CuPy on the first CUDA device: its special functions, and GELUs composed of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi, sqrt
from typing import Any

import numpy as np

from ...errors import TargetUnavailable
from ..arrays import ModuleKind
from ..base import Target, first_line
from ..importing import framework
from ..library_target import LibraryTarget, Path, library_targets
from .torch_cuda import on_device

NEEDS = "cupy"

DEVICE = "cuda"

SQRT_HALF, SQRT_2_OVER_PI = sqrt(0.5), sqrt(2 / pi)


class CupyKind(ModuleKind):
    """CuPy's arrays, read by `__cuda_array_interface__`."""

    def owns(self, thing: Any) -> bool:
        return isinstance(thing, framework("cupy").ndarray)

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        return framework("cupy").asarray(bits).view(dtype)

    def wait(self, array: Any) -> Any:
        framework("cupy").cuda.get_current_stream().synchronize()
        return array


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes; CuPy has no bfloat16."""
    cupy = framework("cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise TargetUnavailable(f"cupy sees no CUDA device: {first_line(error)}") from error
    if not count:
        raise TargetUnavailable("cupy sees no CUDA device")
    special = framework("cupyx.scipy.special")
    paths = (
        Path("gelu-erf", "gelu", "0.5 x (1 + erf(x/sqrt 2))", lambda x: 0.5 * x * (1 + special.erf(x * SQRT_HALF))),
        Path("gelu-erfc", "gelu", "0.5 x erfc(-x/sqrt 2)", lambda x: 0.5 * x * special.erfc(x * -SQRT_HALF)),
        Path("gelu-ndtr", "gelu", "x ndtr(x)", lambda x: x * special.ndtr(x)),
        Path(
            "gelu_tanh",
            "gelu_tanh",
            "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
            lambda x: 0.5 * x * (1 + cupy.tanh(SQRT_2_OVER_PI * (x + 0.044715 * x * x * x))),
        ),
        Path("gelu_sigmoid", "gelu_sigmoid", "x/(1 + exp(-1.702 x))", lambda x: x / (1 + cupy.exp(-1.702 * x))),
        Path("silu", "silu", "x/(1 + exp(-x))", lambda x: x / (1 + cupy.exp(-x))),
        *(Path(name, name, name, getattr(special, name)) for name in ("erf", "erfc")),
        Path("normcdf", "normcdf", "ndtr", special.ndtr),
        *(Path(name, name, name, getattr(cupy, name)) for name in ("tanh", "exp")),
    )
    found = library_targets("cupy", cupy.__version__, paths, arrays=CupyKind("cupy"), note="eager, first device")
    yield from (on_device(target) for target in found if isinstance(target, LibraryTarget))
