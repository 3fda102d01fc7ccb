"""`study`: what precision costs a network, in training and in use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .executor_options import takes_executor
from .options import SEED, WORKERS, Several, whole_number
from .program import say

if TYPE_CHECKING:
    from ..work.pools import Where

_RUNS = whole_number(2, 1000)


@click.command()
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=Path("reports/study"),
              show_default=True, metavar="DIR",
              help="Folder of the study; what is finished there is not computed again.")  # fmt: skip
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N",
              help="Of the splits of the data, the initial parameters and the order of the examples.")  # fmt: skip
@click.option("--runs", type=_RUNS, default=None, metavar="N",
              help="Networks of each activation, dtype and task in each of two sets; default 20.")  # fmt: skip
@click.option("--task", "tasks", cls=Several, metavar="T,T",
              help="Only these tasks; default all twelve (text is only served).")  # fmt: skip
@click.option("--unit", "units", cls=Several, metavar="U,U",
              help="Only these activations; what they are compared with is added.")  # fmt: skip
@click.option("--dtype", "dtypes", cls=Several, metavar="D,D", help="Only these dtypes; float64 is added.")
@click.option("--workers", type=WORKERS, default=2, show_default=True, metavar="N", help="Processes of --executor.")
@click.option("--stored", "stored", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Compute nothing: show the study that is stored in DIR.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print only JSON on stdout.")
@takes_executor("processes", "networks are trained and served", sized=False)
def study(
    out: Path,
    seed: int,
    runs: int | None,
    tasks: tuple[str, ...],
    units: tuple[str, ...],
    dtypes: tuple[str, ...],
    workers: int,
    executor: Where,
    stored: Path | None,
    as_json: bool,
) -> None:
    """Train small networks with many GELUs in every dtype, and serve networks with every kernel.

    The data are those that scikit-learn ships (pip install 'gelu-verify[study]'). Written are manifest.json and Parquet
    files, a page (index.html) and a CSV file of each table. An interrupted study goes on where it was."""
    from ..report.study_page import write_report
    from ..report.study_text import conclusions, document
    from ..study.questions import answers
    from ..study.store import read_study, write_study
    from ..study.study import RUNS, plan_of, run_study
    from ..work.executors import opened_when_asked
    from .progress import OnStderr

    if stored is not None:
        found = read_study(stored)
    else:
        plan = plan_of(tasks or None, units or None, dtypes or None, RUNS if runs is None else runs, seed)
        observer = OnStderr()
        with opened_when_asked(executor, workers, observer.warn) as opening:
            found = run_study(plan, out, opening, observer)
        write_study(found, out)
    answered = answers(found)
    files = write_report(found, answered, out)
    if as_json:
        click.echo(json.dumps(document(found, answered), indent=1, allow_nan=False))
        return
    for line in conclusions(found, answered):
        say(line)
    say(str(files[0]), err=True)
