"""Reference values over HTTP: the same bits by every route, and problem details for what cannot be answered."""

import asyncio
import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from starlette.testclient import TestClient

from gelu_verify import __version__
from gelu_verify.formats import FORMATS, MODES, get_format
from gelu_verify.functions import FUNCTIONS
from gelu_verify.service import fast_path
from gelu_verify.service.app import create_app
from gelu_verify.service.caching import FRESH
from gelu_verify.service.look_up_cache import LookUpCache
from gelu_verify.service.settings import ServiceLimits, Settings
from gelu_verify.truth.lookup import answer
from gelu_verify.truth.values import reference_bits

RAW = {"Content-Type": "application/octet-stream"}


def problem(response, status):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert set(found) == {"type", "title", "status", "detail"}
    assert found["status"] == status
    assert response.headers["cache-control"] == "no-store"
    return found["detail"]


def sample(fmt, count=40):
    rng = np.random.default_rng(11)
    any_bits = rng.integers(0, 2**fmt.width, count, dtype=fmt.uint, endpoint=False)
    near = [fmt.parse(repr(x)) for x in rng.normal(0, 3, count).tolist()]
    return np.array([*any_bits.tolist(), *near, fmt.nan, fmt.infinity, 0, fmt.sign_mask, fmt.max_finite], fmt.uint)


@pytest.mark.parametrize(("function", "dtype"), [("gelu", dtype) for dtype in FORMATS] + [("gelu_tanh_grad", "float16"),
                                                  ("erf", "float32"), ("erf", "float64")])  # fmt: skip
def test_every_route_gives_the_same_bits(client, function, dtype):
    fmt = get_format(dtype)
    x = sample(fmt)
    want = reference_bits(function, dtype, x)
    base = f"/v1/reference/{function}/{dtype}"
    texts = [fmt.bits_text(bits) for bits in x.tolist()]
    by_json = client.post(base, json={"x_bits": texts}).json()["y_bits"]
    assert [int(text, 16) for text in by_json] == want.tolist()
    little = fmt.uint.newbyteorder("<")
    by_bits = client.post(base, content=x.astype(little).tobytes(), headers=RAW)
    assert np.array_equal(np.frombuffer(by_bits.content, little), want)
    for text, y in list(zip(texts, want.tolist(), strict=True))[::9]:
        assert int(client.get(f"{base}/{text}").json()["y_bits"], 16) == y


def test_a_response_has_all_that_the_command_line_prints(client):
    found = client.get("/v1/reference/gelu/float32/-6.5?digits=40").json()
    assert {**found, "also": None} == {**answer("gelu", "float32", 0xC0D00000, 40), "also": None}
    assert found["exact"] == "-2.610400379508426575424994524560446867653e-10"


@pytest.mark.parametrize("x", ["-6.5", "-0x1.ap%2B2", "-0x1.ap+2", "0xc0d00000", "-65e-1"])
def test_a_number_may_be_written_in_any_form(client, x):
    assert client.get(f"/v1/reference/gelu/float32/{x}").json()["y_bits"] == "0xaf8f821f"


def test_parameters_are_a_query(client):
    base = "/v1/reference/gelu/float32/-6.5"
    found = client.get(f"{base}?mu=0.5&sigma=1/3&digits=20").json()
    assert found.pop("also", None) is None
    assert found == answer("gelu[mu=0.5,sigma=1/3]", "float32", 0xC0D00000, 20)
    assert client.get("/v1/reference/gelu%5Bmu=0.5%5D/float32/1").json()["function"] == "gelu[mu=0.5]"
    assert client.get(f"{base}?mu=0").json()["function"] == "gelu"
    assert "sigma is 0 (accepted" in problem(client.get(f"{base}?sigma=0"), 404)
    assert "unknown parameter of gelu 'beta'" in problem(client.get(f"{base}?beta=1"), 404)
    problem(client.get("/v1/reference/gelu%5Bnu=0.5%5D/float32/1"), 404)


