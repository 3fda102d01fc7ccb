"""How busy one Dask scheduler is with 10 to 100,000 cores: `python tools/simulate_scheduler.py docs/scale.json`.

Simulates the items of a run as events, with the time that one task costs scheduler and client and the size of what
comes back, which `tools/time_executors.py` measured. Every worker holds the item that it works on and the next one; the
scheduler serves one task after the other. Prints, for items of several lengths, which share of the cores' time is spent
on items, and what arrives at the client. No worker fails, and the network takes no time.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
from collections.abc import Iterable
from pathlib import Path

CORES = (10, 1_000, 100_000)
SECONDS = (1.0, 10.0, 60.0, 600.0)  # of an item
ROUNDS = 12  # items for each core
SPREAD = 0.2  # items take from 0.8 to 1.2 of it


def simulated(cores: int, item_s: float, task_s: float, rounds: int = ROUNDS, seed: int = 0) -> tuple[float, float]:
    """(share of the cores' time spent on items, share of the scheduler's time spent on tasks)."""
    rng = random.Random(seed)
    left, free = cores * rounds, 0.0  # items that nobody was given; when the scheduler is free
    spent = last = 0.0
    ready = [0.0] * cores  # when each core has done all that it was given
    # (when the scheduler hears that there is room, core): at first for the item to work on and for the next one
    events = [(0.0, core) for core in range(cores) for _ in range(2)]
    heapq.heapify(events)
    while events and left:
        at, core = heapq.heappop(events)
        left -= 1
        free = max(free, at) + task_s
        length = item_s * rng.uniform(1 - SPREAD, 1 + SPREAD)
        begin = max(free, ready[core])
        ready[core] = begin + length
        spent += length
        last = max(last, ready[core])
        heapq.heappush(events, (ready[core], core))
    return spent / (cores * last), cores * rounds * task_s / last


def lines(measured: dict, cores: Iterable[int] = CORES, seconds: Iterable[float] = SECONDS) -> Iterable[str]:
    """The table of docs/scale.md."""
    task_s, size = measured["dask_task_s"], measured["part_bytes"]
    yield "| cores | item | busy cores | busy scheduler | arrives |"
    yield "|---|---|---|---|---|"
    for count in cores:
        for item_s in seconds:
            busy, scheduler = simulated(count, item_s, task_s)
            rate = busy * count / item_s * size / 1e6
            yield f"| {count:,} | {item_s:g} s | {100 * busy:.0f} % | {100 * scheduler:.0f} % | {rate:.3g} MB/s |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("measured", type=Path, help="what tools/time_executors.py printed")
    print("\n".join(lines(json.loads(parser.parse_args().measured.read_text()))))


if __name__ == "__main__":
    main()
