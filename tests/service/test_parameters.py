"""Parameters of functions in the query of every route that has a function."""

import io
from fractions import Fraction

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from gelu_verify.functions import FUNCTIONS, get_function, named
from gelu_verify.inputs.plans import make_plan
from gelu_verify.truth.values import reference_bits

X = np.array([0xC0D00000, 0x3F800000, 0x00000001, 0x7FC00000], np.uint32)
VALUES = {"mu": "0.5", "sigma": "1/3"}
Y = reference_bits("gelu", "float32", X, **VALUES)
QUERY = "mu=0.5&sigma=1/3"
NAME = "gelu[mu=0.5,sigma=1/3]"
RAW = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}


def test_batches(client):
    found = client.post(f"/v1/reference/gelu/float32?{QUERY}", json={"x_bits": [hex(x) for x in X.tolist()]}).json()
    assert (found["function"], [int(y, 16) for y in found["y_bits"]]) == (NAME, Y.tolist())
    done = client.post(f"/v1/reference/gelu/float32?{QUERY}", content=X.tobytes(), headers=RAW)
    assert done.content == Y.tobytes()


def test_files_have_a_column_for_each_parameter(client):
    path, csv = f"/v1/files/gelu/float32?{QUERY}", "\n".join(map(hex, X.tolist()))
    found = client.post(f"{path}&format=csv", content=csv, headers={"Content-Type": "text/csv"})
    assert found.text.splitlines()[:2] == ["x_bits,y_bits,mu,sigma", f"0xc0d00000,{Y[0]:#010x},0.5,1/3"]
    assert 'filename="gelu_mu=0.5_sigma=1_3_-float32.csv"' in found.headers["content-disposition"]
    found = client.post(f"{path}&format=parquet", content=csv, headers={"Content-Type": "text/csv"})
    table = pq.read_table(io.BytesIO(found.content))
    assert (table["y_bits"].to_pylist(), table["sigma"].to_pylist()) == (Y.tolist(), ["1/3"] * 4)
    found = client.post(f"{path}&format=npz", content=csv, headers={"Content-Type": "text/csv"})
    archive = np.load(io.BytesIO(found.content), allow_pickle=False)
    assert (archive["y_bits"].tolist(), str(archive["mu"])) == (Y.tolist(), "0.5")


def test_tables(client):
    entry = client.get(f"/v1/tables/gelu/float32?{QUERY}").json()
    assert entry["function"] == NAME
    urls = {file["format"]: file["url"] for file in entry["files"]}
    header, *rows = client.get(urls["csv"]).text.splitlines()
    assert header == "dtype,input,output,ulperrortol,mu,sigma"
    x, y = (np.array([int(row.split(",")[k], 16) for row in rows], np.uint32) for k in (1, 2))
    assert len(x) == make_plan("landmarks", NAME, "float32").size
    assert np.array_equal(y, reference_bits(NAME, "float32", x))
    assert {row.split(",", 4)[4] for row in rows} == {"0.5,1/3"}
    table = pq.read_table(io.BytesIO(client.get(urls["parquet"]).content))
    assert table["mu"].to_pylist() == ["0.5"] * len(x)
    done = client.get(f"/v1/tables/gelu/float32.h?{QUERY}")
    assert "gelu_mu_0_5_sigma_1_3__float32[" in done.text
    assert done.headers["content-location"] == urls["h"]
    assert client.get("/v1/tables/gelu/float32.csv?mu=0").headers["content-location"].partition("?")[1] == ""


def test_an_upload(client):
    where = f"dtype=float16&plan=landmarks&{QUERY}"
    x = np.frombuffer(client.get(f"/v1/inputs/landmarks/float16.bin?function=gelu&{QUERY}").content, np.uint16)
    y = reference_bits(NAME, "float16", x)
    done = client.post(f"/v1/verify?function=gelu&{where}", content=y.tobytes(), headers=RAW).json()
    assert (done["grade"], done["result"]["function"]) == ("correctly_rounded", NAME)
    other = reference_bits("gelu", "float16", x)
    done = client.post(f"/v1/verify?function=gelu&{where}", content=other.tobytes(), headers=RAW).json()
    assert done["grade"] == "broken"


def test_every_parameter_of_every_function_is_one_of_every_route(client):
    listed = {each["name"]: each for each in client.get("/v1/functions").json()["functions"]}
    for name, function in FUNCTIONS.items():
        assert [each["name"] for each in listed[name]["parameters"]] == [each.name for each in function.parameters]
        for parameter in function.parameters:
            found = client.get(f"/v1/reference/{name}/float32/1?{parameter.name}=7/3").json()
            asked = {parameter.name: Fraction(7, 3)}
            assert found["function"] == get_function(named(name, asked)).name
            assert int(found["y_bits"], 16) == reference_bits(name, "float32", 0x3F800000, **asked)


@pytest.mark.parametrize("path", ["lookup", "embed"])
def test_pages_of_one_value(client, path):
    shown = client.get(f"/{path}?x=1&function=gelu&{QUERY}").text
    assert NAME in shown
    assert "0.93319" in shown
    assert "gelu(x) = x Phi((x - mu)/sigma), mu = 0.5, sigma = 1/3" in shown
    for query, words in (("muu=1", "unknown query parameter &#39;muu&#39;"), ("beta=1", "unknown parameter of gelu")):
        refused = client.get(f"/{path}?x=1&{query}")
        assert (refused.status_code in (400, 404), words in refused.text) == (True, True)
    same = client.get(f"/{path}", params={"x": "1", "function": NAME}).text
    assert "0.93319" in same
    wrong = client.get(f"/{path}?x=1&sigma=0")
    assert (wrong.status_code, "sigma is 0" in wrong.text) == (404, True)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("post", "/v1/reference/{}/float32"),
        ("post", "/v1/files/{}/float32"),
        ("get", "/v1/tables/{}/float32"),
        ("get", "/v1/tables/{}/float32.csv"),
        ("get", "/v1/answers/{}/float32/1"),
        ("get", "/v1/inputs/quick/float32.bin?function={}"),
        ("post", "/v1/verify?dtype=float32&function={}"),
    ],
)
def test_what_is_no_parameter_is_refused(client, method, path):
    def detail(function, query, status):
        url = path.format(function)
        done = client.request(method, f"{url}{'&' if '?' in url else '?'}{query}")
        assert done.status_code == status, done.text
        return done.json()["detail"]

    assert "unknown query parameter 'nu'" in detail("gelu", "nu=1", 400)
    assert "'mu' was given 2 times" in detail("gelu", "mu=1&mu=1", 400)
    assert "sigma is 0 (accepted: 2^-1074 to 2^1024)" in detail("gelu", "sigma=0", 404)
    assert "unknown parameter of silu 'mu'" in detail("silu", "mu=1", 404)
    assert "relu has no parameters" in detail("relu", "mu=1", 404)
    assert "unknown function 'nothing'" in detail("nothing", "mu=1", 404)


def test_implementations_are_not_asked(client):
    """Each value would be loaded, compiled and kept by every library."""
    done = client.get(f"/v1/answers/gelu/float32/1?{QUERY}")
    assert done.status_code == 404
    assert f"gelu-verify run FAMILY --function '{NAME}'" in done.json()["detail"]
    assert client.post(f"/v1/answers/gelu/float32?{QUERY}", json={"x_bits": ["0x0"]}).status_code == 404
