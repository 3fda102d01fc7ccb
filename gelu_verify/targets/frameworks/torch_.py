"""PyTorch on the CPU: `F.gelu` by each of its dispatch paths, eager forms, autograd and building blocks."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import pi, sqrt
from threading import Lock
from time import sleep
from types import ModuleType
from typing import Any

from ...functions import Function, base_name
from .. import incoming
from ..arrays import get_kind
from ..base import Target
from ..importing import framework
from ..library_target import Path, library_targets
from ..output_memory import empty_output_like
from ..switches import Switches

SQRT_HALF = sqrt(0.5)
SQRT_2_OVER_PI = sqrt(2 / pi)
NOTE = "CPU, contiguous, preallocated output"


def _chosen() -> Iterator[tuple[str, str]]:
    """What ATen says of itself, and the implementation that oneDNN prints for a gelu."""
    torch = framework("torch")
    yield "ATen", torch.backends.cpu.get_cpu_capability()
    if torch.backends.mkldnn.is_available():
        x = torch.ones(64)
        with _printed_by_onednn(torch) as lines:
            torch._C._nn.gelu(x, out=torch.empty_like(x))
        if match := re.search(r",eltwise,(?:jit:)?(\w+),", "".join(lines)):
            yield "oneDNN", match[1]


@contextmanager
def _printed_by_onednn(torch: ModuleType) -> Iterator[list[str]]:
    """The lines that oneDNN prints meanwhile about what it runs; it knows no other way to tell."""
    lines: list[str] = []
    flush = ctypes.CDLL(None).fflush
    flush(None)
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        torch._C._verbose.mkldnn_set_verbose(1)
        try:
            yield lines
        finally:
            torch._C._verbose.mkldnn_set_verbose(0)
            flush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        lines += file.read().decode(errors="replace").splitlines(keepends=True)


# ATen has one path for all of AVX-512; oneDNN, which computes gelu of contiguous float32, has several.
SWITCHES = Switches(
    {
        "sse4_2": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"},
        "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2"},
        "avx512": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE"},
        "avx512_bf16": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16"},
        "avx512_fp16": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16"},
    },
    lambda: dict(_chosen()),
)


class _Switch:
    """A switch that is global to the process, not to a thread: many may depend on it at once, who sets it is alone."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._dependent = 0

    def __enter__(self) -> None:
        """While the switch must stay as it is."""
        with self._lock:
            self._dependent += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._dependent -= 1

    @contextmanager
    def set_by_me(self) -> Iterator[None]:
        """While nobody depends on it."""
        while True:
            with self._lock:
                if not self._dependent:
                    yield
                    return
            sleep(1e-4)


_ONEDNN_SWITCH = _Switch()
NO_ONEDNN = ("ATen", "libm")
WITH_ONEDNN = ("ATen", "oneDNN", "libm")

Compute = Callable[..., Any]


def discover() -> Iterator[Target]:
    """Every path, in the dtypes that it takes."""
    torch = framework("torch")
    return library_targets(
        "torch",
        torch.__version__,
        (*_gelu(torch), *_forms(torch), *_gradients(torch), *_blocks(torch)),
        arrays=get_kind("torch"),
        prepare=lambda x: (x, _placed_output(x)),
        note=NOTE,
        safe_in_threads=True,
        components=NO_ONEDNN,
    )


def computing(function: Function) -> Iterator[Target]:
    """What people write in Python for functions with parameters, or torch has; and gradients of it by autograd."""
    torch = framework("torch")
    return library_targets(
        "torch",
        torch.__version__,
        _on_request(torch, function),
        arrays=get_kind("torch"),
        note="CPU, eager: one operation after the other; parameters as Python floats",
        safe_in_threads=True,
        components=NO_ONEDNN,
    )


def _on_request(torch: ModuleType, function: Function) -> Iterator[Path]:
    """The forward paths; or, of a derivative, the backward ones: of a parameter there is a copy for each x."""
    base, _, by = base_name(function.name).partition("_grad")
    values = {name: float(value) for name, value in function.values.items()}
    for name, form, compute in _parameterized(torch).get(base, ()):
        bound = partial(compute, **values)
        if base_name(function.name) == base:
            yield Path(name, function.name, form, bound)
            continue
        prepare = after_forward_in(torch, compute, values, by[1:]) if by else after_forward(torch, bound)
        path = name.replace(base, base_name(function.name), 1)
        yield Path(path, function.name, f"backward of {form}", backward_of(torch), prepare)


