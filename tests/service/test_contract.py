"""The OpenAPI document as programs read it that make clients: names, media types, headers, examples, the token."""

import io
import re

import numpy as np
import pytest
import requiring

pytest.importorskip("fastapi", reason="needs the extra serve")
import pyarrow as pa

from gelu_verify.formats import FORMATS
from gelu_verify.service.contract import HEADERS
from gelu_verify.service.input_files import ARROW, INPUTS_OF, MEDIA_TYPES, read_inputs
from gelu_verify.service.problems import Problem
from gelu_verify.truth.values import reference_bits

VALUES = {"function": "gelu", "dtype": "float32", "x": "-6.5", "plan": "landmarks", "name": "run", "library": "torch"}
X = np.array([0x3F800000, 0xC0D00000], "<u4")
Y = reference_bits("gelu", "float32", X)
FILES = "/v1/files/gelu/float32"


@pytest.fixture(scope="module")
def document(client):
    return client.get("/v1/openapi.json").json()


@pytest.fixture(scope="module")
def operations(document):
    return [(method, path, each) for path, methods in document["paths"].items() for method, each in methods.items()]


def test_every_operation_has_a_name_that_somebody_chose(operations):
    names = [each["operationId"] for _, _, each in operations]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+[A-Za-z]+", name)] == []


def test_a_route_has_one_media_type(operations):
    for method, path, each in operations:
        kinds = {kind for status, found in each["responses"].items() if status != "default"
                 for kind in found.get("content", {})}  # fmt: skip
        assert len(kinds) == (method != "delete"), path
        assert len(each.get("requestBody", {"content": {"": ""}})["content"]) == 1, path


def test_arguments_are_in_the_order_of_the_path_and_share_their_types(operations):
    for _, path, each in operations:
        given = [one for one in each.get("parameters", []) if one["in"] == "path"]
        assert [one["name"] for one in given] == re.findall(r"{(\w+)}", path)
        for one in given:
            if one["name"] in ("function", "plan"):
                assert "$ref" in one["schema"], path


def test_numbers_have_64_bits(document):
    kappa = document["components"]["schemas"]["ReferenceValue"]["properties"]["kappa"]["anyOf"][0]
    done = document["components"]["schemas"]["Progress"]["properties"]["done"]
    assert (kappa["format"], done["format"]) == ("double", "int64")


def test_headers_that_are_sent_are_declared_and_those_of_a_file_are_sent(client, document, operations):
    asked = 0
    for method, path, each in operations:
        if method != "get" or not set(re.findall(r"{(\w+)}", path)) <= VALUES.keys() or "answers" in path:
            continue
        query = {"function": "gelu"} if "/inputs/" in path else {}
        query |= {"run": "none"} if "compare" in path else {}
        found = client.get(path.format(**VALUES), params=query)
        declared = set(each["responses"]["200" if found.status_code == 200 else "default"]["headers"])
        sent = {name for name in HEADERS if name.lower() in found.headers}
        assert sent <= declared, path
        if found.status_code == 200:
            asked += 1
            assert declared - sent <= {"RateLimit", "RateLimit-Policy"}, path
    assert asked > 25
    assert document["components"]["headers"] == HEADERS


def test_the_examples_are_true(client, document):
    operation = document["paths"]["/v1/reference/{function}/{dtype}"]["post"]
    (content,) = operation["requestBody"]["content"].values()
    (results,) = operation["responses"]["200"]["content"].values()
    assert client.post("/v1/reference/gelu/float32", json=content["example"]).json() == results["example"]
    schema = document["components"]["schemas"]["BatchInputs"]
    requiring.module("jsonschema").validate(content["example"], schema)


def test_tokens_are_a_security_scheme(document):
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    paths = document["paths"]
    assert paths["/v1/runs/{run}"]["delete"]["security"] == [{"token": []}]
    assert {} in paths["/v1/verify"]["post"]["security"], "without a token nothing is stored"
    assert "security" not in paths["/v1/runs/{run}"]["get"]


def test_a_wrong_token_is_refused_and_none_is_not(client):
    path = "/v1/verify?function=gelu&dtype=float16&plan=landmarks"
    headers = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}  # the machine may be slow
    for token in ("Bearer wrong", "Basic wrong"):
        assert client.post(path, content=b"", headers=headers | {"Authorization": token}).status_code == 401
    assert client.post(path, content=b"", headers=headers).status_code == 409


