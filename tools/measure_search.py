"""Measure what `gelu-verify search` finds, and write the tables of docs/search.md.

    python tools/measure_search.py planted     kernels with one planted region of bad results (tests/support)
    python tools/measure_search.py float32     against the exhaustive maximum
    python tools/measure_search.py libm        this machine's C library, against published worst inputs
    python tools/measure_search.py rate        evaluations per second, and where the time goes
    python tools/measure_search.py found       the libraries' float64 forms: data/worst_inputs/found_float64.csv
    ... --evaluations N --workers N            at most so many inputs for each

Each table stands between its marks, with the machine that it was measured on, and is written row by row.
`found` keeps a row of the file where no larger error was found for its target and version.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import platform
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import thread_time_ns

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from planted_worst import NOT_FOUND, PLANTED  # noqa: E402

from gelu_verify.formats import FORMATS, from_ordinals  # noqa: E402
from gelu_verify.inputs.plans import make_plan  # noqa: E402
from gelu_verify.measure.sweep import sweep  # noqa: E402
from gelu_verify.search.batches import INPUTS, CallBatch, evaluated, scored  # noqa: E402
from gelu_verify.search.search import SearchBudget, search  # noqa: E402
from gelu_verify.search.seeds import published, worst_elsewhere  # noqa: E402
from gelu_verify.search.state import SearchAsked, State  # noqa: E402
from gelu_verify.targets import Target, select  # noqa: E402
from gelu_verify.truth.values import judge  # noqa: E402

PAGE = ROOT / "docs" / "search.md"
FMT = FORMATS["float64"]
SEEDS = (0, 1)
FLOAT32 = (
    ("kernels.gelu_erfc", "gelu"), ("kernels.silu_exp", "silu"), ("torch.gelu", "gelu"),
    ("kernels.gelu_as7126", "gelu"), ("kernels.gelu_tanh_tanh", "gelu_tanh"), ("torch.silu_grad", "silu_grad"),
    ("kernels.gelu_sigmoid_exp", "gelu_sigmoid"), ("kernels.gelu_grad_erfc", "gelu_grad"),
    ("torch.gelu_tanh", "gelu_tanh"), ("torch.silu", "silu"),
    ("libm.so.6:expm1f:scalar", "expm1"), ("libm.so.6:erff:scalar", "erf"), ("libm.so.6:logf:scalar", "log"),
)  # fmt: skip
BLOCKS = ("erf", "erfc", "exp", "expm1", "log", "tanh")
# Table 3 of the report's edition of February 2026, GNU libc 2.43, from a transcription (docs/search.md)
REPORTED = {"exp": "0.511", "expm1": "0.913", "tanh": "2.21"}


class Enough(Exception):
    """The search found what it was to find."""


def searched(
    target: Target,
    asked: SearchAsked,
    evaluations: int,
    workers: int,
    enough: Callable[[State], bool] = lambda state: False,
) -> State:
    """A search that ends as soon as that is found."""
    state = State.start(asked)

    def progress(state: State) -> None:
        if enough(state):
            raise Enough

    with contextlib.suppress(Enough):
        search(target, state, SearchBudget(evaluations=evaluations), workers=workers, progress=progress)
    return state


def planted(evaluations: int, workers: int) -> Iterator[tuple[str, ...]]:
    yield "kernel", "the planted inputs", *(f"inputs until found, seed {seed}" for seed in SEEDS)
    for each in (*PLANTED, *NOT_FOUND):
        cells = []
        for seed in SEEDS:
            state = searched(
                each.target(), SearchAsked(each.function, "float64", seed), evaluations, workers, each.is_found
            )
            cells.append(power(state.evaluations) if each.is_found(state) else f"not in {power(state.evaluations)}")
            print(each.name, seed, cells[-1], flush=True)
        yield each.name, each.about, *cells


def float32(evaluations: int, workers: int) -> Iterator[tuple[str, ...]]:
    yield "implementation", "function", "exhaustive maximum, ULP", "largest found", "after inputs"
    for name, function in FLOAT32:
        (target,) = select([name], function=function, dtype="float32")[0]
        largest = sweep(target, make_plan("exhaustive", function, "float32"), workers=workers).record.max_ulp

        def enough(state: State, largest: float = largest) -> bool:
            return state.worst is not None and state.worst.error >= largest * (1 - 2.0**-30)

        state = searched(target, SearchAsked(function, "float32", 0), evaluations, workers, enough)
        after = power(state.evaluations) if enough(state) else f"not in {power(state.evaluations)}"
        row = f"`{name}`", function, f"{largest:.9g}", f"{state.worst.error:.9g}", after
        print(*row, flush=True)
        yield row


def libm(evaluations: int, workers: int) -> Iterator[tuple[str, ...]]:
    yield "function", "published input", "error there, ULP", "reported", "found without it", "at", "found with it", "at"
    for function in BLOCKS:
        (target,) = select([f"libm.so.6:{function}:scalar"], function=function, dtype="float64")[0]
        inputs = [x for x, library in published(function).items() if library == "GNU libc"]
        x = np.array(inputs).view(np.uint64)
        errors = np.abs(judge(function, "float64", x, target.evaluate("float64", x)).error)
        worst = int(np.argmax(errors))
        cells = [FMT.hex_float(int(x[worst])), f"{errors[worst]:.5g}", REPORTED.get(function, "")]
        for seeds in ((), worst_elsewhere(function, "float64")):
            place = searched(target, SearchAsked(function, "float64", 0, seeds), evaluations, workers).worst
            cells += [f"{place.error:.5g}", FMT.hex_float(place.x)]
            print(function, *cells, flush=True)
        yield function, *cells


RATES = (
    ("libm.so.6:erf:scalar", "erf"), ("libm.so.6:erfc:scalar", "erfc"), ("libm.so.6:tanh:scalar", "tanh"),
    ("libm.so.6:exp:scalar", "exp"), ("torch.gelu", "gelu"), ("torch.gelu_tanh", "gelu_tanh"), ("torch.silu", "silu"),
)  # fmt: skip
REPEATS = 101


def rate(evaluations: int, workers: int) -> Iterator[tuple[str, ...]]:
    """One thread; `evaluations` and `workers` have no meaning here."""
    yield "implementation", "million inputs a second", "ns an input", "inputs drawn", "implementation called", "judged"
    first = np.arange(FMT.ordinal(FMT.round(0.5)), FMT.ordinal(FMT.round(8)), 1 << 46, dtype=np.int64)
    batch = CallBatch("uniform", (1,), first, first + (1 << 46) - 1, np.full(len(first), INPUTS // len(first)))
    x = from_ordinals(FMT, batch.ordinals(FMT))
    for name, function in RATES:
        (target,) = select([name], function=function, dtype="float64")[0]
        times = np.array([times_of(target, function, batch, x) for _ in range(REPEATS)])
        total, *rest = times.min(axis=0)
        cells = (f"`{name}`", f"{1e3 / total:.0f}", f"{total:.0f}", *(f"{each:.0f}" for each in rest))
        print(*cells, flush=True)
        yield cells


def times_of(target: Target, function: str, batch: CallBatch, x: np.ndarray) -> list[float]:
    """Of the whole, of drawing, of the call, of judging."""
    got = np.ascontiguousarray(target.timed("float64", x.copy())[0])
    parts: tuple[Callable[[], object], ...] = (
        lambda: evaluated(target, function, "float64", batch, contextlib.nullcontext()),
        lambda: from_ordinals(FMT, batch.ordinals(FMT)),
        lambda: target.timed("float64", x),
        lambda: scored(function, FMT, x, got, batch),
    )
    return [nanoseconds(part, batch.size) for part in parts]


def nanoseconds(call: Callable[[], object], inputs: int) -> float:
    start = thread_time_ns()
    call()
    return (thread_time_ns() - start) / inputs


FOUND = ROOT / "data" / "worst_inputs" / "found_float64.csv"
FOUND_COLUMNS = ("function", "x", "target", "version", "error", "evaluations")
FOUND_HEAD = """\
# Written by tools/measure_search.py found; do not edit. Worst inputs that our own searches found, of each target
# the one with the largest error (ULP), and after how many inputs. x86_64; other processors may run other code.
"""
FORMS = (
    *(f"libm.so.6:{function}:scalar={function}" for function in BLOCKS),
    *(f"torch.{name}" for form in ("gelu", "gelu_tanh", "silu") for name in (form, f"{form}_grad")),
    *(f"torch.{function}" for function in ("erf", "erfc", "tanh", "exp", "sigmoid")),
    *("scipy.gelu", "scipy.gelu-log_ndtr", "scipy.erf", "scipy.erfc", "scipy.normcdf"),
    *("numpy.gelu_tanh", "numpy.silu", "numpy.tanh", "numpy.exp"),
    *("jax.gelu", "jax.gelu_tanh", "jax.silu"),
)


def found(evaluations: int, workers: int) -> None:
    """Search the libraries' forms, and write the file anew after each."""
    rows = {}
    if FOUND.exists():
        with FOUND.open(encoding="utf-8") as file:
            lines = csv.DictReader(line for line in file if not line.startswith("#"))
            rows = {(row["function"], row["target"], row["version"]): row for row in lines}
    for form in FORMS:
        name, _, function = form.partition("=")
        (target,) = select([name], function=function or None, dtype="float64")[0]
        function = function or target.function
        asked = SearchAsked(function, "float64", 0, worst_elsewhere(function, "float64"))
        state = searched(target, asked, evaluations, workers)
        key, place = (function, target.name, target.version), state.worst
        print(*key, place.error, state.evaluations, flush=True)
        if key not in rows or float(rows[key]["error"]) < place.error * (1 - 1e-8):  # it is kept with nine digits
            cells = (function, FMT.hex_float(place.x), *key[1:], f"{place.error:.9g}", str(place.evaluation))
            rows[key] = dict(zip(FOUND_COLUMNS, cells, strict=True))
        with FOUND.open("w", encoding="utf-8", newline="") as file:
            file.write(FOUND_HEAD)
            table = csv.DictWriter(file, FOUND_COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(rows[each] for each in sorted(rows))


TABLES = {"rate": rate, "planted": planted, "float32": float32, "libm": libm}


def power(count: int) -> str:
    """A count as a power of ten, to two digits."""
    return f"{count:.1e}".replace("e+0", "e").replace("e+", "e")


def write(name: str, rows: list[tuple[str, ...]], evaluations: int) -> None:
    """Put the table between its marks."""
    head, *body = (f"| {' | '.join(cells)} |" for cells in rows)
    ruler = "|" + "---|" * len(rows[0])
    machine = f"{platform.machine()}, {' '.join(platform.libc_ver())}"
    timed = name == "rate"
    limit = f"CPU time of one thread, the least of {REPEATS}" if timed else f"At most {power(evaluations)} inputs each"
    command = f"python tools/measure_search.py {name}" + ("" if timed else f" --evaluations {evaluations}")
    table = "\n".join([f"`{command}`. {limit}; {machine}.", "", head, ruler, *body])
    text = PAGE.read_text(encoding="utf-8")
    mark = f"<!-- {name} -->"
    found = re.sub(
        f"{mark}\n.*?<!-- /{name} -->", lambda _: f"{mark}\n{table}\n<!-- /{name} -->", text, flags=re.DOTALL
    )
    PAGE.write_text(found, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="+", choices=(*TABLES, "found"))
    parser.add_argument("--evaluations", type=int, default=300_000_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    for name in given.tables:
        if name == "found":
            found(given.evaluations, given.workers)
            continue
        rows = []
        for row in TABLES[name](given.evaluations, given.workers):
            rows.append(row)
            write(name, rows, given.evaluations)


if __name__ == "__main__":
    main()
