"""The file of a result's buckets: Parquet, or where pyarrow is not installed a NumPy archive of the same columns.

Both hold the columns in the same types, and say which result they belong to. Where every bucket has one input, as in
16 bits, the outputs are all that was measured: the rest follows from them by the reference, and is derived when the
file is read. Other tables are stored as they are.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..buckets.reducer import Reduction
from ..buckets.table import BITS, WITNESS, Columns, MonotonePieces, Table
from ..errors import MissingMeasurement, ResultsError, UsageError
from ..formats import Format, from_ordinals, get_format
from ..functions import Function, get_function
from ..records.beside import judged
from ..records.result import Record
from ..records.schema import SCHEMA

if TYPE_CHECKING:
    import pandas as pd

IDENTITY = ("target", "function", "dtype", "plan", "seed", "n", "bound")  # of a result, in its bucket file too
OUTPUTS = ("bucket", "got", "n", "correct")  # columns of a file of outputs; the counts are for who reads no other code
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
    """Those that a file has."""
    if table.fmt.width != 16:
        return _typed(table)
    columns = {**table.columns, "got": table.columns["max_error_got"].astype(table.fmt.uint)}
    return {name: columns[name] for name in OUTPUTS}


def _typed(table: Table) -> Columns:
    """All, bits in the dtype's own unsigned type."""
    return {name: column.astype(table.fmt.uint) if name in BITS else column for name, column in table.flat.items()}


def parquet_of(table: Table, record: Record) -> bytes:
    """The bucket table as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, encodings = _columns(table), _encodings(table.fmt.width)
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
    if width == 16:
        return dict.fromkeys(OUTPUTS[:2], "DELTA_BINARY_PACKED")
    found = dict.fromkeys(("bucket", "error_sum", *BITS), "DELTA_BINARY_PACKED")
    if width == 64:
        found |= dict.fromkeys(WITNESS, "BYTE_STREAM_SPLIT")
    if width > 16:  # 8 bits have one input in a bucket: all counts are 0 or 1
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
    found, facts = (_of_archive if content.startswith(_ARCHIVE) else _of_parquet)(content, columns)
    if list(found) == list(OUTPUTS):
        derived = _derived(found, facts)
        found = derived if columns is None else {name: derived[name] for name in columns}
    return found, facts


def _of_parquet(content: bytes, columns: Sequence[str] | None) -> tuple[Columns, bytes]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise MissingMeasurement(
            "pyarrow is not installed, which reads the buckets of a run: `pip install pyarrow`"
        ) from None
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        some = None if columns is None or file.schema_arrow.names == list(OUTPUTS) else list(columns)
        table = file.read(some)
        facts = (file.schema_arrow.metadata or {}).get(_FACTS.encode(), b"")
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
            some = names if columns is None or names == list(OUTPUTS) else [name for name in names if name in columns]
            return {name: file[name] for name in some}, facts
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


def _derived(outputs: Columns, facts: bytes) -> Columns:
    """All columns of buckets that have one input each, from its outputs."""
    function, fmt = _of(facts)
    bucket, got, *counts = outputs.values()
    ordinal = bucket.astype(np.int64) - 0x8000
    kinds = {bucket.dtype.name, got.dtype.name, fmt.uint.name}
    if kinds != {"uint16"} or not len(got) or (np.diff(ordinal) <= 0).any():
        raise ResultsError("buckets are not those of outputs in 16 bits, ascending")
    reduction, x = Reduction(fmt, function, MonotonePieces.of(function, fmt)), from_ordinals(fmt, ordinal)
    if Reduction.judges(fmt, function):
        reduction.add_outputs(x, got)
    else:
        reduction.add_outcome(judged(function, fmt.name, x, got))
    columns = _typed(reduction.table())
    if not all(map(np.array_equal, counts, (columns["n"], columns["correct"]))):
        raise ResultsError("the counts of buckets are not those of their outputs")
    return columns


def _of(said: bytes) -> tuple[Function, Format]:
    """Whose they are."""
    try:
        facts = json.loads(said)
        function, fmt = get_function(facts["function"]), get_format(facts["dtype"])
    except (KeyError, TypeError, ValueError, RecursionError, UsageError) as error:
        raise ResultsError("the buckets do not say what they belong to") from error
    return function, fmt
