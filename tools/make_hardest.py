"""Generate data/hardest: the inputs that are hardest to round (docs/hardest.md), with their offsets.

    python tools/make_hardest.py --function gelu --function silu      # one function, or some
    python tools/make_hardest.py --dtype float32                      # all: 15 minutes on two cores
    python tools/make_hardest.py --dtype float64                      # all: an hour; goes on after Ctrl-C
    python tools/make_hardest.py --page                               # write the tables of docs/hardest.md

float32: every input. Those that the native core cannot place farther from a boundary than the limit are looked at by
the oracle. float64: every input of the INTERVALS below (tools/linear_search.py; needs python-flint).
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from gelu_verify.atomic_files import replace_file
from gelu_verify.formats import FORMATS, Format
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.truth import _core
from gelu_verify.truth.hardest import Hardest, hardest, joined, listed, runs_between

DATA = Path(__file__).parents[1] / "data"
PAGE = DATA.parent / "docs" / "hardest.md"
COMMAND = "python tools/make_hardest.py"
CHUNK = 1 << 22
BLOCKS = 12  # that are timed
# (first x, log2 of the number of inputs, -log2 of the limit): of |x| rising, within a binade
SIDES = (("1", 44, 40), ("-1", 44, 40))


def binades(first: int, last: int, *signs: str) -> tuple[tuple[str, int, int], ...]:
    """The binades from 2^first up to 2^last, the largest first."""
    return tuple((f"{sign}0x1p{e}", 52, 51) for sign in signs for e in range(last - 1, first - 1, -1))


INTERVALS = {
    "gelu": (("1", 46, 42), ("-1", 46, 42), ("0x1p-20", 52, 47), *binades(-40, -20, "", "-")),
    "gelu_tanh": (*SIDES, *binades(-40, -20, "")),  # as f(x) - f(-x) = x, the other side has the same offsets
    "gelu_sigmoid": (*SIDES, *binades(-31, -20, "")),
    "silu": (*SIDES, *binades(-40, -20, "")),
    "erf": (("0.5", 44, 40),),
    "tanh": (("0.5", 44, 40),),
    "sigmoid": (("1", 44, 40),),
    "exp": (("1", 44, 40),),
}


def every_float32(name: str, threads: int) -> Hardest:
    """The hard inputs among all of float32."""
    entry, fmt = FUNCTIONS[name], FORMATS["float32"]

    def found(start: int) -> np.ndarray:
        return runs_between(entry, fmt, start, min(start + CHUNK - 1, fmt.max_finite))

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(found, range(-1 - fmt.max_finite, fmt.max_finite + 1, CHUNK)))
    return listed(entry, fmt, joined(np.concatenate(parts)))


def written(table: Hardest) -> bytes:
    """A table as the bytes of its file: the same for the same table."""
    offset = table.offset.astype(np.float32)
    if np.any(np.abs(offset) < np.finfo(np.float32).tiny):
        sys.exit("an offset is too small for float32")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, x_bits=table.x_bits, offset=offset, is_midpoint=table.is_midpoint, runs=table.runs)
    return buffer.getvalue()


def search_float64(name: str, path: Path, threads: int) -> None:
    """Add to a table, interval by interval, what of INTERVALS it does not have."""
    from linear_search import hard_between

    fmt = FORMATS["float64"]
    for text, size, power in INTERVALS[name]:
        table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"intervals": [], "inputs": []}
        first, limit, start = fmt.parse(text), f"0x1p-{power}", time.process_time()
        ends = {"first_bits": fmt.bits_text(first), "last_bits": fmt.bits_text(first + (1 << size) - 1)}
        if any(_has(each, {**ends, "limit": limit}) for each in table["intervals"]):
            continue
        found = hard_between(name, first, 1 << size, 2.0**-power, threads)
        rate = 2**size / (time.process_time() - start)
        print(f"{name} from {text}: 2^{size} inputs, {rate:.3g} a CPU second", file=sys.stderr, flush=True)
        rows = [
            {"x_bits": fmt.bits_text(each.x_bits), "offset": each.offset, "is_midpoint": each.is_midpoint}
            for each in found
        ]
        interval = {**ends, "inputs": 1 << size, "limit": limit, "found": len(found)}
        replace_file(path, _float64_text(name, [*table["intervals"], interval], [*table["inputs"], *rows]))


def _has(interval: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Whether an interval was searched within another one."""
    inside = interval["first_bits"] <= asked["first_bits"] and asked["last_bits"] <= interval["last_bits"]
    return inside and bool(interval["limit"] == asked["limit"])


