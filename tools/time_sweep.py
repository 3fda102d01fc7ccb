"""What judging all 2^32 float32 inputs costs beside the calls alone: `python tools/time_sweep.py torch.gelu` (minutes).

For each target, processes alternate, so that whatever slows the machine slows both: one that imports the library and
calls the target with all inputs, made anew for each call, and `gelu-verify run --plan exhaustive`, from its start to
the last file of its report. Printed are medians: seconds, core-seconds of all processes together, and their ratio.
Where the machine is shared, core-seconds say more. `--threads 1` with `taskset` disturbs others least. JSON is written
with `--json`. Never fails on a time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import local
from time import perf_counter
from typing import Any

CHUNK = 1 << 20
PARTS = ("target_s", "alone_s", "alone_core_s", "sweep_s", "run_s", "run_core_s")


def called_alone(name: str, function: str, threads: int) -> None:
    """Call the target with all inputs, and with nothing else; prints the seconds inside of the calls."""
    import numpy as np

    from gelu_verify import targets
    from gelu_verify.buckets.reducer import fill_strided
    from gelu_verify.speed.throughput import one_thread_each

    one_thread_each()
    (target,), _ = targets.select([name], function=function, dtype="float32")
    own = local()

    def called(first: int) -> float:
        if not hasattr(own, "x"):
            own.x = np.empty(CHUNK + 1, np.uint32)
        fill_strided(first, own.x)
        return target.timed("float32", own.x)[1]

    with ThreadPoolExecutor(threads) as pool:
        print(sum(pool.map(called, range(-(1 << 31), 1 << 31, CHUNK))))


def timed(command: list[str], threads: int) -> tuple[float, float, str]:
    """Seconds and core-seconds of a command with all that it starts, and what it prints."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"} if threads == 1 else None
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, printed


def times_of(name: str, function: str, threads: int) -> dict[str, float]:
    """One of each."""
    ours = [sys.executable, __file__, name, "--function", function, "--threads", str(threads), "--alone"]
    alone_s, alone_core_s, _ = timed(ours, threads)
    with tempfile.TemporaryDirectory() as folder:
        run = ["run", name, "--function", function, "--dtype", "float32", "--plan", "exhaustive"]
        options = ["--workers", str(threads), "--out", f"{folder}/run"]
        run_s, run_core_s, _ = timed([sys.executable, "-m", "gelu_verify", *run, *options], threads)
        records = json.loads(Path(folder, "run", "manifest.json").read_text())["results"]
    (record,) = (each for each in records if each["target"] == name)
    time = record["time"]
    values = (time["target_s"] / time["threads"], alone_s, alone_core_s, time["sweep_s"], run_s, run_core_s)
    return dict(zip(PARTS, values, strict=True))


def ratios(rounds: list[dict[str, float]]) -> Iterator[tuple[str, float]]:
    """Medians over the rounds, of times and of what they are to each other."""
    for part in PARTS:
        yield part, median(each[part] for each in rounds)
    yield "sweep_ratio", median(each["sweep_s"] / each["target_s"] for each in rounds)
    yield "ratio", median(each["run_s"] / each["alone_s"] for each in rounds)
    yield "core_ratio", median(each["run_core_s"] / each["alone_core_s"] for each in rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=["torch.gelu"])
    parser.add_argument("--function", help="default: what the name of the target begins with")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        called_alone(asked.targets[0], asked.function, asked.threads)
        return
    found: list[dict[str, Any]] = []
    for name in asked.targets:
        function = asked.function or named_function(name)
        rounds = [times_of(name, function, asked.threads) for _ in range(asked.rounds)]
        found.append({"target": name, "function": function, "threads": asked.threads, **dict(ratios(rounds))})
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else str(value)
                        for key, value in found[-1].items()), flush=True)  # fmt: skip
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")


def named_function(target: str) -> str:
    """The longest function whose name the target's begins with."""
    from gelu_verify.functions import FUNCTIONS

    path = target.partition(".")[2]
    return max((name for name in FUNCTIONS if path.startswith(name)), key=len)


if __name__ == "__main__":
    main()
