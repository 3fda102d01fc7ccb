"""GELUs for PyTorch, correctly rounded: `gelu(x, approximate="none")`, `gelu_sigmoid`, `silu`, and the module `GELU`.

CPU tensors of float16, bfloat16, float32 and float64, with any strides; with autograd, forward mode, `torch.func` and,
as the operators `torch.ops.gelu_verify.*`, `torch.compile`, `torch.export` and meta tensors. A derivative is what comes
in times the correctly rounded one, rounded once more by that product. There are no second derivatives.

Large contiguous tensors are shared among `torch.get_num_threads()` threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np

from . import ufunc
from .errors import UsageError, one_of
from .formats import numpy_dtype
from .truth.correctly_rounded import FORWARD

try:
    import torch
    from torch.autograd import forward_ad
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "gelu_verify.torch needs PyTorch: pip install 'gelu-verify[torch]'", name="torch"
    ) from None

__all__ = ["GELU", "gelu", "gelu_sigmoid", "silu"]

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
SHARE = 1 << 17  # elements that are worth a thread
_BFLOAT16 = numpy_dtype("bfloat16")


def gelu(input: torch.Tensor, approximate: str = "none", *, out: torch.Tensor | None = None) -> Any:
    """`torch.nn.functional.gelu`, correctly rounded.

    Parameters
    ----------
    input : torch.Tensor
        On the CPU, of float16, bfloat16, float32 or float64.
    approximate : "none" or "tanh"
        x Phi(x), or x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    out : torch.Tensor, optional
        Where the results go, of the shape and dtype of `input`; it may be that. Not where gradients are recorded.

    Raises
    ------
    UsageError
        `input` is no tensor, or of another device or dtype; `out` does not fit.

    Examples
    --------
    >>> gelu(torch.tensor([-6.5, 1.0])).tolist() == [-2.610400506863897e-10, 0.8413447737693787]
    True
    """
    if approximate not in _BY_APPROXIMATE:
        raise one_of("approximate", approximate, list(_BY_APPROXIMATE))
    return _called(_BY_APPROXIMATE[approximate], input, out)


def gelu_sigmoid(input: torch.Tensor, *, out: torch.Tensor | None = None) -> Any:
    """x sigmoid(1.702 x), correctly rounded; parameters as `gelu`."""
    return _called("gelu_sigmoid", input, out)


def silu(input: torch.Tensor, *, out: torch.Tensor | None = None) -> Any:
    """`torch.nn.functional.silu`, correctly rounded; parameters as `gelu`."""
    return _called("silu", input, out)


class GELU(torch.nn.GELU):
    """`torch.nn.GELU`, correctly rounded.

    Examples
    --------
    >>> GELU(approximate="tanh")
    GELU(approximate='tanh')
    """

    def forward(self, input: torch.Tensor) -> Any:
        """As `gelu`."""
        return gelu(input, self.approximate)


_BY_APPROXIMATE = {"none": "gelu", "tanh": "gelu_tanh"}


def _called(function: str, x: torch.Tensor, out: torch.Tensor | None) -> Any:
    for name, given in (("input", x), ("out", x if out is None else out)):
        if not isinstance(given, torch.Tensor):
            raise UsageError(f"{name} is {type(given).__name__} (accepted: torch.Tensor)")
    if x.device.type not in ("cpu", "meta"):
        raise UsageError(f"input is on {x.device}: gelu_verify.torch computes on the CPU")
    if x.dtype not in DTYPES:
        raise UsageError(f"input is {x.dtype}; accepted: {', '.join(map(str, DTYPES))}")
    if out is None:
        return (_FUNCTIONS if _is_transformed(x) else _OPERATORS)[function](x)
    _refuse_tangent(x)
    if (out.dtype, out.shape, out.device) != (x.dtype, x.shape, x.device):
        raise UsageError(f"out is {out.dtype} {tuple(out.shape)} on {out.device}, input {x.dtype} {tuple(x.shape)}")
    if torch.is_grad_enabled() and (x.requires_grad or out.requires_grad):
        raise UsageError("out cannot be given where gradients are recorded: use torch.no_grad()")
    _OPERATORS[f"{function}_out"](x, out)
    return out


def _has_tangent(x: torch.Tensor) -> bool:
    unpacked: Any = forward_ad.unpack_dual
    try:
        return unpacked(x).tangent is not None
    except RuntimeError:  # beneath autograd, where no tensor has one
        return False


def _is_transformed(x: torch.Tensor) -> bool:
    """Whether `torch.func` or forward mode is at work, where PyTorch gives an operator in Python no derivative."""
    if torch.compiler.is_compiling():  # which has no forward mode of such functions, and no way to ask for the others
        _refuse_tangent(x)
        return False
    active: Any = torch._C._are_functorch_transforms_active
    return bool(active()) or _has_tangent(x)


def _refuse_tangent(x: torch.Tensor) -> None:
    """Of what is called past `_FUNCTIONS`: the derivative would be zero."""
    if _has_tangent(x):
        raise NotImplementedError("gelu_verify.torch has no forward-mode derivatives of operators and with out")


# ---- computing -----------------------------------------------------------------------------------


def _array(x: torch.Tensor) -> np.ndarray:
    """The memory of a tensor; NumPy knows bfloat16 by ml_dtypes only."""
    known = x.dtype != torch.bfloat16
    array: np.ndarray = x.numpy() if known else x.view(torch.int16).numpy().view(_BFLOAT16)
    return array


def _compute(function: np.ufunc, x: torch.Tensor, y: torch.Tensor) -> None:
    _refuse_tangent(x)
    threads = min(torch.get_num_threads(), x.numel() // SHARE)
    source, target = _array(x), _array(y)
    if threads < 2 or not (x.is_contiguous() and y.is_contiguous()) or np.may_share_memory(source, target):
        function(source, out=target)
        return
    parts = zip(np.array_split(source.reshape(-1), threads), np.array_split(target.reshape(-1), threads), strict=True)
    first, *others = parts
    waiting = [_pool(os.getpid()).submit(function, a, out=b) for a, b in others]
    function(first[0], out=first[1])
    for part in waiting:
        part.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads do not survive a fork: each process has its own."""
    return ThreadPoolExecutor(os.cpu_count(), f"gelu_verify.torch {process}")


