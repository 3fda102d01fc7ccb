"""Files of inputs, of outputs and of results: raw bits, NumPy's npy and npz, CSV, Parquet, streams of Arrow."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
import tokenize
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..formats import Format, Mode, is_nan
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
X, Y = ("x_bits", "x"), ("y_bits", "y")
"""Names that a column may have."""
_MAGIC = {b"\x93NUMPY": NPY, b"PAR1": PARQUET}
_OTHERS = {b"PK\x03\x04": "a ZIP archive, such as npz", b"\x1f\x8b": "compressed by gzip", b"\x89HDF": "HDF5"}
_NOT_TEXT = re.compile(rb"[^\t\r\n -~]")
_BITS = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_NPY_ERRORS = (ValueError, TypeError, OSError, EOFError, MemoryError, RecursionError, tokenize.TokenError)
"""What NumPy raises for damaged headers: it parses them as Python."""


def read_inputs(kind: str, content: bytes, fmt: Format, most: int) -> np.ndarray:
    """Bits of the inputs in a file.

    JSON has bits as text in `x_bits`. A CSV file has one number a line, as in the path of a look-up, or a column
    `x_bits` or `x`; Parquet and Arrow have such a column, and with npy unsigned integers as wide as the dtype, or its
    floats.

    Raises
    ------
    Problem : 400 not such a file; 409 no such column, another type of numbers; 413 more than `most` inputs; 415 unknown
        kind; 422 not a number
    """
    if kind == JSON_TYPE:
        return _json(content, fmt, most)
    if kind not in READERS:
        raise Problem(415, "media-type", f"content type {kind!r} (accepted: {', '.join(FILES)})")
    return _agreed(fmt, READERS[kind](content, fmt, X, most), X)


def read_outputs(content: bytes, fmt: Format, x_bits: np.ndarray) -> np.ndarray:
    """Bits of the outputs for these inputs in a file; its content says whether it is npy, Parquet, CSV or raw bits.

    The files are those of `read_inputs`, with a column `y_bits` or `y`; if `x_bits` or `x` is there too, it must have
    the inputs.

    Raises
    ------
    Problem : as for inputs; 409 no such file, not one output for each input, other inputs
    """
    kind = _kind_of(content, x_bits.nbytes)
    if kind == RAW:
        return np.frombuffer(content, fmt.uint.newbyteorder("<")).astype(fmt.uint)
    found = READERS[kind](content, fmt, Y, len(x_bits))
    y_bits = _agreed(fmt, found, Y)
    if len(y_bits) != len(x_bits):
        detail = f"the file has {len(y_bits)} outputs (accepted: exactly {len(x_bits)}, one for each input)"
        raise conflict(detail, "wrong-length")
    _agreed(fmt, {"that input": x_bits, **found}, ("that input", *X), "other-inputs")
    return y_bits


def _agreed(fmt: Format, found: Mapping[str, np.ndarray], names: Sequence[str], kind: str = "unfit") -> np.ndarray:
    """The first column that is there; Problem 409 where another says otherwise. "nan" is any NaN."""
    first, *others = (name for name in names if name in found)
    bits = found[first]
    for name in others:
        wrong = np.flatnonzero((found[name] != bits) & ~((found[name] == fmt.nan) & is_nan(fmt, bits)))
        if len(wrong):
            had, wanted = (fmt.bits_text(int(each[wrong[0]])) for each in (found[name], bits))
            raise conflict(f"{name} number {wrong[0] + 1} is {had}; {first} is {wanted}", kind)
    return bits


def _kind_of(content: bytes, raw_bytes: int) -> str:
    """What a file of outputs is. Text is CSV, even where it is as long as raw bits would be."""
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            return kind
    if content and not _NOT_TEXT.search(content.removeprefix(BOM_UTF8)):
        return CSV
    if len(content) == raw_bytes:
        return RAW
    found = next(
        (name for magic, name in _OTHERS.items() if content.startswith(magic)), "neither npy, Parquet nor text"
    )
    accepted = f"npy, Parquet, CSV, or raw bits of exactly {raw_bytes} bytes"
    raise conflict(f"the file has {len(content)} bytes and is {found} (accepted: {accepted})", "wrong-length")


def _json(content: bytes, fmt: Format, most: int) -> np.ndarray:
    try:
        found = json.loads(content, object_pairs_hook=_members)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body is not JSON: {error}", "no-json") from None
    return bits_of(fmt, found, most)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"a name is there twice: {', '.join(name for name, _ in pairs)[:80]}")
    return found


def bits_of(fmt: Format, content: Any, most: int) -> np.ndarray:
    """The inputs of {"x_bits": [...]}."""
    texts = content.get("x_bits") if isinstance(content, dict) else None
    if not isinstance(texts, list):
        raise Problem(422, "invalid", 'the body must be an object such as {"x_bits": ["0xc0d00000"]}')
    if unknown := set(content) - {"x_bits"}:
        raise Problem(422, "invalid", f"unknown member {min(unknown)[:40]!r} (accepted: x_bits)")
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


def _csv(content: bytes, fmt: Format, names: Sequence[str], most: int) -> dict[str, np.ndarray]:
    """One column needs no name."""
    try:
        text = content.removeprefix(BOM_UTF8).decode("ascii")  # as Excel writes it
        reader = csv.reader(io.StringIO(text))
        rows = list(islice(((reader.line_num, row) for row in reader if row), most + 2))
    except UnicodeDecodeError:
        raise bad_request("the CSV file is not ASCII", "no-csv") from None
    except csv.Error as error:
        raise bad_request(f"the body is not a CSV file: {error}", "no-csv") from None
    header = [text.strip() for text in rows[0][1]] if rows else []
    if len(header) < 2 and not {*header} & {*names}:
        header = [names[0]]
    else:
        del rows[:1]
    wanted = _columns("CSV", header, names)
    _check(len(rows), most)
    for line, row in rows:
        if any(map(str.strip, row[len(header) :])):  # such as a decimal comma
            detail = f"line {line} has {len(row)} cells (accepted: {len(header)}, as the header has)"
            raise Problem(422, "invalid", detail)
    return {name: _numbers(fmt, rows, header.index(name)) for name in wanted}


def _numbers(fmt: Format, rows: list[tuple[int, list[str]]], place: int) -> np.ndarray:
    """Bits of the numbers in a column."""
    found = []
    for line, row in rows:
        text = row[place].strip() if place < len(row) else ""
        if not text:
            raise Problem(422, "invalid", f"line {line} has an empty cell (accepted: a number, or nan)")
        try:
            found.append(fmt.parse(text))
        except UsageError as error:
            raise Problem(422, "invalid", f"line {line}: {error}") from None
    return np.array(found, fmt.uint)


def _npy(content: bytes, fmt: Format, names: Sequence[str], most: int) -> dict[str, np.ndarray]:
    """Read by its header: `np.load` allocates what a file says it holds, and opens archives too."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if len(shape) != 1 or shape[0] < 0:
            raise bad_request(f"the npy file has the shape {shape} (accepted: one dimension)", "no-npy")
        if dtype.kind not in "uf":
            raise _wrong_type(dtype, fmt)
        _check(shape[0], most)
        found = np.frombuffer(content, dtype, shape[0], file.tell())
    except _NPY_ERRORS as error:
        raise bad_request(
            f"the body is not an npy file: {str(error)[:100] or 'its header is damaged'}", "no-npy"
        ) from None
    return {names[0]: _as_bits(found, fmt)}


