"""How long a GPU takes to judge its own kernels: all float32 inputs, and strata and search of float64.

    python tools/time_on_device.py gelu silu                     every kernel of these functions
    python tools/time_on_device.py --buckets 16 gelu             of 2^16 inputs each, around zero: for a sanitizer
    python tools/time_on_device.py --kernel cuda.gelu_cr gelu

Printed of each: seconds by the device's events (fill, kernel, judge), seconds of the whole call with what the host
does, the largest error, and the share that is correctly rounded. The first call, which compiles, is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter

from gelu_verify.buckets.table import Table
from gelu_verify.formats import get_format
from gelu_verify.functions import get_function
from gelu_verify.gpu.cuda import device
from gelu_verify.measure import gpu_judge as on_device
from gelu_verify.measure.gpu_tiles import consecutive, counted, rules_record
from gelu_verify.targets import find
from gelu_verify.targets.base import Target

REPEATS = 3


def some(judge: on_device.OnDevice, buckets: int) -> Table:
    """Consecutive inputs, as many below zero as above."""
    rules, half = rules_record(judge.fmt, judge.function), buckets << (judge.fmt.width - 17)
    return counted(judge.fmt, judge.function, consecutive(judge.fmt, rules, -half, half - 1), judge, rules)


def work(dtype: str, buckets: int) -> Callable[[on_device.OnDevice], Table]:
    """What is timed."""
    if dtype == "float32":
        return (lambda judge: some(judge, buckets)) if buckets else on_device.exhaustive
    each = 1 if buckets else on_device.PER_BUCKET
    return lambda judge: on_device.strata(judge, 0, each)


def timed(target: Target, dtype: str, buckets: int) -> str:
    """A line about one kernel."""
    judge = on_device.OnDevice(target.device, target.launcher(dtype), get_format(dtype), get_function(target.function))
    call = work(dtype, buckets)
    call(judge)
    on_the_device, whole = [], []
    for _ in range(1 if buckets else REPEATS):
        start = perf_counter()
        table = call(judge)
        whole.append(perf_counter() - start)
        on_the_device.append(judge.seconds)
    n, worst = table.total("n"), table.worst()
    error = float("nan") if worst is None else float(table.columns["max_error"][worst])
    return (
        f"{target.name}\t{dtype}\t{n}\t{min(on_the_device):.4f} s by events\t{min(whole):.4f} s in all\t"
        f"{error:.6g} ulp\t{table.total('correct') / n:.9f} correct"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="+")
    parser.add_argument("--buckets", type=int, default=0, help="of 2^16 float32 inputs; default: all of them")
    parser.add_argument("--kernel", default="", help="only this target")
    asked = parser.parse_args()
    print(device().name, flush=True)
    for target in find(["cuda"])[0]:
        if target.function in asked.functions and (asked.kernel in ("", target.name)):
            for dtype in {"float32", "float64"} & set(target.dtypes):
                print(timed(target, dtype, asked.buckets), flush=True)


if __name__ == "__main__":
    main()
