"""Other ways to write the guilty operation of a formula, measured: the largest error and the time, before and after.

Only what was run is proposed: as C code that is compiled here, or in the array operations of the library that the
target belongs to, timed interleaved with the target itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import MissingMeasurement, TargetFailure, UsageError
from ..formats import get_format, is_nan
from ..inputs.special import normal_bits
from ..targets import Target
from ..timing import interleaved
from ..truth.values import judge
from .evaluation import constant_bits, evaluate
from .executable import Executable, in_arrays, in_c
from .expression import SQRT_HALF, TWO_OVER_SQRT_PI, Node, X, absolute, block, constant, decimal, fma, select, text
from .forms import FORMS, Form
from .ladder import FLUSHING, KNOWN, Ladder, flush_text

WORTH = 2.0  # ULP of the target: below, nothing is proposed
BETTER = 0.5  # of the target's largest error: what is proposed has less
TIMED = 1 << 14  # inputs of a timed call, 2*randn
MOST = 4  # proposals
COMPILED = re.compile(r"\.(c|h|cc|cpp|cxx|hpp|so[.\d]*|dylib):")  # in the name of a target: a file of compiled code
CANCELS = 16.0  # amplification: from there on, a sum is said to cancel
LIMIT = {"float32": "16", "float64": "40"}  # of x from below: the results there are zeros


@dataclass(frozen=True)
class Rewrite:
    """What to write instead, and the dtype to compute it in."""

    text: str
    root: Node
    working: str


def low(each: Node, working: str) -> Node:
    """What is lost of a constant when it is rounded to a dtype."""
    exact = each.constant
    assert exact is not None
    fmt = get_format(working)
    m, e = fmt.dyadic(constant_bits(exact, fmt))
    return constant(f"({exact.text} - its rounded value)", lambda mp: exact.exact(mp) - mp.ldexp(m, e))


def limited(working: str) -> Node:
    """x, or -LIMIT below it: -inf*0 is no number."""
    return select(X + LIMIT[working], decimal(f"-{LIMIT[working]}"), X).called("z")


def gelu_by_erfc(working: str) -> Node:
    """With the rounding error d of v = -z*sqrt(1/2) put back: erfc(v + d) = erfc(v) - d*erfc'(v)."""
    z = limited(working)
    v = (-z * SQRT_HALF).called("v")
    d = fma(-z, SQRT_HALF, -v) - z * low(SQRT_HALF, working)
    d = select(z - LIMIT[working], d, decimal("0")).called("d")
    return "0.5" * z * (block("erfc", v) - d * TWO_OVER_SQRT_PI * block("exp", -(v * v)))


def by_exp(w: Node, d: Node | None) -> Node:
    """x*sigmoid(w) by h = exp(-|w|/2), which does not overflow, nor underflow before the result; |w| lacks `d`."""
    h = block("exp", decimal("-0.5") * w).called("h")
    if d is not None:
        h = (h - h * ("0.5" * d)).called("h")
    return select(X, X * h * h, X) / (1 + h * h)


def bounded() -> Node:
    """|x|, or 1024 above it, where all results are x or zeros, and no product overflows."""
    return select(absolute(X) - "1024", absolute(X), "1024").called("a")


def silu_by_exp(working: str) -> Node:
    return by_exp(absolute(X), None)


def gelu_sigmoid_by_exp(working: str) -> Node:
    a, slope = bounded(), decimal("1.702")
    w = (slope * a).called("w")
    return by_exp(w, fma(slope, a, -w) + a * low(slope, working))


def gelu_tanh_by_exp(working: str) -> Node:
    """w = 2u = |x|*(c + k*x^2) with what each operation loses carried in d."""
    a = bounded()
    c = constant("sqrt(8/pi)", lambda mp: mp.sqrt(8 / mp.pi))
    k = constant("sqrt(8/pi)*0.044715", lambda mp: mp.sqrt(8 / mp.pi) * 44715 / 1000000)
    s = a * a
    t = k * s
    q = (c + t).called("q")
    rest = q - c
    lost = (c - (q - rest)) + (t - rest)
    lost = lost + (fma(k, s, -t) + k * fma(a, a, -s) + s * low(k, working) + low(c, working))
    w = (a * q).called("w")
    return by_exp(w, fma(a, q, -w) + a * lost)


COMPENSATED = {
    "gelu": ("use erfc with a correction", gelu_by_erfc),
    "gelu_tanh": ("use exp(-|2u|) with a correction", gelu_tanh_by_exp),
    "gelu_sigmoid": ("use exp(-|1.702*x|) with a correction", gelu_sigmoid_by_exp),
    "silu": ("use exp(-|x|)", silu_by_exp),
}
PLAIN = {  # the same function without cancellation
    "gelu": ("use erfc", "gelu_erfc"),
    "gelu_grad": ("use erfc", "gelu_grad_erfc"),
    "gelu_tanh": ("use exp instead of 1 + tanh", "gelu_tanh_sigmoid"),
    "gelu_tanh_grad": ("use exp instead of 1 + tanh", "gelu_tanh_grad_sigmoid"),
}