def _parquet(content: bytes, fmt: Format, names: Sequence[str], most: int) -> dict[str, np.ndarray]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(content))
        _check(file.metadata.num_rows, most)  # before anything is decompressed
        wanted = _number_columns("Parquet", file.schema_arrow, names, fmt)
        table = file.read(columns=wanted, use_threads=False)  # as `runs.bucket_files` has it
    except (pa.ArrowException, OSError, ValueError) as error:
        raise bad_request(f"the body is not a Parquet file: {str(error)[:100]}", "no-parquet") from None
    return {name: _as_bits(_without_nulls(name, table[name]), fmt) for name in wanted}


def _arrow(content: bytes, fmt: Format, names: Sequence[str], most: int) -> dict[str, np.ndarray]:
    import pyarrow as pa

    count, pool = 0, pa.system_memory_pool()
    try:
        with pa.ipc.open_stream(content) as stream:
            wanted = _number_columns("Arrow", stream.schema, names, fmt)
            only = pa.ipc.IpcReadOptions(
                use_threads=False, included_fields=sorted(map(stream.schema.names.index, wanted))
            )
        found: dict[str, list[np.ndarray]] = {name: [] for name in wanted}
        with pa.ipc.open_stream(content, options=only, memory_pool=pool) as stream, _little_memory():
            for batch in stream:
                batch.validate(full=True)
                _check(count := count + batch.num_rows, most)
                for name in wanted:
                    found[name].append(_without_nulls(name, batch.column(name)))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise bad_request(f"the body is not a stream of Arrow: {str(error)[:100]}", "no-arrow") from None
    return {
        name: _as_bits(np.concatenate(each), fmt) if each else np.empty(0, fmt.uint) for name, each in found.items()
    }


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


READERS: dict[str, Callable[[bytes, Format, Sequence[str], int], dict[str, np.ndarray]]] = {
    CSV: _csv, NPY: _npy, PARQUET: _parquet, ARROW: _arrow,
}  # fmt: skip
"""Bits of the columns of a file that have one of these names, or a name of inputs."""


def _columns(kind: str, found: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those columns, of which one must have one of these names."""
    if not any(found.count(name) == 1 for name in names):
        columns = ", ".join(repr(name[:40]) for name in found[:10])
        raise conflict(f"the {kind} file has the columns {columns} (accepted: one {' or '.join(names)})", "no-column")
    return [name for name in dict.fromkeys((*names, *X)) if found.count(name) == 1]


def _number_columns(kind: str, schema: Any, names: Sequence[str], fmt: Format) -> list[str]:
    """The same of a pyarrow schema, where they must be numbers: texts and lists can be of any length."""
    import pyarrow as pa

    wanted = _columns(kind, schema.names, names)
    for name in wanted:
        found = schema.field(name).type
        if not (pa.types.is_integer(found) or pa.types.is_floating(found)):
            raise _wrong_type(found, fmt)
    return wanted


def _without_nulls(name: str, column: Any) -> np.ndarray:
    if column.null_count:
        raise conflict(f"{name} has {column.null_count} nulls", "no-column")
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
    return conflict(f"the numbers have the type {found} (accepted: {fmt.uint} with the bits of a {fmt.name})", "type")


def _check(count: int, most: int) -> None:
    if count > most:
        raise Problem(413, "too-large", f"the file has more than {most} numbers")


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
