"""What of a failing call matters: the number of inputs, or the smallest range of inputs that shows the failure."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import distinct
from ..errors import TargetFailure
from ..formats import Format, from_ordinals, ordinals, texts_apart, value_text
from ..records.result import Record
from ..records.sentences import ONCE
from ..targets.contract import ALIGNMENTS, aligned_call

if TYPE_CHECKING:
    from ..targets.base import Target

FAILING = 60  # most calls that may fail while we look: each may cost a process
SECONDS = 60.0  # most time, after which what was found so far is reported
CRASHES = ("segfault", "abort", "out of bounds", "changed input", "exit", "arithmetic")
WHATEVER = "whatever it is called with"
OF_CALLS = ("stdout", "left behind", "environment", "memory", "files", "nondeterministic")  # by what calls add up to
HARMLESS = ("1", "-1", "0")  # inputs of which a fault of the length is independent
LENGTHS = (*range(1, 34), *(length for k in range(6, 25) for length in ((1 << k) - 1, 1 << k, (1 << k) + 1)))
WHOLE = 4096  # values: an array of one more lies at an odd multiple of every alignment that is tried
OTHER = 64  # a length that whole vectors fill


def failed(record: Record, fmt: Format, failure: TargetFailure) -> Record:
    """The record with that failure."""
    ends = [fmt.bits_text(bits) for bits in (failure.first_bits, failure.last_bits) if bits is not None]
    return replace(
        record,
        failure=str(failure),
        failure_kind=failure.kind or "exception",
        failure_range=":".join(ends) or None,
        failure_length=failure.length,
    )


def narrowed(target: Target, fmt: Format, failure: TargetFailure) -> TargetFailure:
    """The failure with the smallest call found that shows it, which its message names too.

    Where it does not depend on the inputs that is a number of them, else a range of the inputs of the failing call, by
    ordinal: the range fails when it is called by itself, and halves of it do not, or one input is left, or time is up.
    Where not even the failing call fails again, it is their range.
    """
    if failure.inputs is None or failure.first_bits is not None or not len(failure.inputs):
        return failure
    with target.alone():
        return _Search(target, fmt, failure).run()


class _Search:
    def __init__(self, target: Target, fmt: Format, failure: TargetFailure) -> None:
        self._target, self._fmt, self._failure = target, fmt, failure
        self._x = from_ordinals(fmt, distinct(ordinals(fmt, failure.inputs)))
        self._failing, self._end = 0, monotonic() + SECONDS

    def run(self) -> TargetFailure:
        size = len(self._failure.inputs)
        if self._spent():
            return self._located(self._failure, f"for {_inputs(self._fmt, self._x)}", self._x)
        if self._failure.kind == "hang" and (shown := self._hangs_anyway()):
            failure = self._located(shown, WHATEVER, self._same(self._fmt.parse(HARMLESS[0]), 1))
            failure.length = 1
            return failure
        if self._failure.kind not in OF_CALLS:
            self._target.fresh()  # what depends on the calls before is no fault of these inputs
        again = self._shown(self._failure.inputs)
        if again is None:
            return self._once()
        if self._failure.kind == "nondeterministic":  # a call that gives the same says nothing of its length or inputs
            return self._located(again, f"in a call of {size:,} elements", self._x)
        harmless = self._harmless(size)
        if self._spent():
            return self._located(again, f"for {_inputs(self._fmt, self._x)}", self._x)
        if harmless is None:
            return self._by_length(again, size)
        shown = self._shown(self._x) if len(self._x) < size else again
        if shown is None:  # it takes these inputs in the order of the call, or twice
            return self._located(again, f"for {_inputs(self._fmt, self._x)}", self._x)
        return self._by_inputs(shown, harmless)

    def _once(self) -> TargetFailure:
        """The failure as it came: it depends on the calls before, and says nothing of its inputs."""
        text = f"for {_inputs(self._fmt, self._x)}, but {ONCE}"
        failure = self._located(self._failure, text, self._x)
        failure.first_bits = failure.last_bits = failure.length = None
        return failure

    def _hangs_anyway(self) -> TargetFailure | None:
        """The failure of a call with one input, where a few others fail too: each costs a time limit."""
        one, zero = (self._fmt.parse(HARMLESS[k]) for k in (0, 2))
        shown = self._shown(self._same(one, 1))
        return shown if shown and self._fails(zero, OTHER) else None

    # ---- the number of inputs ----

    def _harmless(self, length: int) -> int | None:
        """Bits of an input with which a call of that length does not fail; None where all that are tried fail."""
        for text in HARMLESS:
            if self._spent() or self._shown(self._same(self._fmt.parse(text), length)) is None:
                return self._fmt.parse(text)
        return None

    def _by_length(self, shown: TargetFailure, length: int) -> TargetFailure:
        """The smallest number of inputs that fails, whatever they are, and whether more fail as well."""
        bits = self._fmt.parse(HARMLESS[0])
        least, shorter = self._least_length(bits, length)
        others = sorted(n for n in {least + 1, 2 * least, OTHER, length} if n > least)
        fails = {n: self._fails(bits, n) for n in others if not self._spent()}
        bad, good = [least, *(n for n in fails if fails[n])], [n for n in fails if not fails[n]]
        if aligned := self._alignment(bits, bad):
            text = (
                f"when it is called with arrays of {_list(bad)} elements that are not aligned to {aligned} bytes "
                f"(--contract aligned={aligned} says that they must be)"
            )
        elif all(fails.values()):
            text = f"when it is called with {least:,} or more elements" if least > 1 else WHATEVER
        else:
            many = "elements" if bad[-1] > 1 else "element"
            text = f"when it is called with {_list(bad)} {many}, but not with {_list(good)}, whatever they are"
        failure = self._located(shorter or shown, text, self._same(bits, 1))
        failure.length = least
        return failure

    def _alignment(self, bits: int, lengths: list[int]) -> int | None:
        """The smallest multiple of bytes at which arrays of these lengths do not fail; None where it is not that."""
        telling = WHOLE * -(-lengths[0] // WHOLE) + 1  # it never lies at a larger multiple by chance
        if self._failure.kind == "out of bounds" or not self._fails(bits, telling):
            return None
        calls, tried = (telling, *lengths), [each for each in ALIGNMENTS if each > self._fmt.width // 8]

        def passes(aligned: int) -> bool:
            made = (partial(self._target.applied, 1, aligned_call, self._fmt.name, bits, n, aligned) for n in calls)
            return not any(self._spent() or self._shown_by(call) for call in made)

        # called where they lie as they may it fails also in this way
        return next(filter(passes, tried), None) if passes(tried[-1]) and not passes(1) else None

    def _least_length(self, bits: int, length: int) -> tuple[int, TargetFailure | None]:
        """The smallest length below `length` that fails with copies of that input, or `length` itself."""
        last_good = 0
        for n in (n for n in LENGTHS if n < length):
            if self._spent():
                break
            if (found := self._shown(self._same(bits, n))) is not None:
                return self._between(bits, last_good, n, found)
            last_good = n
        return self._between(bits, last_good, length, None)

    def _between(self, bits: int, good: int, bad: int, found: TargetFailure | None) -> tuple[int, TargetFailure | None]:
        """By halves, from a length that does not fail and one that does."""
        while bad - good > 1 and not self._spent():
            middle = (good + bad) // 2
            shown = self._shown(self._same(bits, middle))
            good, bad, found = (middle, bad, found) if shown is None else (good, middle, shown)
        return bad, found

    def _fails(self, bits: int, length: int) -> bool:
        return self._shown(self._same(bits, length)) is not None

    def _same(self, bits: int, length: int) -> np.ndarray:
        return np.full(length, bits, self._fmt.uint)

    # ---- the inputs ----

    def _by_inputs(self, shown: TargetFailure, harmless: int) -> TargetFailure:
        """Halves of the inputs called by themselves, then halves among harmless inputs: it may need a length."""
        x, alone = self._halved(shown, self._x, lambda part: part)
        if len(x) > 1:
            length = len(x)
            x, among = self._halved(alone, x, lambda part: np.append(part, self._same(harmless, length - len(part))))
            if len(x) == 1:
                least, in_length = self._least_length(int(x[0]), length)
                failure = self._located(
                    in_length or among, f"{_at(self._fmt, x[0])} in a call of {least:,} elements", x
                )
                failure.length = least
                return failure
            return self._located(among, f"for {_inputs(self._fmt, x)}", x)
        return self._located(alone, _at(self._fmt, x[0]) + self._elsewhere(x), x)

    def _halved(self, shown: TargetFailure, x: np.ndarray, call: Any) -> tuple[np.ndarray, TargetFailure]:
        """The smallest part of `x` of which `call(part)` failed, and how."""
        failing = reached = x
        while len(reached) > 1 and not self._spent():
            first, second = reached[: len(reached) // 2], reached[len(reached) // 2 :]
            found = self._shown(call(first))
            if found is None:
                reached = second  # likely: what one half does not show is in the other
            else:
                shown, failing, reached = found, first, first
        if len(reached) < len(failing) and (found := self._shown(call(reached))) is not None:
            shown, failing = found, reached
        return failing, shown

    def _elsewhere(self, x: np.ndarray) -> str:
        """What is to be added where the last input fails like the first."""
        if x[0] == self._x[0] and len(self._x) > 1 and self._shown(self._x[-1:]) is not None:
            return "; others fail the same way"
        return ""

    # ---- calls ----

    def _spent(self) -> bool:
        late = monotonic() > self._end or not self._target.search_seconds(self._fmt.name)
        return late or self._failing >= FAILING

    def _shown(self, x: np.ndarray) -> TargetFailure | None:
        """The failure that a call with these inputs shows, when it is of the kind that is looked for."""
        return self._shown_by(partial(self._target.evaluate, self._fmt.name, x))

    def _shown_by(self, call: Callable[[], object]) -> TargetFailure | None:
        self._target.noted(self._fmt.name)
        try:
            call()
            found = self._target.noted(self._fmt.name)
        except TargetFailure as failure:
            found = failure
        self._failing += found is not None
        return found if found is not None and self._alike(found) else None

    def _alike(self, found: TargetFailure) -> bool:
        return found.kind == self._failure.kind or (found.kind in CRASHES and self._failure.kind in CRASHES)

    def _located(self, failure: TargetFailure, where: str, x: np.ndarray) -> TargetFailure:
        """The failure with where it happens: in its message, and as bits."""
        located = copy.copy(self._failure)
        # of a hang the first message: it was given more time than those that look for it
        message = self._failure if failure.kind == "hang" else failure
        located.args = (f"{message}, {where}",)
        located.kind, located.first_bits, located.last_bits = failure.kind or "exception", int(x[0]), int(x[-1])
        return located


def _inputs(fmt: Format, x: np.ndarray) -> str:
    """How many, from which to which."""
    ends = [int(x[0]), int(x[-1])]
    values = zip(ends, texts_apart(fmt, *ends), strict=True)
    first, last = (f"{fmt.bits_text(bits)} ({value})" for bits, value in values)
    return f"{len(x):,} inputs from {first} to {last}" if len(x) > 1 else f"x = {first}"


def _list(lengths: list[int]) -> str:
    *first, last = (f"{n:,}" for n in lengths)
    return f"{', '.join(first)} or {last}" if first else last


def _at(fmt: Format, bits: int) -> str:
    return f"at x = {fmt.bits_text(int(bits))} ({value_text(fmt, int(bits))})"