def test_the_rounding_is_a_query(client):
    base = "/v1/reference/gelu/float32/-6.5"
    for mode, y in (("up", "0xaf8f821e"), ("down", "0xaf8f821f"), ("zero", "0xaf8f821e"), ("odd", "0xaf8f821f")):
        found = client.get(f"{base}?rounding={mode}&digits=20&also=float16").json()
        assert found.pop("also")["float16"] == answer("gelu", "float16", 0xC680, 20, mode)
        assert found == answer("gelu", "float32", 0xC0D00000, 20, mode)
        assert (found["rounding"], found["y_bits"]) == (mode, y)
    by_oracle = client.get(f"{base}?rounding=up&digits=50&mu=0.5").json()  # in a process of its own
    assert by_oracle.pop("also", None) is None
    assert by_oracle == answer("gelu[mu=0.5]", "float32", 0xC0D00000, 50, "up")
    assert client.get(base).json()["rounding"] == "nearest"
    assert "unknown rounding 'ceil' (accepted: nearest, up" in problem(client.get(f"{base}?rounding=ceil"), 422)
    problem(client.get(f"{base}?rounding=up&rounding=down"), 400)


@pytest.mark.parametrize("mode", MODES)
def test_batches_and_files_in_every_rounding(client, mode):
    x = np.array([0xC0D00000, 0x3F800000, 0x00000001, 0x80000001, 0x7F800000, 0x7FC00000, 0x42F00000], np.uint32)
    want, query = reference_bits("exp", "float32", x, rounding=mode), f"?rounding={mode}"
    base = f"/v1/reference/exp/float32{query}"
    done = client.post(base, json={"x_bits": [f"0x{bits:08x}" for bits in x.tolist()]}).json()
    assert done == {"function": "exp", "dtype": "float32", "rounding": mode, "y_bits": [f"0x{y:08x}" for y in want]}
    assert client.post(base, content=x.astype("<u4").tobytes(), headers=RAW).content == want.astype("<u4").tobytes()
    lines = "".join(f"0x{bits:08x}\n" for bits in x.tolist())
    file = client.post(f"/v1/files/exp/float32{query}&format=csv", content=lines, headers={"Content-Type": "text/csv"})
    assert [int(line.split(",")[1], 16) for line in file.text.splitlines()[1:]] == want.tolist()
    named = "exp-float32.csv" if mode == "nearest" else f"exp-float32-{mode}.csv"
    assert named in file.headers["Content-Disposition"]
    for raw, bits in zip(want.tolist(), x.tolist(), strict=True):
        assert client.get(f"/v1/reference/exp/float32/0x{bits:08x}{query}").json()["y_bits"] == f"0x{raw:08x}"


@pytest.mark.parametrize("mode", MODES)
def test_parameters_and_a_rounding(client, mode):
    done = client.post(f"/v1/reference/gelu/float32?mu=0.5&sigma=1/3&rounding={mode}", json={"x_bits": ["0x3f800000"]})
    y = reference_bits("gelu", "float32", 0x3F800000, rounding=mode, mu="0.5", sigma="1/3")
    assert done.json()["y_bits"] == [f"0x{y:08x}"]


def test_an_unknown_rounding_is_named_with_those_that_are_known(client):
    words = "unknown rounding 'ceil' (accepted: nearest, up, down, zero, odd)"
    for path in ("/v1/reference/gelu/float32", "/v1/files/gelu/float32"):
        assert words in problem(client.post(f"{path}?rounding=ceil", json={"x_bits": []}), 422)
    page = client.get("/lookup?rounding=ceil")
    assert page.status_code == 422
    assert "accepted: nearest, up, down, zero, odd" in page.text


def test_the_page_without_javascript_takes_a_rounding(client):
    text = client.get("/lookup?x=-6.5&rounding=up").text
    assert "float32, rounded up" in text
    assert "0xaf8f821e" in text
    assert "dtype=float32&amp;rounding=up" in text
    assert "rounding=" not in client.get("/lookup?x=-6.5").text.replace('name="rounding"', "")


def test_the_fast_path_gives_the_bytes_of_the_route(monkeypatch):
    """Status, headers in their order, and body; also of 304."""
    numbers = [f"/v1/reference/{f}/{d}/{x}" for f in ("gelu", "silu_grad") for d in ("float16", "float64")
               for x in ("-6.5", "nan", "-inf", "0x1", "1e-30", "-0")]  # fmt: skip
    queries = (
        "?also=all",
        "?digits=12&also=float16,float8_e5m2",
        f"?v={__version__}",
        "?digits=40",
        "?rounding=odd&also=all",
    )
    paths = [*numbers, *(f"/v1/reference/gelu/float32/0.1{query}" for query in queries)]

    def responses(client):
        first = [client.get(path) for path in paths]
        second = [client.get(path, headers={"If-None-Match": each.headers["etag"]})
                  for path, each in zip(paths, first, strict=True)]  # fmt: skip
        found = first + second
        assert len({each.headers["x-request-id"] for each in found}) == len(found)
        return [(each.status_code, headers(each), each.content) for each in found]

    def headers(response):
        """Without the id, and what only a response has that was computed in a queue."""
        return [each for each in response.headers.raw[:-1] if not each[0].startswith(b"ratelimit")]

    with TestClient(create_app()) as client:
        fast, cached = responses(client), responses(client)
    monkeypatch.setattr(fast_path, "PREFIX", "/nothing/")
    with TestClient(create_app()) as client:
        routed = responses(client)
    assert fast == cached == routed
    assert {status for status, _, _ in routed} == {200, 304}


