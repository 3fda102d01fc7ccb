"""PyTorch on the CPU: `F.gelu` by each of its dispatch paths, eager forms, autograd and building blocks."""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import inf, pi, sqrt
from threading import Lock
from time import sleep
from types import ModuleType
from typing import Any

from ...functions import Function, base_name, second_of
from .. import incoming
from ..arrays import get_kind
from ..base import Target
from ..expressions import evaluating, python_program
from ..importing import framework
from ..library_target import Path, library_targets
from ..output_memory import empty_output_like
from ..switches import Switches
from ..two_inputs import two_input_targets

NEEDS = "torch"

SQRT_HALF = sqrt(0.5)
NOTE = "CPU, contiguous, preallocated output"
ARRAY = "torch.full(({n},), {value}, dtype=torch.{dtype})"
PROGRAM = python_program("import torch", ARRAY, {"autograd": ".requires_grad_()"})
GELU, TANH = "torch.nn.functional.gelu(x)", 'torch.nn.functional.gelu(x, approximate="tanh")'
SILU = "torch.nn.functional.silu(x)"
EVERY_SECOND = "x.repeat_interleave(2)[::2]"  # x, but not contiguous


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
        paths(torch),
        arrays=get_kind("torch"),
        prepare=lambda x: (x, _placed_output(x)),
        note=NOTE,
        safe_in_threads=True,
        components=NO_ONEDNN,
    )


def paths(torch: ModuleType) -> tuple[Path, ...]:
    """All paths, which any release of torch may have."""
    return (*_gelu(torch), *_widened(torch), *_forms(torch), *_gradients(torch), *_blocks(torch))


TWO_INPUTS = {  # as they are written in models
    "geglu": f"{GELU} * g",
    "geglu_tanh": f"{TANH} * g",
    "swiglu": f"{SILU} * g",
    "reglu": "torch.nn.functional.relu(x) * g",
    "bias_gelu": GELU.replace("(x", "(x + b"),
    "bias_gelu_tanh": TANH.replace("(x", "(x + b"),
}


def computing(function: Function) -> Iterator[Target]:
    """What people write in Python for functions with parameters or two inputs, or torch has; and gradients of it by
    autograd."""
    torch = framework("torch")
    if second_of(function.name):
        return two_input_targets(
            "torch", torch.__version__, TWO_INPUTS, function, {"torch": torch}, array="torch",
            note="CPU, eager: one operation after the other, each rounded to the dtype", around=_where_gelu_in_turn,
        )  # fmt: skip
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
    values = function.floats
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
        "softplus": (
            (
                "softplus",
                "F.softplus(beta=beta, threshold=threshold)",
                lambda x, beta, threshold: F.softplus(x, beta, threshold) if threshold < inf else F.softplus(x, beta),
            ),
        ),
        "mish": (("mish", "F.mish", F.mish),),
        "relu2": (("relu2", "F.relu(x)^2", lambda x: F.relu(x).square()),),
        "celu": (("celu", "F.celu(alpha=alpha)", lambda x, alpha: F.celu(x, alpha)),),
        "selu": (("selu", "F.selu", F.selu),),
        "softsign": (("softsign", "F.softsign", F.softsign),),
        "hard_swish": (("hard_swish", "F.hardswish", F.hardswish),),
        "hard_sigmoid": (("hard_sigmoid", "F.hardsigmoid", F.hardsigmoid),),
        "hard_tanh": (("hard_tanh", "F.hardtanh", F.hardtanh),),
        "relu6": (("relu6", "F.relu6", F.relu6),),
        "relu": (("relu", "F.relu", F.relu),),
        "leaky_relu": (("leaky_relu", "F.leaky_relu(slope)", lambda x, slope: F.leaky_relu(x, slope)),),
        "soft_shrink": (("soft_shrink", "F.softshrink(lambd)", lambda x, lambd: F.softshrink(x, lambd)),),
        "hard_shrink": (("hard_shrink", "F.hardshrink(lambd)", lambda x, lambd: F.hardshrink(x, lambd)),),
        "tanh_shrink": (("tanh_shrink", "F.tanhshrink", F.tanhshrink),),
        "log_sigmoid": (("log_sigmoid", "F.logsigmoid", F.logsigmoid),),
        "softcap": (("softcap", "cap tanh(x/cap)", lambda x, cap: cap * torch.tanh(x / cap)),),
        "laplace_unit": (
            (
                "laplace_unit",
                "x Laplace(0, 1).cdf(x)",
                lambda x: x * torch.distributions.Laplace(0.0, 1.0, validate_args=False).cdf(x),
            ),
        ),
        "log1p": (("log1p", "log1p", torch.log1p),),
        "logit": (("logit", "logit", torch.logit),),
        "atanh": (("atanh", "atanh", torch.atanh),),
    }


def _gelu(torch: ModuleType) -> tuple[Path, ...]:
    gelu, silu = torch._C._nn.gelu, torch.ops.aten.silu.out
    strided, note = _strided(torch), "CPU, every second element of a larger tensor, preallocated output"
    erf = "0.5 x (1 + erf(x/sqrt 2)), fused"
    tanh = "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), fused"
    logistic = "x / (1 + exp(-x)), fused"

    def by_erf(x: Any, out: Any) -> Any:
        return gelu(x, out=out)

    def by_tanh(x: Any, out: Any) -> Any:
        return gelu(x, approximate="tanh", out=out)

    def swish(x: Any, out: Any) -> Any:
        return silu(x, out=out)

    off = _without_onednn(torch, by_erf)
    by_onednn = f"{NOTE}, oneDNN where torch chooses it"
    return (
        Path("gelu", "gelu", erf, _in_turn(by_erf), None, by_onednn, WITH_ONEDNN, GELU),
        Path("gelu-strided", "gelu", erf, by_erf, strided, note, expression=_not_contiguous(GELU)),
        Path("gelu-nomkldnn", "gelu", erf, off, note=f"{NOTE}, oneDNN off"),
        Path("gelu_tanh", "gelu_tanh", tanh, by_tanh, expression=TANH),
        Path("gelu_tanh-strided", "gelu_tanh", tanh, by_tanh, strided, note, expression=_not_contiguous(TANH)),
        Path("silu", "silu", logistic, swish, expression=SILU),
        Path("silu-strided", "silu", logistic, swish, strided, note, expression=_not_contiguous(SILU)),
    )


