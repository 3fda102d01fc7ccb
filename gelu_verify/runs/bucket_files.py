"""The file of a result's buckets: Parquet, or where pyarrow is not installed a NumPy archive of the same columns.

Both hold the columns in the same types, and say which result they belong to.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.table import BITS, WITNESS, Columns, Table
from ..errors import MissingMeasurement, ResultsError
from ..records.result import Record
from ..records.schema import SCHEMA

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = ("target", "function", "dtype", "plan", "seed", "n", "bound")  # of a result, in its bucket file too
_FACTS = "gelu_verify"  # where that stands
_ARCHIVE = b"PK"  # how a NumPy archive begins
_LARGEST = 1 << 20  # bytes of a column of 65,536 rows, with a margin


def buckets_file(table: Table, record: Record) -> tuple[str, bytes]:
    """The suffix and the content of the bucket file of a result."""
    try:
        return ".parquet", parquet_of(table, record)
    except ModuleNotFoundError:
        return ".npz", _archive_of(table, record)


def _columns(table: Table) -> Columns:
    """Bits in the dtype's own unsigned type."""
    return {name: column.astype(table.fmt.uint) if name in BITS else column for name, column in table.flat.items()}


def parquet_of(table: Table, record: Record) -> bytes:
    """The bucket table as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = _columns(table)
    encodings = _encodings(table.fmt.width)
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


def _encodings(width: int) -> dict[str, str]:
    """The smallest of Parquet's encodings, column by column (all others: a dictionary): docs/decisions/runs.md."""
    found = dict.fromkeys(("bucket", "error_sum", *BITS), "DELTA_BINARY_PACKED")
    if width == 64:
        found |= dict.fromkeys(WITNESS, "BYTE_STREAM_SPLIT")
    if width > 16:  # 16 bits have one input in a bucket: all counts are 0 or 1
        counts = ("n", "correct", "faithful", *(f"hist_{k:02d}" for k in range(6)))
        found |= dict.fromkeys(counts, "BYTE_STREAM_SPLIT")
    return found | {"max_error": "BYTE_STREAM_SPLIT", "bits_hash": "PLAIN"}


def _archive_of(table: Table, record: Record) -> bytes:
    buffer = io.BytesIO()
    facts = np.frombuffer(metadata_of(record)[_FACTS].encode(), np.uint8)
    np.savez_compressed(buffer, **{_FACTS: facts, **_columns(table)})  # type: ignore[arg-type]
    return buffer.getvalue()


def metadata_of(record: Record) -> dict[str, str]:
    """What a bucket file says of the result that it belongs to."""
    facts = {"schema": SCHEMA, **{name: getattr(record, name) for name in IDENTITY}}
    return {_FACTS: json.dumps(facts)}


def frame_of(content: bytes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a bucket file, all columns or those named."""
    import pandas as pd

    return pd.DataFrame(read_columns(content, columns))


def read_columns(content: bytes, columns: Sequence[str] | None = None) -> Columns:
    """The columns of a bucket file, all or those named."""
    return read_buckets(content, columns)[0]


def read_buckets(content: bytes, columns: Sequence[str] | None = None) -> tuple[Columns, bytes]:
    """The columns of a bucket file, and what it says of the result that it belongs to (JSON; empty where nothing).

    Raises
    ------
    ResultsError : it is no such file
    MissingMeasurement : it is a Parquet file, and pyarrow is not installed
    """
    if content.startswith(_ARCHIVE):
        return _of_archive(content, columns)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingMeasurement(
            "pyarrow is not installed, which reads the buckets of a run: `pip install pyarrow`"
        ) from None
    try:
        table = pq.read_table(io.BytesIO(content), columns=None if columns is None else list(columns))
        facts = (table.schema.metadata or {}).get(_FACTS.encode(), b"")
        return {name: table.column(name).to_numpy() for name in table.column_names}, facts
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ResultsError(f"buckets are not a Parquet file: {(str(error).splitlines() or [''])[0]}") from error


def _of_archive(content: bytes, columns: Sequence[str] | None) -> tuple[Columns, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if large := [each.filename for each in archive.infolist() if each.file_size > _LARGEST]:
                raise ValueError(f"{large[0]} is larger than a column can be")
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            facts = file[_FACTS].tobytes() if _FACTS in file else b""
            names = [name for name in file.files if name != _FACTS]
            return {name: file[name] for name in names if columns is None or name in columns}, facts
    except (
        zipfile.BadZipFile,
        zlib.error,
        ValueError,
        OSError,
        EOFError,
        KeyError,
        NotImplementedError,
        MemoryError,
    ) as error:
        raise ResultsError(f"buckets are not a NumPy archive: {(str(error).splitlines() or [''])[0]}") from error
