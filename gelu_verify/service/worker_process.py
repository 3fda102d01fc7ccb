"""What a process of `process_pool` does: it computes for the server.

A request is two messages: JSON, `[task, arguments]`, and bytes. A response is JSON, `[kind, value]`, and bytes. Its
kind is `done`; `problem`, with a status, a kind and a detail; or `failed`, with a traceback. Before it comes any number
of `progress`, with the number of inputs that are done, and no bytes. At the start the process sends one empty message.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..errors import GeluVerifyError
from ..formats import Mode, get_format
from ..records.serialize import record_from_json
from ..runs.store import read_run
from ..truth.values import forget_values, reference_bits
from .encoding import look_up
from .memory import give_back_freed_memory
from .problems import Problem, not_found, problem_of
from .reports import policy, render_runs, table_of

Answer = tuple[Any, bytes]
TASKS: dict[str, Callable[..., Answer]] = {}
"""What a process does, by name: a function of the bytes of a request and its arguments."""
_tell: list[Callable[[int], None]] = []  # in a process: tells the server how many inputs are done


def _task(work: Callable[..., Answer]) -> Callable[..., Answer]:
    TASKS[work.__name__.strip("_")] = work
    return work


@_task
def _look_up(_: bytes, *arguments: Any) -> Answer:
    """`encoding.look_up`."""
    return None, look_up(*arguments)


@_task
def _values(content: bytes, function: str, dtype: str, mode: str) -> Answer:
    """Results of raw inputs, as many raw results; seconds of a core that they took."""
    fmt, began = get_format(dtype), process_time()
    little = fmt.uint.newbyteorder("<")
    x = np.frombuffer(content, little).astype(fmt.uint)
    y = reference_bits(function, dtype, x, rounding=mode)
    return process_time() - began, y.astype(little, copy=False).tobytes()


@_task
def _read(content: bytes, kind: str, dtype: str, most: int) -> Answer:
    """The inputs in a file, as raw bits."""
    from .input_files import read_inputs

    fmt = get_format(dtype)
    return None, read_inputs(kind, content, fmt, most).astype(fmt.uint.newbyteorder("<")).tobytes()


@_task
def _write(content: bytes, form: str, function: str, dtype: str, mode: Mode) -> Answer:
    """A file of raw inputs and then as many raw results; its media type."""
    from .input_files import written

    fmt = get_format(dtype)
    x, y = np.frombuffer(content, fmt.uint.newbyteorder("<")).astype(fmt.uint).reshape(2, -1)
    file, media_type = written(form, function, fmt, mode, x, y)
    return media_type, file


@_task
def _table(_: bytes, function: str, dtype: str, kind: str) -> Answer:
    from .tables import file

    return None, file(function, dtype, kind)


@_task
def _inputs(_: bytes, most: int, plan: str, function: str, dtype: str, seed: int) -> Answer:
    """The inputs of a plan."""
    from .upload_record import inputs

    return None, inputs(plan, function, dtype, seed, most)


@_task
def _report(_: bytes, paths: list[str]) -> Answer:
    """The Content-Security-Policy of a report of stored runs, and the report."""
    return render_runs([read_run(path) for path in paths])


@_task
def _job_report(buckets: bytes, manifest: dict[str, Any], record: Any) -> Answer:
    """The same of an upload that is not stored."""
    from .jobs import UnstoredRun

    return render_runs([UnstoredRun(manifest, record_from_json(record), (lambda: buckets) if buckets else None)])


@_task
def _run_table(_: bytes, path: str, table: str, kind: str) -> Answer:
    """A table of the report of a stored run."""
    return None, table_of(read_run(path), table, kind)


@_task
def _version_files(_: bytes, folder: str | None, library: str) -> Answer:
    """The files of measured releases of a library, or for no library of all: [name, size, policy] of each, and all."""
    from ..report.versions_files import index_files, library_files
    from ..versions.store import default_root, libraries_in, read_history
    from ..versions.timeline import timeline

    root = Path(folder or default_root())
    known = libraries_in(root)
    if not library:
        files = index_files([timeline(read_history(root, each)) for each in known])
    elif library in known:
        history = read_history(root, library)
        files = library_files(history, timeline(history))
    else:
        raise not_found(f"no releases of {library!r} were measured (measured: {', '.join(known) or 'none'})")
    facts = [
        [name, len(content), policy(content.decode()) if name.endswith(".html") else None]
        for name, content in files.items()
    ]
    return facts, b"".join(files.values())


@_task
def _verify(content: bytes, plan: str, function: str, dtype: str, seed: int, name: str) -> Answer:
    """The record of a run that judges these outputs, and its table (`measure.parts`)."""
    from .upload_record import judged

    return judged(content, plan, function, dtype, seed, name, _tell[-1])


def serve(pipe: Connection, niceness: int) -> None:
    """Answer until the server has closed its end."""
    give_back_freed_memory()
    with suppress(OSError):
        os.nice(niceness)
    _tell.append(lambda done: pipe.send_bytes(json.dumps(["progress", done]).encode()))
    with suppress(EOFError, OSError, KeyboardInterrupt):
        pipe.send_bytes(b"")
        while True:
            task, arguments = json.loads(pipe.recv_bytes())
            kind, value, answer = _answer(task, arguments, pipe.recv_bytes())
            pipe.send_bytes(json.dumps([kind, value]).encode())
            pipe.send_bytes(answer)
            forget_values()


def _answer(task: str, arguments: list[Any], content: bytes) -> tuple[str, Any, bytes]:
    try:
        return "done", *TASKS[task](content, *arguments)
    except (GeluVerifyError, Problem) as error:
        problem = problem_of(error)
        return "problem", [problem.status, problem.kind, problem.detail], b""
    except Exception:  # noqa: BLE001 - the server logs it
        return "failed", traceback.format_exc(limit=-5), b""
