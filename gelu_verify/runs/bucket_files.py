"""The Parquet file with the buckets of one result.

Where every bucket has one input, as in 16 bits, the outputs are all that was measured: the rest follows from them by
the reference, and is derived when the file is read. Other tables are stored as they are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.reducer import Reduction
from ..buckets.table import BITS, WITNESS, Columns, MonotonePieces, Table
from ..errors import ResultsError, UsageError
from ..formats import Format, from_ordinals, get_format
from ..functions import Function, get_function
from ..records.beside import judged
from ..records.result import Record
from ..records.schema import SCHEMA

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

IDENTITY = ("target", "function", "dtype", "plan", "seed", "n", "bound")  # fields of a record that its file has too
OUTPUTS = ("bucket", "got", "n", "correct")  # columns of a file of outputs; the counts are for who reads no other code


def parquet_of(table: Table, record: Record) -> bytes:
    """The bucket table as a Parquet file: bits in the dtype's own unsigned type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if table.fmt.width == 16:
        columns = {**table.columns, "got": table.columns["max_error_got"].astype(table.fmt.uint)}
        columns = {name: columns[name] for name in OUTPUTS}
        encodings = dict.fromkeys(OUTPUTS[:2], "DELTA_BINARY_PACKED")
    else:
        columns, encodings = _stored(table), _encodings(table.fmt.width)
    whole = pa.table(columns)
    buffer = io.BytesIO()
    with pq.ParquetWriter(
        buffer,
        whole.schema,
        compression="zstd",
        compression_level=3,
        write_statistics=False,
        store_schema=False,  # 3 kB that repeat what the types of Parquet say
        use_dictionary=[name for name in columns if name not in encodings],
        column_encoding=encodings,
    ) as writer:
        writer.write_table(whole)
        writer.add_key_value_metadata(metadata_of(record))
    return buffer.getvalue()


def _stored(table: Table) -> Columns:
    return {k: v.astype(table.fmt.uint) if k in BITS else v for k, v in table.flat.items()}


def _encodings(width: int) -> dict[str, str]:
    """The smallest of Parquet's encodings, column by column (all others: a dictionary): docs/decisions/runs.md."""
    found = dict.fromkeys(("bucket", "error_sum", *BITS), "DELTA_BINARY_PACKED")
    if width == 64:
        found |= dict.fromkeys(WITNESS, "BYTE_STREAM_SPLIT")
    if width > 16:  # 8 bits have one input in a bucket: all counts are 0 or 1
        counts = ("n", "correct", "faithful", *(f"hist_{k:02d}" for k in range(6)))
        found |= dict.fromkeys(counts, "BYTE_STREAM_SPLIT")
    return found | {"max_error": "BYTE_STREAM_SPLIT", "bits_hash": "PLAIN"}


def metadata_of(record: Record) -> dict[str, str]:
    """What a Parquet file says of the result that it belongs to."""
    facts = {"schema": SCHEMA, **{name: getattr(record, name) for name in IDENTITY}}
    return {"gelu_verify": json.dumps(facts)}


def frame_of(content: bytes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a Parquet file, all columns or those named."""
    return arrow_table(content, columns).to_pandas()


def arrow_table(content: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The same, as Arrow has it; ResultsError when it is no such Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        if file.schema_arrow.names == list(OUTPUTS):
            derived = _derived(file.read())
            return derived if columns is None else derived.select(list(columns))
        return file.read(None if columns is None else list(columns))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ResultsError(f"buckets are not a Parquet file: {(str(error).splitlines() or [''])[0]}") from error


def _derived(outputs: pa.Table) -> pa.Table:
    """All columns of buckets that have one input each, from its outputs."""
    import pyarrow as pa

    function, fmt = _of(outputs)
    bucket, got, *counts = (outputs.column(name).to_numpy() for name in OUTPUTS)
    ordinal = bucket.astype(np.int64) - 0x8000
    kinds = {bucket.dtype.name, got.dtype.name, fmt.uint.name}
    if kinds != {"uint16"} or not len(got) or (np.diff(ordinal) <= 0).any():
        raise ResultsError("buckets are not those of outputs in 16 bits, ascending")
    reduction, x = Reduction(fmt, function, MonotonePieces.of(function, fmt)), from_ordinals(fmt, ordinal)
    if Reduction.judges(fmt, function):
        reduction.add_outputs(x, got)
    else:
        reduction.add_outcome(judged(function, fmt.name, x, got))
    columns = _stored(reduction.table())
    if not all(map(np.array_equal, counts, (columns["n"], columns["correct"]))):
        raise ResultsError("the counts of buckets are not those of their outputs")
    return pa.table(columns).replace_schema_metadata(outputs.schema.metadata)


def _of(outputs: pa.Table) -> tuple[Function, Format]:
    """Whose they are."""
    try:
        facts = json.loads((outputs.schema.metadata or {})[b"gelu_verify"])
        function, fmt = get_function(facts["function"]), get_format(facts["dtype"])
    except (KeyError, TypeError, ValueError, RecursionError, UsageError) as error:
        raise ResultsError("the buckets do not say what they belong to") from error
    return function, fmt
