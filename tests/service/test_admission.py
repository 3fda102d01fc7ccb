"""What a request may use: estimated costs, parts of batches, bodies that arrive slowly, quotas that are told."""

import time
from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import post, raw, read_to_end, serving, status
from starlette.testclient import TestClient

from gelu_verify.formats import FORMATS
from gelu_verify.functions import FUNCTIONS
from gelu_verify.service import admission, batches
from gelu_verify.service.app import create_app
from gelu_verify.service.process_pool import ForkPool, TookTooLong
from gelu_verify.service.settings import ServiceLimits, Settings
from gelu_verify.truth.values import reference_bits

PATH = "/v1/reference/gelu/float32"
RAW = {"Content-Type": "application/octet-stream"}
X = np.random.default_rng(0).integers(0, 1 << 32, 10_000, np.uint64).astype("<u4")
Y = reference_bits("gelu", "float32", X)


def small(**limits):
    return TestClient(create_app(Settings(limits=ServiceLimits(**limits))), raise_server_exceptions=False)


def test_every_function_has_rates():
    rates = admission.rates_measured()["functions"]
    known = {name.removesuffix("[...]") for name in rates}
    assert known == set(FUNCTIONS)
    for name, found in rates.items():
        assert found["ns"].keys() == FORMATS.keys(), name
        assert all(0 < typical <= slowest for typical, slowest in found["ns"].values()), name


def test_costs_depend_on_function_dtype_number_digits_and_parameters():
    assert admission.slowest_s("gelu", "float32", 1000) * 10 < admission.slowest_s("cauchy_unit", "float32", 1000)
    assert admission.slowest_s("gelu", "float32", 1000) * 10 < admission.slowest_s("gelu[mu=0.5]", "float32", 1000)
    assert admission.typical_s("gelu", "float16", 200) == 2 * admission.typical_s("gelu", "float16", 100)
    assert admission.look_up_s("gelu", 1000) > admission.look_up_s("gelu", 100) > admission.look_up_s("gelu", 40)
    slowest = max(admission.slowest_s(name, "float64", 1) for name in FUNCTIONS)
    assert admission.slowest_s("of_a_plugin", "float64", 1) >= slowest


def queues(response):
    return response.headers["ratelimit-policy"].split(";")[0].strip('"')


def test_the_cost_chooses_the_queue_and_the_response_names_it(client):
    few = client.post(PATH, content=X.tobytes()[:16], headers=RAW)
    assert (few.status_code, queues(few), few.headers["ratelimit"]) == (200, "small", '"small";r=31')
    many = np.tile(X, 8)
    slow = client.post("/v1/reference/cauchy_unit/float32", content=many.tobytes(), headers=RAW)
    assert (slow.status_code, queues(slow)) == (200, "batches")
    assert slow.content == reference_bits("cauchy_unit", "float32", many).tobytes()
    assert queues(client.get(f"{PATH}/1?digits=30")) == "small"
    assert "ratelimit" not in client.get(f"{PATH}/1").headers
    assert queues(client.get("/v1/tables/softcap/float16.csv")) == "batches"


def test_a_small_request_that_takes_long_goes_on_as_a_batch(monkeypatch):
    asked, compute = [], ForkPool.compute

    async def slow(pool, *arguments, **options):
        asked.append(pool.name)
        if pool.name == "small" and len(asked) == 2:
            raise TookTooLong(1)
        return await compute(pool, *arguments, **options)

    monkeypatch.setattr(ForkPool, "compute", slow)
    monkeypatch.setattr(batches, "LARGEST_PART", 16_000)
    with small() as client:
        assert client.post(PATH, content=X.tobytes(), headers=RAW).content == Y.tobytes()
    assert asked == ["small", "small", "batches", "batches"], "the first part is not computed again"


@pytest.fixture
def slow_parts(monkeypatch):
    """Every part after the first seems to take long."""
    compute = ForkPool.compute

    async def slow(pool, task, *arguments, **options):
        value, content = await compute(pool, task, *arguments, **options)
        return (30.0 if task == "values" else value), content

    monkeypatch.setattr(ForkPool, "compute", slow)
    monkeypatch.setattr(batches, "LARGEST_PART", 4_000)


