"""Commands that are killed at random moments and given again until they end, their workers killed and paused meanwhile.

What they store at last must be what an undisturbed command stores.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from gelu_verify.search import kept

SLOW = """
import os, time
import numpy as np

def gelu(x):
    time.sleep(0.005 if len(x) < 4096 else 0.1)
    return np.maximum(x, 0) if os.environ.get("OTHER_CODE") else np.minimum(x, 0)
"""
COMMANDS = {
    "run": ["--dtype", "bfloat16", "--length", "128"],
    "search": ["--function", "gelu", "--dtype", "float64", "--evaluations", "4000000", "--json"],
}
OF_TIME = ("throughput", "time", "seconds", "workers")  # keys of a result that no second one has again
MOST_WORKERS = 2  # that one command loses: Dask gives an item up that it lost four times


@dataclass
class Disturbed:
    """How often what was done, and how many commands ended as the undisturbed one did."""

    kills: int = 0
    workers_killed: int = 0
    workers_paused: int = 0
    ended: int = 0


def slow_target(folder: Path) -> str:
    """A target that takes its time, and gives other outputs where an environment variable says so."""
    path = folder / "slow_gelu.py"
    path.write_text(SLOW)
    return f"{path}:gelu"


def started(command: str, target: str, out: str, folder: Path, *options: str) -> subprocess.Popen[str]:
    asked = [command, target, *COMMANDS[command], "--out", out, "--workers", "2", *options]
    return subprocess.Popen(
        [sys.executable, "-m", "gelu_verify", *asked],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def stored(command: str, out: Path) -> tuple[object, list[str]]:
    """The results, apart from times, with hashes of their tables; and the names of all files."""
    name = "manifest.json" if command == "run" else kept.RECORD
    found = json.loads((out / name).read_text())
    results = found["results"] if command == "run" else [found]
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*"))
    return [{key: value for key, value in each.items() if key not in OF_TIME} for each in results], names


def disturbed(command: str, executor: str, target: str, folder: Path, kills: int, seed: int = 17) -> Disturbed:
    """Kill a command so many times, at moments up to a fifth later than its end; AssertionError where that shows.

    Every other time all that it started is killed as well.
    """
    counts, rng, start = Disturbed(), random.Random(seed), time.monotonic()
    whole = started(command, target, "whole", folder)
    assert whole.wait(300) == 0, whole.stderr.read()
    whole.stderr.close()
    took, expected = time.monotonic() - start, stored(command, folder / "whole")
    while counts.kills < kills:
        out = folder / f"{executor}-{counts.kills}"
        said = _killed_until_it_ends(command, executor, target, out, counts, rng, took)
        assert stored(command, out) == expected, said
        shutil.rmtree(out)
        counts.ended += 1
    left = sorted(path.name for path in folder.iterdir() if path.name not in ("slow_gelu.py", "__pycache__"))
    assert left == ["whole"], "no journal and no unfinished folder is left"
    return counts


def _killed_until_it_ends(
    command: str, executor: str, target: str, out: Path, counts: Disturbed, rng: random.Random, took: float
) -> str:
    """Up to five kills of one command; what its last process said."""
    for left in (5, 4, 3, 2, 1, 0):
        process = started(command, target, out.name, out.parent, "--executor", executor)
        try:
            with _workers_disturbed(process.pid, counts, random.Random(rng.random())):
                _, said = process.communicate(timeout=rng.uniform(0.2, 1.2 * took) if left else 300)
            break
        except subprocess.TimeoutExpired:
            counts.kills += 1
            (os.killpg if counts.kills % 2 else os.kill)(process.pid, signal.SIGKILL)
            process.communicate()
    is_stored = f"{out.name} is already there" in said  # killed after all was done
    assert process.returncode == 0 or is_stored, said
    return str(said)


@contextmanager
def _workers_disturbed(pid: int, counts: Disturbed, rng: random.Random):
    """Workers that the process starts are killed, or stopped for a while."""
    done = threading.Event()
    thread = threading.Thread(target=_disturb_workers, args=(pid, counts, rng, done))
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _disturb_workers(pid: int, counts: Disturbed, rng: random.Random, done: threading.Event) -> None:
    import psutil

    killed = 0
    while not done.wait(rng.uniform(0.5, 3)):
        with suppress(psutil.NoSuchProcess):
            workers = [
                each for each in psutil.Process(pid).children() if any("spawn_main" in w for w in each.cmdline())
            ]
            if not workers:
                continue
            worker = rng.choice(workers)
            if killed < MOST_WORKERS and rng.random() < 0.5:
                worker.kill()
                killed += 1
                counts.workers_killed += 1
            else:
                worker.suspend()
                counts.workers_paused += 1
                done.wait(rng.uniform(0.2, 2))
                worker.resume()