# ---- operators -----------------------------------------------------------------------------------


def _define(function: str) -> None:
    """The operators `function` and `function`_out."""
    compute = partial(_compute, getattr(ufunc, function))

    def run(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        compute(x, y)
        return y

    define: Any = partial(torch.library.custom_op, device_types="cpu")
    operator = define(f"gelu_verify::{function}", run, mutates_args=(), schema="(Tensor x) -> Tensor")
    operator.register_fake(torch.empty_like)
    operator.register_vmap(lambda info, in_dims, x: (operator(x), in_dims[0]))
    backward = _no_second_derivative if function.endswith("_grad") else _backward_of(f"{function}_grad")
    operator.register_autograd(backward, setup_context=_save_input)
    into = define(
        f"gelu_verify::{function}_out", compute, mutates_args=("x_out",), schema="(Tensor x, Tensor(a!) x_out) -> ()"
    )
    into.register_fake(lambda x, x_out: None)
    for name in (function, f"{function}_out"):
        _OPERATORS[name] = getattr(torch.ops.gelu_verify, name).default


def _save_input(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward_of(derivative: str) -> Callable[..., Any]:
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return grad * _OPERATORS[derivative](x)

    return backward


def _no_second_derivative(ctx: Any, grad: torch.Tensor) -> Any:
    raise NotImplementedError("gelu_verify.torch has no second derivatives")


def _differentiable(function: str) -> Any:
    """The operator for `torch.func` and forward mode, which know the derivatives of this kind of function alone."""

    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(x: torch.Tensor) -> Any:
            return _OPERATORS[function](x)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            if function.endswith("_grad"):
                _no_second_derivative(ctx, grad)
            (x,) = ctx.saved_tensors
            return grad * _FUNCTIONS[f"{function}_grad"](x)

        jvp = backward

        @staticmethod
        def vmap(info: Any, in_dims: tuple[int], x: torch.Tensor) -> Any:
            return _FUNCTIONS[function](x), in_dims[0]

    return Differentiable.apply


_OPERATORS: dict[str, Any] = {}
_FUNCTIONS: dict[str, Any] = {}
for _name in FORWARD:
    for _function in (f"{_name}_grad", _name):
        _define(_function)
        _FUNCTIONS[_function] = _differentiable(_function)