def test_the_cache_of_look_ups_is_bounded():
    cache = LookUpCache(100_000)
    for i in range(300):
        cache.add((f"/{i}", b""), bytes(1000), FRESH)
    assert cache.get(("/299", b"")) is not None
    assert cache.get(("/0", b"")) is None
    assert 10 < sum(cache.get((f"/{i}", b"")) is not None for i in range(300)) < 100


@pytest.mark.parametrize("query", ["zz=1", "digits=5&zz=", "digits=5&digits=6"])
def test_other_query_parameters_are_refused(client, query):
    """Each would be another entry of every cache."""
    problem(client.get(f"/v1/reference/gelu/float32/1?{query}"), 400)
    problem(client.get(f"/v1/functions?{query}"), 400)


def test_other_dtypes_on_request(client):
    found = client.get("/v1/reference/gelu/float32/0.1?also=all").json()["also"]
    assert set(found) == set(FORMATS) - {"float32"}
    assert found["float64"]["x_bits"] == "0x3fb999999999999a"
    assert found["bfloat16"] == answer("gelu", "bfloat16", 0x3DCD, 20)


def test_references_are_immutable_with_a_version_and_not_sent_twice(client):
    path = "/v1/reference/gelu/float32/1"
    assert "immutable" in client.get(f"{path}?v={__version__}").headers["cache-control"]
    assert __version__ in problem(client.get(f"{path}?v=0.0"), 404)
    first = client.get(path)
    assert "immutable" not in first.headers["cache-control"]
    for path in ("/v1/reference/gelu/float32/1", "/v1/reference/gelu/float32/1?digits=20"):
        again = client.get(path, headers={"If-None-Match": f'"x", {first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
    head = client.head("/v1/reference/gelu/float32/1")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(first.content))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/reference/gleu/float32/1", "did you mean 'gelu'"),
        ("/v1/reference/gelu/float31/1", "float32"),
        ("/v1/reference/gelu/float32/one", "accepted: decimal"),
        ("/v1/reference/gelu/float16/0x12345", "too wide"),
        ("/v1/reference/gelu/float32/" + "1" * 2000, "2000 characters"),
        ("/v1/reference/gelu/float32/%00", "not a number"),
        ("/v1/reference/gelu/float32/..%2f..%2fetc%2fpasswd", "ot"),
        ("/v1/nothing", "Not Found"),
    ],
)
def test_names_and_numbers_that_do_not_exist_are_404(client, path, words):
    assert words in problem(client.get(path), 404)


@pytest.mark.parametrize("query", ["digits=0", "digits=1001", "digits=x", "digits=00001" + "0" * 4400, "also=float31"])
def test_bad_query_parameters_are_422(client, query):
    problem(client.get(f"/v1/reference/gelu/float32/1?{query}"), 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"\xff\xfe", 400), (b"[" * 100_000, 400), (b"[]", 422), (b"{}", 422), (b"null", 422),
        (b'{"x_bits": "0x0"}', 422), (b'{"x_bits": [1]}', 422), (b'{"x_bits": ["1.5"]}', 422),
        (b'{"x_bits": ["0x"]}', 422), (b'{"x_bits": ["0x100000000"]}', 409), (b'{"x_bits": ["-0x1"]}', 422),
        (b'{"x_bits": [null]}', 422), (b'{"x_bits": ["0x00000000000000000"]}', 422), (b'{"x_bits": []}', 200),
    ],
)  # fmt: skip
def test_json_that_cannot_be_answered(client, body, status):
    done = client.post("/v1/reference/gelu/float32", content=body, headers={"Content-Type": "application/json"})
    assert done.json() if status == 200 else problem(done, status)


def test_bodies_of_a_wrong_kind_or_length(client):
    path = "/v1/reference/gelu/float32"
    problem(client.post(path, content=b"x", headers={"Content-Type": "text/plain"}), 415)
    problem(client.post(path, content=b"x"), 415)
    problem(client.post(path, content=b"12345", headers=RAW), 409)
    assert client.post(path, content=b"", headers=RAW).content == b""


