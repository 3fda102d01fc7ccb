"""Our correctly rounded kernels against others, side by side in one process.

Outputs are preallocated on both sides: a fresh output costs more in page faults than many a kernel takes. Calls are
interleaved, so that whatever slows the machine slows all of them; medians are compared. On several threads each of
ours works through its own part of the array, call after call; torch shares every call among its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..errors import MissingMeasurement, TargetUnavailable, UsageError, one_of
from ..formats import DTYPES, numpy_dtype
from ..inputs.special import normal_bits as inputs
from ..targets import Target, families, find
from ..targets.importing import framework
from ..timing import rate
from ..truth import correctly_rounded
from .timer import SAMPLE, Call, Side, interleaved_sides

BUDGET = 0.4  # seconds of timed calls, beyond the least number of repeats
COPY, TORCH = "copy", "torch"


@dataclass(frozen=True)
class TimedCase:
    """What is timed: `n` elements of scale*randn on `threads` threads."""

    function: str
    dtype: str
    n: int
    threads: int
    scale: int = 2


class _NoSuchPath(Exception):
    """The rival does not compute this function in this dtype."""


def default_rivals() -> list[str]:
    """torch where it is installed, and a memory copy."""
    try:
        framework(TORCH)
    except TargetUnavailable:
        return [COPY]
    return [TORCH, COPY]


def check_rivals(names: Sequence[str]) -> None:
    """UsageError for an unknown rival, MissingMeasurement for one that is not installed."""
    accepted = [COPY, *families()]
    for name in names:
        if name not in accepted:
            raise one_of("rival", name, accepted)
        if name == COPY:
            continue
        if name == "jax":  # XLA would share one array among all cores; it reads this once, when it is loaded
            os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
        try:
            reason = framework(TORCH) and "" if name == TORCH else find([name])[1].get(name, "")
        except TargetUnavailable as error:
            reason = str(error)
        if reason:
            raise MissingMeasurement(f"{name} was asked for, but {reason}")


def check_case(case: TimedCase) -> None:
    """UsageError for what cannot be timed."""
    if case.function not in correctly_rounded.FUNCTIONS:
        raise one_of("correctly rounded function", case.function, list(correctly_rounded.FUNCTIONS))
    if case.dtype not in DTYPES:
        raise one_of("dtype", case.dtype, list(DTYPES))
    if case.n < case.threads or case.threads < 1:
        raise UsageError(f"{case.n} elements cannot be shared by {case.threads} threads")


def compare(
    case: TimedCase, rivals: Sequence[str], budget: float = BUDGET
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """One row for each rival (docs/json.md), and why a rival has none."""
    x = inputs(case.dtype, case.n, case.scale)
    sides, paths, missing = {"": _ours(case, x)}, {}, {}
    for rival in rivals:
        try:
            paths[rival], sides[rival] = _rival(rival, case, x)
        except _NoSuchPath as reason:
            missing[rival] = str(reason)
    times = interleaved_sides(sides, SAMPLE * case.threads**2, budget)
    mine = rate(times.pop(""), case.n, x.itemsize)
    rows = [
        {
            "function": case.function,
            "dtype": case.dtype,
            "n": case.n,
            "scale": case.scale,
            "threads": case.threads,
            "rival": rival,
            "path": paths[rival],
            "ours": mine,
            "theirs": (theirs := rate(seconds, case.n, x.itemsize)),
            "ratio": mine["elements_per_s"] / theirs["elements_per_s"],
            "repeats": len(seconds),
        }
        for rival, seconds in times.items()
    ]
    return rows, missing


# ---- calls ---------------------------------------------------------------------------------------


def _parts(array: np.ndarray, threads: int) -> list[np.ndarray]:
    return np.array_split(array, threads)


def _ours(case: TimedCase, x: np.ndarray) -> Side:
    kernel = getattr(correctly_rounded, case.function)
    floats = numpy_dtype(case.dtype)
    parts = zip(_parts(x, case.threads), _parts(np.empty_like(x), case.threads), strict=True)
    return [partial(kernel, a.view(floats), b.view(floats)) for a, b in parts]


def _rival(rival: str, case: TimedCase, x: np.ndarray) -> tuple[str, Side]:
    """What is called, and the calls."""
    if rival == COPY:
        parts = zip(_parts(np.empty_like(x), case.threads), _parts(x, case.threads), strict=True)
        return "numpy.copyto", [partial(np.copyto, b, a) for b, a in parts]
    if rival == TORCH:
        return _torch(case, x)
    target = _path(rival, case)
    loaded = [target.load(case.dtype, part) for part in _parts(x, case.threads)]
    return target.name, [partial(target.call, each) for each in loaded]


def _path(rival: str, case: TimedCase) -> Target:
    """The family's own function, compiled where it has that."""
    able = [t for t in find([rival])[0] if t.function == case.function and case.dtype in t.dtypes]
    if not able:
        raise _NoSuchPath(f"no path of {rival} computes {case.function} in {case.dtype}")
    wanted = (f"{rival}.{case.function}-jit", f"{rival}.{case.function}")
    return min(able, key=lambda target: wanted.index(target.name) if target.name in wanted else len(wanted))


