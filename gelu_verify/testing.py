"""`assert_gelu_accurate`: an accuracy test of an implementation, for any test framework.

from gelu_verify.testing import assert_gelu_accurate

def test_my_gelu():
    assert_gelu_accurate(my_gelu, dtype="float32", max_ulp=2, allow={"minus_infinity": "as PyTorch"})
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .buckets.table import HIST_EDGES
from .checks import CHECKS
from .errors import UsageError, one_of
from .fenv import in_default_environment
from .formats import get_format
from .functions.regions import REGIONS
from .records.grades import GRADES, ORDER, graded
from .records.result import Result
from .report.text import value_text
from .targets import Target
from .verification import verify

_REGIONS = [region.name for region in REGIONS]

collected: Callable[[Result], object] | None = None
"""Called with every result that `assert_gelu_accurate` looks at: the pytest plugin makes a report of them."""


@in_default_environment
def assert_gelu_accurate(
    target: Target | Callable[..., Any] | str,
    function: str = "gelu",
    dtype: Any = "float32",
    *,
    max_ulp: float | None = None,
    regions: Mapping[str, float] | None = None,
    grade: str | None = None,
    allow: Mapping[str, str] | None = None,
    plan: str = "default",
    **options: Any,
) -> Result:
    """Raise AssertionError where `target` is not as accurate as is asked.

    All inputs of a 16-bit dtype are tried, a sample of others (`plan="exhaustive"`: all of float32). A failure says
    which input shows it, what was returned, what is right, how many inputs are affected, where, and how to repeat it.

    Parameters
    ----------
    target : a callable, the name of an implementation, a C symbol ("kernel.c:my_gelu") ..., as `verify` takes it
    function, dtype, plan : as `verify` takes them
    max_ulp : the largest error that is accepted, in ULP of the exact value
    regions : the same for regions of x: `{"[-5,-3)": 10, "[0,1)": 1}`; names as in `gelu-verify list`
    grade : the worst grade that is accepted (docs/grades.md); default, where nothing else is asked, "accurate"
    allow : checks that may fail, each with a reason: `{"minus_infinity": "NaN, as PyTorch"}`. A failed check that is a
        defect or a convention must be named here; losses of accuracy are what the limits are for
    options : further arguments of `verify`: `ranges`, `policy`, `kwargs`, `array`, `compile`, `call`, `isolate`, `seed`

    Returns
    -------
    Result : what was measured

    Raises
    ------
    AssertionError : it is not accurate enough, or fails: raises, crashes, returns another shape or dtype
    UsageError : an unknown name, or a limit that is not a number from 0 on
    """
    __tracebackhide__ = True  # pytest: the failure is the caller's
    _check_limits(max_ulp, regions or {}, grade, allow or {})
    result = verify(target, function, dtype, plan, **options)
    if collected is not None:
        collected(result)
    found = [*_failures(result, max_ulp, regions or {}, grade, allow or {})]
    if found:
        raise AssertionError(_message(result, found))
    return result


def _check_limits(
    max_ulp: float | None, regions: Mapping[str, float], grade: str | None, allow: Mapping[str, str]
) -> None:
    for name, limit in (("max_ulp", max_ulp), *((f"regions[{name!r}]", limit) for name, limit in regions.items())):
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if limit is not None and not (is_number and math.isfinite(limit) and limit >= 0):
            raise UsageError(f"{name} is {limit!r} (accepted: a finite number of ULP from 0 on)")
    for name in regions:
        if name not in _REGIONS:
            raise one_of("region", name, _REGIONS)
    if grade is not None and grade not in GRADES:
        raise one_of("grade", grade, [*GRADES])
    for name, reason in allow.items():
        if name not in CHECKS:
            raise one_of("check", name, [*CHECKS])
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError(f"allow[{name!r}] is {reason!r} (accepted: the reason why it may fail)")


# ---- what is not as it should be -----------------------------------------------------------------


def _failures(
    result: Result, max_ulp: float | None, regions: Mapping[str, float], grade: str | None, allow: Mapping[str, str]
) -> Iterator[str]:
    """One paragraph for each, the worst first."""
    record = result.record
    if record.failure is not None:
        yield f"it failed: {record.failure}"
    for severity in ("defect", "convention"):
        for name in record.failed_checks:
            finding = record.findings[name]
            if finding.severity == severity and name not in allow:
                yield (
                    f"check {name} fails ({severity}): {finding.detail}{_witness(record.dtype, finding)}\n"
                    f'    accept it with allow={{"{name}": "why"}}'
                )
    if result.table is None:
        return
    if max_ulp is not None:
        yield from _over(result, max_ulp, "", record.max_ulp, record.witness)
    for part in record.regions or ():
        if part.region in regions:
            yield from _over(result, regions[part.region], f" in {part.region}", part.max_ulp, part.witness)
    if grade is None and max_ulp is None and not regions:
        grade = "accurate"
    if grade is not None and not _is_graded(result, grade, allow):
        yield f"the grade is {_title(record.grade)}, worse than {_title(grade)}: {record.sentence}"


def _is_graded(result: Result, grade: str, allow: Mapping[str, str]) -> bool:
    """Whether the grade is good enough; defects that are allowed count as what the errors say."""
    record = result.record
    accepted = {name: replace(record.findings[name], severity="loss") for name in record.failed_checks if name in allow}
    findings = {**record.findings, **accepted}
    found = graded(replace(record, findings=findings), result.table).grade
    return found is not None and ORDER[found] <= ORDER[grade]


def _title(grade: str | None) -> str:
    return GRADES[grade].title if grade in GRADES else "unknown"


def _over(result: Result, limit: float, where: str, error: float | None, witness: Any) -> Iterator[str]:
    if error is None and not where:
        yield "no output could be scored"
    elif error is not None and error > limit:
        shown = _witness(result.record.dtype, witness)
        yield f"{error:.6g} ULP{where}, more than {limit:g}{shown}{_extent(result, limit)}"


def _extent(result: Result, limit: float) -> str:
    """At how many inputs, and from where to where."""
    table = result.table
    assert table is not None
    edge = int(np.searchsorted(HIST_EDGES, limit))  # errors in the bins above are larger for certain
    counts = table.hist[edge + 1 :].sum(dtype=np.int64)
    rows = np.flatnonzero(table.columns["max_error"] > limit)
    fmt = table.fmt
    ends = [value_text(fmt.name, fmt.bits_text(int(table.columns["max_error_x"][row]))) for row in (rows[0], rows[-1])]
    some = max(int(counts), len(rows))
    where = f"x = {ends[0]}" if len(rows) == 1 else f"x from {ends[0]} to {ends[1]}"
    return f"\n    errors above {limit:g} ULP: at {some:,} or more of {result.record.n:,} inputs, {where}"


def _witness(dtype: str, holder: Any) -> str:
    """x, got and want, each as bits, hex float and decimal."""
    lines = []
    for name in ("x", "got", "want"):
        bits = getattr(holder, f"{name}_bits", None)
        if bits is not None:
            shown = get_format(dtype).hex_float(int(bits, 16))
            lines.append(f"\n    {name:4s} {bits}  {shown}  ({value_text(dtype, bits)})")
    return "".join(lines)


def _message(result: Result, found: list[str]) -> str:
    record = result.record
    lines = [f"{record.target} is not accurate enough as {record.function} in {record.dtype}:"]
    lines += [f"  - {each}" for each in found]
    if record.variant not in (None, record.function, "none"):
        lines.append(f"  It computes {record.variant}.")
    lines.append(f"  {_title(record.grade).capitalize()}: {record.sentence}")
    lines.append(f"  inputs: {record.n:,} (plan {record.plan}, seed {record.seed})")
    if "<" not in record.target:  # a lambda or a local function has no name elsewhere
        lines.append(f"  repeat: {record.repeat}")
    return "\n".join(lines)