def small(**limits):
    return TestClient(create_app(Settings(limits=ServiceLimits(**limits))), raise_server_exceptions=False)


def test_limits_of_a_batch():
    with small(body_bytes=64, json_bytes=64, json_values=2) as client:
        path = "/v1/reference/gelu/float32"
        assert "up to 64" in problem(client.post(path, content=bytes(68), headers=RAW), 413)
        assert "more than 64" in problem(client.post(path, content=iter([bytes(40)] * 3), headers=RAW), 413)
        problem(client.post(path, json={"x_bits": ["0x0"] * 20}), 413)
        problem(client.post(path, json={"x_bits": ["0x0"] * 3}), 413)
        assert client.post(path, content=bytes(64), headers=RAW).content == bytes(64)


def test_a_batch_that_takes_too_long_is_413():
    with small(batch_s=-1.0) as client:
        detail = problem(client.post("/v1/reference/gelu/float32", content=bytes(64), headers=RAW), 413)
    assert "16 values of gelu in float32" in detail


def test_a_full_queue_answers_429_and_empties():
    with small(small_processes=1, small_queue=0) as client:
        pool = client.app.state.admission.small
        pool.inflight = 1
        busy = client.get("/v1/reference/gelu/float32/1?digits=100")
        assert "try again" in problem(busy, 429)
        assert busy.headers["retry-after"]
        pool.inflight = 0
        assert client.get("/v1/reference/gelu/float32/1?digits=100").status_code == 200
        assert pool.inflight == 0


def test_an_error_that_nobody_expected_is_a_problem_without_its_secrets(client, monkeypatch):
    monkeypatch.setattr("gelu_verify.service.routes.tables.catalogue", lambda **_: 1 / 0)
    detail = problem(client.get("/v1/functions"), 500)
    assert "division" not in detail


def test_headers_are_strict_everywhere(client):
    for path in ("/v1/reference/gelu/float32/1", "/v1/functions", "/nope", "/", "/healthz"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]


def test_methods_that_write_are_not_there_for_reads(client):
    for method in ("PUT", "DELETE", "PATCH"):
        problem(client.request(method, "/v1/functions"), 405)


def test_health_and_metrics(client):
    assert client.get("/healthz").json()["status"] == client.get("/readyz").json()["status"] == "ok"
    client.get("/v1/reference/gelu/float32/7")
    text = client.get("/metrics").text
    assert 'gelu_verify_requests_total{method="GET",route="/v1/reference/{function}/{dtype}/{x}",status="200"}' in text
    assert 'gelu_verify_worker_pool_inflight{queue="small"} 0.0' in text


def test_not_ready_before_the_start():
    async def ask():
        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/readyz", "raw_path": b"/readyz", "query_string": b"",
                 "headers": [], "http_version": "1.1", "scheme": "http", "root_path": ""}  # fmt: skip
        await create_app()(scope, lambda: asyncio.sleep(0, {"type": "http.request", "body": b""}), send)
        return sent

    start, body = asyncio.run(ask())[:2]
    assert start["status"] == json.loads(body["body"])["status"] == 503


def test_the_schemas_of_the_files_are_served_and_are_the_types_of_a_run(client):
    for path in sorted((Path(__file__).parents[2] / "data" / "schema").glob("*.json")):
        found = client.get(f"/v1/schema/{path.name}")
        assert (found.content, found.headers["content-type"]) == (path.read_bytes(), "application/schema+json")
    assert client.get("/v1/schema/none.json").status_code == 404
    document = client.get("/v1/openapi.json").json()
    answer = document["paths"]["/v1/runs/{run}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Manifest"}
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert {"Manifest", "Record", "Witness"} <= named <= document["components"]["schemas"].keys()


def test_the_schema_names_every_route_and_the_error_shape(client):
    schema = client.get("/v1/openapi.json").json()
    assert schema["openapi"].startswith("3.1")
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            assert "application/problem+json" in operation["responses"]["default"]["content"], path
    parameters = schema["paths"]["/v1/reference/{function}/{dtype}/{x}"]["get"]["parameters"]
    named = {each["name"]: each["schema"] for each in parameters}
    assert named["function"]["$ref"] == "#/components/schemas/FunctionName"
    assert schema["components"]["schemas"]["FunctionName"]["enum"] == list(FUNCTIONS)
    assert {"mu", "sigma", "beta", "alpha"} < named.keys()