def _parameterized(torch: ModuleType) -> dict[str, tuple[tuple[str, str, Compute], ...]]:
    F, special = torch.nn.functional, torch.special
    return {
        "gelu": (
            ("gelu-ndtr", "x ndtr((x - mu)/sigma)", lambda x, mu, sigma: x * special.ndtr((x - mu) / sigma)),
            (
                "gelu-erf",
                "0.5 x (1 + erf((x - mu)/(sigma sqrt 2)))",
                lambda x, mu, sigma: 0.5 * x * (1 + torch.erf((x - mu) / sigma * SQRT_HALF)),
            ),
        ),
        "silu": (("silu-eager", "x sigmoid(beta x)", lambda x, beta: x * torch.sigmoid(beta * x)),),
        "elu": (("elu", "F.elu(alpha=alpha)", lambda x, alpha: F.elu(x, alpha=alpha)),),
        "cauchy_unit": (("cauchy_unit", "x (0.5 + atan(x)/pi)", lambda x: x * (0.5 + torch.atan(x) / pi)),),
        "softplus": (("softplus", "F.softplus", F.softplus),),
        "mish": (("mish", "F.mish", F.mish),),
        "relu2": (("relu2", "F.relu(x)^2", lambda x: F.relu(x).square()),),
    }


def _gelu(torch: ModuleType) -> tuple[Path, ...]:
    gelu, silu = torch._C._nn.gelu, torch.ops.aten.silu.out
    strided, note = _strided(torch), "CPU, every second element of a larger tensor, preallocated output"
    erf = "0.5 x (1 + erf(x/sqrt 2)), fused"
    tanh = "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), fused"
    return (
        Path(
            "gelu",
            "gelu",
            erf,
            _in_turn(lambda x, out: gelu(x, out=out)),
            None,
            f"{NOTE}, oneDNN where torch chooses it",
            WITH_ONEDNN,
        ),
        Path("gelu-strided", "gelu", erf, lambda x, out: gelu(x, out=out), strided, note),
        Path(
            "gelu-nomkldnn",
            "gelu",
            erf,
            _without_onednn(torch, lambda x, out: gelu(x, out=out)),
            None,
            f"{NOTE}, oneDNN off",
        ),
        Path("gelu_tanh", "gelu_tanh", tanh, lambda x, out: gelu(x, approximate="tanh", out=out)),
        Path(
            "gelu_tanh-strided", "gelu_tanh", tanh, lambda x, out: gelu(x, approximate="tanh", out=out), strided, note
        ),
        Path("silu", "silu", "x / (1 + exp(-x)), fused", lambda x, out: silu(x, out=out)),
        Path("silu-strided", "silu", "x / (1 + exp(-x)), fused", lambda x, out: silu(x, out=out), strided, note),
    )


def _placed_output(x: Any) -> Any:
    """An output like x, where the caller wants it."""
    kind = get_kind("torch")
    dtype, bits = kind.to_bits(x)
    return kind.from_bits(dtype, empty_output_like(bits))


def _strided(torch: ModuleType) -> Compute:
    """Arguments that keep F.gelu from oneDNN and from contiguous SIMD: a view of every second element."""

    def prepare(x: Any) -> tuple[Any, ...]:
        wide = torch.zeros(2 * x.numel(), dtype=x.dtype)
        wide[::2] = x
        return wide[::2], torch.empty_like(x)

    return prepare


def _in_turn(compute: Compute) -> Compute:
    def locked(*arguments: Any) -> Any:
        with _ONEDNN_SWITCH:
            return compute(*arguments)

    return locked


def _without_onednn(torch: ModuleType, compute: Compute) -> Compute:
    # not torch.backends.mkldnn.flags: that sets four more switches and warns about one of them
    def locked(*arguments: Any) -> Any:
        with _ONEDNN_SWITCH.set_by_me():
            before = torch._C._get_mkldnn_enabled()
            torch._C._set_mkldnn_enabled(False)
            try:
                return compute(*arguments)
            finally:
                torch._C._set_mkldnn_enabled(before)

    return locked


def _forms(torch: ModuleType) -> tuple[Path, ...]:
    """What people write in Python: every operation is rounded to the dtype."""
    return tuple(
        Path(name, function, form, lambda x, out, f=compute: f(x), None, "CPU, eager: one operation after the other")
        for name, function, form, compute in _eager(torch)
    )