def _not_contiguous(expression: str) -> str:
    return expression.replace("(x", f"({EVERY_SECOND}", 1)


def _widened(torch: ModuleType) -> Iterator[Path]:
    """The fused functions in the next wider dtype, rounded once: what their users can do instead."""
    for function, expression in (("gelu", GELU), ("gelu_tanh", TANH), ("silu", SILU)):
        for wide, cast, dtypes in (
            ("float32", "x.float()", ("float16", "bfloat16")), ("float64", "x.double()", ("float32",)),
        ):  # fmt: skip
            wider = f"{expression.replace('(x', f'({cast}', 1)}.to(x.dtype)"
            yield Path(
                f"{function}-in_{wide}", function, f"in {wide}, rounded once", _ignoring_output(torch, wider),
                note=f"CPU, contiguous, {wide} in between", expression=wider, dtypes=dtypes,
            )  # fmt: skip


def _ignoring_output(torch: ModuleType, expression: str) -> Compute:
    compute = _where_gelu_in_turn(expression, evaluating(expression, {"torch": torch}))
    return lambda x, out: compute(x)


def _where_gelu_in_turn(expression: str, compute: Compute) -> Compute:
    """oneDNN may compute it."""
    return _in_turn(compute) if "functional.gelu(" in expression else compute


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
    note = "CPU, eager: one operation after the other"
    return tuple(
        Path(name, function, form, _ignoring_output(torch, expression), note=note, expression=expression)
        for name, function, form, expression in EAGER
    )


EAGER = (
    ("gelu-erf", "gelu", "0.5 x (1 + erf(x/sqrt 2))", "0.5 * x * (1 + torch.erf(x * 0.5**0.5))"),
    ("gelu-erfc", "gelu", "0.5 x erfc(-x/sqrt 2)", "0.5 * x * torch.erfc(x * -(0.5**0.5))"),
    ("gelu-ndtr", "gelu", "x ndtr(x)", "x * torch.special.ndtr(x)"),
    ("gelu-log_ndtr", "gelu", "x exp(log_ndtr(x))", "x * torch.exp(torch.special.log_ndtr(x))"),
    (
        "gelu_tanh-eager",
        "gelu_tanh",
        "0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
        "0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * torch.pow(x, 3))))",
    ),
    ("gelu_sigmoid", "gelu_sigmoid", "x sigmoid(1.702 x)", "x * torch.sigmoid(1.702 * x)"),
    ("silu-eager", "silu", "x sigmoid(x)", "x * torch.sigmoid(x)"),
)


def _gradients(torch: ModuleType) -> Iterator[Path]:
    """Autograd of each forward path; the forward pass belongs to `prepare` and is not timed."""
    backward = backward_of(torch)
    strided, note = _strided(torch), "CPU, autograd, "
    off = partial(_without_onednn, torch)

    def after(expression: str, view: Compute = lambda x: x) -> Compute:
        return after_forward(torch, evaluating(expression, {"torch": torch}), view)

    def path(name: str, form: str, expression: str, **how: Any) -> Path:
        function = name.partition("-")[0] + "_grad"
        of = name.replace(function.removesuffix("_grad"), function, 1)
        gradient = f"torch.autograd.grad(({expression}).sum(), x)[0]"
        return Path(of, function, f"backward of {form}", **how, expression=gradient)

    turns = {"compute": _in_turn(backward), "prepare": _in_turn(after(GELU))}
    yield path("gelu", "F.gelu", GELU, **turns, note=f"{note}contiguous", components=WITH_ONEDNN)
    apart = off(backward), off(after(GELU)), f"{note}oneDNN switched off"
    yield Path("gelu_grad-nomkldnn", "gelu_grad", "backward of F.gelu", *apart)
    others = (("gelu_tanh", 'F.gelu(approximate="tanh")', TANH), ("silu", "F.silu", SILU))
    for name, form, expression in (("gelu", "F.gelu", GELU), *others):
        function = f"{name}_grad"
        view = after(expression, lambda x: strided(x)[0])
        yield Path(f"{function}-strided", function, f"backward of {form}", backward, view, f"{note}strided")
    eager = ((name, form, expression) for name, _, form, expression in EAGER)
    for name, form, expression in (*others, *eager):
        both = {"compute": backward, "prepare": after(expression)}
        yield path(name, form, expression, **both, note=f"{note}contiguous")


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
    F = "torch.nn.functional"

    def into(function: Compute) -> Compute:
        return lambda x, out: function(x, out=out)

    return (
        Path("relu", "relu", "F.relu, fused", into(torch.ops.aten.relu.out), expression=f"{F}.relu(x)"),
        Path("elu", "elu", "F.elu, fused", into(torch._C._nn.elu), expression=f"{F}.elu(x)"),
        Path("normcdf", "normcdf", "special.ndtr", into(torch.special.ndtr), expression="torch.special.ndtr(x)"),
        *(
            Path(name, name, name, into(getattr(torch, name)), expression=f"torch.{name}(x)")
            for name in ("erf", "erfc", "tanh", "sigmoid", "exp", "log")
        ),
    )
