"""Which function of the family, or which derivative, the target really computes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..errors import Unanswered
from ..formats import is_negative, to_float64
from ..functions import Function, compared_with, get_function
from ..inputs.special import relatives, variant_bits
from ..truth.values import judge
from .base import Evidence, Finding

CLEAR = 8.0  # ulp: a target this near a function at every point computes it ...
TIMES = 4.0  # ... if the one that it claims to be is this many times farther away
ABSOLUTE = 1e-4  # a quarter of the least distance between two functions of the family, 4.7e-4
ROUNDINGS = 1.0, 4.0  # 2^(1-p) |x|, times this, may be lost by native arithmetic for x < 0, x > 0
COARSE = 2.0**-9  # of x > 0 may be lost, whatever the dtype: a float16 table inside shows for x < 0, and by its ulps
APPROXIMATELY = 2.0**-6  # largest error of an approximation; two functions of the family are 4.7e-4, 0.02 or more apart
NONE = "none"
_BESIDE = Fraction(1, 2), Fraction(3, 2)  # of a border: x inside of it and outside


def classify(evidence: Evidence) -> str | None:
    """Name of the function that the results are nearest to, "none" if none is near, None for a building block."""
    options = relatives(evidence.function)
    if not options:
        return None
    while True:
        name = _nearest(evidence, options)
        if name in (NONE, evidence.function.name) or _is_it(evidence, name):
            return name
        options = [option for option in options if option.name != name]


def _nearest(evidence: Evidence, options: list[Function]) -> str:
    claimed = evidence.function.name
    ulps, errors, distances = _apart(evidence, [option.name for option in options])
    nearest = min(ulps, key=ulps.__getitem__)
    if ulps[claimed] > max(1.0, TIMES * ulps[nearest]) and ulps[nearest] <= CLEAR:
        return nearest
    if distances[claimed] <= 1:
        return claimed
    nearest = min(distances, key=distances.__getitem__)
    return nearest if distances[nearest] <= 1 else _approximated(claimed, errors)


def _apart(evidence: Evidence, names: list[str]) -> tuple[dict[str, float], ...]:
    """How far the results are from each function: in ULP, as they are, and in tolerances."""
    fmt = evidence.fmt
    x = np.array(variant_bits(evidence.function, fmt), dtype=fmt.uint)
    got = evidence.probe(x)
    values, size = to_float64(fmt, got), np.abs(to_float64(fmt, x))
    roundings = np.where(is_negative(fmt, x), *ROUNDINGS) * 2.0 ** (1 - fmt.precision)
    tolerance = np.maximum(ABSOLUTE, np.maximum(roundings, np.where(is_negative(fmt, x), 0, COARSE)) * size)
    ulps: dict[str, float] = {}
    errors: dict[str, float] = {}
    distances: dict[str, float] = {}
    for name in names:
        want, error, _ = judge(name, fmt.name, x, got)
        ulps[name] = float(np.abs(error).max())
        with np.errstate(over="ignore", invalid="ignore"):  # outputs are anything
            wanted = to_float64(fmt, want)
            away = np.where(values == wanted, 0, np.abs(values - wanted))  # infinities, too
            errors[name], distances[name] = _second(away), _second(away / tolerance)
    return ulps, errors, distances


def _is_it(evidence: Evidence, name: str) -> bool:
    """Whether the results are those of that function from -8 to 8 and on both sides of its borders, too: at the few x
    that all are compared at, hard_shrink is x. Of a target that cannot be called, where it has no borders."""
    fmt, function = evidence.fmt, get_function(name)
    borders = {*function.points, *(Fraction(text) for label, text in function.landmarks.items() if "border" in label)}
    beside = {fmt.round(each * share) for each in borders for share in _BESIDE if each}
    x = np.array(sorted(beside | {fmt.round(Fraction(k, 4)) for k in range(-32, 33) if k}), dtype=fmt.uint)
    try:
        bits = evidence.call(x)
    except Unanswered:
        return not beside
    got, want = to_float64(fmt, bits), to_float64(fmt, judge(name, fmt.name, x, bits).want_bits)
    return np.allclose(got, want, rtol=APPROXIMATELY / 2, atol=APPROXIMATELY, equal_nan=True)


def _second(away: np.ndarray) -> float:
    """The largest but one, which may be an outlier."""
    return float(np.sort(np.where(np.isnan(away), np.inf, away))[-2])


def _approximated(claimed: str, errors: dict[str, float]) -> str:
    """What coarse results approximate: in doubt, what they claim."""
    nearest = min(errors, key=errors.__getitem__)
    name = nearest if errors[claimed] > TIMES * errors[nearest] else claimed
    return name if errors[name] <= APPROXIMATELY else NONE


def named(evidence: Evidence) -> Finding:
    """Pass where it is what the target claims."""
    name, variant = evidence.function.name, classify(evidence)
    if variant is None:
        return _block(evidence)
    if variant == name:
        return Finding("pass", value=variant)
    x = variant_bits(evidence.function, evidence.fmt)
    got, want, error = evidence.judged(x)
    worst = int(np.argmax(np.abs(error)))
    return Finding("fail", _detail(evidence, variant), x[worst], int(got[worst]), int(want[worst]), variant)


def _block(evidence: Evidence) -> Finding:
    """Of a building block, which has no relatives: whether the results are far from it, and near to another one."""
    name = evidence.function.name
    x = np.array(variant_bits(evidence.function, evidence.fmt), dtype=evidence.fmt.uint)
    got, want, error = evidence.judged(x)
    worst = int(np.argmax(np.abs(error)))
    other = _stranger(evidence) if not abs(error[worst]) <= TIMES * CLEAR else None
    if other is None:
        return Finding("not applicable", f"{name} is a building block")
    return Finding("fail", f"computes {other}, not {name}", x[worst], int(got[worst]), int(want[worst]), other)


def _detail(evidence: Evidence, variant: str) -> str:
    claimed = evidence.function
    if variant == NONE:
        stranger, first = _stranger(evidence), next(iter(claimed.parameters), None)
        is_meant = first and not first.is_input and first.default and "[" not in claimed.name
        by = f" with {first.name} = {float(first.default):g}" if first and is_meant else ""
        return f"computes neither {claimed.name}{by} nor a relative of it" + (f", but {stranger}" if stranger else "")
    detail = f"computes {variant}, not {claimed.name}"
    if claimed.gradient_of:
        detail += f": the derivative of {get_function(variant).gradient_of}, not of {claimed.gradient_of}"
    return detail


def _stranger(evidence: Evidence) -> str | None:
    """A function that is no relative, a block or a forward function for a gradient, that the results are near to: in
    ULP, or as near as those of a relative that is named."""
    kin = {evidence.function.name, *(relative.name for relative in relatives(evidence.function))}
    # those of a second input are, at its default, the functions that they are made of
    others = [each for each in compared_with(evidence.function) if not any(p.is_input for p in each.parameters)]
    ulps, _, distances = _apart(evidence, [each.name for each in others if each.name not in kin])
    for apart, most in ((ulps, CLEAR), (distances, 1.0)):
        near = [name for name in apart if apart[name] <= most and _is_it(evidence, name)]
        if near:
            return min(near, key=lambda name: (apart[name], get_function(name).gradient_of is not None))
    return None
