"""A call whose results replace its inputs, `f(x, x, n)`, gives what the call with two arrays gives.

Asked where nothing forbids such a call: no `restrict` in a declaration, an array for the result in `--call`. The
lengths have every remainder of vectors. These outputs are judged here alone: they enter no error, because whether
memory may be shared is a property of its own.
"""

from __future__ import annotations

import numpy as np

from ..errors import TargetFailure
from ..formats import differ
from ..targets import in_place
from ..targets.extra_outputs import differences
from ..work.packing import array_of_text
from .base import Check, Evidence, Finding
from .calls import ordinary_first

LENGTHS = (1, 3, 7, 9, 13, 17, 31, 33, 47, 63, 64, 65, 67, 100, 127, 129, 257, 1000, 1023, 1025, 4099)
CALLS = 2  # of each length; more where they differ


def run(evidence: Evidence) -> Finding:
    fmt, positions, target = evidence.fmt, evidence.positions, evidence.target
    order, ordinary = ordinary_first(evidence)
    x, usual = positions.x[order[:ordinary]], positions.usual[order[:ordinary]]
    lengths = [evidence.length] if target.compiles_per_length else list(LENGTHS)
    try:
        answered = target.applied(CALLS * len(lengths), in_place.outputs, fmt.name, x.tolist(), lengths)
    except TargetFailure as failure:
        for n in lengths:  # a call with two arrays may be what fails
            evidence.compare(np.resize(x, n), np.resize(usual, n))
        return Finding("fail", f"called in place, {failure}")
    if isinstance(answered, str):
        return Finding("not applicable", answered)
    for n, texts in zip(lengths, answered, strict=True):
        apart, together = (array_of_text(text, fmt.uint) for text in texts)
        asked, where = np.resize(x, n), ("at most indices", f"at index {{}} in a call of {n}")
        evidence.others.differences.extend(differences(fmt, asked, np.resize(usual, n), apart, where))
        if len(places := np.flatnonzero(differ(fmt, apart, together))):
            return _found(evidence, asked, apart, together, places)
    return Finding("pass")


def _found(evidence: Evidence, x: np.ndarray, apart: np.ndarray, together: np.ndarray, places: np.ndarray) -> Finding:
    """What is farthest from the truth."""
    _, error = evidence.judge(x[places], together[places])
    at = int(places[np.argmax(np.where(np.isnan(error), np.inf, np.abs(error)))])
    got, instead = evidence.texts(int(together[at]), int(apart[at]))
    detail = f"called in place with {len(x)} inputs it gives {got} at x = {evidence.text(int(x[at]))} (index {at}), "
    detail += f"and {instead} with two arrays; differing outputs: {len(places)} of {len(x)}"
    return evidence.shown(detail, (int(x[at]), int(together[at])))


CHECK = Check(
    "in_place",
    "a last block that overlaps the one before applies the function twice where y is x (every in-place activation)",
    run,
    remedy=(
        "Read a whole block before it is written, and handle the remainder by a loop or a mask, not by a last "
        "block that overlaps the one before. If callers must not pass one array twice, declare the pointers "
        "`restrict`."
    ),
)