def test_what_json_has_finished_comes_with_the_error(slow_parts):
    body = {"x_bits": [f"0x{bits:08x}" for bits in X[:5000].tolist()]}
    with small() as client:
        done = client.post(PATH, json=body)
    assert done.status_code == 413
    assert "1000 of 5000 values are done" in done.json()["detail"]
    assert done.json()["finished"]["y_bits"] == [f"0x{bits:08x}" for bits in Y[:1000].tolist()]


def test_what_a_file_has_finished_comes_with_the_error(slow_parts):
    content = "\n".join(f"0x{bits:08x}" for bits in X[:2000].tolist())
    with small() as client:
        done = client.post("/v1/files/gelu/float32", content=content, headers={"Content-Type": "text/csv"})
    assert (done.status_code, len(done.json()["finished"]["y_bits"])) == (413, 1000)


PROGRAM = """
from gelu_verify.service import batches, server, settings
from gelu_verify.service.process_pool import ForkPool
compute = ForkPool.compute
async def slow(pool, *arguments, **options):
    value, content = await compute(pool, *arguments, **options)
    slow.calls += 1
    return (30.0 if slow.calls == 2 else 0.01), content
slow.calls = 0
ForkPool.compute = slow
batches.LARGEST_PART = 4_000
limits = settings.ServiceLimits(body_idle_s=0.5, body_bytes_per_s=2000, bodies_per_client=2)
server.run_server(settings.Settings(port=0, limits=limits))
"""


@pytest.fixture(scope="module")
def strict():
    with serving(program=PROGRAM) as found:
        yield found


def test_a_raw_response_that_is_cut_off_holds_what_was_computed(strict):
    answer = raw(strict, post(PATH, X.tobytes(), "Content-Type: application/octet-stream"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert f"content-length: {X.nbytes}".encode() in head.lower()
    assert body == Y.tobytes()[:8000], "shorter than its Content-Length: no client takes it for all"


def sent_slowly(server, pieces, pause):
    with server.connect() as one:
        one.sendall(post(PATH, b"", "Content-Type: application/octet-stream", length=60 << 20))
        start = time.monotonic()
        one.settimeout(pause)
        for _ in range(pieces):
            one.sendall(bytes(100))
            try:
                answer = one.recv(1 << 16)
                return answer + read_to_end(one), time.monotonic() - start
            except TimeoutError:
                continue
    raise AssertionError("it was not refused")


def test_a_body_that_comes_too_slowly_is_refused_though_it_never_pauses(strict):
    answer, seconds = sent_slowly(strict, 100, 0.1)
    assert status(answer) == 408
    assert seconds < 5
    assert b"2000 a second" in answer


def test_announced_bytes_are_not_charged_and_bodies_at_the_same_time_are_few(strict):
    with ExitStack() as held:
        for _ in range(2):
            one = held.enter_context(strict.connect())
            one.sendall(post(PATH, bytes(100), "Content-Type: application/octet-stream", length=60 << 20))
        time.sleep(0.2)
        third = raw(strict, post(PATH, X.tobytes()[:16], "Content-Type: application/octet-stream"))
        metrics = raw(strict, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert status(third) == 429
    assert b"2 bodies at the same time" in third
    held_bytes = float(metrics.partition(b"\ngelu_verify_spooled_bytes ")[2].split()[0])
    assert held_bytes < 1000


def test_results_are_charged_to_the_client_until_they_are_sent():
    with small(spool_bytes_per_client=100_000) as client:
        body = {"x_bits": [f"0x{bits:08x}" for bits in X[:5000].tolist()]}
        done = client.post(PATH, json=body)
        assert (done.status_code, "more than 100000 bytes" in done.json()["detail"]) == (429, True)
        assert client.app.state.admission.bytes.used == 0
        body["x_bits"] = body["x_bits"][:1000]
        assert len(client.post(PATH, json=body).json()["y_bits"]) == 1000
        assert client.app.state.admission.bytes.used == 0
