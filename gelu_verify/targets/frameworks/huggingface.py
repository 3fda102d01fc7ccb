"""Hugging Face transformers: the formulas of `transformers.activations`, which PyTorch runs one operation at a time."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from ..arrays import get_kind
from ..base import Target
from ..expressions import python_program
from ..importing import framework
from ..library_target import Path, library_targets
from . import torch_
from .torch_ import after_forward, backward_of

NEEDS = "transformers"

SWITCHES = torch_.SWITCHES
ON_REQUEST = True  # importing it takes seconds

PROGRAM = python_program("import torch\nimport transformers", torch_.ARRAY)
NOTE = "PyTorch on the CPU, eager, as transformers.activations codes it"
ACTIVATIONS = (  # name in ACT2FN, function, form
    ("gelu", "gelu", "F.gelu"),
    ("gelu_python", "gelu", "x 0.5 (1 + erf(x/sqrt 2))"),
    ("gelu_10", "gelu", "clip(F.gelu(x), -10, 10)"),
    ("gelu_new", "gelu_tanh", "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 pow(x, 3))))"),
    ("gelu_fast", "gelu_tanh", "0.5 x (1 + tanh(0.7978845608 x (1 + 0.044715 x x)))"),
    ("gelu_accurate", "gelu_tanh", "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 pow(x, 3))))"),
    ("gelu_pytorch_tanh", "gelu_tanh", 'F.gelu(approximate="tanh")'),
    ("gelu_python_tanh", "gelu_tanh", "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 pow(x, 3))))"),
    ("quick_gelu", "gelu_sigmoid", "x sigmoid(1.702 x)"),
    ("silu", "silu", "F.silu"),
)


def discover() -> Iterator[Target]:
    """Every activation that this version knows, forward and by autograd, in the dtypes that it takes."""
    framework("transformers")
    torch, activations = framework("torch"), framework("transformers.activations")
    version = f"{framework('transformers').__version__}, torch {torch.__version__}"
    return library_targets("huggingface", version, _paths(torch, activations), arrays=get_kind("torch"), note=NOTE)


def _paths(torch: ModuleType, activations: ModuleType) -> Iterator[Path]:
    for name, function, form in ACTIVATIONS:
        if name in activations.ACT2FN:
            forward = activations.ACT2FN[name]
            expression = f'transformers.activations.ACT2FN["{name}"](x)'
            yield Path(name, function, form, forward, expression=expression)
            yield Path(
                f"{name}_grad",
                f"{function}_grad",
                f"backward of {form}",
                backward_of(torch),
                after_forward(torch, forward),
            )
