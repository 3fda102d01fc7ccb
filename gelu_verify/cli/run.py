"""`run`: measure, store, report."""

from __future__ import annotations

import ast
import gc
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from ..errors import UsageError
from .options import LENGTH, SECONDS, SEED, WORKERS, Memory, Real
from .program import OVER_BUDGET, say, stdout_for_results, warn

if TYPE_CHECKING:
    from ..checks import Policy
    from ..measure.verification import Job
    from ..runs.store import Record
    from ..targets import Target


@dataclass(frozen=True)
class Request:
    """What was typed."""

    targets: tuple[str, ...]
    everything: bool
    functions: tuple[str, ...]
    dtypes: tuple[str, ...]
    plan: str
    seed: int
    ranges: tuple[str, ...]
    length: int | None
    device: str | None
    out: Path | None
    record: Path | None
    max_ulp: float | None
    strict: bool
    policy: Policy
    kwargs: tuple[str, ...]
    array: str | None
    throughput: str
    compile: str | None
    cflags: str | None
    call: str | None
    shape: str | None
    no_throughput: bool
    workers: int | None
    time_limit: float | None
    memory_limit: str | None
    in_process: bool
    as_json: bool


@click.command()
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--all", "everything", is_flag=True, help="Also run the opt-in families: slow ones, and re-implementations."
)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), metavar="D",
              help="Only families that run on this device: cpu or cuda. Exits with 3 if there are none.")  # fmt: skip
@click.option(
    "--function", "functions", multiple=True, metavar="F", help="Test only implementations of F; may be repeated."
)
@click.option("--dtype", "dtypes", multiple=True, metavar="D", help="Test only dtype D; may be repeated.")
@click.option(
    "--plan",
    default="default",
    show_default=True,
    metavar="P",
    help="Which inputs: quick, landmarks, default, strata, stress or exhaustive; see `gelu-verify list`.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Seed of the sampled inputs.")
