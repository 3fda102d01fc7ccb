"""`assert_gelu_accurate`: an accuracy test of an implementation, for any test framework (docs/testing.md).

from gelu_verify.testing import assert_gelu_accurate

def test_my_gelu():
    assert_gelu_accurate(my_gelu, dtype="float32", max_ulp=2, allow={"minus_infinity": "as PyTorch"})
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import current_test
from .attribution.nearest import nearest_formula
from .checks import CHECKS
from .errors import UsageError, one_of
from .fenv import in_default_environment
from .formats import get_format, named_dtype
from .functions import get_function
from .functions.regions import REGIONS
from .inputs.plans import make_plan
from .judge.demands import Demands, shown_input
from .measure.jobs import one_target, selecting
from .measure.request import Request
from .own_faults import guarded
from .records.asking import in_folder, repeat_command
from .records.claims import grade_title, said
from .records.grades import GRADES
from .records.result import Result
from .report.unmet import Unmet, unmet
from .speed.throughput import torch_on_one_thread
from .targets import Target
from .truth.values import judge, reference_bits
from .verification import Verification, request_of, verified

_LIMITS = ("max_ulp", "regions", "grade", "allow")
_REGIONS = [region.name for region in REGIONS]
_GRADES: list[str] = [grade for grade in GRADES if grade != "broken"]

collected: Callable[[Result], object] | None = None
"""Called with every result that `assert_gelu_accurate` looks at: the pytest plugin makes a report of them."""


class UnneededAllowance(UserWarning):
    """`allow` names a check that does not fail any more, or that need not be allowed: take it out, or a later failure
    passes. `filterwarnings = error::gelu_verify.testing.UnneededAllowance` makes it an error."""


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
) -> Verification:
    """Raise AssertionError where `target` is not as accurate as is asked.

    All inputs of a 16-bit dtype are tried. Of float32 it is a sample, and then whole buckets for a second (`budget`),
    or all where `grade` is "correctly_rounded" or "faithful", which speak of all inputs. A failure says
    which input shows it, what was returned, what is right, how many inputs are affected, where, which formula the
    results are nearest to, and how to repeat it.

    Parameters
    ----------
    target : a callable, the name of an implementation, a C symbol ("kernel.c:my_gelu") ..., as `verify` takes it
    function, dtype, plan : as `verify` takes them
    max_ulp : the largest error that is accepted, in ULP of the exact value; 0.5 is what correct rounding gives
    regions : other limits for regions of x, in the place of `max_ulp`: `{"[-5,-3)": 10, "[0,1)": 1}`; names as in
        `gelu-verify list`. With it, a result that depends on the position in a call (checks `lane`, `lengths`) must be
        allowed by name even where it differs little
    grade : the worst grade that is accepted (docs/grades.md); default, where nothing else is asked, "accurate"
    allow : checks that may fail, each with a reason: `{"minus_infinity": "NaN, as PyTorch"}`. A failed check that is a
        defect or a convention must be named here; losses of accuracy are what the limits are for
    options : further arguments of `verify`: `ranges`, `policy`, `seed`, `call`, `time_limit` ...

    Returns
    -------
    Verification : what was measured

    Raises
    ------
    AssertionError : it is not accurate enough, fails (raises, crashes, returns another shape or dtype), or nothing was
        measured that a limit is for
    UsageError : an unknown name, or a limit that is not a number or that no implementation can meet

    Warns
    -----
    UnneededAllowance : a check that is allowed to fail passes

    Examples
    --------
    >>> from gelu_verify import gelu
    >>> assert_gelu_accurate(gelu, dtype="float16", max_ulp=0.5).grade
    'correctly_rounded'
    >>> assert_gelu_accurate(lambda x: x / 2, dtype="float16", max_ulp=2)
    Traceback (most recent call last):
    AssertionError: gelu_verify.testing:<lambda> is not accurate enough as gelu in float16:
    ...
    """
    __tracebackhide__ = True  # pytest: the failure is the caller's
    dtype = named_dtype(dtype)
    if grade is None and max_ulp is None and not regions:
        grade = "accurate"
    limits = Demands(None, grade, max_ulp, {} if regions is None else regions, {} if allow is None else allow)  # type: ignore[arg-type]
    _check_limits(limits, function, dtype)
    request = request_of(target, function, dtype, plan, options, _LIMITS, demand=grade, max_ulp=max_ulp)
    result = verified(request)
    if collected is not None:
        collected(result)
    found = [*unmet(result, limits)]
    if found:
        raise AssertionError(_message(result, found, request))
    for text in _unneeded(result, limits.allow):
        warnings.warn(text, UnneededAllowance, stacklevel=3)  # the decorator is between
    return result


# ---- limits ----------------------------------------------------------------------------------------


def _check_limits(limits: Demands, function: str, dtype: str) -> None:
    for argument in ("regions", "allow"):
        if not isinstance(value := getattr(limits, argument), Mapping):
            raise UsageError(f"{argument} is {value!r} (accepted: a dict)")
    each_region = ((f"regions[{name!r}]", limit) for name, limit in limits.regions.items())
    for name in limits.regions:
        if name not in _REGIONS:
            raise one_of("region", name, _REGIONS)
    for name, limit in (("max_ulp", limits.max_ulp), *each_region):
        if name != "max_ulp" or limit is not None:
            _check_limit(name, limit, function, dtype)
    if limits.min_grade is not None and limits.min_grade not in _GRADES:
        raise one_of("grade", limits.min_grade, _GRADES)
    for name, reason in limits.allow.items():
        if name not in CHECKS:
            raise one_of("check", name, [*CHECKS])
        if not isinstance(reason, str) or not reason.strip():
            raise UsageError(f"allow[{name!r}] is {reason!r} (accepted: the reason why it may fail)")


def _check_limit(name: str, limit: Any, function: str, dtype: str) -> None:
    try:
        is_number = isinstance(limit, int | float | np.floating | np.integer) and not isinstance(limit, bool)
        usable = is_number and math.isfinite(limit) and limit >= 0
    except OverflowError:  # an integer beyond all doubles
        usable = False
    if not usable:
        raise UsageError(f"{name} is {limit!r} (accepted: a finite number of ULP from 0 on)")
    if limit < 0.5 and not _is_exact(function, dtype):
        raise UsageError(
            f"{name} is {limit!r}, which nothing can meet: correctly rounded results of {function} are off by up to "
            "half an ULP (accepted: numbers from 0.5 on)"
        )


@cache
def _is_exact(function: str, dtype: str) -> bool:
    """Whether the dtype has every value of the function: of relu, not of gelu."""
    chunks = make_plan("landmarks", get_function(function).name, get_format(dtype).name, 0).chunks
    x = np.concatenate([chunk.x_bits() for chunk in chunks])
    error = judge(function, dtype, x, np.asarray(reference_bits(function, dtype, x))).error
    return not np.nan_to_num(error).any()


def _unneeded(result: Verification, allow: Mapping[str, str]) -> list[str]:
    losses = [name for name in allow if CHECKS[name].severity == "loss"]
    passing = [name for name in allow if result.checks.get(name) == "pass" and name not in losses]
    what = f"{result.target} as {result.function} in {result.dtype}"
    return [
        *(f"allow={{{name!r}: ...}} is not needed any more: {name} passes for {what}" for name in passing),
        *(
            f"allow={{{name!r}: ...}} is never needed: {name} is a loss of accuracy, which limits judge"
            for name in losses
        ),
    ]


# ---- the message -----------------------------------------------------------------------------------


def _message(result: Verification, found: list[Unmet], request: Request) -> str:
    record = result.record
    lines = [f"{record.target} is not accurate enough as {record.function} in {record.dtype}:"]
    lines += [f"  - {each.text}" for each in found]
    if record.variant not in (None, record.function, "none"):
        lines.append(f"  It computes {record.variant}.")
    if record.failure is None and any(each.of_formula for each in found):
        formula, faults = None, list[str]()
        with guarded("search for the nearest formula", faults):
            formula = _nearest_formula(request)
        lines += [f"  nearest formula: {formula}"] if formula else [f"  {fault}" for fault in faults]
    lines.append(f"  {said(grade_title(record.grade), record.grade_bound).capitalize()}: {record.sentence}")
    every = ", every value of the dtype" if record.bound == "=" else ""
    lines.append(f"  inputs: {record.n:,}{every} (plan {record.plan}, seed {record.seed})")
    asked = repeat_command(record, shown_input(record, Demands()).get("x_bits"))
    ours = (in_folder(command, Path.cwd(), current_test.started_in) for command in (asked, record.repeat))
    commands = dict.fromkeys(filter(None, (current_test.command, *ours)))
    lines += [f"  repeat: {command}" for command in commands]
    return "\n".join(lines)


def _nearest_formula(request: Request) -> str | None:
    """Of code of the user, which may warn, and results of any kind."""
    with warnings.catch_warnings(), torch_on_one_thread(), selecting(request) as select:
        warnings.simplefilter("ignore")
        target = one_target(request, select)
        return nearest_formula(target, request.functions[0], request.dtypes[0], request.seed)
