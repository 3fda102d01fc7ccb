"""`results.parquet`: all results of a report in one table, one row each, with types, units and descriptions.

It is derived from the stored run, for pandas, DuckDB or R, and never read back: `manifest.json` and `buckets/` are the
run, and their hashes say whether they are whole.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ..gpu.info import label
from ..records.result import Record
from .columns import KEYS, RESULT, RESULTS
from .frames import Row, RunLike, frame_of, summary_rows, tail_rows, throughput_rows

_ARROW = {"text": "string", "count": "int64", "rank": "uint64", "number": "float64", "value": "float64"}


def results_frame(runs: Sequence[RunLike]) -> pd.DataFrame:
    """One row per result: every fact that is one number or text."""
    return frame_of(runs, _rows, RESULTS)


def results_parquet(runs: Sequence[RunLike]) -> bytes:
    """The same as a Parquet file; its fields have a `description` and a `unit`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = results_frame(runs)
    whole = (*KEYS, *RESULTS.columns, RESULT)
    values = {column.name: list(map(_number, frame[column.name])) for column in whole if column.kind == "value"}
    frame = frame.assign(**{name: pd.Series(found, dtype="float64") for name, found in values.items()})
    frame = frame.assign(**{c.name: frame[c.name].map(_text, na_action="ignore") for c in whole if c.kind == "text"})
    fields = [pa.field(c.name, _ARROW[c.kind], metadata={"description": c.text, "unit": c.unit}) for c in whole]
    table = pa.Table.from_pandas(frame, pa.schema(fields), preserve_index=False)
    for name, found in values.items():  # an output of NaN is not missing; pandas has one word for both
        at = table.column_names.index(name)
        table = table.set_column(at, table.schema.field(at), pa.array(found, pa.float64(), from_pandas=False))
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _text(text: str) -> str:
    """Text that UTF-8 can hold: a file name may be none."""
    return text.encode(errors="backslashreplace").decode()


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _rows(record: Record, manifest: Mapping[str, Any]) -> Iterator[Row]:
    (row,) = summary_rows(record, manifest)
    for tail in tail_rows(record, manifest):
        row |= {name: tail[name] for name in RESULTS.names if name in tail}
    for timing in throughput_rows(record, manifest):
        row |= {"timed_n": timing.pop("n"), **timing}
    copied = ("computes_in", "rounding", "rounding_mode", "inputs_sha256", "bits_sha256", "buckets")
    git = manifest["git"] or {}
    yield {
        **row,
        **{name: getattr(record, name) for name in copied},
        **{f"check_{name}": outcome for name, outcome in record.checks.items()},
        "created": manifest["created"],
        "gelu_verify": manifest["versions"].get("gelu-verify"),
        "commit": git.get("commit"),
        "cpu": manifest["machine"].get("cpu"),
        "device": label(manifest.get("device")),
    }
