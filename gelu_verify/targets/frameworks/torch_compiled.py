"""PyTorch through `torch.compile`: what inductor makes of F.gelu and its relatives, forward and backward."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

from ...errors import TargetUnavailable
from ...functions import Function, second_of
from ..arrays import get_kind
from ..base import Target
from ..expressions import evaluating
from ..importing import framework, quiet
from ..library_target import Path, library_targets
from ..switches import Switches
from ..two_inputs import two_input_targets
from . import torch_
from .torch_ import GELU, NO_ONEDNN, SILU, TANH, backward_of

NEEDS = "torch"

# inductor reads the same ones, but takes from its cache of graphs what was compiled for another level
SWITCHES = Switches(
    {level: {**names, "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"} for level, names in torch_.SWITCHES.levels.items()},
    torch_.SWITCHES.seen,
)
ON_REQUEST = True  # three seconds of C++ compiler for every function and dtype

PROGRAM = torch_.PROGRAM
NOTE = "CPU, torch.compile(dynamic=True), inductor"


def discover() -> Iterator[Target]:
    """Every path, in every dtype: none is compiled before it is measured."""
    torch = framework("torch")
    if not any(shutil.which(compiler) for compiler in ("g++", "clang++", "c++")):
        raise TargetUnavailable("torch.compile needs a C++ compiler, and there is none")
    return library_targets(
        "torch_compiled",
        torch.__version__,
        _paths(torch),
        arrays=get_kind("torch"),
        note=NOTE,
        takes=lambda target, dtype: True,
        components=NO_ONEDNN,
    )


def computing(function: Function) -> Iterator[Target]:
    """Functions of two inputs, fused by inductor."""
    torch = framework("torch")
    return two_input_targets(
        "torch_compiled", torch.__version__, torch_.TWO_INPUTS if second_of(function.name) else {}, function,
        {"torch": torch}, array="torch", compile="torch", note=NOTE,
    )  # fmt: skip


def _paths(torch: ModuleType) -> Iterator[Path]:
    functions = (
        ("gelu", "F.gelu", GELU),
        ("gelu_tanh", 'F.gelu(approximate="tanh")', TANH),
        ("gelu_sigmoid", "x sigmoid(1.702 x)", "x * torch.sigmoid(1.702 * x)"),
        ("silu", "F.silu", SILU),
    )
    for name, form, expression in functions:
        compiled = _compiled(torch, evaluating(expression, {"torch": torch}))
        whole = f"torch.compile(lambda x: {expression})(x)"
        yield Path(name, name, form, lambda x, function: function(x), _forward(compiled), expression=whole)
        yield Path(f"{name}_grad", f"{name}_grad", f"backward of {form}", backward_of(torch), _after(torch, compiled))


Compute = Callable[..., Any]
Compiled = Callable[[Any, bool], Compute]


def _compiled(torch: ModuleType, forward: Compute) -> Compiled:
    """`forward` compiled for a dtype, with or without gradient, for any length; once in this process."""

    @cache
    def of(dtype: Any, gradient: bool) -> Compute:
        inductor: Any = framework("torch._inductor.config")
        inductor.compile_threads = 1  # no pool of processes that outlives the run
        # all paths share one code object: beyond the limit it would run eagerly, which fullgraph=True refuses to hide
        dynamo: Any = framework("torch._dynamo.config")
        dynamo.recompile_limit = 256
        compiled: Compute = torch.compile(lambda x: forward(x), dynamic=True, fullgraph=True)
        with quiet():
            x = torch.ones(8, dtype=dtype, requires_grad=gradient)
            y = compiled(x)
            if gradient:
                torch.autograd.grad(y, x, torch.ones_like(x))
        return compiled

    return of


def _forward(compiled: Compiled) -> Compute:
    """Compiling belongs to `prepare` and is not timed."""
    return lambda x: (x, compiled(x.dtype, False))


def _after(torch: ModuleType, compiled: Compiled) -> Compute:
    """The forward pass belongs to `prepare` and is not timed."""

    def prepare(x: Any) -> tuple[Any, ...]:
        leaf = x.detach().requires_grad_()
        return compiled(x.dtype, True)(leaf), leaf, torch.ones_like(leaf)

    return prepare
