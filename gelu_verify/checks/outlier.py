"""No input stands out: an error far above those of all its neighbours is a wrong entry, not a way of computing."""

from __future__ import annotations

import numpy as np

from ..buckets.flushing import flushed
from ..buckets.table import HIST_EDGES
from ..formats import to_float64
from ..records.accuracy import ROOT_UNIT
from .base import Check, Evidence, Finding

TIMES = 8.0  # above all that is near
ALONE = 2.0  # times above all there is, where nearly all results are faithful
FEW = 3  # inputs that may share such an error
NEAR = 32  # buckets on each side
NEEDED = 8  # buckets with inputs on each side, so that there is something to stand out from
FLOOR = 0.5  # ulp: what a neighbour may be off, however good it is


def run(evidence: Evidence) -> Finding:
    columns = evidence.table.columns
    error = np.nan_to_num(columns["max_error"])
    if len(error) <= 2 * NEEDED:
        return Finding("not applicable", "too few inputs to compare with")
    if not _candidates(evidence, error):
        return Finding("pass")
    error = _counted(evidence, error)
    rows = _candidates(evidence, error)
    if not rows:
        return Finding("pass")
    row = max(rows, key=lambda row: error[row])
    x, got, want = (int(columns[f"max_error_{name}"][row]) for name in ("x", "got", "want"))
    beside = _near(error, row).max(initial=FLOOR)
    detail = f"f({evidence.digits(x)}) = {evidence.digits(got)} is off by {error[row]:.3g} ulp"
    return Finding("fail", f"{detail}, while the inputs around it are within {beside:.3g}", x, got, want)


def _candidates(evidence: Evidence, error: np.ndarray) -> list[int]:
    """Rows that stand out."""
    rows = _lonely(evidence, error)
    if rows is None:
        lost = evidence.table.columns["nonfinite"] > 0  # nothing stands out from that
        beside = np.where(lost, np.inf, error)
        rows = [row for row in _peaks(beside) if _stands_out(beside, evidence.table.hist, row)]
    return rows


def _counted(evidence: Evidence, error: np.ndarray) -> np.ndarray:
    """Errors without those that other checks name: flushed results, a tail that ends too early, a root's."""
    columns = evidence.table.columns
    bits = (columns[f"max_error_{name}"].astype(evidence.fmt.uint) for name in ("x", "got", "want"))
    named = flushed(evidence.fmt, *bits)
    if evidence.table.total("zero_lost") > 1:
        named |= columns["zero_lost"] > 0
    return np.where(named, 0, _beside_roots(evidence, error) * _floored(evidence))


def _beside_roots(evidence: Evidence, error: np.ndarray) -> np.ndarray:
    """At a root away from zero the error counts in ulp of the results beside it, as 0 has the smallest of all."""
    fmt, columns = evidence.fmt, evidence.table.columns
    x, got, want = (to_float64(fmt, columns[f"max_error_{name}"].astype(fmt.uint)) for name in ("x", "got", "want"))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ulp = np.exp2(np.floor(np.log2(np.abs(want))) - fmt.precision + 1)
        beside = np.minimum(ulp[:-2], ulp[2:])
        is_root = (want[1:-1] == 0) & (x[1:-1] != 0) & (beside > 0)
        counted = np.where(is_root, np.fmin(np.abs(got[1:-1]) / beside, error[1:-1]), error[1:-1])
    return np.concatenate([error[:1], counted, error[-1:]])


def _floored(evidence: Evidence) -> np.ndarray:
    """What the errors count: less near a root away from zero, where an ulp is arbitrarily small."""
    fmt, root = evidence.fmt, evidence.function.landmarks.get("root")
    columns = evidence.table.columns
    if root is None:
        return np.ones(len(columns["n"]))
    x, want = (to_float64(fmt, columns[f"max_error_{name}"].astype(fmt.uint)) for name in ("x", "want"))
    with np.errstate(invalid="ignore"):  # rows of infinities and NaN
        near = np.abs(x - float(root)) <= abs(float(root)) / 2
        size = np.abs(want) / ROOT_UNIT
        return np.where(near & (size < 1), np.maximum(size, 2.0**-fmt.precision), 1.0)


def _lonely(evidence: Evidence, error: np.ndarray) -> list[int] | None:
    """Rows of the few results off by more than 1 ulp, where all inputs were tried; None where they are many."""
    if not evidence.plan.exhaustive or evidence.table.hist[np.array(HIST_EDGES) > 1].sum() > FEW:
        return None
    rows = np.flatnonzero(error > 1)
    others = np.delete(error, rows)
    return [row for row in rows.tolist() if error[row] > ALONE * max(others.max(), FLOOR)]


def _peaks(error: np.ndarray) -> list[int]:
    """Rows that are TIMES above those at a distance of 2 to 4 on both sides."""
    rows = np.flatnonzero((error > TIMES * FLOOR) & (error < np.inf))
    rows = rows[(rows >= NEEDED) & (rows < len(error) - NEEDED)]
    for distance in (2, -2, 3, -3, 4, -4):
        rows = rows[error[rows] / TIMES > error[rows + distance]]
    return rows.tolist()


def _near(error: np.ndarray, row: int) -> np.ndarray:
    """On both sides, without the next ones, which may share its error."""
    return np.concatenate([error[max(row - NEAR, 0) : max(row - 1, 0)], error[row + 2 : row + NEAR + 1]])


def _stands_out(error: np.ndarray, hist: np.ndarray, row: int) -> bool:
    """Whether a few inputs of that bucket and those next to it err so, and none that is near."""
    limit = error[row] / TIMES
    if _near(error, row).max() > limit:
        return False
    bins = np.array(HIST_EDGES) > limit
    here = hist[bins, row - 1 : row + 2].sum()
    return bool(here <= FEW and hist[:, max(row - NEAR, 0) : row + NEAR + 1].sum() >= 10 * FEW)


CHECK = Check(
    "outlier",
    "one corrupt element under a fine mean (tt-metal#52816, tt-metal#33747)",
    run,
    of_inputs_tried=True,
    remedy=(
        "Look at the input of the finding alone: a wrong entry of a table, a boundary between two "
        "polynomials, or a special case of the code."
    ),
)
