"""PyTorch on the first CUDA device: `F.gelu` and its relatives, autograd; in the primary context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from ...errors import TargetUnavailable
from ..arrays import TorchKind
from ..base import Target
from ..device_target import DeviceTarget
from ..importing import framework
from ..library_target import LibraryTarget, Path, library_targets
from .torch_ import after_forward, backward_of

DEVICE = "cuda"


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
    F = torch.nn.functional
    forward: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
        ("gelu", "F.gelu", F.gelu),
        ("gelu_tanh", 'F.gelu(approximate="tanh")', lambda x: F.gelu(x, approximate="tanh")),
        ("gelu_sigmoid", "x*sigmoid(1.702*x), eager", lambda x: x * torch.sigmoid(1.702 * x)),
        ("silu", "F.silu", F.silu),
    )
    for function, form, compute in forward:
        yield Path(function, function, form, compute)
        yield Path(
            f"{function}_grad",
            f"{function}_grad",
            f"backward of {form}",
            backward_of(torch),
            after_forward(torch, compute),
        )
    blocks = {"erf": torch.erf, "erfc": torch.erfc, "normcdf": torch.special.ndtr}
    blocks |= {name: getattr(torch, name) for name in ("tanh", "sigmoid", "exp")}
    for name, compute in blocks.items():
        yield Path(name, name, name, compute)