def rewrites_of(function: str, dtype: str, current: str) -> Iterator[Rewrite]:
    """Those of a function, for a form that is not `current`, in the dtype and in wider ones."""
    own = "float32" if get_format(dtype).width == 16 else dtype
    wider = dict.fromkeys(["float32", "float64"] if get_format(dtype).width < 64 else ["float64"])
    for working in dict.fromkeys([own, *wider]):
        suffix = "" if working == dtype else f", in {working}, rounded once"
        if function in PLAIN and (PLAIN[function][1] != current or working != dtype):
            words, form = PLAIN[function]
            yield Rewrite(words + suffix, FORMS[form].root, working)
        elif current in FORMS and working != dtype:
            yield Rewrite(f"compute it{suffix}", FORMS[current].root, working)
        if function in COMPENSATED and working == own:
            words, build = COMPENSATED[function]
            yield Rewrite(words + suffix, build(working), working)


def guilty_of(ladder: Ladder, at: int) -> str:
    """What the error at one input is blamed on: what cancels, overflows, rounds or is flushed, or whose code."""
    model, added = ladder.model, ladder.added(at)
    main = max(added, key=lambda source: abs(added[source]) if np.isfinite(added[source]) else 0.0)
    if main == FLUSHING:
        return flush_text(model.flush)
    if main == KNOWN:
        return f"{ladder.rung(KNOWN).title.removeprefix('as ')} has code of its own"
    if main == "blocks":
        return f"{', '.join(block.title for block in model.blocks.values())}: not accurate enough"
    if main == "rest":
        return "unexplained"
    x, correct = ladder.x_bits[at : at + 1], model.arithmetic(stored=False, flush=False)
    found = evaluate(model.form.root, ladder.dtype, x, correct)[1]
    for node, value in found.items():
        if not np.isfinite(value[0]):
            return f"{text(node)} overflows"
    worst = max(ladder.operations, key=lambda share: abs(share.error[at]), default=None)
    if worst is None or worst.node is None:
        return f"rounding to {ladder.dtype}"
    for node in found:
        if node.operation in ("add", "sub") and worst.node in node.arguments and worst.amplification[at] > CANCELS:
            return f"{text(node)} cancels"
    return f"{text(worst.node)} rounds"


def proposals(target: Target, dtype: str, ladder: Ladder, at: int | None) -> list[dict[str, Any]]:
    """The rewrites that are better than the target, as in docs/json.md, the most accurate first; `at`: its worst."""
    before = 0.0 if at is None else float(abs(ladder.rungs[-1].error[at]))
    if at is None or before < WORTH or target.level:  # a rewrite would run here, at the level of the machine
        return []
    guilty = guilty_of(ladder, at)
    fmt, function = get_format(dtype), ladder.model.form.function
    x = ladder.x_bits
    ends = np.array([fmt.infinity, fmt.infinity | fmt.sign_mask], fmt.uint)
    worse = int(np.count_nonzero(is_nan(fmt, target.evaluate(dtype, ends))))
    found = []
    for each in rewrites_of(function, dtype, ladder.model.form.name.partition("+")[0]):
        try:
            runs = _executable(target, each, dtype)
        except (MissingMeasurement, UsageError, ImportError):
            continue
        size = np.abs(judge(function, dtype, x, runs.seconds(x)[0]).error)
        after = float(size.max())
        if np.isfinite(after) and after < BETTER * before and is_nan(fmt, runs.seconds(ends)[0]).sum() <= worse:
            found.append((after, each, runs, int(np.argmax(size))))
    found.sort(key=lambda row: row[0])
    times = _timed(target, dtype, [runs for _, _, runs, _ in found[:MOST]])
    return [
        {
            "guilty": guilty,
            "rewrite": each.text,
            "formula": Form(name="", function=function, root=each.root).text,
            "working": each.working,
            "run": runs.how,
            "before_ulp": before,
            "after_ulp": after,
            "x_bits": fmt.bits_text(int(x[worst])),
            "time": ratio,
        }
        for (after, each, runs, worst), ratio in zip(found[:MOST], times, strict=True)
    ]


def _executable(target: Target, each: Rewrite, dtype: str) -> Executable:
    """In the target's own library where that is one of arrays, in C where it is C; MissingMeasurement for others."""
    library = next((name for name in ("torch", "numpy", "scipy") if target.family == name), None)
    library = library or next((name for name in ("torch", "numpy") if f"{name} arrays" in target.note), None)
    if library:
        return in_arrays(each.root, each.working, dtype, library)
    if target.family in ("kernels", "published") or COMPILED.search(target.name):
        return in_c(each.root, each.working, dtype)
    raise MissingMeasurement(f"{target.name} is neither C nor an array expression: a time beside it would say nothing")


def _timed(target: Target, dtype: str, runs: Sequence[Executable]) -> list[float | None]:
    """Time of each over that of the target, medians of interleaved calls; None where the target fails."""
    if not runs:
        return []
    x = normal_bits(dtype, TIMED)
    try:
        sides = {"": lambda: target.timed(dtype, x)[1]}
        sides |= {str(at): (lambda each=each: each.seconds(x)[1]) for at, each in enumerate(runs)}  # type: ignore[misc]
        seconds = {name: float(np.median(each)) for name, each in interleaved(sides).items()}
    except TargetFailure:
        return [None] * len(runs)
    return [seconds[str(at)] / seconds[""] for at in range(len(runs))]
