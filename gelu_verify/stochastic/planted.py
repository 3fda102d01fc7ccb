"""What runs of this size find, by simulation: an error planted in the counts of a correct map, judged as a run judges.

A formula has chosen the sizes (`binomial.samples_for`); this measures what they do. The test of a region, or of a cell,
is asked alone: others, which could find the error too, are left out. docs/stochastic.md has whole runs beside it.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from .binomial import of_sum
from .bounds import clopper_pearson
from .maps import Map
from .plan import CELLS, SHARES, CellPlan, DrawnCell, tests
from .report import Planted
from .request import MapRequest

RUNS = 1000
OF_CELL = 5  # the error of one cell that is planted, beside that of a region: 16 times fewer samples
CONFIDENCE = 0.98  # of the interval whose lower end is told: 99 % on one side


def simulated(request: MapRequest, plan: CellPlan) -> tuple[Planted, ...]:
    """An error in a whole region, one 5 times as large in one cell, and the same error in one cell; each where it is
    found least often."""
    regions = [
        (region, [cell for cell in plan.cells if cell.region == region])
        for region in plan.regions
        if not any(cell.logarithmic for cell in plan.cells if cell.region == region)
    ]
    least = [(region, _least_seen(request.judged_as(), cells)) for region, cells in regions]
    cells = [(f"{region}, {cell.name}", [cell]) for region, cell in least]
    of_cell = f"a cell, a {CELLS}th of a region"
    asked = [("a region", regions, 1), (of_cell, cells, OF_CELL), (of_cell, cells, 1)]
    random = np.random.default_rng((request.seed, 5))
    told = []
    for what, places, times in asked:
        bias = min(0.5, times * request.bias)
        counts = {name: found(request, of, bias, random) for name, of in places}
        weakest = min(counts, key=lambda name: counts[name])
        told.append(Planted(where=f"{what}, least often {weakest}", bias=bias, runs=RUNS, found=counts[weakest]))
    return tuple(told)


def lower_end(planted: Planted) -> float:
    """The share of runs that find it, with 99 % confidence at least."""
    return clopper_pearson(planted.found, planted.runs, CONFIDENCE)[0]


def _least_seen(of: Map, cells: list[DrawnCell]) -> DrawnCell:
    """The cell whose share of kept elements spreads most: where an error shows least."""
    return max(cells, key=lambda cell: math.prod(mean(of, cell)) / cell.wanted)


def mean(of: Map, cell: DrawnCell) -> tuple[float, float]:
    x = cell.low + (cell.high - cell.low) * (np.arange(16) + 0.5) / 16
    p, q = of.probabilities(-x if cell.negative else x)
    return float(p.mean()), float(q.mean())


def found(request: MapRequest, cells: list[DrawnCell], bias: float, random: np.random.Generator) -> int:
    """In how many of the runs the count of these cells together is rejected; of a bias up and down the lower number."""
    means = [mean(request.judged_as(), cell) for cell in cells]
    n = sum(cell.wanted for cell in cells)
    p, q = (sum(cell.wanted * mean[k] for cell, mean in zip(cells, means, strict=True)) / n for k in (0, 1))
    level = SHARES["frequencies"] * request.false_alarm / tests(request)
    low, high = (_edge(n, p, q, request.tolerance, level, up) for up in (False, True))
    rejected = []
    for shift in (bias, -bias):
        if 0.0 <= p + shift <= 1.0:
            kept = random.binomial(n, p + shift, RUNS)
            rejected.append(int(((kept <= low) | (kept >= high)).sum()))
    return min(rejected)


def _edge(n: int, p: float, q: float, tolerance: float, level: float, up: bool) -> int:
    """The count nearest to the mean, on one side of it, that is rejected at this level; beyond n, or -1, if none is."""

    def is_rejected(count: int) -> bool:
        return of_sum(count, n, p, q, tolerance) <= level

    if up:
        return bisect_left(range(n + 1), True, int(n * p) + 1, key=is_rejected)
    return bisect_left(range(int(n * p) + 1), True, key=lambda count: not is_rejected(count)) - 1