def _torch(case: TimedCase, x: np.ndarray) -> tuple[str, Side]:
    """torch's fused operator into a preallocated output; silu stands in for the sigmoid GELU, which it lacks."""
    torch = framework(TORCH)
    torch.set_num_threads(case.threads)
    signed = torch.from_numpy(x.view(f"i{x.itemsize}").copy())
    t = signed.view(getattr(torch, case.dtype))
    out, one, aten = torch.empty_like(t), torch.ones_like(t), torch.ops.aten
    gelu, silu = torch._C._nn.gelu, aten.silu.out
    gelu_backward, silu_backward = aten.gelu_backward.grad_input, aten.silu_backward.grad_input
    calls: dict[str, tuple[str, Call]] = {
        "gelu": ("gelu", lambda: gelu(t, out=out)),
        "gelu_tanh": ("gelu tanh", lambda: gelu(t, approximate="tanh", out=out)),
        "silu": ("silu", lambda: silu(t, out=out)),
        "gelu_grad": ("gelu_backward", lambda: gelu_backward(one, t, grad_input=out)),
        "gelu_tanh_grad": ("gelu_backward tanh", lambda: gelu_backward(one, t, approximate="tanh", grad_input=out)),
        "silu_grad": ("silu_backward", lambda: silu_backward(one, t, grad_input=out)),
    }
    calls["gelu_sigmoid"], calls["gelu_sigmoid_grad"] = calls["silu"], calls["silu_grad"]
    path, call = calls[case.function]
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:  # a dtype that this version does not take
        raise _NoSuchPath(f"torch {path} in {case.dtype}: {str(error).splitlines()[0]}") from None
    return f"torch {path}", [call]


# ---- what was asked for --------------------------------------------------------------------------


def sizes(parts: Iterable[str]) -> Iterator[int]:
    """Each of them '1000', '2^14', or '2^14..2^24': times four from the first, and the last."""
    for part in parts:
        first, dots, last = part.partition("..")
        low, high = _size(first), _size(last if dots else first)
        if low > high:
            raise UsageError(f"--sizes {part!r}: {first} is more than {last} (accepted: the smaller one first)")
        while low < high:
            yield low
            low *= 4
        yield high


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,10})(?:\^([0-9]{1,2}))?", text.strip(" "))
    found = int(match[1]) ** int(match[2] or 1) if match else 0
    if not 1 <= found <= 1 << 30:
        raise UsageError(f"--sizes {text!r} is not a size (accepted: 1 to 2^30, such as 1000, 2^18, 2^14..2^24)")
    return found
