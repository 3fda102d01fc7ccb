"""The target families that tests look for: which take long to install or to import, and their targets by path."""

import pytest
import requiring

from gelu_verify import targets

HEAVY = ("torch", "openvino", "tensorflow")
ON_REQUEST = {
    "huggingface": """gelu gelu_python gelu_10 gelu_new gelu_fast gelu_accurate gelu_pytorch_tanh gelu_python_tanh
        quick_gelu silu gelu_grad gelu_python_grad gelu_10_grad gelu_new_grad gelu_fast_grad gelu_accurate_grad
        gelu_pytorch_tanh_grad gelu_python_tanh_grad quick_gelu_grad silu_grad""",
    "keras": "gelu gelu_tanh gelu-ops gelu_tanh-ops silu elu sigmoid tanh erf",
    "litert": """gelu gelu_tanh relu elu tanh sigmoid exp gelu-builtin gelu_tanh-builtin relu-builtin elu-builtin
        tanh-builtin sigmoid-builtin exp-builtin""",
    "mlx": """gelu gelu-eager gelu_tanh gelu_tanh-eager gelu_sigmoid gelu_sigmoid-eager silu silu-eager
        gelu_grad gelu_tanh_grad gelu_sigmoid_grad silu_grad erf tanh sigmoid exp""",
    "paddle": """gelu gelu_tanh silu gelu_sigmoid gelu_grad gelu_tanh_grad silu_grad gelu_sigmoid_grad
        relu elu erf tanh sigmoid exp""",
    "tinygrad": """gelu gelu_tanh gelu_sigmoid silu gelu_grad gelu_tanh_grad gelu_sigmoid_grad silu_grad
        relu elu erf tanh sigmoid exp""",
    "torch_compiled": """gelu gelu_tanh gelu_sigmoid silu gelu_grad gelu_tanh_grad gelu_sigmoid_grad silu_grad""",
}


def marked(families):
    heavy = (*HEAVY, *ON_REQUEST)
    return [pytest.param(family, marks=pytest.mark.frameworks if family in heavy else ()) for family in families]


def found(family):
    """Targets of a family by path; a skip, or a failure where the family is required."""
    if family in (*HEAVY, *ON_REQUEST):
        targets.find(["paddle"])  # before TensorFlow, which it cannot be imported after
    here, absent = targets.find([family])
    if absent:
        assert not requiring.REQUIRED & {family, "frameworks"}, f"{family} is required: {absent[family]}"
        pytest.skip(absent[family])
    return {target.name.removeprefix(f"{family}."): target for target in here}