@click.option(
    "--bits", "ranges", multiple=True, metavar="A:B", help="Only inputs from A to B, or only A; may be repeated."
)
@click.option("--length", type=LENGTH, metavar="N", help="Number of inputs in each call.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder to create for the run; default reports/TIME."
)
@click.option("--record", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Also store a condensed copy in DIR, small enough to commit (data/runs).")  # fmt: skip
@click.option("--max-ulp", type=Real(), metavar="N", help="Largest error that --strict accepts, in ULP.")
@click.option("--strict", is_flag=True, help="Exit with 1 when a check fails or an error exceeds --max-ulp.")
@click.option("--policy", type=click.Choice(["limit", "formula"]), default="limit", show_default=True,
              help="What to accept at -inf: only the limit, or also the NaN that the formula gives.")  # fmt: skip
@click.option(
    "--kwarg", "kwargs", multiple=True, metavar="K=V", help="Keyword argument for a callable; may be repeated."
)
@click.option("--array", metavar="KIND", help="Type that a callable is called with: numpy, torch, jax, tensorflow, "
              "MODULE, scalar (one float at a time), list, array, memoryview.")  # fmt: skip
@click.option(
    "--compile", metavar="KIND", help="Compile a callable: torch (torch.compile), jax (jax.jit) or tensorflow."
)
@click.option("--shape", metavar="S", help="Shape of the arrays that a callable is called with: '(n, 16)', '(16,)'.")
@click.option("--cflags", metavar="FLAGS", help="Compiler flags for a source file; default -O2.")
@click.option("--call", metavar="LINE", help="How to call it. Python, where it is not f(x): 'f(x, out=y)', 'f(x); x', "
              "'f(dy, x)', 'grad(f)(x)', 'rounded(f(x))'. C, where it is not (x, y, n): "
              "'void f(size_t bytes, const float *x, float *y, const void *params=NULL)'.")  # fmt: skip
@click.option("--throughput", type=click.Choice(["quick", "full", "none"]), default="quick", show_default=True,
              help="full: array sizes from L1 to memory, on one thread and on all; none: no timing.")  # fmt: skip
@click.option("--no-throughput", is_flag=True, help="The same as --throughput none.")
@click.option("--workers", type=WORKERS, metavar="N", help="Number of threads; default: one per core.")
@click.option("--time-limit", type=SECONDS, metavar="S",
              help="Time limit of one call in seconds; default: minutes, depending on earlier calls.")  # fmt: skip
@click.option("--memory-limit", type=Memory(), metavar="SIZE",
              help="Memory limit of an implementation, such as 512M or 8G; default 4G.")  # fmt: skip
@click.option("--in-process", is_flag=True, help="Call every target in this process, for use with a debugger; "
              "a crash ends the run.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print only JSON, the list of results, on stdout.")
def run(**typed: Any) -> None:
    """Measure targets, store the run and write its report.

    TARGET is a family (torch), one of its implementations (torch.gelu), or your own code: module:function,
    path/file.py:function, ./libfoo.so:symbol, kernel.c:symbol, kernel.cu:symbol, model.onnx, "pipe:./program --flag".
    The default is every library that is installed. `gelu-verify list` shows what is found here and all ways to name a
    target.

    Python code that is not called as f(x) needs --call: "f(x, out=y)", "f(x); x" where it changes x in place,
    "f(dy, x)" for a gradient; docs/targets.md describes them all. Your own code is tested as the function and dtype in
    its name (gelu_tanh_f32: gelu_tanh in float32), or as --function and --dtype.

    Each family, and each target that is named, is called in its own process. The exit code is 1 when a target failed
    (raised, crashed, hung ...), and 0 however large the errors are, unless --strict is given.
    """
    request = Request(**typed)
    records, absent, place = _execute(request)
    with _no_collection():
        _print(request, records, absent, place)
    if request.record is not None:
        _record(place, request.record)
    if request.strict and (faults := _faults(records, request.max_ulp)):
        warn(f"strict: {len(faults)} of {len(records)} measurements fail; the first is {faults[0]}")
        raise click.exceptions.Exit(OVER_BUDGET)
    if any(record["failure"] is not None for record in records):
        raise click.exceptions.Exit(OVER_BUDGET)


def _execute(request: Request) -> tuple[list[Record], dict[str, str], Path]:
    """Measure and store: the results, what is absent and why, the folder of the run."""
    from ..inputs.plans import get_plan
    from ..machine import provenance
    from ..measure.same_formula import Comparisons
    from ..measure.verification import jobs
    from ..runs.store import RunWriter
    from ..speed.throughput import one_thread_each
    from .children import selector
    from .measuring import measured
    from .progress import progress

    get_plan(request.plan)
    one_thread_each()
    if request.ranges and len(request.dtypes) != 1:
        raise UsageError("--bits needs exactly one --dtype, the dtype of the bits")
    _check_ranges(request)
    kwargs = dict(_keyword(text) for text in request.kwargs)
    say(f"plan {request.plan}, seed {request.seed}", err=request.as_json)
    limits = request.time_limit, request.memory_limit
    with (
        stdout_for_results(),
        RunWriter(request.out) as writer,
        selector(*limits, in_process=request.in_process) as select,
    ):
        with progress(1) as bar, _no_collection():
            bar.start("looking for targets")
            # other processes load implementations meanwhile
            ahead = Thread(target=_prepare_what_comes, args=(len(request.targets) == 1,), daemon=True)
            ahead.start()
            named = request.targets, request.functions, request.dtypes
            given = ("everything", "device", "array", "compile", "cflags", "call", "shape")
            options = {name: getattr(request, name) for name in given}
            found, absent = jobs(*named, kwargs=kwargs, **options, select=select)
            ahead.join()
        found = _affordable(found, request)
        plans = [job.plan(request.plan, request.seed, request.ranges, request.length) for job in found]
        timed = request.throughput != "none" and not request.no_throughput
        pairs = Comparisons()
        sizes = timed and request.throughput == "full"
        for result in measured(found, plans, policy=request.policy, workers=request.workers, timed=timed, sizes=sizes):
            result.record["repeat"] += _also(request)
            pairs.add(result)
            writer.add(result)
        place = writer.finish(
            command=shlex.join(["gelu-verify", *sys.argv[1:]]),
            seed=request.seed,
            plan=request.plan,
            absent=absent,
            facts=provenance(job.target.family for job in found),
        )
    return _stored(place), absent, place


def _check_ranges(request: Request) -> None:
    """The error in --bits before anything is looked for or measured."""
    from ..inputs.plans import make_plan

    if request.ranges:
        try:
            make_plan(request.plan, "gelu", request.dtypes[0], request.seed, request.ranges)
        except UsageError as error:
            raise UsageError(f"--bits: {error}") from None


def _record(place: Path, root: Path) -> None:
    from ..runs.committed import record
    from ..runs.store import read_run

    say(f"recorded: {record(read_run(place), root)}", err=True)


def _prepare_what_comes(idle: bool) -> None:
    """What storing and reporting need, which takes a second: modules, the template, and, where other cores are idle
    and nothing disturbs it, the speed of a copy."""
    for module in ("pandas", "pyarrow.parquet", "gelu_verify.report", "gelu_verify.cli.terminal"):
        import_module(module)
    from ..machine import copy_bytes_per_s
    from ..report.page import template

    template()
    if idle:
        copy_bytes_per_s()


def _affordable(found: list[Job], request: Request) -> list[Job]:
    """The jobs of a run; of a family that is asked for 2^32 inputs, the path that its users call, not all of them."""
    if request.plan != "exhaustive" or request.ranges:
        return found
    kept = [job for job in found if job.dtype != "float32" or _is_asked_for(job.target, request.targets)]
    left = [job.target.name for job in found if job not in kept]
    if left and kept:
        warn(f"not swept over 2^32 inputs: {', '.join(left)} (name a target to include it)")
    return kept or found


def _is_asked_for(target: Target, names: tuple[str, ...]) -> bool:
    """Whether it is named, or the path of its family that bears the function's own name."""
    return target.family == "callable" or target.name in (*names, f"{target.family}.{target.function}")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Importing a framework makes a million objects that stay: looking for garbage among them takes half a second."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _also(request: Request) -> str:
    """What a sweep does not know of the command that repeats it."""
    words = [word for text in request.kwargs for word in ("--kwarg", text)]
    words += ["--array", request.array] if request.array else []
    words += ["--compile", request.compile] if request.compile else []
    words += [f"--cflags={request.cflags}"] if request.cflags is not None else []
    words += ["--call", request.call] if request.call is not None else []
    words += ["--shape", request.shape] if request.shape is not None else []
    words += ["--policy", request.policy] if request.policy != "limit" else []
    words += ["--time-limit", repr(request.time_limit).removesuffix(".0")] if request.time_limit else []
    words += ["--memory-limit", request.memory_limit] if request.memory_limit else []
    words += ["--in-process"] if request.in_process else []
    return "".join(f" {shlex.quote(word)}" for word in words)


def _stored(place: Path) -> list[Record]:
    from ..runs.store import read_run

    return read_run(place).results


def _keyword(text: str) -> tuple[str, Any]:
    """K=V; V is a Python literal where it reads as one, else text."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise UsageError(f"--kwarg {text!r} cannot be used (accepted: name=value)")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value


def _print(request: Request, records: list[Record], absent: dict[str, str], place: Path) -> None:
    from ..report import write_report
    from ..runs.store import read_run

    if request.as_json:
        click.echo(json.dumps(records, indent=1, allow_nan=False))
    else:
        from .terminal import print_matrix

        print_matrix(records, absent=absent)
        for line in _really(records):
            say(line)
    for record in records:
        if record.get("time"):
            say(_times(record), err=request.as_json)
    for path in write_report([read_run(place)], place):
        if path.suffix in (".html", ".md"):
            say(f"written: {path}", err=request.as_json)
    say(f"written: {place} (the run: manifest.json, buckets/, and a CSV of every table)", err=request.as_json)


def _really(records: list[Record]) -> list[str]:
    """What the user's own targets compute, where that is not what they were judged as."""
    wrong = [r for r in records if r["family"] == "callable" and r["checks"].get("variant") == "fail"]
    return [f"{r['target']} {r['dtype']} {r['findings']['variant']['detail']}" for r in wrong]


def _times(record: Record) -> str:
    """How long an exhaustive sweep took, beside the calls that it judged."""
    time, name = record["time"], f"{record['target']} {record['function']} {record['dtype']}"
    alone = time["target_s"] / time["threads"]
    return (
        f"{name}: {record['n']:,} inputs in {time['sweep_s']:.1f} s, {time['ratio']:.2f} times the {alone:.1f} s "
        f"that the calls alone take on {time['threads']} threads"
    )


def _faults(records: list[Record], max_ulp: float | None) -> list[str]:
    """What --strict does not accept, one line per result."""
    return [f"{r['target']} {r['function']} {r['dtype']}: {why}" for r in records if (why := _fault(r, max_ulp))]


def _fault(record: Record, max_ulp: float | None) -> str:
    failed = [name for name, verdict in record["checks"].items() if verdict == "fail"]
    if record["failure"] is not None:
        return str(record["failure"])
    if failed:
        return f"check {failed[0]}: {record['findings'][failed[0]]['detail']}"
    if max_ulp is not None and (record["max_ulp"] is None or record["max_ulp"] > max_ulp):
        return f"{record['max_ulp']} ULP, above --max-ulp {max_ulp!r}"
    return ""
