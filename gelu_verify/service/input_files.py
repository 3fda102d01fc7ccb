"""Files of inputs and of results: NumPy's npy and npz, CSV, Parquet, streams of Arrow."""

from __future__ import annotations

import io
import json
import re
import resource
import tokenize
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..formats import Format, Mode
from .encoding import JSON_TYPE, json_bytes
from .problems import Problem, bad_request, conflict
from .tables import arrow_of, parameters_of, parquet_of

PARQUET, ARROW = "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream"
CSV, NPY, NPZ, RAW = "text/csv", "application/x-npy", "application/x-npz", "application/octet-stream"
MEDIA_TYPES = {"csv": CSV, "npz": NPZ, "parquet": PARQUET, "arrow": ARROW}
"""Of the results, by the end of a file's name."""
INPUTS_OF = {**MEDIA_TYPES, "npz": NPY}
"""Of the inputs that go with them."""
FILES = tuple(INPUTS_OF.values())
COMPRESSED = (PARQUET, ARROW)
"""A few bytes of these may be many inputs."""
_ARROW_BYTES = 1 << 28
_BITS = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_NPY_ERRORS = (ValueError, TypeError, OSError, EOFError, MemoryError, RecursionError, tokenize.TokenError)
"""What NumPy raises for damaged headers: it parses them as Python."""


def read_inputs(kind: str, content: bytes, fmt: Format, most: int) -> np.ndarray:
    """Bits of the inputs in a file.

    JSON has bits as text in `x_bits`. A CSV file has one number a line, as in the path of a look-up; the others have
    unsigned integers as wide as the dtype (Parquet and Arrow: in a column `x_bits`), or floats of it.

    Raises
    ------
    Problem : 400 not such a file; 409 another type of numbers; 413 more than `most` inputs; 415 unknown kind
    """
    readers: dict[str, Callable[[bytes, Format, int], np.ndarray]] = {
        JSON_TYPE: _json, CSV: _csv, NPY: _npy, PARQUET: _parquet, ARROW: _arrow,
    }  # fmt: skip
    if kind not in readers:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {', '.join(FILES)})")
    return readers[kind](content, fmt, most)


def _json(content: bytes, fmt: Format, most: int) -> np.ndarray:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is not JSON: {error}", "no-json") from None
    return bits_of(fmt, found, most)


def bits_of(fmt: Format, content: Any, most: int) -> np.ndarray:
    """The inputs of {"x_bits": [...]}."""
    texts = content.get("x_bits") if isinstance(content, dict) else None
    if not isinstance(texts, list):
        raise Problem(422, "invalid", 'the body must be an object such as {"x_bits": ["0xc0d00000"]}')
    if len(texts) > most:
        raise Problem(413, "too-large", f"x_bits has {len(texts)} values (accepted: up to {most}; more as {RAW})")
    found = []
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not _BITS.fullmatch(text):
            raise Problem(422, "invalid", f"x_bits[{index}] is {repr(text)[:40]} (accepted: bits such as 0xc0d00000)")
        if (bits := int(text, 16)) >> fmt.width:
            raise conflict(f"x_bits[{index}] is {text}, too wide for {fmt.name} ({fmt.width} bits)")
        found.append(bits)
    return np.array(found, fmt.uint)


def _csv(content: bytes, fmt: Format, most: int) -> np.ndarray:
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise bad_request("the CSV file is not ASCII", "no-csv") from None
    texts = [line.strip().strip('"') for line in lines if line.strip()]
    if texts and texts[0] in ("x", "x_bits"):
        del texts[0]
    _check(len(texts), most)
    found = []
    for number, text in enumerate(texts, 1):
        try:
            found.append(fmt.parse(text))
        except UsageError as error:
            raise Problem(422, "invalid", f"input {number}: {error}") from None
    return np.array(found, fmt.uint)


