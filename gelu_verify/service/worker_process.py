"""A process that computes for the server: requests on stdin, responses on stdout.

    python -m gelu_verify.service.worker_process NICENESS

A request is a line of JSON, `[task, arguments, bytes]`, and so many bytes. A response is a line `[kind, value, bytes]`
and so many bytes. Its kind is `done`, at the start and after a task; `problem`, with a status, a kind and a detail; or
`failed`, with a traceback. Before it comes any number of `progress`, with the number of inputs that are done. The
process ends when its stdin does.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any

import numpy as np

from ..errors import GeluVerifyError
from ..formats import Mode, get_format
from ..truth.values import reference_bits
from .encoding import look_up
from .problems import Problem, problem_of

Answer = tuple[Any, bytes]
TASKS: dict[str, Callable[..., Answer]] = {}
"""What a process does, by name: a function of the bytes of a request and its arguments."""


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
    from .upload_jobs import inputs

    return None, inputs(plan, function, dtype, seed, most)


@_task
def _verify(content: bytes, plan: str, function: str, dtype: str, seed: int, name: str) -> Answer:
    """The record of a run that judges these outputs, and its table (`measure.parts`)."""
    from .upload_jobs import judged

    return judged(content, plan, function, dtype, seed, name, lambda done: _send("progress", done))


def _send(kind: str, value: Any, content: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps([kind, value, len(content)]).encode() + b"\n")
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def main() -> None:
    """Answer until stdin ends."""
    with suppress(OSError):
        os.nice(int(sys.argv[1]))
    _send("done", None)  # it has started
    for line in sys.stdin.buffer:
        task, arguments, size = json.loads(line)
        content = sys.stdin.buffer.read(size)
        try:
            answer = TASKS[task](content, *arguments)
        except (GeluVerifyError, Problem) as error:
            problem = problem_of(error)
            _send("problem", [problem.status, problem.kind, problem.detail])
        except Exception:  # noqa: BLE001 - the server logs it
            _send("failed", traceback.format_exc(limit=-5))
        else:
            _send("done", *answer)


if __name__ == "__main__":
    main()
