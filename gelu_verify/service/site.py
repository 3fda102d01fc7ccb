"""The read-only part of the service as static files, under the paths of the server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from ..atomic_files import is_free
from ..errors import ResultsError, UsageError, cannot
from ..formats import DTYPES, FORMATS
from ..functions import FUNCTIONS, get_function
from ..inputs.plans import PLANS, make_plan
from .encoding import json_bytes
from .page_bundle import assets, linked
from .reports import render_runs, table_of
from .routes.runs import TABLES, csv_of, flat_cell, flat_summary
from .routes.tables import entry_of
from .run_repository import RunRepository, summary
from .tables import HASH_DIGITS, WRITERS, catalogue, file

LARGEST_PLAN = 1 << 18
Files = Iterator[tuple[str, bytes]]


def write_site(
    folder: Path,
    runs: Path | None = None,
    functions: Sequence[str] = (),
    documentation: str | None = None,
    source: str | None = None,
) -> list[Path]:
    """Write the site; the files written.

    Parameters
    ----------
    folder : new or empty
    runs : folder of stored runs to publish
    functions : tables and inputs of these only; default all
    documentation, source : URLs that the page links to

    Raises
    ------
    UsageError : unknown function
    ResultsError : the folder is not empty, or cannot be written
    """
    names = [get_function(name).name for name in functions] or list(FUNCTIONS)
    if runs is not None and not runs.is_dir():
        raise UsageError(f"--runs {runs} is not a folder")
    if not is_free(folder):
        raise ResultsError(f"{folder} is already there: name a new folder")
    written = []
    with cannot(f"write the site to {folder}"):
        for path, content in _files(names, RunRepository(None, runs), documentation, source):
            file_path = folder / path
            file_path.parent.mkdir(parents=True, exist_ok=True)
            file_path.write_bytes(content)
            written.append(file_path)
    return written


def _files(functions: Sequence[str], repository: RunRepository, documentation: str | None, source: str | None) -> Files:
    everything = catalogue(static=True)
    chosen = [each for each in everything["functions"] if each["name"] in functions]
    yield "v1/functions.json", json_bytes({**everything, "functions": chosen})
    for name, content in assets().items():
        if name == "index.html":
            yield name, linked(content.decode(), documentation, source).encode()
        else:
            yield f"assets/{name}", content
    yield from _tables(functions)
    yield from _inputs(functions)
    yield from _runs(repository)
    yield from _versions()


def _versions() -> Files:
    from ..report.versions_files import versions_files
    from ..versions.store import default_root

    return ((f"v1/versions/{name}", content) for name, content in versions_files(default_root()))


def _tables(functions: Sequence[str]) -> Files:
    for function in functions:
        for dtype in FORMATS:
            files = {kind: file(function, dtype, kind) for kind in WRITERS}
            digests = {kind: sha256(content).hexdigest() for kind, content in files.items()}
            facts = {kind: (len(content), digests[kind]) for kind, content in files.items()}
            yield f"v1/tables/{function}/{dtype}.json", json_bytes(entry_of(function, dtype, facts))
            for kind, content in files.items():
                yield f"v1/tables/{function}/{dtype}.{kind}", content
                yield f"v1/tables/{function}/{dtype}.{digests[kind][:HASH_DIGITS]}.{kind}", content


def _inputs(functions: Sequence[str]) -> Files:
    """Inputs of the first function, because file names cannot hold a query; for others a server is needed."""
    from .upload_record import inputs

    for plan in PLANS:
        for dtype in DTYPES:
            if (plan, dtype) != ("exhaustive", "float64") and _fits(plan, functions[0], dtype):
                yield f"v1/inputs/{plan}/{dtype}.bin", inputs(plan, functions[0], dtype, 0)


def _fits(plan: str, function: str, dtype: str) -> bool:
    return make_plan(plan, function, dtype).size <= LARGEST_PLAN


def _runs(repository: RunRepository) -> Files:
    summaries, matrix = repository.summaries(), repository.matrix()
    yield "v1/runs.json", json_bytes({"runs": summaries, "next": None})
    yield "v1/runs.csv", csv_of([flat_summary(row) for row in summaries])
    yield "v1/matrix.json", json_bytes({"results": matrix})
    yield "v1/matrix.csv", csv_of([flat_cell(cell) for cell in matrix])
    for name in repository.names():
        run = repository.run(name)
        if run is None:
            continue
        base = f"v1/runs/{name}"
        yield f"{base}/manifest.json", json_bytes(run.document())
        yield f"{base}/summary-of-run.json", json_bytes(summary(name, run))
        yield f"{base}/report.html", render_runs([run])[1]
        for table in TABLES:
            yield f"{base}/{table}.csv", table_of(run, table, "csv")
            yield f"{base}/{table}.json", table_of(run, table, "json")