def _npy(content: bytes, fmt: Format, most: int) -> np.ndarray:
    """Read by its header: `np.load` allocates what a file says it holds, and opens archives too."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if len(shape) != 1 or dtype.kind not in "uf":
            raise bad_request("the npy file has more than one dimension, or other than numbers", "no-npy")
        _check(shape[0], most)
        if shape[0] < 0:
            raise bad_request(f"the npy file has the length {shape[0]}", "no-npy")
        found = np.frombuffer(content, dtype, shape[0], file.tell())
    except _NPY_ERRORS as error:
        raise bad_request(
            f"the body is not an npy file: {str(error)[:100] or 'its header is damaged'}", "no-npy"
        ) from None
    return _as_bits(found, fmt)


def _parquet(content: bytes, fmt: Format, most: int) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        _check(file.metadata.num_rows, most)  # before anything is decompressed
        _check_column(file.schema_arrow, fmt)
        column = file.read(columns=["x_bits"]).column("x_bits")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise bad_request(f"the body is not a Parquet file: {str(error)[:100]}", "no-parquet") from None
    return _as_bits(_without_nulls(column), fmt)


def _arrow(content: bytes, fmt: Format, most: int) -> np.ndarray:
    import pyarrow as pa

    found, count, pool = [], 0, pa.system_memory_pool()
    try:
        with pa.ipc.open_stream(content) as stream:
            _check_column(stream.schema, fmt)
            only = pa.ipc.IpcReadOptions(use_threads=False, included_fields=[stream.schema.names.index("x_bits")])
        with pa.ipc.open_stream(content, options=only, memory_pool=pool) as stream, _little_memory():
            for batch in stream:
                batch.validate(full=True)
                _check(count := count + batch.num_rows, most)
                found.append(_without_nulls(batch.column("x_bits")))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise bad_request(f"the body is not a stream of Arrow: {str(error)[:100]}", "no-arrow") from None
    return _as_bits(np.concatenate(found), fmt) if found else np.empty(0, fmt.uint)


@contextmanager
def _little_memory() -> Iterator[None]:
    """Refuse more memory than the most inputs need: a compressed batch is whole before its length is known."""
    statistics = Path("/proc/self/statm")
    if not statistics.is_file():  # not Linux
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(statistics.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ARROW_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _check_column(schema: Any, fmt: Format) -> None:
    """Problem 409 unless a schema has one column of inputs."""
    import pyarrow as pa

    if schema.names.count("x_bits") != 1:
        raise conflict("the file does not have one column x_bits", "no-column")
    kind = schema.field("x_bits").type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):  # texts and lists can be of any length
        raise _wrong_type(kind, fmt)


def _without_nulls(column: Any) -> np.ndarray:
    if column.null_count:
        raise conflict(f"x_bits has {column.null_count} nulls", "no-column")
    return np.asarray(column.to_numpy())


def _as_bits(found: np.ndarray, fmt: Format) -> np.ndarray:
    """Unsigned integers of the dtype's width as they are, floats of NumPy's type of that name by their bits."""
    native = found.dtype.newbyteorder("=")
    if native == fmt.uint:
        return found.astype(fmt.uint)
    if native.kind == "f" and native.name == fmt.name:
        return found.astype(native).view(fmt.uint)
    raise _wrong_type(found.dtype, fmt)


def _wrong_type(found: Any, fmt: Format) -> Problem:
    return conflict(f"the inputs have the type {found} (accepted: {fmt.uint} with the bits of a {fmt.name})", "type")


def _check(count: int, most: int) -> None:
    if count > most:
        raise Problem(413, "too-large", f"the file has {count} inputs (accepted: up to {most}; more as {RAW})")


def written(kind: str, function: str, fmt: Format, mode: Mode, x: np.ndarray, y: np.ndarray) -> tuple[bytes, str]:
    """Inputs and results as a file of that kind, and its media type; each parameter is a column of its own, as text."""
    if kind == "json":
        y_bits = [fmt.bits_text(bits) for bits in y.tolist()]
        return json_bytes({"function": function, "dtype": fmt.name, "rounding": mode, "y_bits": y_bits}), JSON_TYPE
    texts = parameters_of(function)
    if kind == "csv":
        digits, more = fmt.width // 4, "".join(f",{text}" for text in texts.values())
        rows = (f"0x{a:0{digits}x},0x{b:0{digits}x}{more}\n" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        return (",".join(["x_bits", "y_bits", *texts]) + "\n" + "".join(rows)).encode(), CSV
    if kind == "parquet":
        return parquet_of(x, y, texts), PARQUET
    if kind == "arrow":
        return arrow_of(x, y, texts), ARROW
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in (("x_bits", x), ("y_bits", y), *((name, np.array(text)) for name, text in texts.items())):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)
    return buffer.getvalue(), NPZ
