"""The beginning of a child process: a supervisor that ends all it started, and limits that protect the verifier.

First thing in a fresh interpreter, while it has one thread and none of somebody else's code: what is refused here is
refused to all threads and processes that are started later.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from . import _confinement


def begin(lifeline: int, fault: int) -> None:
    """Go on as the child of a supervisor, confined.

    The supervisor is this process as it was started: it ends the way its child ends, or when the pipe `lifeline` closes
    or on SIGTERM, and before that it ends every process that descends from it, whatever group or session that is in.
    The record `fault` of src/isolation/faults.c is given the number of the child.
    """
    ancestors = _ancestors()
    _confinement.become_subreaper()
    supervisor = os.getpid()
    worker = os.fork()
    if worker:
        _confinement.supervise(worker, lifeline)
    os.pwrite(fault, struct.pack("=i", os.getpid()), 0)
    os.setpgid(0, 0)  # what is sent to this group does not reach the supervisor
    _confinement.die_with_parent(supervisor)
    groups = {_group(process) for process in ancestors} - {0}
    _confinement.confine([supervisor, *ancestors], sorted(groups | {supervisor}))


def _ancestors() -> list[int]:
    """The process that started us, the one that started that, and so on."""
    found, process = list[int](), os.getppid()
    while process > 0 and process not in found:
        found.append(process)
        process = _stat(process)[1]
    return found


def _group(process: int) -> int:
    return _stat(process)[2]


def _stat(process: int) -> tuple[str, int, int]:
    """State, parent and group of a process; zeros where it is not ours to see."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return "", 0, 0
    return fields[0], int(fields[1]), int(fields[2])
