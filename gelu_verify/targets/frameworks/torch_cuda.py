"""PyTorch on the first CUDA device: `F.gelu` and its relatives, autograd; in the primary context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ...errors import TargetUnavailable
from ..arrays import TorchKind
from ..base import Target
from ..device_target import DeviceTarget
from ..expressions import evaluating, python_program
from ..importing import framework
from ..library_target import LibraryTarget, Path, library_targets
from .torch_ import ARRAY, GELU, SILU, TANH, after_forward, backward_of

NEEDS = "torch"

DEVICE = "cuda"
PROGRAM = python_program("import torch", f"{ARRAY}.cuda()")


class TorchCudaKind(TorchKind):
    """Tensors on the device; they come back to the host as bits."""

    name = "torch (cuda)"

    def from_bits(self, dtype: str, bits: np.ndarray) -> Any:
        return super().from_bits(dtype, bits).cuda()

    def wait(self, array: Any) -> Any:
        framework("torch").cuda.synchronize()
        return array


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    torch = framework("torch")
    if not torch.cuda.is_available():
        built = torch.version.cuda
        raise TargetUnavailable("torch sees no CUDA device" if built else "this torch is built without CUDA")
    note = f"{torch.cuda.get_device_name(0)}, CUDA {torch.version.cuda}"
    found = library_targets("torch_cuda", torch.__version__, _paths(torch), arrays=TorchCudaKind(), note=note)
    yield from (on_device(target) for target in found if isinstance(target, LibraryTarget))


def on_device(target: LibraryTarget) -> DeviceTarget:
    """The same target, timed by the device."""
    return DeviceTarget(**{field.name: getattr(target, field.name) for field in fields(target)})


def _paths(torch: Any) -> Iterator[Path]:
    forward = (
        ("gelu", "F.gelu", GELU),
        ("gelu_tanh", 'F.gelu(approximate="tanh")', TANH),
        ("gelu_sigmoid", "x*sigmoid(1.702*x), eager", "x * torch.sigmoid(1.702 * x)"),
        ("silu", "F.silu", SILU),
    )
    for function, form, expression in forward:
        compute = evaluating(expression, {"torch": torch})
        yield Path(function, function, form, compute, expression=expression)
        yield Path(
            f"{function}_grad",
            f"{function}_grad",
            f"backward of {form}",
            backward_of(torch),
            after_forward(torch, compute),
        )
    yield Path("normcdf", "normcdf", "normcdf", torch.special.ndtr, expression="torch.special.ndtr(x)")
    for name in ("erf", "erfc", "tanh", "sigmoid", "exp"):
        yield Path(name, name, name, getattr(torch, name), expression=f"torch.{name}(x)")
