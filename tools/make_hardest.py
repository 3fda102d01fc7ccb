"""Generate data/hardest: the inputs that are hardest to round (docs/hardest.md), with their offsets.

    python tools/make_hardest.py --function gelu --function silu      # one function, or some
    python tools/make_hardest.py                                      # all with native code: 15 minutes on two cores

float32: every input. Those that the native core cannot place farther from a boundary than the limit are looked at by
the oracle. Afterwards `python tools/make_tables.py --dtype float32` takes the hardest of them into data/hard_cases.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from gelu_verify.atomic_files import replace_file
from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS, get_function
from gelu_verify.truth import _core
from gelu_verify.truth.hardest import Hardest, joined, listed, runs_between

DATA = Path(__file__).parents[1] / "data"
CHUNK = 1 << 22


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
    np.savez_compressed(
        buffer, x_bits=table.x_bits, offset=offset, is_midpoint=table.is_midpoint, runs=table.runs
    )
    return buffer.getvalue()


def names(asked: list[str] | None) -> Iterator[str]:
    for name in asked or _core.functions():
        yield get_function(name).name


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--function", action="append", metavar="NAME", help="a function; may be repeated (default: all)")
    words.add_argument("--threads", type=int, default=2, help="(default: 2)")
    words.add_argument("--data", type=Path, default=DATA, help="the folder (default: data/ of this checkout)")
    asked = words.parse_args()
    for name in names(asked.function):
        start = time.perf_counter()
        table = every_float32(name, asked.threads)
        path = asked.data / "hardest" / f"{name}-float32.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, written(table))
        count, seconds = f"{len(table.x_bits)} inputs, {len(table.runs)} runs", time.perf_counter() - start
        print(f"{path.name}: {count}, {path.stat().st_size} bytes, {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
