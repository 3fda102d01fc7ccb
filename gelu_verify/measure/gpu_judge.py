"""A kernel on a CUDA device and the code that judges it there, batch after batch; only records come back.

`swept` and `searched` are called where the device is, in the child of the family; what they return crosses as text.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.table import LARGEST, NOISE, Facts, Pieces, Table, finish, merge
from ..errors import OracleError, TargetFailure
from ..fenv import in_default_environment
from ..formats import Format, get_format, ordinals
from ..functions import Function, get_function
from ..gpu.faults import kind_of
from ..inputs.special import fixed_bits
from ..paths import resource
from ..truth.oracle import judge_exactly
from .gpu_tiles import OPEN, ROOM, TALLY, TILE, consecutive, counted, drawn, rules_record

if TYPE_CHECKING:
    from ..gpu.cuda import Device

BLOCK = 256
BATCH = 1 << 30  # bytes of inputs that are in memory at once, and as many of answers
PER_BUCKET = 1 << 12  # float64 inputs drawn from each bucket: 2^28 in all
ROUNDS, KEPT, EACH = 8, 256, 1 << 14  # of the search: how often, around how many inputs, with how many drawn at each
UNWRITTEN = 0xFF  # bytes of answers before a call: NaN in every format

Launch = Callable[[Any, Any, int], None]  # the kernel under test: input, output, number


@dataclass
class OnDevice:
    """A judge (`device_sweep.Judge`) for the answers of one kernel; memory is kept between calls."""

    device: Device
    launch: Launch
    fmt: Format
    function: Function
    seconds: float = 0.0  # of the last call: fill, kernel, judge, by the device's own clock
    _memory: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def __call__(self, rules: np.ndarray, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All batches are started one after the other; then it waits once."""
        device, fixed = self.device, self._fixed(tiles)
        tallies, answers, count = np.empty(len(tiles), TALLY), np.zeros(ROOM, OPEN), np.zeros(1, np.uint32)
        sampled = np.zeros(len(fixed), self.fmt.uint)
        spans = list(_batches(tiles, 8 * BATCH // self.fmt.width))
        placed = tiles.copy()
        for first, last, base in spans:
            placed["place"][first:last] -= base
        given = [self._given(name, array) for name, array in (("rules", rules), ("tiles", placed), ("count", count))]
        names = {"tallies": tallies, "answers": answers, "samples": sampled}
        taken = [self._room(name, array.nbytes) for name, array in names.items()]

        def work() -> None:
            for first, last, _ in spans:
                self._start(placed[first:last], first, given, taken)
                self._keep_samples(fixed, tiles[first:last], placed[first:last], taken[2])

        self.seconds = device.seconds(work)
        left = int(device.copy_out(given[2], count)[0])
        kept = {**names, "answers": answers[:left]}  # the rest of that memory was never written
        for memory, array in zip(taken, kept.values(), strict=True):
            device.copy_out(memory, array)
        samples = np.array([fixed["bits"], sampled], np.uint64).T
        return tallies, answers[:left] if left <= ROOM else np.zeros(left, OPEN), samples[np.argsort(samples[:, 0])]

    def answers(self, x_bits: np.ndarray) -> np.ndarray:
        """What the kernel makes of these inputs."""
        x, y = self._given("x", x_bits), self._room("y", x_bits.nbytes)
        self.device.fill(y, UNWRITTEN, x_bits.nbytes)
        self.launch(x, y, len(x_bits))
        self.device.synchronize()
        return self.device.copy_out(y, np.empty_like(x_bits))

    def _start(self, tiles: np.ndarray, first: int, given: Sequence[Any], taken: Sequence[Any]) -> None:
        """Fill, call, judge: a batch, whose tiles and tallies lie from number `first` on."""
        device, width, size = self.device, self.fmt.width, int((tiles["place"] + tiles["count"]).max())
        x, y = (self._room(name, size * width // 8) for name in "xy")
        there = device.at(given[1], first * TILE.itemsize)
        device.launch(self._function(f"gv_fill_{width}"), len(tiles), BLOCK, there, x)
        device.fill(y, UNWRITTEN, size * width // 8)
        self.launch(x, y, size)
        tallies = device.at(taken[0], first * TALLY.itemsize)
        words = given[0], there, x, y, tallies, taken[1], given[2], np.uint32(ROOM)
        device.launch(self._function(f"gv_verify_{width}"), len(tiles), BLOCK, *words)

    def _room(self, name: str, nbytes: int) -> Any:
        if self._memory.get(name, (-1, None))[0] < nbytes:
            self._memory.pop(name, None)  # given back before more is asked for
            self._memory[name] = nbytes, self.device.alloc(nbytes)
        return self._memory[name][1]

    def _given(self, name: str, array: np.ndarray) -> Any:
        memory = self._room(name, array.nbytes)
        self.device.copy_in(memory, array)
        return memory

    def _function(self, symbol: str) -> Any:
        return self.device.compile(resource("src/cuda/verify.cu"), flags(self.function)).function(symbol)

    def _fixed(self, tiles: np.ndarray) -> np.ndarray:
        """Fixed inputs among consecutive ones: bits and ordinals, ascending."""
        bits = fixed_bits(self.function.name, self.fmt.name) if (tiles["step"] == 1).all() else ()
        found = np.zeros(len(bits), [("ordinal", "i8"), ("bits", "u8")])
        found["bits"] = bits
        found["ordinal"] = ordinals(self.fmt, found["bits"].astype(self.fmt.uint))
        first, last = int(tiles["first"][0]), int(tiles["first"][-1] + tiles["count"][-1]) - 1
        return np.unique(found[(found["ordinal"] >= first) & (found["ordinal"] <= last)])

    def _keep_samples(self, fixed: np.ndarray, tiles: np.ndarray, placed: np.ndarray, samples: Any) -> None:
        """Copy the answers to fixed inputs before the next batch is written over them."""
        size, first = self.fmt.width // 8, int(tiles["first"][0])
        end = int(tiles["first"][-1] + tiles["count"][-1])
        for index in np.flatnonzero((fixed["ordinal"] >= first) & (fixed["ordinal"] < end)):
            place = int(placed["place"][0]) + int(fixed["ordinal"][index]) - first
            to, answer = self.device.at(samples, int(index) * size), self.device.at(self._memory["y"][1], place * size)
            self.device.copy(to, answer, size)


def _batches(tiles: np.ndarray, most: int) -> Iterator[tuple[int, int, int]]:
    """(first, end, base): tiles that lie in `most` places from base on, a multiple of BLOCK, or one that does not."""
    ends, first = tiles["place"] + tiles["count"], 0
    while first < len(tiles):
        base = int(tiles["place"][first]) // BLOCK * BLOCK
        end = max(first + 1, int(np.searchsorted(ends, base + most, side="right")))
        yield first, end, base
        first = end


def flags(function: Function) -> list[str]:
    """How verify.cu is compiled for a function: every operation rounds as written."""
    near = [f"-DGV_APPROXIMATED={function.approximates}"] if function.approximates else []
    return ["-std=c++17", "-fmad=false", f"-DGV_JUDGED={function.name}", *near, f"-I{resource('src')}"]


def exhaustive(judge: OnDevice) -> Table:
    """All 2^32 inputs of float32."""
    fmt, function = judge.fmt, judge.function
    rules, half = rules_record(fmt, function), 1 << (fmt.width - 1)
    tiles = consecutive(fmt, rules, -half, half - 1)
    return finish(counted(fmt, function, tiles, judge, rules), Pieces.of(function, fmt))


def strata(judge: OnDevice, seed: int, per_bucket: int) -> Table:
    """Numbers of float64, `per_bucket` drawn from each bucket."""
    fmt, function = judge.fmt, judge.function
    rules, last = rules_record(fmt, function), fmt.ordinal(fmt.max_finite)
    tiles = drawn(fmt, rules, seed, per_bucket, -1 - last, last)
    return finish(counted(fmt, function, tiles, judge, rules), Pieces.of(function, fmt))


def search(judge: OnDevice, found: Table, seed: int, rounds: int, kept: int, each: int) -> Table:
    """Around the worst inputs of `found`, nearer and nearer: what the drawn inputs of the last round come to."""
    fmt, function = judge.fmt, judge.function
    rules, reach = rules_record(fmt, function), 1 << (fmt.width - 18)
    best = found
    for k in range(rounds):
        worst = np.nan_to_num(best.columns["max_error"], nan=-1.0)
        x = best.columns["max_error_x"][np.argsort(-worst, kind="stable")[:kept]].astype(fmt.uint)
        spans = _apart([(int(o) - reach, int(o) + reach) for o in ordinals(fmt, x)], fmt.ordinal(fmt.max_finite))
        parts = [drawn(fmt, rules, seed + k, each * (1 << (fmt.width - 16)) // (2 * reach), *span) for span in spans]
        tiles = np.concatenate(parts)
        tiles["place"] = np.concatenate([[0], np.cumsum(tiles["count"])[:-1]])
        best = merge([best, counted(fmt, function, tiles, judge, rules)])
        reach = max(reach >> 6, each)
    return best


def _apart(spans: Sequence[tuple[int, int]], last: int) -> list[tuple[int, int]]:
    """Spans that overlap, joined; within the finite numbers."""
    joined: list[tuple[int, int]] = []
    for first, end in sorted((max(first, -1 - last), min(end, last)) for first, end in spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((first, end))
    return joined


# ---- across processes ----------------------------------------------------------------------------


@in_default_environment
def swept(target: Any, dtype: str, function: str) -> str:
    """The packed table of an exhaustive sweep; `target` lives here and has a `device` and a `launcher`."""
    with _failing(target):
        judge = OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(function))
        table = exhaustive(judge)
        confirm(judge, table, target.name)
    return packed(table)


@in_default_environment
def searched(target: Any, dtype: str, function: str, seed: int) -> str:
    """The packed table of what is drawn, and of the search from there for larger errors; it has no segments."""
    with _failing(target):
        judge = OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(function))
        table = search(judge, strata(judge, seed, PER_BUCKET), seed, ROUNDS, KEPT, EACH)
        confirm(judge, table, target.name)
    return packed(replace(table, segments=table.segments[:0]))  # they overlap: neighbours of neighbours are no news


@contextmanager
def _failing(target: Any) -> Iterator[None]:
    """What CUDA says of a kernel there is its failure."""
    try:
        yield
    except target.device.driver.Error as error:
        raise TargetFailure(f"{target.name}: CUDA says {str(error)!r}", kind_of(str(error)) or "cuda") from error


def confirm(judge: OnDevice, table: Table, name: str) -> None:
    """Ask again for the largest error: the kernel for its answer, the oracle for what it is worth.

    Raises
    ------
    TargetFailure : the kernel gives another answer than in the sweep
    OracleError : the device judged it otherwise
    """
    fmt, row = judge.fmt, table.worst()
    if row is None:
        return
    x, got, want = (int(table.columns[f"max_error_{what}"][row]) for what in ("x", "got", "want"))
    asked = np.array([x], fmt.uint)
    if (again := int(judge.answers(asked)[0])) != got:
        told = f"{fmt.bits_text(again)} and {fmt.bits_text(got)} at {fmt.bits_text(x)}"
        failure = TargetFailure(f"{name} gave different bits when it was called again: {told}", "nondeterministic")
        failure.inputs = asked
        raise failure
    true, error, _ = judge_exactly(judge.function, fmt, x, got)
    largest = float(table.columns["max_error"][row])
    if true != want or not abs(min(abs(error), LARGEST) - largest) <= NOISE + 2.0**-40 * largest:
        told = f"{largest} ulp of {fmt.bits_text(want)}, it is {abs(error)} ulp of {fmt.bits_text(true)}"
        raise OracleError(f"{name} at {fmt.bits_text(x)}: the device says {told}")


@in_default_environment
def packed(table: Table) -> str:
    """A table as text."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"columns.{name}": column for name, column in table.columns.items()}
    arrays |= {f"regions.{name}": column for name, column in table.regions.items()}
    np.savez_compressed(buffer, **arrays, hist=table.hist, segments=table.segments, samples=table.samples)
    text = base64.b64encode(buffer.getvalue()).decode()
    return json.dumps({"dtype": table.fmt.name, "facts": asdict(table.facts), "arrays": text})


@in_default_environment
def unpacked(text: str) -> Table:
    """The table that was packed."""
    told = json.loads(text)
    with np.load(io.BytesIO(base64.b64decode(told["arrays"]))) as file:
        arrays = {name: file[name] for name in file.files}
    keys: dict[str, Any] = {name: tuple(key) if isinstance(key, list) else key for name, key in told["facts"].items()}
    rest: dict[str, Any] = {name: arrays[name] for name in ("hist", "segments", "samples")}
    rest |= {part: _part(arrays, part) for part in ("columns", "regions")}
    return Table(get_format(told["dtype"]), **rest, facts=Facts(**keys))


def _part(arrays: dict[str, np.ndarray], part: str) -> dict[str, np.ndarray]:
    return {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{part}.")}
