"""`report-bug`: what a library returns, as its maintainers would want to read it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .forms import show
from .program import MISSING, OVER_BUDGET, stdout_for_results, warn

if TYPE_CHECKING:
    from ..records.result import Record
    from ..report.reproducer import Reproducer


@click.command("report-bug")
@click.argument("run")
@click.argument("result")
@click.option("--title", default="", metavar="TEXT", help="Title; default: the worst that the run found.")
@click.option("--consequence", default="", metavar="TEXT", help="What it means in practice: a section of the report.")
@click.option("--format", "form", type=click.Choice(["markdown", "text", "html", "script"]), default="markdown",
              show_default=True, help="script: a program whose exit code says whether it is still so.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), help="File to write; default: print it.")
def report_bug(run: str, result: str, title: str, consequence: str, form: str, out: Path | None) -> None:
    """Write a bug report of one RESULT of a stored RUN.

    RESULT is written as TARGET/FUNCTION/DTYPE, as in torch.gelu/gelu/float32; TARGET/DTYPE or TARGET will do where the
    run has one such result. RUN is a folder, or latest. The report has a program that calls the library alone, which is
    run now. The exit code is 1 where it does not print what the run found, 3 where the library is not installed here.
    """
    from ..errors import UsageError
    from ..report.bug_report import bug_report, title_of
    from ..report.reproducer import check_script, first_program, reproduced, shown_inputs
    from ..runs.integrity import verified
    from ..runs.references import find_run
    from ..runs.store import read_run
    from ..show.document import Text
    from ..show.terminal import lines_of

    stored = verified(read_run(find_run(run)))
    record = _result(run, stored.results, result)
    inputs = shown_inputs(record)
    found, not_run = first_program(record, inputs), ""
    if found is not None:
        switches, not_run = _today(record)
        if switches is not None:
            found = reproduced(record, inputs, switches)
    elif form == "script":
        raise UsageError(f"no program of the library alone is known for {record.key}")

    def script(_: object) -> str:
        return check_script(record, found, title or title_of(record)) if found else ""

    document = bug_report(
        record, stored.results, stored.manifest, found, not_run=not_run, title=title, consequence=consequence
    )
    headline = Text(document.headline, "bold")
    show(
        document, form, out,
        lines=lambda width: chain(*([*lines_of([each], width), []] for each in (headline, *document.blocks))),
        document=lambda each: replace(each, title="bug report") if form == "html" else each,
        script=script,
    )  # fmt: skip
    _end(found, not_run)


def _end(found: Reproducer | None, not_run: str) -> None:
    if not_run:
        warn(f"the program was not run: {not_run}")
        sys.exit(MISSING)
    if found is not None and not found.shows:
        warn(f"the program gave {found.printed}, which is not what the run found")
        sys.exit(OVER_BUDGET)


def _result(run: str, records: Sequence[Record], name: str) -> Record:
    """The result of that name, of which there is something to report."""
    from ..errors import UsageError
    from ..own_faults import KIND
    from ..report.calls import GOOD

    named = [each for each in records if name in (each.key, f"{each.target}/{each.dtype}", each.target)]
    if len(named) != 1:
        keys = [each.key for each in named or records]
        close = keys if named else difflib.get_close_matches(name, keys, 6, 0.2)
        which = f"several results {name!r}" if named else f"no result {name!r}"
        raise UsageError(f"{run} has {which} ({'' if named else 'the nearest: '}{', '.join(close) or 'none'})")
    (record,) = named
    if record.grade in GOOD:
        raise UsageError(f"there is nothing to report of {record.key}: {record.sentence}")
    if record.failure_kind == KIND:
        raise UsageError(f"there is nothing to report of {record.key}: gelu-verify itself failed")
    return record


def _today(record: Record) -> tuple[dict[str, str] | None, str]:
    """The environment variables of the target as it is found now, or None and why its program is not run.

    Code is run that this version knows: no expression is taken from a stored run, which may be anybody's.
    """
    from ..errors import MissingMeasurement, UsageError
    from ..measure.jobs import find_jobs, selecting
    from ..measure.request import Request
    from .progress import OnStderr

    try:
        request = Request(targets=(record.target,), functions=(record.function,), dtypes=(record.dtype,))
        with stdout_for_results(), selecting(request, OnStderr()) as select:
            (target,) = (job.target for job in find_jobs(request, select).jobs)
    except (MissingMeasurement, UsageError) as reason:
        return None, str(reason)
    if target.expression != record.expression:
        return None, f"{record.target} is called as {target.expression or 'no expression'} now"
    return dict(target.switches), ""
