"""Imports what the tasks of a process need, once, before processes are forked: they share its memory."""

import gc

import pyarrow.parquet as pq  # noqa: F401

from ..checks import own_checks
from ..measure import parts, run  # noqa: F401
from ..report import frames, page  # noqa: F401
from . import input_files, reports, tables, upload_record, worker_process  # noqa: F401

own_checks()
gc.freeze()  # the collector writes to what it looks at, which is then shared no longer
