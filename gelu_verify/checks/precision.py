"""The results have the precision of their dtype: not the granularity, nor the noise, of a narrower one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..arrays import distinct
from ..formats import DTYPES, FORMATS, Format, numpy_dtype, to_float64, values
from .base import Check, Evidence, Finding

FEW = 64  # ordinary points: fewer say nothing
ZERO_BITS = 3  # at the end of every result: one is chance, three are a narrower format
GAP = 10  # bits between two formats from which on the noise of one is never that of the other
NOISE = 2.0**-4, 2.0  # median error, in ulp of the narrower format, of arithmetic in it: 1/4, and some headroom
ROUGH = 0.25  # of neighbouring runs have errors of opposite sign, at least: noise has half, a polynomial has few
TINY = "1e-9"  # lost in float16, kept by formats of its precision with a wider range


def run(evidence: Evidence) -> Finding:
    fmt, dense = evidence.fmt, evidence.dense
    at = np.flatnonzero(dense.ordinary)
    if len(at) < FEW:
        return Finding("not applicable", "too few results that must be rounded")
    found = _inputs(evidence, at) or _results(evidence, at) or _noise(evidence, at)
    if found is None:
        return Finding("pass", value=fmt.name)
    narrow, detail = found
    worst = int(at[np.argmax(np.abs(dense.error[at]))])
    return Finding("fail", f"computes in {narrow}: {detail}", *dense.bits(worst), narrow)


def _narrower(fmt: Format) -> list[Format]:
    """Formats of fewer bits of precision, the coarsest first."""
    return sorted(
        (FORMATS[name] for name in DTYPES if FORMATS[name].precision < fmt.precision), key=lambda f: f.precision
    )


def _inputs(evidence: Evidence, at: np.ndarray) -> tuple[str, str] | None:
    """Inputs that are rounded first: then rounded inputs have the same results."""
    fmt, dense = evidence.fmt, evidence.dense
    moving = (np.diff(dense.want) != 0) & (np.diff(dense.ordinal) == 1)
    if not moving.any() or (np.diff(dense.got) != 0)[moving].mean() > 0.5:
        return None
    x = values(fmt, dense.x[at])
    got, want = len(distinct(dense.got[at])), len(distinct(dense.want[at]))
    for narrow in _narrower(fmt):
        rounded = x.astype(numpy_dtype(narrow.name)).astype(x.dtype).view(fmt.uint)
        if (rounded == dense.x[at]).mean() > 0.5 or got < len(distinct(rounded)) / 2:  # or a step: any inputs
            continue
        if np.array_equal(evidence.call(rounded), dense.got[at]):
            detail = f"inputs are rounded to {narrow.precision} bits, {got} results where {want} are due"
            return _name(evidence, narrow), detail
    return None


def _results(evidence: Evidence, at: np.ndarray) -> tuple[str, str] | None:
    """Results whose last bits are always zero, where those of the true ones are not."""
    fmt, zeros = evidence.fmt, _zeros(evidence.dense.got[at])
    if zeros < ZERO_BITS or zeros >= fmt.precision - 1 or _zeros(evidence.dense.want[at]) >= zeros:
        return None
    kept = fmt.precision - zeros
    narrow = next((narrow for narrow in _narrower(fmt) if narrow.precision >= kept), None)
    detail = f"results keep {kept} of {fmt.precision} bits"
    return (_name(evidence, narrow), detail) if narrow else (f"{kept} bits", detail)


def _zeros(bits: np.ndarray) -> int:
    """At the end of all of them."""
    union = int(np.bitwise_or.reduce(bits))
    return (union & -union).bit_length() - 1


def _noise(evidence: Evidence, at: np.ndarray) -> tuple[str, str] | None:
    """Errors as large as those of a narrower format, and without order: they show how many bits are right."""
    fmt, dense = evidence.fmt, evidence.dense
    x, error = dense.value[at], dense.error[at]
    core = (np.abs(x) >= 0.25) & (x <= 3) & (x >= -1)
    ordinal = dense.ordinal[at][core]
    error = error[core][np.diff(ordinal, prepend=ordinal[:1] - 2) > 1]  # of each run the first: neighbours err alike
    if len(error) < FEW:
        return None
    level, turns = float(np.median(np.abs(error))), float(np.mean(np.sign(error[1:]) != np.sign(error[:-1])))
    if turns < ROUGH:
        return None
    for narrow in _narrower(fmt):
        bits = fmt.precision - narrow.precision
        if bits >= GAP and NOISE[0] <= level / 2.0**bits <= NOISE[1]:
            named = f"{narrow.name}, or of an approximate intrinsic," if narrow.width <= 16 else narrow.name
            name = _name(evidence, narrow) if narrow.name == "float16" else f"{narrow.precision} bits"
            return name, f"half of its errors are above {level:.3g} ulp, as those of {named} are"
    return None


def _name(evidence: Evidence, narrow: Format) -> str:
    """The format, or the bits alone where it has the precision of float16 and not its range."""
    if narrow.name != "float16":
        return narrow.name
    x = np.array([evidence.fmt.round(Fraction(TINY))], evidence.fmt.uint)
    lost = to_float64(evidence.fmt, evidence.call(x))[0] == 0
    keeps_range = evidence.function.is_zero_at_zero and evidence.fmt.emin < narrow.emin and not lost
    return f"{narrow.precision} bits" if keeps_range else narrow.name


CHECK = Check(
    "precision",
    "float32 that is float16 or bfloat16 inside (llama.cpp#29252, tt-metal#54883)",
    run,
    remedy=(
        "Compute in the dtype of the result or in a wider one: look for a cast to a narrower type, a 16-bit "
        "table, or an approximate intrinsic (`tanh.approx`, `--use_fast_math`)."
    ),
)
