"""NaN in, NaN out, whatever its sign and payload, and a quiet NaN stays quiet: all that the sweep meets, and more."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..errors import Unanswered
from ..formats import Format, get_format, is_nan, is_negative
from ..functions import Function
from ..inputs.special import both_signs, nan_magnitudes
from ..records.parts import Severity
from .base import Check, Evidence, Finding

RANDOM = 200  # payloads beside those of one bit, where not all are tried


def run(evidence: Evidence) -> Finding:
    fmt = evidence.fmt
    if (
        witness := evidence.witness("nan_wrong")
    ) is not None:  # in the sweep, which has every NaN of an exhaustive plan
        return _failed(evidence, *witness, "")
    x, got = _outputs(evidence)
    bad = np.flatnonzero(~is_nan(fmt, got) | (is_quiet(fmt, x) & ~is_quiet(fmt, got)))
    if len(bad):
        return _failed(evidence, int(x[bad[0]]), int(got[bad[0]]), f"; likewise for {len(bad)} of {len(x)} NaNs")
    return Finding("pass", _convention(fmt, x, got), fmt.nan, int(evidence.probe([fmt.nan])[0]), fmt.nan)


def _outputs(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Outputs for many NaNs; for those of every plan where the target cannot be called."""
    try:
        x = nan_bits(evidence.fmt.name)
        return x, evidence.call(x)
    except Unanswered:
        x = np.array(both_signs(evidence.fmt, set(nan_magnitudes(evidence.fmt))), dtype=evidence.fmt.uint)
        return x, evidence.probe(x)


@cache
def nan_bits(dtype: str) -> np.ndarray:
    """NaNs of both signs, quiet and signalling: all of 16 bits; of more, each payload of one bit, and random ones."""
    fmt = get_format(dtype)
    if fmt.width <= 16:
        magnitudes = set(range(fmt.infinity + 1, fmt.sign_mask))
    else:
        payload, quiet = fmt.precision - 1, 1 << (fmt.precision - 2)
        random = np.random.default_rng(0).integers(1, 1 << payload, RANDOM).tolist()
        payloads = {1 << k for k in range(payload)} | {quiet - 1, quiet + 1} | set(random)
        magnitudes = {fmt.infinity | p | q for p in payloads for q in (0, quiet)} | set(nan_magnitudes(fmt))
    return np.array(both_signs(fmt, magnitudes), dtype=fmt.uint)


def is_quiet(fmt: Format, bits: np.ndarray) -> np.ndarray:
    """Whether a NaN is quiet: the first bit of its payload."""
    return np.asarray((bits & fmt.uint.type(1 << (fmt.precision - 2))) != 0)


def _failed(evidence: Evidence, x_bits: int, got_bits: int, also: str) -> Finding:
    fmt = evidence.fmt
    gave = f"the signalling NaN {fmt.bits_text(got_bits)}" if fmt.is_nan(got_bits) else evidence.text(got_bits)
    return Finding("fail", f"f(NaN with bits {fmt.bits_text(x_bits)}) = {gave}{also}", x_bits, got_bits, fmt.nan)


def _convention(fmt: Format, x: np.ndarray, got: np.ndarray) -> str:
    """What became of sign, payload and the mark of a signalling NaN: IEEE 754 leaves the first two open."""
    payload, negative = fmt.uint.type((1 << (fmt.precision - 2)) - 1), is_negative(fmt, got)
    detail = [
        _kept("sign", negative, is_negative(fmt, x)),
        _kept("payload", got & payload, x & payload),
        _kept("signalling", ~is_quiet(fmt, got), ~is_quiet(fmt, x)),
    ]
    return ", ".join(detail)


def _kept(what: str, got: np.ndarray, x: np.ndarray) -> str:
    if (got == x).all():
        return f"{what} kept"
    return f"{what} always the same" if (got == got[0]).all() else f"{what} kept in part"


def _severity(function: Function, fmt: Format, finding: Finding) -> Severity:
    """Which NaN it is harms few; a derivative that jumps is written with comparisons, which NaN passes by."""
    return "convention" if fmt.is_nan(finding.got_bits or 0) or function.also else "defect"


CHECK = Check(
    "nan",
    "clamps by min and max swallow NaN (openvino#35649, openvino#35839, opencv#25147)",
    run,
    severity=_severity,
    remedy=(
        "Let NaN pass: write a clamp as a comparison that keeps x where it is NaN (`x < low ? low : x`), or "
        "select NaN at the end."
    ),
)
