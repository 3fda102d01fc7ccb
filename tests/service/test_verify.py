"""Verification by upload: grades, jobs, tokens, reports, published runs."""

import csv
import io
import time

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
from starlette.testclient import TestClient

from gelu_verify.errors import UsageError
from gelu_verify.records.serialize import to_json
from gelu_verify.service.app import create_app
from gelu_verify.service.process_pool import ForkPool
from gelu_verify.service.settings import ServiceLimits, Settings
from gelu_verify.service.tokens import parse_tokens
from gelu_verify.service.upload_record import inputs
from gelu_verify.truth.values import reference_bits
from gelu_verify.verification import verify as verify_here

RAW = {"Content-Type": "application/octet-stream", "Prefer": "wait=20"}  # the machine may be slow
TOKEN = "correct-horse-battery"
AUTH = {**RAW, "Authorization": f"Bearer {TOKEN}"}
WHERE = "/v1/verify?function=gelu&dtype=float16&plan=default"


@pytest.fixture(scope="module")
def right():
    x = np.frombuffer(inputs("default", "gelu", "float16", 0), "<u2")
    return reference_bits("gelu", "float16", x)


@pytest.fixture
def storing(tmp_path):
    """A client of a server with a store and a token."""
    with TestClient(
        create_app(Settings(store=tmp_path / "store", tokens=parse_tokens(TOKEN))), raise_server_exceptions=False
    ) as found:
        yield found


def test_right_results_pass(client, right):
    done = client.post(WHERE, content=right.tobytes(), headers=RAW).json()
    assert (done["state"], done["grade"], done["stored"]) == ("done", "correctly_rounded", False)
    assert done["result"]["correctly_rounded"] == 1
    assert done["progress"] == {"done": 65536, "total": 65536}


def test_one_wrong_result_of_65536_is_found_and_named(client, right):
    wrong = right.copy()
    x = np.frombuffer(inputs("default", "gelu", "float16", 0), "<u2")
    place = int(np.flatnonzero(x == 0x3C00)[0])
    wrong[place] ^= 0x0100
    done = client.post(f"{WHERE}&name=mine-2", content=wrong.tobytes(), headers=RAW).json()
    assert done["grade"] == "coarse"
    assert done["result"]["witness"]["x_bits"] == "0x3c00"
    assert done["result"]["target"] == "upload.mine-2"
    assert "/v1/verify?" in done["result"]["repeat"]


def test_the_grade_is_the_one_that_a_local_run_gives(client):
    """The same callable here and uploaded: the same record, but for what an upload cannot say."""

    def cubic(x):
        return (x * np.float32(0.5) * (1 + np.tanh(np.float32(0.8) * x))).astype(np.float32)

    x = np.frombuffer(inputs("quick", "gelu", "float32", 0), "<u4")
    with np.errstate(all="ignore"):
        y = cubic(x.view(np.float32))
        here = to_json(verify_here(cubic, "gelu", "float32", "quick").record)
    where = "/v1/verify?function=gelu&dtype=float32&plan=quick"
    there = client.post(where, content=y.tobytes(), headers=RAW).json()["result"]
    for key in (
        "max_ulp",
        "grade",
        "witness",
        "mean_ulp",
        "nonfinite",
        "regions",
        "variant",
        "n",
        "bound",
        "max_rank",
    ):
        assert there[key] == here[key], key
    first = [each["sentence"].partition(";")[0] for each in (here, there)]  # more calls are made here, and count
    assert first[0] == first[1]
    unasked = [name for name, verdict in there["checks"].items() if verdict != here["checks"][name]]
    assert (
        {"lane", "repeatable"}
        <= set(unasked)
        <= {"lane", "repeatable", "constants", "plateau", "precision", "rounding"}
    )
    assert all(there["checks"][name] == "not applicable" for name in unasked)


def test_a_report_comes_with_it_and_runs_only_its_own_script(client, right):
    done = client.post(WHERE, content=right.tobytes(), headers=RAW).json()
    page = client.get(done["links"]["report"])
    assert page.status_code == 200
    assert "upload.mine" in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]


