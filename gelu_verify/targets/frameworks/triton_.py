"""Triton on the first CUDA device: GELUs as its tutorials write them, on torch's tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from ...errors import TargetUnavailable
from ..base import Target
from ..importing import framework
from ..library_target import LibraryTarget, Path, library_targets
from .torch_cuda import TorchCudaKind, on_device

NEEDS = "triton"

DEVICE = "cuda"

FORMS = {  # kernel: function, form
    "gelu_erf": ("gelu", "0.5 x (1 + erf(x/sqrt 2))"),
    "gelu_tanh_sigmoid": ("gelu_tanh", "x/(1 + exp(-2 sqrt(2/pi) (x + 0.044715 x^3)))"),
    "gelu_sigmoid": ("gelu_sigmoid", "x/(1 + exp(-1.702 x))"),
    "silu": ("silu", "x/(1 + exp(-x))"),
}


def discover() -> Iterator[Target]:
    """One target for each kernel, in the dtypes that it takes."""
    triton, torch = framework("triton"), framework("torch")
    if not torch.cuda.is_available():
        raise TargetUnavailable("torch, whose tensors triton works on, sees no CUDA device")
    kernels = import_module(f"{__package__}._triton_kernels")
    paths = [
        Path(name, function, form, _launched(triton, getattr(kernels, name), kernels.BLOCK))
        for name, (function, form) in FORMS.items()
    ]
    found = library_targets(
        "triton", triton.__version__, paths, arrays=TorchCudaKind(), prepare=_with_output, note="float32, rounded once"
    )
    yield from (on_device(target) for target in found if isinstance(target, LibraryTarget))


def _with_output(x: Any) -> tuple[Any, ...]:
    return x, framework("torch").empty_like(x)


def _launched(triton: Any, kernel: Any, block: int) -> Callable[..., Any]:
    language = triton.language

    def compute(x: Any, y: Any) -> Any:
        n = x.numel()
        wide = language.float64 if x.element_size() == 8 else language.float32
        kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, WIDE=wide)
        return y

    return compute