def _eager(torch: ModuleType) -> tuple[tuple[str, str, str, Compute], ...]:
    special = torch.special
    return (
        ("gelu-erf", "gelu", "0.5 x (1 + erf(x/sqrt 2))", lambda x: 0.5 * x * (1 + torch.erf(x * SQRT_HALF))),
        ("gelu-erfc", "gelu", "0.5 x erfc(-x/sqrt 2)", lambda x: 0.5 * x * torch.erfc(x * -SQRT_HALF)),
        ("gelu-ndtr", "gelu", "x ndtr(x)", lambda x: x * special.ndtr(x)),
        ("gelu-log_ndtr", "gelu", "x exp(log_ndtr(x))", lambda x: x * torch.exp(special.log_ndtr(x))),
        (
            "gelu_tanh-eager",
            "gelu_tanh",
            "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
            lambda x: 0.5 * x * (1 + torch.tanh(SQRT_2_OVER_PI * (x + 0.044715 * torch.pow(x, 3)))),
        ),
        ("gelu_sigmoid", "gelu_sigmoid", "x sigmoid(1.702 x)", lambda x: x * torch.sigmoid(1.702 * x)),
        ("silu-eager", "silu", "x sigmoid(x)", lambda x: x * torch.sigmoid(x)),
    )


def _gradients(torch: ModuleType) -> Iterator[Path]:
    """Autograd of each forward path; the forward pass belongs to `prepare` and is not timed."""
    F = torch.nn.functional
    backward, after = backward_of(torch), partial(after_forward, torch)
    strided, note = _strided(torch), "CPU, autograd, "
    off, fused = partial(_without_onednn, torch), "backward of F.gelu"
    turns = _in_turn(backward), _in_turn(after(F.gelu))
    yield Path("gelu_grad", "gelu_grad", fused, *turns, f"{note}contiguous", WITH_ONEDNN)
    yield Path(
        "gelu_grad-nomkldnn", "gelu_grad", fused, off(backward), off(after(F.gelu)), f"{note}oneDNN switched off"
    )
    yield Path(
        "gelu_grad-strided", "gelu_grad", fused, backward, after(F.gelu, lambda x: strided(x)[0]), f"{note}strided"
    )
    others = (
        ("gelu_tanh", "gelu_tanh", 'F.gelu(approximate="tanh")', lambda x: F.gelu(x, approximate="tanh")),
        ("silu", "silu", "F.silu", F.silu),
    )
    for name, function, form, forward in others:
        path, apart = f"{name}_grad-strided", after(forward, lambda x: strided(x)[0])
        yield Path(path, f"{function}_grad", f"backward of {form}", backward, apart, f"{note}strided")
    for name, function, form, forward in (*others, *_eager(torch)):
        path = name.replace(function, f"{function}_grad", 1)
        yield Path(path, f"{function}_grad", f"backward of {form}", backward, after(forward), f"{note}contiguous")


def backward_of(torch: ModuleType) -> Compute:
    """`compute` of a backward pass, for ones as the gradient of the result."""
    return lambda y, x, ones: torch.autograd.grad(y, x, ones, retain_graph=True)[0]


def after_forward_in(torch: ModuleType, forward: Compute, values: Mapping[str, float], parameter: str) -> Compute:
    """As `after_forward`, for the gradient in a parameter, one copy of which belongs to each x."""

    def prepare(x: Any) -> tuple[Any, ...]:
        leaf = torch.full_like(x, values[parameter]).requires_grad_()
        return forward(x, **{**values, parameter: leaf}), leaf, incoming.scaled(torch.ones_like(leaf))

    return prepare


def after_forward(torch: ModuleType, forward: Compute, view: Compute = lambda x: x) -> Compute:
    """Its `prepare`: the forward pass, which is not timed, of `view(x)`."""

    def prepare(x: Any) -> tuple[Any, ...]:
        leaf = view(x).detach().requires_grad_()
        return forward(leaf), leaf, incoming.scaled(torch.ones_like(leaf))

    return prepare


def _blocks(torch: ModuleType) -> tuple[Path, ...]:
    special = torch.special
    return (
        Path("relu", "relu", "F.relu, fused", lambda x, out: torch.ops.aten.relu.out(x, out=out)),
        Path("elu", "elu", "F.elu, fused", lambda x, out: torch._C._nn.elu(x, out=out)),
        Path("erf", "erf", "erf", lambda x, out: torch.erf(x, out=out)),
        Path("erfc", "erfc", "erfc", lambda x, out: torch.erfc(x, out=out)),
        Path("normcdf", "normcdf", "special.ndtr", lambda x, out: special.ndtr(x, out=out)),
        Path("tanh", "tanh", "tanh", lambda x, out: torch.tanh(x, out=out)),
        Path("sigmoid", "sigmoid", "sigmoid", lambda x, out: torch.sigmoid(x, out=out)),
        Path("exp", "exp", "exp", lambda x, out: torch.exp(x, out=out)),
        Path("log", "log", "log", lambda x, out: torch.log(x, out=out)),
    )