REFUSED = [
    ("function=gelu&dtype=float16", bytes(10), RAW, 409),
    ("function=gelu&dtype=float16", b"", RAW, 409),
    ("function=gelu&dtype=float16", bytes(131072), {"Content-Type": "text/html"}, 415),
    ("function=gleu&dtype=float16", b"", RAW, 404),
    ("function=gelu&dtype=float8_e5m2", b"", RAW, 404),
    ("function=gelu&dtype=float16&plan=no", b"", RAW, 404),
    ("function=gelu&dtype=float32&plan=exhaustive", b"", RAW, 404),
    ("function=gelu&dtype=float16&name=../../x", b"", RAW, 422),
    ("function=gelu&dtype=float16&seed=x", b"", RAW, 422),
    ("dtype=float16", b"", RAW, 422),
    ("function=gelu&dtype=float16&inputs_sha256=" + "0" * 64, bytes(131072), RAW, 409),
    ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Bearer wrong"}, 401),
    ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Basic x"}, 401),
    ("function=gelu&dtype=float16", bytes(131072), {**RAW, "Authorization": "Bearer é".encode()}, 401),
]


def test_uploads_that_cannot_be_verified_are_refused(client):
    for query, body, headers, status in REFUSED:
        done = client.post(f"/v1/verify?{query}", content=body, headers=headers)
        assert done.status_code == status, (query, done.text)
        assert done.headers["content-type"] == "application/problem+json"


def test_a_long_job_is_answered_with_202_and_progress(client, right):
    done = client.post(WHERE, content=right.tobytes(), headers={**RAW, "Prefer": "respond-async"})
    assert done.status_code in (200, 202)
    assert done.headers["location"] == f"/v1/jobs/{done.json()['id']}"
    for _ in range(400):
        job = client.get(done.headers["location"]).json()
        if job["state"] == "done":
            break
        assert job["state"] == "running"
        assert 0 <= job["progress"]["done"] <= job["progress"]["total"] == 65536
        time.sleep(0.02)
    assert job["grade"] == "correctly_rounded"


def test_a_running_job_is_202(client, right, monkeypatch):
    assert client.get("/v1/inputs/default/float16.bin").status_code == 200  # made before nothing is computed any more
    monkeypatch.setattr(ForkPool, "ask", lambda *_, **__: time.sleep(0.4))
    done = client.post(WHERE, content=right.tobytes(), headers={**RAW, "Prefer": "respond-async"})
    assert (done.status_code, done.json()["state"], done.json()["grade"]) == (202, "running", None)
    assert client.get(f"{done.headers['location']}/report.html").status_code == 409
    assert client.get("/v1/jobs/AAAAAAAAAAAAAAAA").status_code == 404


@pytest.mark.nightly
def test_jobs_are_forgotten(right):
    with TestClient(create_app(Settings(limits=ServiceLimits(jobs_max=2)))) as client:
        jobs = [client.post(WHERE, content=right.tobytes(), headers=RAW).json()["id"] for _ in range(4)]
        assert [client.get(f"/v1/jobs/{job}").status_code for job in jobs] == [404, 404, 200, 200]
    with TestClient(create_app(Settings(limits=ServiceLimits(job_ttl_s=-1.0)))) as client:
        job = client.post(WHERE, content=right.tobytes(), headers=RAW).json()["id"]
        assert client.get(f"/v1/jobs/{job}").status_code == 404


def test_without_a_token_nothing_is_stored(storing, right, tmp_path):
    done = storing.post(WHERE, content=right.tobytes(), headers=RAW).json()
    assert done["stored"] is False
    assert storing.get("/v1/runs").json() == {"runs": [], "next": None}
    assert not any((tmp_path / "store/runs").iterdir())


def test_with_the_token_it_is_published(storing, right):
    done = storing.post(WHERE, content=right.tobytes(), headers=AUTH).json()
    assert done["stored"] is True
    run = storing.get("/v1/runs").json()["runs"][0]
    assert run["links"]["self"] == done["links"]["run"]
    manifest = storing.get(done["links"]["run"]).json()
    assert manifest["results"][0]["target"] == "upload.mine"
    assert storing.get(done["links"]["report"]).text.startswith("<!doctype html>")
    cell = storing.get("/v1/matrix").json()["results"][0]
    assert (cell["target"], cell["grade"], cell["run"]) == ("upload.mine", "correctly_rounded", run["id"])
    for path in ("/v1/runs.csv", "/v1/matrix.csv", f"{done['links']['run']}/summary.csv"):
        rows = list(csv.DictReader(io.StringIO(storing.get(path).text)))
        assert len(rows) == 1, path
    for table in ("summary", "tail", "special", "regions", "throughput", "findings"):
        assert isinstance(storing.get(f"{done['links']['run']}/{table}.json").json(), list)
    side = storing.get("/v1/compare.html", params={"run": [run["id"], run["id"]]})
    assert side.status_code == 200


