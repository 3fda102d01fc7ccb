"""The file of a result's buckets: Parquet, or where pyarrow is not installed a NumPy archive of the same columns.

Both hold the columns in the same types, and say which result they belong to. What follows from the others exactly, by
the reference, is not stored, and derived when the file is read: in 16 bits, where every bucket has one input, all but
the outputs; in wider dtypes the correctly rounded value of the worst input. Tables with all columns, as they were
stored before, are read as they are. Folded ones have what a report draws: those of committed runs, and in other runs
those of kernels that nobody asked for.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..buckets.bins import folded, is_folded
from ..buckets.reducer import Reduction
from ..buckets.table import BITS, WITNESS, Columns, MonotonePieces, Table
from ..errors import MissingMeasurement, ResultsError, UsageError
from ..formats import Format, from_ordinals, get_format, ordinals
from ..functions import Function, get_function
from ..records.beside import judged
from ..records.result import Record
from ..records.schema import SCHEMA
from ..truth.values import reference_bits

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

IDENTITY = ("target", "function", "dtype", "plan", "seed", "n", "bound")  # of a result, in its bucket file too
OUTPUTS = ("bucket", "got", "n", "correct")  # columns of a file of outputs; the counts are for who reads no other code
RANK = "max_error_rank"  # for WITNESS[1:]: floats from the correctly rounded value of max_error_x up to the output
_FACTS = "gelu_verify"  # where that stands
_ARCHIVE = b"PK"  # how a NumPy archive begins
_LARGEST = 1 << 20  # bytes of a column of 65,536 rows, with a margin


def buckets_file(table: Table, record: Record, *, fold: bool = False) -> tuple[str, bytes]:
    """The suffix and the content of the bucket file of a result; `fold`: with what a report draws alone."""
    columns = folded(table.columns, record.dtype) if fold else _columns(table)
    try:
        return ".parquet", _parquet_of(columns, record)
    except ModuleNotFoundError:
        return ".npz", _archive_of(columns, record)


def parquet_of(table: Table, record: Record) -> bytes:
    """The bucket table as a Parquet file."""
    return _parquet_of(_columns(table), record)


def folded_file(columns: Columns, record: Record) -> bytes:
    """A bucket table that was read, folded, as a Parquet file."""
    return _parquet_of(folded(columns, record.dtype), record)


def _columns(table: Table) -> Columns:
    """Those that a file has."""
    if table.fmt.width < 16:
        return _typed(table)
    if table.fmt.width > 16:
        columns = _typed(table)
        got, want = (ordinals(table.fmt, columns[name]) for name in WITNESS[1:])
        columns[WITNESS[1]] = got - want  # modulo 2^64, as it is added again
        return {RANK if name == WITNESS[1] else name: columns[name] for name in columns if name != WITNESS[2]}
    columns = {**table.columns, "got": table.columns["max_error_got"].astype(table.fmt.uint)}
    return {name: columns[name] for name in OUTPUTS}


def _typed(table: Table) -> Columns:
    """All, bits in the dtype's own unsigned type."""
    return {name: column.astype(table.fmt.uint) if name in BITS else column for name, column in table.flat.items()}


def _parquet_of(columns: Columns, record: Record) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    encodings = _encodings(get_format(record.dtype).width, columns)
    whole = pa.table({name: _shared(column) for name, column in columns.items()})
    buffer = pa.BufferOutputStream()
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
    content: bytes = buffer.getvalue().to_pybytes()
    return content


def _shared(column: np.ndarray) -> pa.Array:
    """The column for pyarrow, by its memory: given an array, pyarrow imports pandas to see whether it is one of its."""
    import pyarrow as pa

    column = np.ascontiguousarray(column)
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), [None, pa.py_buffer(column)])


