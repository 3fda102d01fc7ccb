"""What the journal and Dask cost an exhaustive float32 sweep, and a search: `python tools/time_executors.py` (minutes).

Sweeps of all 2^32 inputs on threads, on threads with a journal, and in as many Dask workers alternate, so that whatever
slows the machine slows all; medians are compared, of seconds and of core-seconds of all processes together. The seconds
inside the journal are also counted by themselves, because one part in a hundred is less than what the machine varies
by. Searches of float64 alternate likewise: on threads, with a state that is kept, and in Dask workers. A task of Dask
that does nothing is timed as well: it is what `tools/simulate_scheduler.py` takes. Prints JSON, and never fails on a
time.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import deque
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import psutil

from gelu_verify.measure.elsewhere import Elsewhere, RemoteSweep
from gelu_verify.measure.jobs import Job, one_job, selecting
from gelu_verify.measure.kept import Kept
from gelu_verify.measure.request import Request
from gelu_verify.measure.sweep import sweep
from gelu_verify.search.answers import RemoteBatches
from gelu_verify.search.kept import kept_in
from gelu_verify.search.search import SearchBudget, search
from gelu_verify.search.state import SearchAsked, State
from gelu_verify.work.executors import Pool, Where, opened, results
from gelu_verify.work.journal import Journal

TASKS = 2000


class TimedKept(Kept):
    """Counts the seconds of each part, from the threads that add them."""

    seconds: list[float]

    def add(self, part) -> None:
        start = perf_counter()
        super().add(part)
        self.seconds.append(perf_counter() - start)


def core_seconds() -> float:
    """Of this process and all that descend from it."""
    here = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (here, *here.children(recursive=True)))


def swept(job: Job, workers: int, kept: Kept | None = None, elsewhere: Elsewhere | None = None) -> tuple[float, float]:
    """Seconds of the sweep, without the checks; core-seconds, with them."""
    start = core_seconds()
    result = sweep(job.target, job.plan, workers=workers, kept=kept, elsewhere=elsewhere)
    assert result.time is not None
    return result.time.sweep_s, core_seconds() - start


def times_of(target: str, plan: str, workers: int, rounds: int, pool: Pool) -> dict[str, Any]:
    """The medians of one target."""
    request = Request(targets=(target,), functions=("gelu",), dtypes=("float32",), plan=plan)
    seconds: dict[str, list[tuple[float, float]]] = {"threads": [], "journal": [], "dask": []}
    inside, size, part_bytes = [], 0, 0
    with selecting(request) as select, tempfile.TemporaryDirectory() as folder:
        job = one_job(request, select)
        elsewhere = Elsewhere.of(pool, job, request, RemoteSweep)
        start = perf_counter()
        list(results(pool, elsewhere.measured, deque([(0, 1)] * 2 * workers)))
        loading = perf_counter() - start
        for index in range(rounds):
            seconds["threads"].append(swept(job, workers))
            path = Path(folder, f"{index}")
            with Journal(path, {}) as journal:
                kept = TimedKept(journal, job.key)
                kept.seconds = []
                seconds["journal"].append(swept(job, workers, kept))
                inside.append(sum(kept.seconds))
                part_bytes = max(len(content) for _, content in journal.records(job.key))
            size = path.stat().st_size
            path.unlink()
            seconds["dask"].append(swept(job, workers, elsewhere=elsewhere))
    middle = {name: median(each for each, _ in times) for name, times in seconds.items()}
    cores = {name: median(each for _, each in times) for name, times in seconds.items()}
    return {
        "target": target,
        "seconds": seconds,
        "journal_share": median(inside) / (middle["journal"] * workers),
        "journal_ratio": middle["journal"] / middle["threads"],
        "journal_bytes": size,
        "part_bytes": part_bytes,
        "dask_ratio": middle["dask"] / middle["threads"],
        "journal_core_ratio": cores["journal"] / cores["threads"],
        "dask_core_ratio": cores["dask"] / cores["threads"],
        "dask_loading_s": loading,
    }


def searched(
    job: Job, evaluations: int, workers: int, save: Any = None, elsewhere: Elsewhere | None = None
) -> tuple[float, float]:
    """Seconds and core-seconds of a search."""
    state = State.start(SearchAsked(job.plan.function, job.plan.dtype, 0))
    start, cores = perf_counter(), core_seconds()
    search(job.target, state, SearchBudget(evaluations=evaluations), workers=workers, save=save, elsewhere=elsewhere)
    return perf_counter() - start, core_seconds() - cores


def times_of_search(target: str, evaluations: int, workers: int, rounds: int, pool: Pool) -> dict[str, Any]:
    """The medians of one target, and those of the ratios of what was timed one after the other."""
    request = Request(targets=(target,), functions=("gelu",), dtypes=("float64",), plan="landmarks")
    found: dict[str, list[tuple[float, float]]] = {"threads": [], "kept": [], "dask": []}
    with selecting(request) as select, tempfile.TemporaryDirectory() as name, kept_in(Path(name)) as kept:
        job = one_job(request, select)
        elsewhere = Elsewhere.of(pool, job, request, RemoteBatches)
        searched(job, evaluations // 10, workers, elsewhere=elsewhere)  # workers load the target
        for _ in range(rounds):
            found["threads"].append(searched(job, evaluations, workers))
            found["kept"].append(searched(job, evaluations, workers, lambda *state: kept.save({}, *state)))
            found["dask"].append(searched(job, evaluations, workers, elsewhere=elsewhere))
    ratios = {
        f"{way}_{what}_ratio": median(b[i] / a[i] for a, b in zip(found["threads"], found[way], strict=True))
        for way in ("kept", "dask")
        for i, what in enumerate(("wall", "core"))
    }
    return {"target": target, "evaluations": evaluations, "seconds": found, **ratios}


def nothing(item: int) -> bytes:
    """A task that takes no time, with a result as large as a part of 64 chunks is."""
    return b"x" * 25_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=["kernels.gelu_cr", "torch.gelu"])
    parser.add_argument("--plan", default="exhaustive")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--evaluations", type=int, default=30_000_000, help="of each search")
    parser.add_argument("--searches", nargs="*", default=["kernels.gelu_erfc", "torch.gelu"])
    asked = parser.parse_args()
    start = perf_counter()
    with opened(Where(name="dask"), asked.workers) as pool:
        found: dict[str, Any] = {"workers": asked.workers, "dask_start_s": perf_counter() - start}
        list(results(pool, nothing, deque(range(100))))
        start = perf_counter()
        list(results(pool, nothing, deque(range(TASKS))))
        found["dask_task_s"] = (perf_counter() - start) / TASKS
        found["searches"] = [
            times_of_search(each, asked.evaluations, asked.workers, asked.rounds, pool) for each in asked.searches
        ]
        targets = [times_of(each, asked.plan, asked.workers, asked.rounds, pool) for each in asked.targets]
    found |= {"part_bytes": max(each["part_bytes"] for each in targets), "targets": targets}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