NOT_PATHS = ["/v1/runs/none", "/v1/runs/..", "/v1/runs/%2e%2e%2findex.sqlite", "/v1/runs/index.sqlite/report.html",
             "/v1/runs/none/summary.csv", "/v1/compare.html?run=../..", "/v1/jobs/../../etc",
             "/assets/..%2fapp.py"]  # fmt: skip


def test_names_are_never_paths(storing):
    for path in NOT_PATHS:
        done = storing.get(path)
        assert (done.status_code, done.headers["content-type"]) == (404, "application/problem+json"), path


def test_a_store_that_fails_is_507_and_stores_nothing(storing, right, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gelu_verify.runs.store.write_file", full)
    done = storing.post(WHERE, content=right.tobytes(), headers=AUTH)
    assert done.status_code == 507
    assert str(tmp_path) not in done.text
    assert storing.get("/v1/runs").json() == {"runs": [], "next": None}
    assert not any((tmp_path / "store/runs").iterdir())
    assert storing.post(WHERE, content=right.tobytes(), headers=RAW).status_code == 200


def test_a_token_without_a_store_is_409(right):
    with TestClient(create_app(Settings(tokens=parse_tokens(TOKEN)))) as client:
        assert client.post(WHERE, content=right.tobytes(), headers=AUTH).status_code == 409


def test_implementations_answer_beside_the_right_one(client):
    found = client.get("/v1/answers/gelu/float32/-6.5?family=kernels").json()
    assert found["x_bits"] == "0xc0d00000"
    erf = next(row for row in found["answers"] if row["target"] == "kernels.gelu_erf")
    assert erf["y"] == "-0"
    assert erf["error_ulp"] > 9e6
    assert client.get("/v1/answers/gelu/float8_e5m2/1").status_code == 404


TOKENS = """
# name scopes token
ci store,delete 0123456789abcdef-ci
reader store 0123456789abcdef-reader
chief delete-any 0123456789abcdef-chief
"""


def test_each_client_has_a_token_with_scopes(right, tmp_path):
    def headers(name):
        return {**RAW, "Authorization": f"Bearer 0123456789abcdef-{name}"}

    with TestClient(create_app(Settings(store=tmp_path, tokens=parse_tokens(TOKENS)))) as client:
        runs = {}
        for name in ("ci", "reader"):
            done = client.post(WHERE, content=right.tobytes(), headers=headers(name)).json()
            runs[name] = done["links"]["run"]
            assert f"-{name}-" in runs[name]
        assert client.post(WHERE, content=right.tobytes(), headers=headers("chief")).status_code == 403
        assert client.delete(runs["reader"], headers=headers("reader")).status_code == 403
        assert client.delete(runs["reader"], headers=headers("ci")).status_code == 403
        assert client.delete(runs["ci"], headers=headers("nobody")).status_code == 401
        assert client.delete(runs["ci"], headers=headers("ci")).status_code == 204
        assert client.delete(runs["reader"], headers=headers("chief")).status_code == 204
        assert client.get("/v1/runs").json()["runs"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("short", "at least 16"), ("", "no token"), ("ci store", "2 fields"),
        ("ci read 0123456789abcdef", "scope 'read'"),
        ("CI store 0123456789abcdef", "'CI'"), ("ci store 0123456789abcdef\n" * 2, "each once"),
        ("ci store 0123456789abcdé", "ASCII"),
    ],
)  # fmt: skip
def test_tokens_that_are_wrong_are_named_and_not_shown(text, words):
    with pytest.raises(UsageError, match=words) as refused:
        parse_tokens(text)
    assert "0123" not in str(refused.value)


def test_an_upload_can_be_deleted_by_who_knows_its_name(client, right):
    done = client.post(WHERE, content=right.tobytes(), headers=RAW).json()
    assert client.get(done["links"]["report"]).status_code == 200
    assert client.delete(done["links"]["self"]).status_code == 204
    for path in (done["links"]["self"], done["links"]["report"]):
        assert client.get(path).status_code == 404
    assert client.delete(done["links"]["self"]).status_code == 404
