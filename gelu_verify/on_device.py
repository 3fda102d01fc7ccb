"""A kernel on a CUDA device and the code that judges it there, chunk by chunk; only records come back.

`swept` is called where the device is, in the child of the family; what it returns crosses as text.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .bucket_table import Facts, Pieces, Table, finish, merge
from .device_sweep import OPEN, ROOM, TALLY, chunks, consecutive, counted, drawn, rules_record
from .formats import Format, get_format, ordinals
from .functions import Function, get_function
from .points import fixed_bits
from .resources import resource

if TYPE_CHECKING:
    from .kernels.cuda import Device

BLOCK = 256
CHUNK = 1 << 28  # inputs at once: 1 GiB of float32, and as much of answers
PER_BUCKET = 1 << 12  # float64 inputs drawn from each bucket: 2^28 in all

Launch = Callable[[Any, Any, int], None]  # the kernel under test: input, output, number


@dataclass
class OnDevice:
    """A judge (`device_sweep.Judge`) for the answers of one kernel; memory is kept between calls."""

    device: Device
    launch: Launch
    fmt: Format
    function: Function
    _memory: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def __call__(self, rules: np.ndarray, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        device, width, size = self.device, self.fmt.width, int((tiles["place"] + tiles["count"]).max())
        size = -(-size // BLOCK) * BLOCK
        x, y = (self._room(name, size * width // 8) for name in "xy")
        tallies, answers, count = np.zeros(len(tiles), TALLY), np.zeros(ROOM, OPEN), np.zeros(1, np.uint32)
        given = [self._given(name, array) for name, array in (("rules", rules), ("tiles", tiles), ("count", count))]
        taken = [self._room(name, array.nbytes) for name, array in (("tallies", tallies), ("answers", answers))]
        device.launch(self._function(f"gv_fill_{width}"), len(tiles), BLOCK, given[1], x)
        self.launch(x, y, size)
        words = given[0], given[1], x, y, taken[0], taken[1], given[2], np.uint32(ROOM)
        device.launch(self._function(f"gv_verify_{width}"), len(tiles), BLOCK, *words)
        device.synchronize()
        left = int(device.copy_out(given[2], count)[0])
        device.copy_out(taken[0], tallies)
        answers = device.copy_out(taken[1], answers) if left else answers
        return tallies, answers[:left] if left <= ROOM else np.zeros(left, OPEN), self._samples(tiles, y)

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

    def _samples(self, tiles: np.ndarray, y: Any) -> np.ndarray:
        """Fixed inputs among consecutive ones, with their answers."""
        first, last = int(tiles["first"][0]), int(tiles["first"][-1] + tiles["count"][-1]) - 1
        met = []
        for bits in fixed_bits(self.function.name, self.fmt.name) if (tiles["step"] == 1).all() else ():
            ordinal = int(ordinals(self.fmt, np.array([bits], self.fmt.uint))[0])
            if first <= ordinal <= last:
                place = int(y) + (int(tiles["place"][0]) + ordinal - first) * (self.fmt.width // 8)
                met.append((int(bits), int(self.device.copy_out(place, np.zeros(1, self.fmt.uint))[0])))
        return np.array(sorted(met), np.uint64).reshape(-1, 2)


def flags(function: Function) -> list[str]:
    """How verify.cu is compiled for a function: every operation rounds as written."""
    near = [f"-DGV_APPROXIMATED={function.approximates}"] if function.approximates else []
    return ["-std=c++17", "-fmad=false", f"-DGV_JUDGED={function.name}", *near, f"-I{resource('src')}"]


def exhaustive(judge: OnDevice) -> Table:
    """All 2^32 inputs of float32."""
    fmt, function = judge.fmt, judge.function
    rules, half = rules_record(fmt, function), 1 << (fmt.width - 1)
    parts = chunks(fmt, [(-half, half - 1)], CHUNK)
    tables = [counted(fmt, function, consecutive(fmt, rules, *part), judge, rules) for part in parts]
    return finish(merge(tables), Pieces.of(function, fmt))


def strata(judge: OnDevice, seed: int, per_bucket: int = PER_BUCKET) -> Table:
    """Numbers of float64, `per_bucket` drawn from each bucket."""
    fmt, function = judge.fmt, judge.function
    rules, last = rules_record(fmt, function), fmt.ordinal(fmt.max_finite)
    tiles = drawn(fmt, rules, seed, per_bucket, -1 - last, last)
    return finish(counted(fmt, function, tiles, judge, rules), Pieces.of(function, fmt))


def search(judge: OnDevice, found: Table, seed: int, rounds: int = 8, kept: int = 256, each: int = 1 << 14) -> Table:
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


def swept(target: Any, dtype: str, function: str) -> str:
    """The packed table of an exhaustive sweep; `target` lives here and has a `device` and `launch_on`."""
    judge = OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(function))
    return packed(exhaustive(judge))


def packed(table: Table) -> str:
    """A table as text."""
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {f"columns.{name}": column for name, column in table.columns.items()}
    arrays |= {f"regions.{name}": column for name, column in table.regions.items()}
    np.savez_compressed(buffer, **arrays, hist=table.hist, segments=table.segments, samples=table.samples)
    text = base64.b64encode(buffer.getvalue()).decode()
    return json.dumps({"dtype": table.fmt.name, "facts": asdict(table.facts), "arrays": text})


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