def _encodings(width: int, columns: Columns) -> dict[str, str]:
    """The smallest of Parquet's encodings, column by column (all others: a dictionary): docs/decisions/runs.md."""
    if is_folded(columns):
        return {"bucket": "DELTA_BINARY_PACKED", "max_error": "BYTE_STREAM_SPLIT"}
    if width == 16:
        return dict.fromkeys(OUTPUTS[:2], "DELTA_BINARY_PACKED")
    stored = (name for name in BITS if width < 16 or name not in WITNESS[1:])
    found = dict.fromkeys(("bucket", "error_sum", *stored), "DELTA_BINARY_PACKED")
    if width == 64:
        found["max_error_x"] = "BYTE_STREAM_SPLIT"
    if width > 16:  # 8 bits have one input in a bucket: all counts are 0 or 1
        found[RANK] = "DELTA_BINARY_PACKED"
        counts = ("n", "correct", "faithful", *(f"hist_{k:02d}" for k in range(6)))
        found |= dict.fromkeys(counts, "BYTE_STREAM_SPLIT")
    return found | {"max_error": "BYTE_STREAM_SPLIT", "bits_hash": "PLAIN"}


def _archive_of(columns: Columns, record: Record) -> bytes:
    buffer = io.BytesIO()
    facts = np.frombuffer(metadata_of(record)[_FACTS].encode(), np.uint8)
    np.savez_compressed(buffer, **{_FACTS: facts, **columns})  # type: ignore[arg-type]
    return buffer.getvalue()


def metadata_of(record: Record) -> dict[str, str]:
    """What a bucket file says of the result that it belongs to."""
    return {_FACTS: json.dumps({"schema": SCHEMA, **identity_of(record)})}


def identity_of(record: Record) -> dict[str, Any]:
    """What names a result; its function is that of x alone."""
    return {name: getattr(record, name) for name in IDENTITY} | {"function": record.judged_as}


def frame_of(content: bytes, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a bucket file, all columns or those named."""
    import pandas as pd

    return pd.DataFrame(read_columns(content, columns), copy=False)


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
        found = _derived(found, facts)
    elif RANK in found:
        found = _with_witness(found, facts)
    return {name: column for name, column in found.items() if columns is None or name in columns}, facts


def _asked(stored: Sequence[str], columns: Sequence[str] | None) -> list[str]:
    """Which of the columns of a file those that are asked for need."""
    if columns is None or list(stored) == list(OUTPUTS):
        return list(stored)
    derives = RANK in stored and not {*WITNESS[1:]}.isdisjoint(columns)
    return [name for name in stored if name in columns or (derives and name in (WITNESS[0], RANK))]


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
        # on this thread: one of pyarrow's may let go of `content` when Python ends, which ends the process with SIGABRT
        table = file.read(_asked(file.schema_arrow.names, columns), use_threads=False)
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
            names = _asked([name for name in file.files if name != _FACTS], columns)
            return {name: file[name] for name in names}, facts
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


def _with_witness(columns: Columns, facts: bytes) -> Columns:
    """The columns of a wider dtype, with the worst output of each bucket and what would be correct."""
    function, fmt = _of(facts)
    x, rank = columns[WITNESS[0]], columns[RANK]
    if x.dtype != fmt.uint or rank.dtype != np.int64:
        raise ResultsError(f"buckets are not those of {fmt.name}")
    want = reference_bits(function.name, fmt.name, x)
    worst = dict(zip(WITNESS[1:], (from_ordinals(fmt, ordinals(fmt, want) + rank), want), strict=True))
    return dict(
        each for name, column in columns.items() for each in (worst.items() if name == RANK else [(name, column)])
    )


def _of(said: bytes) -> tuple[Function, Format]:
    """Whose they are."""
    try:
        facts = json.loads(said)
        function, fmt = get_function(facts["function"]), get_format(facts["dtype"])
    except (KeyError, TypeError, ValueError, RecursionError, UsageError) as error:
        raise ResultsError("the buckets do not say what they belong to") from error
    return function, fmt
