"""What results tell that is no fault: how they were rounded, what flushing and a root do to the largest error,
and which of the world's tolerances would have noticed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..buckets.flushing import flushed
from ..checks import Evidence, Finding
from ..formats import to_float64
from ..functions.regions import REGIONS
from ..own_faults import guarded
from ..records.accuracy import ROOT_UNIT
from ..records.parts import Flush, Root
from ..records.result import Record
from .tolerances import noticed

ONCE = 0.75  # ulp: at most, where a float32 result is rounded once; each further rounding adds up to 0.5
CORE = tuple(region.name for region in REGIONS if region.lower is not None and region.lower >= -1)


def diagnosed(record: Record, evidence: Evidence, findings: Mapping[str, Finding]) -> Record:
    """The record with what its results tell that is no fault; each part is null where a fault of ours keeps it."""
    found = replace(record, computes_in=findings["precision"].value, rounding_mode=findings["rounding"].value)
    parts: dict[str, Callable[[], Any]] = {
        "rounding": lambda: _rounding(evidence, findings["rounding"].value),
        "flush": lambda: _flush(evidence, findings["subnormals"]),
        "root": lambda: _root(evidence),
        "tolerances": lambda: noticed(evidence.function, evidence.table) if _is_off(evidence) else None,
    }
    for name, measure in parts.items():
        with guarded(f"measure {name}", evidence.own_faults):
            found = replace(found, **{name: measure()})
    return found


def _is_off(evidence: Evidence) -> bool:
    """Whether there is something to notice."""
    worst = evidence.table.worst()
    unfaithful = worst is None or evidence.table.columns["max_error"][worst] > 1
    return bool(unfaithful or evidence.table.total("nonfinite"))


def _rounding(evidence: Evidence, mode: str | None) -> str | None:
    """ "once" where a 16-bit result is that of wider arithmetic, rounded at the end; "composed" where each step is."""
    if evidence.fmt.width > 16:
        return None
    regions = evidence.table.regions
    core = [regions["max_error"][row] for row, k in enumerate(regions["region"]) if REGIONS[k].name in CORE]
    if not len(core) or np.isnan(core).all():
        return None
    most = ONCE if mode is None or mode.startswith("nearest") else ONCE + 0.5
    return "once" if np.nanmax(core) <= most else "composed"


def flushes(findings: Mapping[str, Finding]) -> bool:
    """Whether subnormal numbers become zero, by a convention."""
    return findings["subnormals"].status == "fail" and findings["subnormals"].value is not None


def _flush(evidence: Evidence, finding: Finding) -> Flush | None:
    """What is flushed, and the largest error of the buckets whose worst input is no flush."""
    if not flushes({"subnormals": finding}):
        return None
    fmt, columns = evidence.fmt, evidence.table.columns
    x, got, want = (columns[f"max_error_{name}"].astype(fmt.uint) for name in ("x", "got", "want"))
    rest = columns["max_error"][~flushed(fmt, x, got, want) & ~np.isnan(columns["max_error"])]
    zeros, tried = finding.counted or (None, None)
    return Flush(finding.value or "", float(rest.max()) if len(rest) else None, zeros, tried)


def _root(evidence: Evidence) -> Root | None:
    """The largest error of the buckets about a root, in ulp, and in units of an ulp of ROOT_UNIT."""
    fmt, root = evidence.fmt, evidence.function.landmarks.get("root")
    if root is None:
        return None
    columns = evidence.table.columns
    x, want = (to_float64(fmt, columns[f"max_error_{name}"].astype(fmt.uint)) for name in ("x", "want"))
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.flatnonzero((np.abs(x - float(root)) <= abs(float(root)) / 8) & ~np.isnan(columns["max_error"]))
    if not len(near):
        return None
    error = columns["max_error"][near]
    _, exponent = np.frexp(want[near])
    _, unit = np.frexp(ROOT_UNIT)
    absolute = error * 2.0 ** np.minimum(exponent - float(unit), 0)
    worst = int(near[np.argmax(error)])
    return Root(fmt.bits_text(int(columns["max_error_x"][worst])), float(error.max()), float(absolute.max()))
