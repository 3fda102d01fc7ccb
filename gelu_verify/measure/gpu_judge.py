"""A kernel on a CUDA device and the code that judges it there, batch after batch; only records come back.

`swept` and `searched` are called in the process that has the device; they return a table as text
(`buckets/table_text.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import distinct
from ..buckets.table import LARGEST, NOISE, MonotonePieces, Records, Table, finish, merge
from ..buckets.table_text import text_of_table
from ..errors import OracleError, TargetFailure
from ..formats import Format, get_format, ordinals
from ..functions import Function, get_function
from ..gpu.faults import kind_of
from ..inputs.plans import joined_spans
from ..inputs.special import fixed_bits
from ..paths import resource
from ..truth.oracle import judge_exactly
from .gpu_tiles import MOST_UNDECIDED, TALLY, TILE, UNDECIDED, consecutive, counted, drawn, rules_record

if TYPE_CHECKING:
    from ..gpu.cuda import Device

BLOCK = 256
BATCH = 1 << 30  # bytes of inputs that are in memory at once, and as many of outputs
PER_BUCKET = 1 << 12  # float64 inputs drawn from each bucket: 2^28 in all
ROUNDS, CENTRES, EACH = 8, 256, 1 << 14  # of the search: around how many inputs, and how many are drawn around each
UNWRITTEN = 0xFF  # bytes of outputs before a call: NaN in every format

Launch = Callable[[Any, Any, int], None]  # the kernel under test: input, output, number


@dataclass
class OnDevice:
    """A judge (`gpu_tiles.Judge`) for the outputs of one kernel; its memory serves all calls."""

    device: Device
    launch: Launch
    fmt: Format
    function: Function
    seconds: float = 0.0  # of the last call: fill, kernel, judge, by the device's own clock
    _memory: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def __call__(self, rules: Records, tiles: Records) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All batches are started one after the other; then it waits once."""
        device, fixed = self.device, self._fixed(tiles)
        tallies, count = np.empty(len(tiles), TALLY), np.zeros(1, np.uint32)
        undecided, sampled = np.zeros(MOST_UNDECIDED, UNDECIDED), np.zeros(len(fixed), self.fmt.uint)
        batches = list(_batches(tiles, 8 * BATCH // self.fmt.width))
        placed = tiles.copy()
        for first, last, base in batches:
            placed["place"][first:last] -= base
        inputs = [self._copied(name, array) for name, array in (("rules", rules), ("tiles", placed), ("count", count))]
        arrays = {"tallies": tallies, "undecided": undecided, "samples": sampled}
        results = [self._memory_of(name, array.nbytes) for name, array in arrays.items()]

        def work() -> None:
            for first, last, _ in batches:
                self._start(placed[first:last], first, inputs, results)
                self._copy_samples(fixed, tiles[first:last], placed[first:last], results[2])

        self.seconds = device.seconds(work)
        number = int(device.copy_out(inputs[2], count)[0])
        arrays["undecided"] = undecided[:number]  # the rest of that memory was never written
        for memory, array in zip(results, arrays.values(), strict=True):
            device.copy_out(memory, array)
        samples = np.array([fixed["bits"], sampled], np.uint64).T
        undecided = undecided[:number] if number <= MOST_UNDECIDED else np.zeros(number, UNDECIDED)
        return tallies, undecided, samples[np.argsort(samples[:, 0])]

    def outputs(self, x_bits: np.ndarray) -> np.ndarray:
        """The outputs of the kernel for these inputs."""
        x, y = self._copied("x", x_bits), self._memory_of("y", x_bits.nbytes)
        self.device.fill(y, UNWRITTEN, x_bits.nbytes)
        self.launch(x, y, len(x_bits))
        self.device.synchronize()
        return self.device.copy_out(y, np.empty_like(x_bits))

    def _start(self, tiles: Records, first: int, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Fill, call, judge: a batch, whose tiles and tallies lie from number `first` on."""
        device, width, size = self.device, self.fmt.width, int((tiles["place"] + tiles["count"]).max())
        x, y = (self._memory_of(name, size * width // 8) for name in "xy")
        batch = device.at(inputs[1], first * TILE.itemsize)
        device.launch(self._function(f"gv_fill_{width}"), len(tiles), BLOCK, batch, x)
        device.fill(y, UNWRITTEN, size * width // 8)
        self.launch(x, y, size)
        tallies = device.at(results[0], first * TALLY.itemsize)
        arguments = inputs[0], batch, x, y, tallies, results[1], inputs[2], np.uint32(MOST_UNDECIDED)
        device.launch(self._function(f"gv_verify_{width}"), len(tiles), BLOCK, *arguments)

    def _memory_of(self, name: str, nbytes: int) -> Any:
        if self._memory.get(name, (-1, None))[0] < nbytes:
            self._memory.pop(name, None)  # freed before more is allocated
            self._memory[name] = nbytes, self.device.alloc(nbytes)
        return self._memory[name][1]

    def _copied(self, name: str, array: np.ndarray) -> Any:
        memory = self._memory_of(name, array.nbytes)
        self.device.copy_in(memory, array)
        return memory

    def _function(self, symbol: str) -> Any:
        return self.device.compile(resource("src/cuda/verify.cu"), flags(self.function)).function(symbol)

    def _fixed(self, tiles: Records) -> np.ndarray:
        """Fixed inputs among consecutive ones: bits and ordinals, ascending."""
        bits = fixed_bits(self.function.name, self.fmt.name) if (tiles["step"] == 1).all() else ()
        found = np.zeros(len(bits), [("ordinal", "i8"), ("bits", "u8")])
        found["bits"] = bits
        found["ordinal"] = ordinals(self.fmt, found["bits"].astype(self.fmt.uint))
        first, last = int(tiles["first"][0]), int(tiles["first"][-1] + tiles["count"][-1]) - 1
        return distinct(found[(found["ordinal"] >= first) & (found["ordinal"] <= last)])

    def _copy_samples(self, fixed: np.ndarray, tiles: Records, placed: np.ndarray, samples: Any) -> None:
        """Copy the outputs at fixed inputs before the next batch overwrites them."""
        size, first = self.fmt.width // 8, int(tiles["first"][0])
        end = int(tiles["first"][-1] + tiles["count"][-1])
        for index in np.flatnonzero((fixed["ordinal"] >= first) & (fixed["ordinal"] < end)):
            place = int(placed["place"][0]) + int(fixed["ordinal"][index]) - first
            to, output = self.device.at(samples, int(index) * size), self.device.at(self._memory["y"][1], place * size)
            self.device.copy(to, output, size)


def _batches(tiles: Records, most: int) -> Iterator[tuple[int, int, int]]:
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
    return finish(counted(fmt, function, tiles, judge, rules), MonotonePieces.of(function, fmt))


def strata(judge: OnDevice, seed: int, per_bucket: int) -> Table:
    """Numbers of float64, `per_bucket` drawn from each bucket."""
    fmt, function = judge.fmt, judge.function
    rules, last = rules_record(fmt, function), fmt.ordinal(fmt.max_finite)
    tiles = drawn(fmt, rules, seed, per_bucket, -1 - last, last)
    return finish(counted(fmt, function, tiles, judge, rules), MonotonePieces.of(function, fmt))


def search(judge: OnDevice, found: Table, seed: int, rounds: int, centres: int, each: int) -> Table:
    """The table with inputs drawn around its worst ones, nearer and nearer in each round."""
    fmt, function = judge.fmt, judge.function
    rules, reach = rules_record(fmt, function), 1 << (fmt.width - 18)
    best, last = found, fmt.ordinal(fmt.max_finite)
    for k in range(rounds):
        worst = np.nan_to_num(best.columns["max_error"], nan=-1.0)
        x = best.columns["max_error_x"][np.argsort(-worst, kind="stable")[:centres]].astype(fmt.uint)
        centred = ordinals(fmt, x).tolist()
        spans = joined_spans((max(o - reach, -1 - last), min(o + reach, last)) for o in centred)
        parts = [drawn(fmt, rules, seed + k, each * (1 << (fmt.width - 16)) // (2 * reach), *span) for span in spans]
        tiles = np.concatenate(parts)
        tiles["place"] = np.concatenate([[0], np.cumsum(tiles["count"])[:-1]])
        best = merge([best, counted(fmt, function, tiles, judge, rules)])
        reach = max(reach >> 6, each)
    return best


# ---- across processes ----------------------------------------------------------------------------


def swept(target: Any, dtype: str, function: str) -> str:
    """The table of an exhaustive sweep, as text; `target` is in this process and has a `device` and a `launcher`."""
    with _failing(target):
        judge = OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(function))
        table = exhaustive(judge)
        confirm(judge, table, target.name)
    return text_of_table(table)


def searched(target: Any, dtype: str, function: str, seed: int) -> str:
    """The table of drawn inputs, and of the search from there for larger errors, as text; it has no segments."""
    with _failing(target):
        judge = OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(function))
        table = search(judge, strata(judge, seed, PER_BUCKET), seed, ROUNDS, CENTRES, EACH)
        confirm(judge, table, target.name)
    return text_of_table(replace(table, segments=table.segments[:0]))  # inputs overlap: there are no neighbours


@contextmanager
def _failing(target: Any) -> Iterator[None]:
    """An error of CUDA is the failure of the kernel."""
    try:
        yield
    except target.device.driver.Error as error:
        raise TargetFailure(f"{target.name}: CUDA says {str(error)!r}", kind_of(str(error)) or "cuda") from error


def confirm(judge: OnDevice, table: Table, name: str) -> None:
    """Repeat the largest error: call the kernel again, and judge its output by the oracle.

    Raises
    ------
    TargetFailure : the output differs from that in the sweep
    OracleError : the device judged it differently
    """
    fmt, row = judge.fmt, table.worst()
    if row is None:
        return
    x, got, want = (int(table.columns[f"max_error_{what}"][row]) for what in ("x", "got", "want"))
    x_bits = np.array([x], fmt.uint)
    if (again := int(judge.outputs(x_bits)[0])) != got:
        outputs = f"{fmt.bits_text(again)} and {fmt.bits_text(got)} at {fmt.bits_text(x)}"
        failure = TargetFailure(f"{name} gave different bits when it was called again: {outputs}", "nondeterministic")
        failure.inputs = x_bits
        raise failure
    true, error, _ = judge_exactly(judge.function, fmt, x, got)
    largest = float(table.columns["max_error"][row])
    if true != want or not abs(min(abs(error), LARGEST) - largest) <= NOISE + 2.0**-40 * largest:
        device = f"{largest} ULP against {fmt.bits_text(want)}"
        oracle = f"{abs(error)} ULP against {fmt.bits_text(true)}"
        raise OracleError(f"{name} at {fmt.bits_text(x)}: the device finds {device}, the oracle {oracle}")
