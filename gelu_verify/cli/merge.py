"""`merge`: parts that `run --chunks` measured anywhere, as one run."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from .ci_options import Reporter, reports_to_ci
from .program import stdout_for_results
from .run import code_of, load_report, print_run, write_all


@click.command()
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PART...")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder to create for the run; default reports/TIME."
)
@click.option("--details", is_flag=True, help="Print every result with its failed checks and its sentence.")
@click.option("--json", "as_json", is_flag=True, help="Print only JSON, the list of results, on stdout.")
@reports_to_ci
def merge(parts: tuple[Path, ...], out: Path | None, details: bool, as_json: bool, reporter: Reporter) -> None:
    """Join parts that `run --chunks A:B --out PART` measured, on any machines, into the run that they make.

    The run is the one that the same command without --chunks makes. Parts that do not belong together are refused: of
    another version, build, code, plan or seed, overlapping, incomplete, truncated or damaged. What calls the
    implementations once more, timing and checks, is done here, so that they must be installed here as well.
    """
    from ..ci.cases import cases_of_run
    from ..judge.demands import Demands
    from ..measure.jobs import was_added
    from ..runs.measuring import without_garbage_collection
    from ..runs.parts import merge_parts, request_of_part
    from .progress import OnStderr

    load_report()
    command = shlex.join(["gelu-verify", *sys.argv[1:]])
    with stdout_for_results():
        merged = merge_parts(parts, out, command=command, observer=OnStderr(), report=write_all)
    request = request_of_part(parts[0])
    judged = [each for each in merged.results if not was_added(each.target, request)]
    with without_garbage_collection():
        print_run(merged, judged, as_json, asked=True, details=details)
    reporter.finish(cases_of_run(judged, Demands(), {}), code_of(judged))
