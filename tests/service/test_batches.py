"""Files of inputs in, files of results out; which implementations agree on inputs."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from array_files import npy, parquet
from starlette.testclient import TestClient

from gelu_verify.service.app import create_app
from gelu_verify.service.settings import Settings
from gelu_verify.truth.values import reference_bits

X = np.array([0xC0D00000, 0x3F800000, 0x00000001, 0x7FC00000], np.uint32)
Y = reference_bits("gelu", "float32", X)
PATH = "/v1/files/gelu/float32"

CSV, NPY, PARQUET = (
    {"Content-Type": kind} for kind in ("text/csv", "application/x-npy", "application/vnd.apache.parquet")
)
FILES = {
    "csv": (CSV, b"x\r\n0xc0d00000\r\n1.0\r\n\r\n0x1p-149\r\nnan\r\n"),
    "npy": (NPY, npy(X)),
    "npy of floats": (NPY, npy(X.view(np.float32).astype(">f4"))),
    "parquet": (PARQUET, parquet(x_bits=X, other=[1, 2, 3, 4])),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_inputs_comes_back_with_results(client, name):
    headers, content = FILES[name]
    done = client.post(f"{PATH}?format=parquet", content=content, headers=headers)
    found = pq.read_table(io.BytesIO(done.content))
    assert (found["x_bits"].to_numpy().tolist(), found["y_bits"].to_numpy().tolist()) == (X.tolist(), Y.tolist())
    arrays = np.load(io.BytesIO(client.post(f"{PATH}?format=npz", content=content, headers=headers).content))
    assert (arrays["x_bits"].tolist(), arrays["y_bits"].tolist()) == (X.tolist(), Y.tolist())
    text = client.post(f"{PATH}?format=csv", content=content, headers=headers).text
    assert text.splitlines()[:2] == ["x_bits,y_bits", f"0xc0d00000,0x{Y[0]:08x}"]


BAD = {
    "another kind": ({"Content-Type": "text/html"}, b"", 415),
    "no number": (CSV, b"1\nsix", 422),
    "a missing number": (CSV, b'x\n1.0\n""\n2.0\n', 422),
    "a row of missing numbers": (CSV, b"a,x\n7,1\n,\n9,2\n", 422),
    "no text": (CSV, b"\xff", 400),
    "columns that contradict each other": (CSV, b"x,x_bits\nnan,0x7fc00001\n1,0x40000000", 409),
    "too many lines": (CSV, b"1\n" * 70_000, 413),
    "no npy": (NPY, b"PK\x03\x04", 400),
    "an npy file that says it is large": (NPY, npy(X).replace(b"(4,), }      ", b"(9999999,), }"), 413),
    "an npy file that is cut off": (NPY, npy(X)[:-1], 400),
    "objects": (NPY, npy(np.array(["a"], object)), 409),
    "an npy file of fewer than no numbers": (NPY, npy(X).replace(b"(4,), } ", b"(-4,), }"), 400),
    "an npy header that does not end": (NPY, npy(X).replace(b"}", b"("), 400),
    "an npy header that is nested too deeply": (NPY, b"\x93NUMPY\x01\x00\x28\x23" + b"-" * 9000, 400),
    "another width": (NPY, npy(X.astype(np.uint64)), 409),
    "two dimensions": (NPY, npy(X.reshape(2, 2)), 400),
    "no parquet": (PARQUET, b"PAR1", 400),
    "no column": (PARQUET, parquet(z=X), 409),
    "the column twice": (PARQUET, parquet(x_bits=X, x_bots=X).replace(b"x_bots", b"x_bits"), 409),
    "texts": (PARQUET, parquet(x_bits=["0x0"]), 409),
    "nulls": (PARQUET, parquet(x_bits=pa.array([1, None], pa.uint32())), 409),
    "many rows that compress well": (PARQUET, parquet(x_bits=np.zeros((1 << 20) + 1, np.uint32)), 413),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_wrong(client, name):
    headers, content, status = BAD[name]
    done = client.post(PATH, content=content, headers=headers)
    assert (done.status_code, done.json()["status"]) == (status, status)


def test_a_format_that_is_not_written(client):
    assert client.post(f"{PATH}?format=xls", content=FILES["npy"][1], headers=NPY).status_code == 422


def test_which_implementations_agree():
    with TestClient(create_app(Settings(families=("kernels",)))) as client:
        inputs = [f"0x{bits:08x}" for bits in X.tolist()]
        found = client.post("/v1/answers/gelu/float32", json={"x_bits": inputs}).json()
        one = client.get("/v1/answers/gelu/float32/0xc0d00000").json()["answers"]
        assert client.post("/v1/answers/gelu/float32", json={"x_bits": []}).status_code == 422
        assert client.post("/v1/answers/gelu/float32", json={"x_bits": inputs * 65}).status_code == 422
        assert client.post("/v1/answers/gelu/float16", json={"x_bits": inputs}).status_code == 409
    assert found["reference"] == [f"0x{bits:08x}" for bits in Y.tolist()]
    assert all(row["failure"] is None for row in found["answers"] + one)
    singly = {row["target"]: (row["y_bits"], row["error_ulp"]) for row in one}
    assert {row["target"]: (row["y_bits"][0], row["error_ulp"][0]) for row in found["answers"]} == singly
    for groups in found["agree"]:
        assert sorted(name for names in groups.values() for name in names) == sorted(singly)
    assert "kernels.gelu_cr" in found["agree"][0][found["reference"][0]]


@pytest.mark.parametrize("path", ["/v1/reference/gelu/float32", "/v1/answers/gelu/float32"])
def test_members_that_nobody_reads_are_refused(client, path):
    """Such as `x` of a client that takes it for what is computed."""
    done = client.post(path, json={"x_bits": ["0x3f800000"], "x": ["2"]})
    assert (done.status_code, done.headers["content-type"]) == (422, "application/problem+json")
    assert "x" in done.json()["detail"]
    twice = b'{"x_bits": ["0x3f800000"], "x_bits": ["0x40000000"]}'
    if "reference" in path:
        done = client.post(path, content=twice, headers={"Content-Type": "application/json"})
        assert (done.status_code, "there twice: x_bits, x_bits" in done.json()["detail"]) == (400, True)


def test_columns_that_say_the_same_are_one(client):
    content = b"x,x_bits\n1,0x3f800000\nnan,0x7fc00001\n"
    done = client.post("/v1/files/gelu/float32.csv", content=content, headers=CSV)
    assert done.text.splitlines()[1:] == ["0x3f800000,0x3f57625f", "0x7fc00001,0x7fc00000"]