# ---- one media type for each route ---------------------------------------------------------------


def stream(x, **options):
    sink = io.BytesIO()
    table = pa.table({"x_bits": x, "note": ["a"] * len(x)})
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as written:
        written.write_table(table)
    return sink.getvalue()


def test_raw_bits_have_a_route_of_their_own_and_that_of_old_answers_the_same(client):
    for path in ("/v1/reference/gelu/float32.bin", "/v1/reference/gelu/float32"):
        found = client.post(path, content=X.tobytes(), headers={"Content-Type": "application/octet-stream"})
        assert (found.status_code, found.content) == (200, Y.astype("<u4").tobytes())
    wrong = client.post("/v1/reference/gelu/float32.bin", json={"x_bits": []})
    assert wrong.status_code == 415


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_a_stream_of_arrow_comes_back_as_one(client, compression):
    body, headers = stream(X, compression=compression), {"Content-Type": ARROW}
    for path in (f"{FILES}.arrow", f"{FILES}?format=arrow"):
        found = client.post(path, content=body, headers=headers)
        assert (found.status_code, found.headers["content-type"]) == (200, ARROW)
        table = pa.ipc.open_stream(found.content).read_all()
        assert (table.column_names, table["y_bits"].to_pylist()) == (["x_bits", "y_bits"], Y.tolist())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"ARROW1\0\0" + bytes(64), 400), (stream(X)[:-200], 400), (stream(X.astype("<u2")), 409),
        (stream(pa.array([1, None], pa.uint32())), 409), (stream(np.arange(1 << 20 | 1, dtype="<u4")), 413),
    ],
)  # fmt: skip
def test_streams_that_are_refused(client, body, status):
    found = client.post(f"{FILES}.arrow", content=body, headers={"Content-Type": ARROW})
    assert (found.status_code, found.json()["status"]) == (status, status)


def test_a_small_stream_that_holds_much_takes_no_memory():
    x = np.zeros(1 << 27, "<u4")
    sink = io.BytesIO()
    batch = pa.record_batch({"x_bits": x})
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as written:
        written.write_batch(batch)
    assert len(sink.getvalue()) < 1 << 20
    with pytest.raises(Problem) as refused:
        read_inputs(ARROW, sink.getvalue(), FORMATS["float32"], 1 << 20)
    assert refused.value.status in (400, 413)


@pytest.mark.parametrize("form", MEDIA_TYPES)
def test_files_have_a_route_for_each_form(client, form):
    bodies = {"csv": b"1\n-6.5\n", "arrow": stream(X)}
    buffer = io.BytesIO()
    np.save(buffer, X)
    bodies["npz"] = buffer.getvalue()
    if form == "parquet":
        sink = io.BytesIO()
        requiring.module("pyarrow.parquet").write_table(pa.table({"x_bits": X}), sink)
        bodies["parquet"] = sink.getvalue()
    found = client.post(f"{FILES}.{form}", content=bodies[form], headers={"Content-Type": INPUTS_OF[form]})
    assert (found.status_code, found.headers["content-type"].partition(";")[0]) == (200, MEDIA_TYPES[form])
    assert f'filename="gelu-float32.{form}"' in found.headers["content-disposition"]
    assert client.post(f"{FILES}.{form}", content=b"", headers={"Content-Type": "text/html"}).status_code == 415


@pytest.mark.parametrize("body", [b"x\n1,5\n", b"nan\n0,84\n", b"x,y\n1,2,3\n"])
def test_a_cell_beyond_the_header_is_no_part_of_another(body):
    """As a decimal comma makes it."""
    with pytest.raises(Problem, match=r"line \d has \d cells"):
        read_inputs("text/csv", body, FORMATS["float32"], 10)


def test_a_mark_of_byte_order_and_empty_cells_are_nothing():
    for body in (b"\xef\xbb\xbfx\n1\n", b"x\n1,\n", b"x , \n1 ,  \n"):
        assert read_inputs("text/csv", body, FORMATS["float32"], 10) == [0x3F800000]
