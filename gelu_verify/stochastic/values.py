"""Whether every output is one of the two values, with one sign of zero, and whether a seed repeats it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ..formats import Format, get_format, value_text
from ..targets.base import Target
from .counting import ALL, DROPPED, OTHER_SIGN, CellCounts, Counts, matches
from .maps import Map
from .plan import normal_ends
from .request import MapRequest
from .target import seed as seeded

INPUTS, CALLS, ZEROS = 4096, 16, 256
LENGTHS = (INPUTS, 1, 1023)  # of the calls that a seed must repeat


@dataclass
class Signs:
    """Of dropped elements: how many zeros have the sign of x, and how many do not, for x > 0 and for x < 0."""

    of_x: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    other: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})

    def add(self, negative: bool, of_x: int, other: int) -> None:
        self.of_x[negative] += of_x
        self.other[negative] += other

    def add_counts(self, counts: Counts | CellCounts) -> None:
        negative = (
            [cell.negative for cell in counts.plan.cells]
            if isinstance(counts, CellCounts)
            else [group.x < 0 for group in counts.plan.groups]
        )
        for is_negative, row in zip(negative, counts.table.tolist(), strict=True):
            self.add(is_negative, row[DROPPED], row[OTHER_SIGN])

    def findings(self) -> list[str]:
        """What no convention explains."""
        found = []
        if self.other[False]:
            found.append(
                f"dropped x > 0 gave -0 in {self.other[False]} of {self.other[False] + self.of_x[False]} cases"
            )
        if self.of_x[True] and self.other[True]:
            found.append(f"dropped x < 0 gave -0 in {self.of_x[True]} cases and +0 in {self.other[True]}")
        return found

    @property
    def convention(self) -> str | None:
        """Which zero a dropped x < 0 is."""
        if not self.of_x[True] and not self.other[True]:
            return None
        return "of x" if self.of_x[True] else "+"


def drawn_inputs(of: Map, fmt: Format, seed: int) -> np.ndarray:
    """Normal numbers with random bits, of both signs, and as many of ordinary size."""
    random = np.random.default_rng(seed)
    low, high = normal_ends(of, fmt.name)
    bits = random.integers(low, high, INPUTS, dtype=np.uint64)
    ordinary = np.abs(random.normal(0, 2, INPUTS // 2)) + 2.0**-10
    bits[: INPUTS // 2] = [fmt.round((int(x * 2**40), -40)) for x in ordinary.tolist()]
    signs = random.integers(0, 2, INPUTS, dtype=np.uint64) * np.uint64(fmt.sign_mask)
    return (bits | signs).astype(fmt.uint)


def of_values(target: Target, request: MapRequest, signs: Signs) -> tuple[list[str], int]:
    """What is wrong with the outputs of drawn inputs; how many there were."""
    of, fmt = request.judged_as(), get_format(request.dtype)
    x_bits = drawn_inputs(of, fmt, request.seed)
    kept, dropped = of.kept(fmt, x_bits), of.dropped(fmt, x_bits)
    sign = fmt.uint.type(fmt.sign_mask)
    negative = (x_bits & sign) != 0
    rectified = negative if of.name == "relu_dropout" else np.zeros(len(x_bits), bool)
    target.applied(1, seeded, request.dtype, request.seed, request.rate)
    found: list[str] = []
    for _ in range(CALLS):
        y, _ = target.timed(request.dtype, x_bits)
        is_kept, is_dropped = matches(y, kept, of.slack), y == dropped
        other = (y == dropped ^ sign) & of.drops_to_zero & ~is_kept
        strange = np.flatnonzero(~is_kept & ~is_dropped & ~other)
        if len(strange) and not found:
            found.append(_strange(of, fmt, x_bits, kept, y, strange))
        for is_negative in (False, True):
            where = (negative == is_negative) & ~rectified
            signs.add(is_negative, int((is_dropped & where).sum()), int((other & where).sum()))
    if of.drops_to_zero:
        found += signs.findings()
    return [*found, *_of_zeros(target, request)], CALLS * INPUTS + ZEROS


def _of_zeros(target: Target, request: MapRequest) -> list[str]:
    """Kept or dropped, a zero is a zero."""
    fmt = get_format(request.dtype)
    x_bits = np.array([0, fmt.sign_mask] * (ZEROS // 2), fmt.uint)
    y, _ = target.timed(request.dtype, x_bits)
    strange = np.flatnonzero((y | fmt.uint.type(fmt.sign_mask)) != fmt.sign_mask)
    if not len(strange):
        return []
    x, got = (value_text(fmt, int(each[strange[0]])) for each in (x_bits, y))
    return [f"{len(strange)} of {ZEROS} outputs at zeros are none, such as {got} at x = {x}"]


def _strange(of: Map, fmt: Format, x_bits: np.ndarray, kept: np.ndarray, y: np.ndarray, strange: np.ndarray) -> str:
    x, want, got = (int(array[strange[0]]) for array in (x_bits, kept, y))
    return (
        f"{len(strange)} of {len(x_bits)} outputs are neither kept nor dropped, such as {value_text(fmt, got)} "
        f"({fmt.bits_text(got)}) at x = {value_text(fmt, x)} ({fmt.bits_text(x)}); kept is {value_text(fmt, want)}"
    )


def of_counts(request: MapRequest, counts: Counts | CellCounts) -> list[str]:
    """The first output of a phase that was neither kept nor dropped."""
    if counts.strange is None:
        return []
    fmt = get_format(request.dtype)
    x, got = counts.strange
    many = int((counts.table[:, ALL] - counts.table[:, :ALL].sum(1)).sum())
    return [f"{many} outputs are neither kept nor dropped, such as {value_text(fmt, got)} at x = {value_text(fmt, x)}"]


def of_repetition(target: Target, request: MapRequest) -> tuple[list[str], int]:
    """Whether the same seed gives the same outputs, call by call."""
    fmt = get_format(request.dtype)
    x_bits = drawn_inputs(request.judged_as(), fmt, request.seed + 1)
    runs = []
    for _ in range(2):
        target.applied(1, seeded, request.dtype, request.seed, request.rate)
        runs.append([target.timed(request.dtype, x_bits[:n])[0].copy() for n in LENGTHS])
    different = [k for k, (a, b) in enumerate(zip(*runs, strict=True)) if not np.array_equal(a, b)]
    samples = 2 * sum(LENGTHS)
    if not different:
        return [], samples
    call = different[0]
    share = int((runs[0][call] != runs[1][call]).sum())
    text = f"seed {request.seed} does not repeat call {call + 1}: {share} of {LENGTHS[call]} outputs differ"
    return [f"{text} (--no-seed where it has none)"], samples


def of_specials(target: Target, request: MapRequest) -> list[str]:
    """What comes of NaN and the infinities, in words."""
    fmt, notes = get_format(request.dtype), []
    for name, bits in {"NaN": fmt.nan, "inf": fmt.infinity, "-inf": fmt.infinity | fmt.sign_mask}.items():
        y, _ = target.timed(request.dtype, np.full(64, bits, fmt.uint))
        seen = Counter(value_text(fmt, int(each)) for each in y)
        notes.append(f"at {name}: {', '.join(f'{value} ({count} of 64)' for value, count in seen.most_common(3))}")
    return notes
