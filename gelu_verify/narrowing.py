"""The smallest range of inputs that shows a failure: halves of the failing call, called by themselves."""

from __future__ import annotations

import copy
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from .environment import in_default_environment
from .errors import TargetFailure
from .formats import Format, from_ordinals, ordinals, texts_apart

if TYPE_CHECKING:
    from .targets.base import Target

CALLS = 60  # most calls that looking may take: each may cost a process
SECONDS = 60.0  # most time, after which the range that was reached is told
CRASHES = ("segfault", "abort", "out of bounds", "changed input", "exit", "arithmetic")
NO_FAILURE: dict[str, Any] = {"failure": None, "failure_kind": None, "failure_range": None}


def failed(fmt: Format, failure: TargetFailure) -> dict[str, Any]:
    """The failure as a record tells it."""
    ends = [fmt.bits_text(bits) for bits in (failure.first_bits, failure.last_bits) if bits is not None]
    return {
        "failure": str(failure),
        "failure_kind": failure.kind or "exception",
        "failure_range": ":".join(ends) or None,
    }


@in_default_environment
def narrowed(target: Target, fmt: Format, failure: TargetFailure) -> TargetFailure:
    """The failure with the smallest range found that shows it, which its message names too.

    The range is one of the inputs of the failing call, by ordinal: it fails when it is called by itself, and halves
    of it do not, or one input is left, or time is up. Where not even the failing call fails again, it is their range.
    """
    if failure.inputs is None or failure.first_bits is not None or not len(failure.inputs):
        return failure
    with target.alone():
        return _Search(target, fmt, failure).run()


class _Search:
    def __init__(self, target: Target, fmt: Format, failure: TargetFailure) -> None:
        self._target, self._fmt, self._failure = target, fmt, failure
        self._x = from_ordinals(fmt, np.unique(ordinals(fmt, failure.inputs)))
        self._calls, self._end = 0, monotonic() + SECONDS

    def run(self) -> TargetFailure:
        shown = self._shown(self._x)
        if shown is None:  # it takes these inputs in the order of the call, or does not repeat
            again = self._shown(self._failure.inputs)
            not_again = "" if again else ", but not when they were called again"
            return self._told(again or self._failure, (0, len(self._x)), not_again)
        known = reached = (0, len(self._x))
        while reached[1] - reached[0] > 1 and not self._spent():
            first, last = reached
            half = (first + last) // 2
            found = self._shown(self._x[first:half])
            if found is None:
                reached = half, last  # likely: what one half does not show is in the other
            else:
                shown, known, reached = found, (first, half), (first, half)
        if reached != known and (found := self._shown(self._x[slice(*reached)])) is not None:
            shown, known = found, reached
        return self._told(shown, known, self._elsewhere(known))

    def _elsewhere(self, known: tuple[int, int]) -> str:
        """What is to be added where the last input fails like the first: it is not the input that matters."""
        if known == (0, 1) and len(self._x) > 1 and self._shown(self._x[-1:]) is not None:
            return ", and at others alike"
        return ""

    def _spent(self) -> bool:
        return self._calls >= CALLS or monotonic() > self._end

    def _shown(self, x: np.ndarray) -> TargetFailure | None:
        """The failure that a call with these inputs shows, when it is of the kind that is looked for."""
        self._calls += 1
        self._target.noted(self._fmt.name)
        try:
            self._target.evaluate(self._fmt.name, x)
            found = self._target.noted(self._fmt.name)
        except TargetFailure as failure:
            found = failure
        return found if found is not None and self._alike(found) else None

    def _alike(self, found: TargetFailure) -> bool:
        return found.kind == self._failure.kind or (found.kind in CRASHES and self._failure.kind in CRASHES)

    def _told(self, failure: TargetFailure, known: tuple[int, int], also: str = "") -> TargetFailure:
        first, last = known
        ends = [int(self._x[first]), int(self._x[last - 1])]
        said = zip(ends, texts_apart(self._fmt, *ends), strict=True)
        texts = [f"{self._fmt.bits_text(bits)} ({value})" for bits, value in said]
        where = f"at x = {texts[0]}" if last - first == 1 else f"for {last - first} inputs from {' to '.join(texts)}"
        told = copy.copy(self._failure)
        told.args = (f"{failure}, {where}{also}",)
        told.kind, (told.first_bits, told.last_bits) = failure.kind or "exception", ends
        return told
