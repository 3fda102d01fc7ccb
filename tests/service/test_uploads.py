"""Files of outputs: known by their content, and what is wrong with one is said."""

import gzip
import json

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from array_files import npy, parquet

from gelu_verify.formats import get_format
from gelu_verify.service.upload_record import inputs
from gelu_verify.truth.values import reference_bits

RAW = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}  # the machine may be slow
FLOATS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
X = np.frombuffer(inputs("quick", "gelu", "float32", 0), "<u4")
Y = reference_bits("gelu", "float32", X)
BITS = [f"0x{each:08x}" for each in Y.tolist()]
SIZE = len(Y)


def text(*columns, header=""):
    lines = [header] * bool(header) + [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    return "\n".join(lines).encode()


def files_of(dtype, x, y):
    """The same outputs in every kind of file."""
    fmt, floats = get_format(dtype), y.view(FLOATS[dtype])
    x_bits, y_bits = ([fmt.bits_text(each) for each in array.tolist()] for array in (x, y))
    decimals = [repr(float(each)) for each in floats]
    yield "npy", npy(y)
    yield "csv of bits", text(y_bits)
    yield "csv of decimals", text(decimals, header="y")
    yield "csv with the inputs", text(x_bits, y_bits, header="x_bits,y_bits")
    yield "csv of another program", text(range(len(y)), decimals, header='"n","y"').replace(b"\n", b"\r\n")
    yield "parquet", parquet(y_bits=y)
    yield "parquet with the inputs", parquet(x_bits=x, other=y_bits, y_bits=y)
    if dtype != "bfloat16":  # which NumPy writes as bytes, and Arrow does not have
        yield "npy of floats", npy(floats.astype(floats.dtype.newbyteorder(">")))
        yield "parquet of floats", parquet(y=floats)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_file_is_known_by_its_content(client, dtype):
    """Whatever it is in, the outputs get the record of their raw bits."""
    where = f"/v1/verify?function=silu&dtype={dtype}&plan=landmarks"
    x = np.frombuffer(inputs("landmarks", "silu", dtype, 0), get_format(dtype).uint)
    y = reference_bits("silu", dtype, x)
    y[y.size // 3] ^= 1
    want = client.post(where, content=y.tobytes(), headers=RAW).json()["result"]
    assert 0 < want["max_ulp"] < 2
    for name, content in files_of(dtype, x, y):
        kind = "text/csv" if name == "csv of bits" else RAW["Content-Type"]
        done = client.post(where, content=content, headers={**RAW, "Content-Type": kind})
        assert done.status_code == 200, (name, done.text)
        assert done.json()["result"] == want, name


def test_text_as_long_as_raw_bits_is_text(client):
    """Eight characters a line, and float64."""
    size = len(inputs("landmarks", "relu", "float64", 0))
    where = "/v1/verify?function=relu&dtype=float64&plan=landmarks"
    result = client.post(where, content=b"0.50000\n" * (size // 8), headers=RAW).json()["result"]
    assert result["witness"]["got_bits"] == "0x3fe0000000000000"


BAD = {
    "raw": (bytes(10), 409, "10 bytes and is neither npy, Parquet nor text (accepted: npy, Parquet, CSV, or raw"),
    "raw of another dtype": (bytes(2 * SIZE), 409, f"raw bits of exactly {4 * SIZE} bytes)"),
    "npz": (b"PK\x03\x04" + npy(Y), 409, "is a ZIP archive, such as npz"),
    "gzip": (gzip.compress(Y.tobytes()), 409, "is compressed by gzip"),
    "empty": (b"", 409, "0 bytes"),
    "npy of another width": (npy(Y.astype("u8")), 409, "uint64 (accepted: uint32 with the bits of a float32)"),
    "npy of two dimensions": (npy(Y[:, None]), 400, f"the shape ({SIZE}, 1) (accepted: one dimension)"),
    "npy of too few": (npy(Y[1:]), 409, f"{SIZE - 1} outputs (accepted: exactly {SIZE}, one for each input)"),
    "npy of pickles": (npy(np.array([None])), 409, "the type object"),
    "npy of bfloat16": (npy(Y.astype("u2").view(ml_dtypes.bfloat16)), 409, "the type |V2"),
    "npy that is cut off": (npy(Y)[:-1], 400, "not an npy file"),
    "csv of too many": (text([*BITS, "0"]), 413, f"more than {SIZE} numbers"),
    "csv of very many": (b"1\n" * (10 * SIZE), 413, f"more than {SIZE} numbers"),
    "csv with nothing in it": (b"\n\n", 409, "0 outputs"),
    "csv with a word": (text([*BITS[:-1], "six"]), 422, f"line {SIZE}: 'six' is not a number"),
    "csv of missing values": (text([*BITS[:-1], '""']), 422, f"line {SIZE} has an empty cell"),
    "csv of other columns": (text(BITS, BITS, header="a,b"), 409, "columns 'a', 'b' (accepted: one y_bits or y)"),
    "csv of inputs": (text(BITS, BITS, header="x_bits,b"), 409, "(accepted: one y_bits or y)"),
    "csv with short lines": (text(BITS, header="n,y"), 422, "line 2 has an empty cell"),
    "json": (json.dumps({"y_bits": BITS}).encode(), 409, "the columns"),
    "parquet of other columns": (parquet(z=Y), 409, "the columns 'z'"),
    "parquet of other inputs": (parquet(x=X[::-1], y=Y), 409,
                                f"x number 1 is 0x{X[-1]:08x}; that input is 0x{X[0]:08x}"),
    "parquet of texts": (parquet(y=BITS), 409, "the type string"),
    "parquet with nulls": (parquet(y=pa.array([None, *Y[1:].tolist()], pa.uint32())), 409, "y has 1 nulls"),
    "parquet that is cut off": (parquet(y=Y)[:-9], 400, "not a Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_was_found_in_a_bad_file_is_said(client, name):
    content, status, words = BAD[name]
    done = client.post("/v1/verify?function=gelu&dtype=float32&plan=quick", content=content, headers=RAW)
    assert (done.status_code, done.headers["content-type"]) == (status, "application/problem+json")
    assert words in done.json()["detail"]


def test_a_body_longer_than_any_file_of_the_outputs_is_not_read(client):
    done = client.post("/v1/verify?function=gelu&dtype=float32&plan=quick", content=bytes(2 << 20), headers=RAW)
    assert done.status_code == 413