def _float64_text(name: str, intervals: list[dict[str, Any]], inputs: list[dict[str, Any]]) -> bytes:
    """A table as JSON: by first input, and what touches as one interval."""
    joined: list[dict[str, Any]] = []
    for each in sorted(intervals, key=itemgetter("first_bits")):
        last = joined[-1] if joined else {"limit": None, "last_bits": "0"}
        if last["limit"] == each["limit"] and int(last["last_bits"], 16) + 1 == int(each["first_bits"], 16):
            sums = {key: last[key] + each[key] for key in ("inputs", "found")}
            joined[-1] = {**last, "last_bits": each["last_bits"], **sums}
        else:
            joined.append(each)
    text = ",\n".join(f"  {json.dumps(row)}" for row in sorted(inputs, key=itemgetter("x_bits")))
    spans = ",\n".join(f"  {json.dumps(row)}" for row in joined)
    head = f'"generated_by": "{COMMAND} --dtype float64 --function {name}"'
    return f'{{\n {head},\n "intervals": [\n{spans}\n ],\n "inputs": [\n{text}\n ]\n}}\n'.encode()


def speeds() -> Iterator[str]:
    """How fast the search is, and how long a whole binade takes, by function and place."""
    from linear_search import block_of, close

    fmt = FORMATS["float64"]
    starts = [(name, text) for name in INTERVALS for text, size, _ in INTERVALS[name] if size < 52]
    for name, text in (*starts, *(("gelu", text) for text in ("-8", "0x1p-10", "0x1p-20", "0x1p-30"))):
        first, size, start = fmt.parse(text), 0, time.process_time()
        for _ in range(BLOCKS):
            block = block_of(name, first + size, 1 << 50, 2.0**-45)
            close(block, 2.0**-45)
            size += block.size
        rate = size / (time.process_time() - start)
        yield f"{name} from {text}: {rate:.1e} inputs a CPU second, a binade takes {2**52 / rate / 3600:.2f} CPU hours"


def page(text: str) -> str:
    """docs/hardest.md with tables of what data/hardest has."""
    for name, lines in (("intervals", _interval_lines()), ("float32", _float32_lines())):
        start, end = f"<!-- {name}: written by `{COMMAND} --page` -->\n", f"<!-- /{name} -->"
        before, _, rest = text.partition(start)
        text = before + start + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    return text


def _interval_lines() -> Iterator[str]:
    fmt = FORMATS["float64"]
    yield "| function | from | to | inputs | limit | found | hardest | its offset |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in sorted(INTERVALS):
        table = hardest(name, "float64")
        for first, last, limit in table.intervals or ():
            here = np.flatnonzero((table.x_bits >= first) & (table.x_bits <= last))
            worst = here[np.argmin(np.abs(table.offset[here]))]
            ends = " | ".join(f"`{fmt.hex_float(bits)}`" for bits in (first, last))
            size, power = last - first + 1, round(np.log2(limit))
            inputs = f"{size >> 52} · 2^52" if size > 1 << 52 else f"2^{size.bit_length() - 1}"
            yield f"| `{name}` | {ends} | {inputs} | 2^{power} | {len(here)} | {_hard(fmt, table, worst)} |"


def _float32_lines() -> Iterator[str]:
    yield "| function | listed | runs | hardest near a midpoint | its offset | hardest near a number | its offset |"
    yield "|---|---|---|---|---|---|---|"
    for name in _core.functions():
        table, worst = hardest(name, "float32"), []
        for is_midpoint in (True, False):
            rows = np.flatnonzero(table.is_midpoint == is_midpoint)
            nearest = rows[np.argmin(np.abs(table.offset[rows]))] if len(rows) else None
            worst.append("| " if nearest is None else _hard(FORMATS["float32"], table, nearest))
        yield f"| `{name}` | {len(table.x_bits)} | {len(table.runs)} | {' | '.join(worst)} |"


def _hard(fmt: Format, table: Hardest, i: int) -> str:
    return f"`{fmt.hex_float(int(table.x_bits[i]))}` | 2^{np.log2(abs(table.offset[i])):.1f}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--function", action="append", metavar="NAME", help="a function; may be repeated (default: all)")
    words.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(default: float32)")
    words.add_argument("--threads", type=int, default=2, help="(default: 2)")
    words.add_argument("--data", type=Path, default=DATA, help="the folder (default: data/ of this checkout)")
    words.add_argument("--page", action="store_true", help="only write the tables of docs/hardest.md")
    words.add_argument("--speed", action="store_true", help="only print how fast the search in float64 is")
    asked = words.parse_args()
    if asked.speed:
        print("\n".join(speeds()))
        return
    if asked.page:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
        return
    every = _core.functions() if asked.dtype == "float32" else INTERVALS
    for name in [get_function(name).name for name in asked.function or every]:
        path = asked.data / "hardest" / f"{name}-{asked.dtype}.{'npz' if asked.dtype == 'float32' else 'json'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        if asked.dtype == "float32":
            replace_file(path, written(every_float32(name, asked.threads)))
        else:
            search_float64(name, path, asked.threads)
        size, seconds = path.stat().st_size, time.perf_counter() - start
        print(f"{path.name}: {size} bytes, {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
